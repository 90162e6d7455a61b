//! The core through its public interface, natively.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used)]

mod budget;
mod canonical;
mod choose;
mod codec;
mod cross;
mod epsilon;
mod errata;
mod fingerprints;
mod hash;
mod memo;
mod occupancy;
mod pages;
mod pattern;
mod privacy;
mod questions;
mod rates;
mod reference;
mod stability;
mod statistics;
mod sums;
mod support;
mod task;
mod text;
mod together;
mod uploads;
mod window;
mod windows;
