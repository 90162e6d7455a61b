//! Smallest variance for questions whose answer is a set of at most s items. Estimates must be
//! unbiased for the empty set, too. The module [`bound`](super) defines the symbols.

use super::direction_search::geometric_grid;
use super::information::Information;
use super::sums_over_inputs::HitDistribution;

/// Ratio between successive numbers of favoured items that are tried. Up to 200, every number is
/// tried.
const FAVOURED_COUNT_RATIO: f64 = 1.005;
/// Number of bisection steps for finding the multiplier m.
const BISECTION_STEPS: usize = 60;

/// Candidate sets of inputs with s items. Each set is considered with and without the empty input.
pub(super) struct SearchWithEmptyInput {
    /// Average weight 1 + (e − 1)·Pr S of an input for each set S, and the information A₂ about
    /// presence.
    pub(super) weight_and_presence_of_sets: Vec<[f64; 2]>,
    /// Odds e = exp(ε).
    pub(super) exp_epsilon: f64,
}

/// Report, described by the ratio ρ and the information about presence, A₂. ρ is the report's
/// probability for the empty input, divided by its average probability over the inputs with s
/// items.
type RatioAndPresenceInformation = [f64; 2];

impl SearchWithEmptyInput {
    pub(super) fn new(items: u32, entries: u32, excess: f64) -> Self {
        let mut sets = vec![[1.0, 0.0]];
        for favoured in geometric_grid(items - 1, FAVOURED_COUNT_RATIO) {
            let [d, k] = [items, favoured].map(f64::from);
            let average = k * f64::from(entries) / d;
            let hits: Vec<(u32, f64)> = HitDistribution::new(items, entries, favoured)
                .iter()
                .collect();
            let [mut mass, mut beyond] = [0.0; 2];
            // Add the inputs with the most hits first.
            for (h, p) in hits.into_iter().rev() {
                mass += p;
                beyond += p * (f64::from(h) - average);
                let weight = 1.0 + excess * mass;
                // The last factor is 1/k + 1/(d − k), from the favoured items and the other ones.
                let presence = (excess * beyond / weight).powi(2) * d / (k * (d - k));
                sets.push([weight, presence]);
            }
        }
        let odds = 1.0 + excess;
        Self {
            weight_and_presence_of_sets: sets,
            exp_epsilon: odds,
        }
    }

    /// Returns the information of the mixture of reports that maximises λ₁·B + λ₂·A₂. `weights` are
    /// λ₁ and λ₂. B = E\[(ρ − 1)²\] is the information about the empty input, A₂ the information
    /// about presence.
    ///
    /// The report probabilities for the empty input sum to 1, so E\[ρ\] = 1. By duality, the
    /// maximum is min over multipliers m of max over reports of λ₁(ρ − 1)² + λ₂·A₂ − m(ρ − 1).
    pub(super) fn max_information(&self, weights: [f64; 2]) -> Information {
        // As m increases, the value decreases for reports with ρ ≥ 1 and increases for those with ρ
        // ≤ 1. At the optimum, the maxima over both kinds of report are equal.
        let best = |multiplier: f64, odds: f64| -> (f64, RatioAndPresenceInformation) {
            let value = |[weight, presence]: &[f64; 2]| {
                let beyond = odds / weight - 1.0;
                let told = weights[0] * beyond * beyond + weights[1] * presence;
                (told - multiplier * beyond, [odds / weight, *presence])
            };
            let best = self
                .weight_and_presence_of_sets
                .iter()
                .map(value)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            best.expect("the empty set is one")
        };
        let both = |multiplier: f64| [1.0, self.exp_epsilon].map(|odds| best(multiplier, odds));
        let falls = |multiplier: f64| {
            let [low, high] = both(multiplier);
            low.0 < high.0
        };
        // Double the bracket until it contains the multiplier at which the two maxima are equal.
        let mut most = weights[0] * self.exp_epsilon + weights[1];
        while falls(most) {
            most *= 2.0;
        }
        let mut least = -most;
        while !falls(least) {
            least *= 2.0;
        }
        for _ in 0..BISECTION_STEPS {
            let middle = 0.5 * (least + most);
            *(if falls(middle) { &mut least } else { &mut most }) = middle;
        }
        report_mixture_information(both(most).map(|(_, report)| report))
    }
}

/// Returns the information of a mixture of two reports, in the proportions for which the average
/// ratio ρ is 1.
pub(super) fn report_mixture_information(
    [low, high]: [RatioAndPresenceInformation; 2],
) -> Information {
    let apart = high[0] - low[0];
    let part = (1.0 - low[0]) / if apart > 0.0 { apart } else { 1.0 };
    let mean = |low: f64, high: f64| low + part * (high - low);
    Information {
        sign_information: mean((low[0] - 1.0).powi(2), (high[0] - 1.0).powi(2)),
        presence_information: mean(low[1], high[1]),
    }
}
