//! The collector and its command.

#![allow(clippy::unwrap_used)]

mod access;
mod audit;
mod batches;
mod budget;
mod cli;
#[cfg(unix)]
mod crash;
mod heavy_hitters;
#[cfg(target_os = "linux")]
mod hostile;
mod http;
mod journal;
#[cfg(unix)]
mod operate;
mod plan;
mod readme;
#[cfg(unix)]
mod shutdown;
mod simulate;
mod support;
