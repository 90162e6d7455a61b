//! Tests of published mechanisms. Results are compared with independently computed numbers, with
//! enumeration, and with drawn reports.

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
mod shuffled_counts;
mod sums;
