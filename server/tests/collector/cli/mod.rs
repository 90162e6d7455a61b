mod account;
mod audit;
mod plan;
