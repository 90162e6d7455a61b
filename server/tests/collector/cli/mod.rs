mod account;
mod audit;
mod compare;
mod plan;
mod reference;
mod sums;
mod task;
mod types;
