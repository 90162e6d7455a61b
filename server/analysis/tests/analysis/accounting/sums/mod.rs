//! Sums of unit messages, against numbers computed independently and against whole sums.

mod brute;
mod exact;
mod monotone;
mod reference;

use hushbin_analysis::accounting::sums::{Senders, UnitNoise};

/// 2⁶⁴.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// Noise of a probability.
fn noise(coordinates: u32, levels: u32, trials: u64, q: f64) -> UnitNoise {
    UnitNoise::new(coordinates, levels, trials, (q * SCALE) as u64).unwrap()
}

/// People of whom each uses all coordinates.
fn senders(coordinates: u32, levels: u32, honest_people: u64, repeats: u32) -> Senders {
    Senders {
        coordinates,
        used: coordinates,
        levels,
        honest_people,
        repeats,
    }
}
