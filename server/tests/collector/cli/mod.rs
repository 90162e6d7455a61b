mod account;
mod audit;
mod compare;
mod plan;
mod task;
mod types;
