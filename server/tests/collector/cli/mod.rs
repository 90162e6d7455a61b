mod account;
mod audit;
mod plan;
mod reference;
mod sums;
mod task;
mod types;
