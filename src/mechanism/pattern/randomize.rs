//! Sampler of the pattern mechanism's reports.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::parameters::Pattern;
use crate::domain::Entry;
use crate::mechanism::contract::Randomize;
use crate::mechanism::subset::BucketReport as Report;
use crate::sample::{Threshold, draw_below};

/// Sampler of the pattern mechanism's reports, from entries that have been checked.
/// [`crate::Randomizer`] includes the checks.
///
/// ```
/// use hushbin::mechanism::pattern::{Pattern, Randomizer};
///
/// let pattern = Pattern::new(5, [0, 1])?;
/// let output_probabilities = Randomizer::new(&pattern, 1.0).output_probabilities(4);
/// assert!(output_probabilities[4] == output_probabilities[0] && output_probabilities[0] > output_probabilities[1]);
/// assert!((output_probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Randomizer {
    /// Outputs that cell 0 favours, followed by all other outputs.
    pub(super) outputs_favoured_first: Vec<u32>,
    pub(super) favoured_output_count: u32,
    pub(super) favoured_threshold: Threshold,
}

impl Randomizer {
    /// Creates the sampler for the parameters and ε of one [`Task`](crate::Task).
    #[must_use]
    pub fn new(pattern: &Pattern, epsilon: f64) -> Self {
        let others =
            (0..pattern.output_count()).filter(|output| !pattern.cell_favours_output(0, *output));
        Self {
            outputs_favoured_first: pattern
                .favoured_outputs()
                .iter()
                .copied()
                .chain(others)
                .collect(),
            favoured_output_count: pattern.favoured_outputs().len() as u32,
            favoured_threshold: pattern
                .favoured_output_thresholds(epsilon)
                .favoured_threshold(1),
        }
    }
}

impl Randomize for Randomizer {
    type Report = Report;

    /// Draws a word that decides whether the reported output is a favoured one. Then draws the rank
    /// of the output among the favoured outputs, or among the other outputs.
    fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        entries: &[Entry],
        seed: u64,
        rng: &mut R,
        report: &mut Report,
    ) -> bool {
        let outputs = self.outputs_favoured_first.len() as u32;
        let rank = if self.favoured_threshold.draw_bool(rng) {
            draw_below(rng, self.favoured_output_count)
        } else {
            self.favoured_output_count + draw_below(rng, outputs - self.favoured_output_count)
        };
        // The output is drawn as if for cell 0, and rotated by the person's cell at the end. So
        // draws and table look-ups do not depend on the input. A checked input has exactly one
        // entry.
        let bucket =
            (self.outputs_favoured_first[rank as usize] + entries[0].item as u32) % outputs;
        *report = Report { seed, bucket };
        false
    }
}
