mod account;
mod audit;
mod plan;
mod task;
