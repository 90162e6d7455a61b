//! Tests of explanations and of both ways of asking, through the crate's public interface.

#![allow(clippy::unwrap_used)]

mod both;
mod explain;
mod explain_answers;
mod numbers;
