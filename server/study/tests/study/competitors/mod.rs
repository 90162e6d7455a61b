//! Mechanisms of others: held to numbers computed independently, to enumeration, and to
//! what is drawn.

mod compare;
mod distribution;
mod errata;
mod estimates;
mod laws;
mod models;
mod printed;
mod privacy;
mod ratings;
mod reference;
mod samplers;
mod sums;
