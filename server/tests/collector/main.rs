//! The collector and its command.

#![allow(clippy::unwrap_used)]

mod access;
mod batches;
mod budget;
mod cli;
#[cfg(unix)]
mod crash;
mod differencing;
#[cfg(target_os = "linux")]
mod disk;
mod export;
mod fold;
#[cfg(target_os = "linux")]
mod formats;
mod heavy_hitters;
#[cfg(target_os = "linux")]
mod hostile;
mod http;
mod influence;
mod journal;
mod labels;
mod names;
#[cfg(target_os = "linux")]
mod nodes;
#[cfg(unix)]
mod ohttp;
mod openapi;
#[cfg(unix)]
mod operate;
mod plan;
mod salvage;
mod schema;
#[cfg(unix)]
mod shuffle;
#[cfg(unix)]
mod shutdown;
mod simulate;
mod support;
