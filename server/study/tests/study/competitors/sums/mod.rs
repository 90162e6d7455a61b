//! Sums of vectors by shuffled messages: held to numbers computed independently, to
//! enumeration, and to what is drawn.

mod errata;
mod histograms;
mod protocol;
mod reference;
