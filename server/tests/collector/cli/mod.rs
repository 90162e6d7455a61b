mod account;
mod audit;
mod plan;
mod questions;
mod reference;
mod sums;
mod task;
mod types;
