//! The hushbin collector as a library.
//!
//! It takes randomised uploads over HTTP, journals each one durably before
//! acknowledging it, and estimates totals with error bars from what it holds.
//! Arrows point inward: [`cli`] and [`http`] use [`store`], all use the crate
//! [`hushbin_analysis`], which is pure, and the core crate [`hushbin`].

pub mod audit;
pub mod cli;
mod config;
mod evaluate;
pub mod http;
pub mod store;
mod task_file;
