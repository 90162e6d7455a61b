//! Mechanisms from their definitions, by brute force.

pub mod coco;
pub mod collision;
pub mod exact;
pub mod hash_bin;

use std::collections::BTreeMap;

/// Returns the least and the greatest probability of each output, over distributions that each sum
/// to 1.
pub fn extremes(laws: impl IntoIterator<Item = Vec<f64>>) -> Vec<[f64; 2]> {
    let mut extremes = Vec::new();
    for law in laws {
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        extremes.resize(law.len(), [f64::INFINITY, 0.0]);
        for (p, [least, most]) in law.into_iter().zip(&mut extremes) {
            (*least, *most) = (least.min(p), most.max(p));
        }
    }
    extremes
}

/// Returns the greatest privacy loss: the logarithm of the greatest ratio of an output's
/// probabilities under two of these distributions.
pub fn loss(laws: impl IntoIterator<Item = Vec<f64>>) -> f64 {
    let losses = extremes(laws).into_iter();
    let losses = losses.map(|[least, most]| (most / least).ln());
    losses.fold(0.0, f64::max)
}

/// Returns for each place how many sets contain it, and the number of all sets, up to a common
/// factor. The sets have `favoured` places of which none is weaker than a place outside.
///
/// Places of equal strength that tie for the last ones are in equally many sets.
pub fn share_places(favoured: u32, strengths: &[i64]) -> Vec<[u32; 2]> {
    let mut counts = BTreeMap::new();
    for &strength in strengths {
        *counts.entry(strength).or_insert(0) += 1;
    }
    let mut stronger = 0;
    let mut shares = BTreeMap::new();
    for (&strength, &equal) in counts.iter().rev() {
        shares.insert(strength, [u32::min(favoured - stronger, equal), equal]);
        stronger = favoured.min(stronger + equal);
    }
    strengths.iter().map(|strength| shares[strength]).collect()
}
