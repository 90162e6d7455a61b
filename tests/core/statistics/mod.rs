//! Frequencies of random draws, from fixed seeds. Each comparison fails by chance with probability
//! at most 10⁻⁶, shared among its cells.

mod coco;
mod collision;
mod domain;
mod hash;
mod hash_bin;
mod sample;
