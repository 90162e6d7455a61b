//! Tests of published mechanisms for rated items.

mod errata;
mod fuzz;
mod models;
mod printed;
mod privacy;
mod reference;
mod samplers;
mod simulation;
