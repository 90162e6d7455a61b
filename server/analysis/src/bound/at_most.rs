//! Sets of at most s items: estimates are unbiased for the empty set too.

use super::sums::Hits;
use super::told::Told;

/// Every number of favoured items up to this is tried, then steps of [`STEP`].
pub(super) const ALL: u32 = 256;
/// Ratio of neighbouring numbers of favoured items beyond [`ALL`].
const STEP: f64 = 1.05;
/// Halvings of an interval of multipliers.
const HALVINGS: usize = 60;

/// Sets of inputs with s items, each with the empty input outside or inside.
pub(super) struct AtMost {
    sets: Vec<Inside>,
    /// e.
    odds: f64,
}

/// One set S of inputs with s items.
#[derive(Debug, Clone, Copy)]
struct Inside {
    /// 1 + (e − 1)·Pr S.
    weight: f64,
    /// A₂.
    presence: f64,
}

/// A kind of report: with ρ, its odds for the empty input against an average one of s items.
#[derive(Debug, Clone, Copy)]
struct Report {
    value: f64,
    ratio: f64,
    presence: f64,
}

impl AtMost {
    pub(super) fn new(items: u32, entries: u32, excess: f64) -> Self {
        let nothing = Inside {
            weight: 1.0,
            presence: 0.0,
        };
        let mut sets = vec![nothing];
        let next = |k: &u32| Some(((f64::from(*k) * STEP) as u32).max(k + 1));
        let favoured = std::iter::successors(
            Some(1),
            |k: &u32| {
                if *k < ALL { Some(k + 1) } else { next(k) }
            },
        );
        for favoured in favoured.take_while(|k| *k < items) {
            let [d, k] = [items, favoured].map(f64::from);
            let average = k * f64::from(entries) / d;
            let hits: Vec<(u32, f64)> = Hits::new(items, entries, favoured).iter().collect();
            let [mut mass, mut beyond] = [0.0; 2];
            // Those with the most hits come first.
            for (h, p) in hits.into_iter().rev() {
                mass += p;
                beyond += p * (f64::from(h) - average);
                let weight = 1.0 + excess * mass;
                // 1/k + 1/(d − k): the others lack what the favoured have.
                let presence = (excess * beyond / weight).powi(2) * d / (k * (d - k));
                sets.push(Inside { weight, presence });
            }
        }
        Self {
            sets,
            odds: 1.0 + excess,
        }
    }

    /// The most told of how many items there are, B, and of which, A₂, with these weights.
    ///
    /// The empty input is as likely to make some report as any other, E[ρ] = 1. So the greatest
    /// average of λ₁(ρ − 1)² + λ₂A₂ is the least, over multipliers m, of the greatest value of
    /// λ₁(ρ − 1)² + λ₂A₂ − m(ρ − 1). Reports that are likelier from the empty input lose by a
    /// greater m and the others gain, so that the least is where the best of both are equal.
    pub(super) fn most(&self, weights: [f64; 2]) -> Told {
        let best = |multiplier: f64, odds: f64| {
            let of = |set: &Inside| {
                let ratio = odds / set.weight;
                let beyond = ratio - 1.0;
                let told = weights[0] * beyond * beyond + weights[1] * set.presence;
                Report {
                    value: told - multiplier * beyond,
                    ratio,
                    presence: set.presence,
                }
            };
            let reports = self.sets.iter().map(of);
            reports.max_by(|a, b| a.value.total_cmp(&b.value))
        };
        let both = |multiplier: f64| {
            let [low, high] = [1.0, self.odds].map(|odds| best(multiplier, odds));
            low.zip(high).expect("there is a set")
        };
        let falls = |multiplier: f64| {
            let (low, high) = both(multiplier);
            low.value < high.value
        };
        let mut most = weights[0] * self.odds + weights[1];
        while falls(most) {
            most *= 2.0;
        }
        let mut least = -most;
        while !falls(least) {
            least *= 2.0;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (least + most);
            if falls(middle) {
                least = middle;
            } else {
                most = middle;
            }
        }
        let (low, high) = both(most);
        mixed(low, high)
    }

    /// What all mixtures of two kinds of reports tell.
    #[cfg(test)]
    pub(super) fn pairs(&self) -> Vec<Told> {
        let report = |set: &Inside, odds: f64| Report {
            value: 0.0,
            ratio: odds / set.weight,
            presence: set.presence,
        };
        let pair = |low, high| mixed(report(low, 1.0), report(high, self.odds));
        let all = self.sets.iter();
        all.flat_map(|low| self.sets.iter().map(move |high| pair(low, high)))
            .collect()
    }
}

/// What a mixture of reports tells that is as likely for the empty input as on average.
fn mixed(low: Report, high: Report) -> Told {
    let apart = high.ratio - low.ratio;
    let part = if apart > 0.0 {
        (1.0 - low.ratio) / apart
    } else {
        0.0
    };
    let mean = |low: f64, high: f64| low + part * (high - low);
    Told {
        sign: mean((low.ratio - 1.0).powi(2), (high.ratio - 1.0).powi(2)),
        presence: mean(low.presence, high.presence),
    }
}
