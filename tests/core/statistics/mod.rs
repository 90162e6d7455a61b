//! Frequencies of what is drawn, from fixed seeds: each comparison would fail
//! by chance with probability 10⁻⁶ at most, shared among its cells.

mod coco;
mod collision;
mod domain;
mod hash;
mod hash_bin;
mod sample;
