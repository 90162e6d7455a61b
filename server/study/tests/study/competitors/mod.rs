//! Mechanisms of others: held to numbers computed independently, to enumeration, and to
//! what is drawn.

mod compare;
mod distribution;
mod errata;
mod estimates;
mod models;
mod privacy;
mod ratings;
mod reference;
mod samplers;
mod sums;
