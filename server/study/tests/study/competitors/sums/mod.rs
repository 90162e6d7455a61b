//! Tests of sums of vectors by shuffled messages. Results are compared with independently computed
//! numbers, with enumeration, and with draws.

mod errata;
mod histograms;
mod protocol;
mod reference;
