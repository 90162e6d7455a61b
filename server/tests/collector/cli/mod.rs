mod account;
mod audit;
mod compare;
mod plan;
mod sums;
mod task;
mod types;
