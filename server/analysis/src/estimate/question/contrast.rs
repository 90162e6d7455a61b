//! Sums of the shares of a row's cells that are 0 where its ratio is what it is, and how
//! they vary: what errors of ratios are made of, to first order.

use hushbin::mechanism::collision::Rates;

use crate::estimate::point::People;

/// Cells that weigh the same in a sum.
pub(crate) struct Part {
    /// In steps.
    pub(crate) weight: f64,
    pub(crate) cells: f64,
    pub(crate) share: f64,
}

/// A weighted sum of the shares of a row's cells, and what these may be.
pub(crate) struct Contrast {
    pub(crate) parts: Vec<Part>,
}

impl Contrast {
    /// Variance of one report's estimate of the sum, of people of whom it is 0.
    ///
    /// Of second moments the squares of people's means are to subtract where people are
    /// given; of those rounded a quarter of a step's square less.
    pub(crate) fn variance(&self, rates: &Rates, whose: People) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.cells * part.weight).sum();
        let squares = self
            .parts
            .iter()
            .map(|part| part.cells * part.weight.powi(2));
        let (squares, none): (f64, f64) = (squares.sum(), rates.p_false * sum);
        let square = |own: f64| {
            rates.score_square(own, sum, squares) - none * none - 2.0 * none * own * rates.gap()
        };
        let (mut variance, mut means, mut row) = (0.0, 0.0, 0.0);
        for Part { weight, share, .. } in &self.parts {
            variance += share * square(*weight);
            means += share * weight * weight;
            row += share;
        }
        variance += (1.0 - row) * square(0.0);
        let means = match whose {
            People::Given => means,
            People::Rounded => (means - 0.25 * row).max(0.0),
            People::Drawn => 0.0,
        };
        variance / (rates.gap() * rates.gap()) - means
    }

    /// A bound of the cumulant of one report's score, the weight of the cell that it names:
    /// of people drawn, or, where they are given, the mean of theirs.
    ///
    /// A mean of logarithms is the logarithm of a mean at most. Of one who is rounded the cumulant
    /// is above what is between those of two neighbours by t²/8 at most (Hoeffding's lemma).
    pub(crate) fn cumulant(&self, rates: &Rates, whose: People, t: f64) -> f64 {
        let grown = |part: &Part| (t * part.weight).exp_m1();
        let any = self.parts.iter().map(|part| part.cells * grown(part));
        let any = rates.p_false * any.sum::<f64>();
        let (mut drawn, mut given, mut row) = (any, 0.0, 0.0);
        for part in &self.parts {
            let own = rates.gap() * grown(part);
            drawn += part.share * own;
            given += part.share * (any + own).ln_1p();
            row += part.share;
        }
        given += (1.0 - row) * any.ln_1p();
        match whose {
            People::Given => given,
            People::Rounded => drawn.ln_1p().min(given + row * t * t / 8.0),
            People::Drawn => drawn.ln_1p(),
        }
    }
}

/// Variance of one report's estimate of the mean place, from 0 to 1 over so many `levels`,
/// of the people of a row that this `share` of all is in: to first order (delta method), as
/// it is stated with estimates, at its worst over means and over what these people answer.
///
/// At any mean that variance is linear in the mean square of people's levels, but for what
/// is off for rounding: it is greatest where all are at the mean, or all at the ends. Means
/// are tried at every quarter of a step.
pub(crate) fn worst_of_mean(whose: People, rates: &Rates, levels: u32, share: f64) -> f64 {
    let steps = levels - 1;
    let at = |quarter: u32| {
        let mean = f64::from(quarter) / 4.0;
        let below = (quarter / 4).min(steps - 1);
        [[below, below + 1], [0, steps]]
            .map(|levels| between(levels, mean, steps, share).variance(rates, whose))
            .into_iter()
            .fold(0.0, f64::max)
    };
    // One direction is as the other.
    let worst = (2 * steps..=4 * steps).map(at).fold(0.0, f64::max);
    worst / (share * f64::from(steps)).powi(2)
}

/// Of a row's people at these two levels, whose mean this is, in steps.
fn between([below, above]: [u32; 2], mean: f64, steps: u32, share: f64) -> Contrast {
    let high = (mean - f64::from(below)) / f64::from(above - below);
    let part = |level: u32| Part {
        weight: f64::from(level) - mean,
        cells: 1.0,
        share: match level {
            _ if level == below => share * (1.0 - high),
            _ if level == above => share * high,
            _ => 0.0,
        },
    };
    Contrast {
        parts: (0..=steps).map(part).collect(),
    }
}
