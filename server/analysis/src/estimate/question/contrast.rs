//! Contrasts, which test a ratio. A contrast is a weighted sum of the shares in a row of a
//! cross-tabulation. The sum is 0 if the tested ratio is the true one.

use hushbin::mechanism::collision::CollisionHitProbabilities;

use crate::estimate::point::SamplingModel;

/// Group of cells that have equal weight in a contrast.
pub(crate) struct WeightedCells {
    /// Weight of each cell, in steps (the distance between neighbouring positions).
    pub(crate) cell_weight: f64,
    pub(crate) cell_count: f64,
    pub(crate) total_share: f64,
}

/// A weighted sum of the shares of a row's cells. The assumed shares make the sum 0.
pub(crate) struct Contrast {
    pub(crate) cell_groups: Vec<WeightedCells>,
}

impl Contrast {
    /// Returns the variance of one report's contribution to the estimated sum, in squared steps.
    /// The variance is for the assumed shares.
    pub(crate) fn contribution_variance(
        &self,
        rates: &CollisionHitProbabilities,
        whose: SamplingModel,
    ) -> f64 {
        let sum: f64 = self
            .cell_groups
            .iter()
            .map(|part| part.cell_count * part.cell_weight)
            .sum();
        let squares = self
            .cell_groups
            .iter()
            .map(|part| part.cell_count * part.cell_weight.powi(2));
        let (squares, none): (f64, f64) = (squares.sum(), rates.p_false * sum);
        // Mean squared score for a person in a cell of weight `own`. The score is centred by
        // subtracting its expectation without that cell.
        let square = |own: f64| {
            rates.score_second_moment(own, sum, squares)
                - none * none
                - 2.0 * none * own * rates.hit_probability_gap()
        };
        let (mut variance, mut means, mut row) = (0.0, 0.0, 0.0);
        for WeightedCells {
            cell_weight: weight,
            total_share: share,
            ..
        } in &self.cell_groups
        {
            variance += share * square(*weight);
            means += share * weight * weight;
            row += share;
        }
        variance += (1.0 - row) * square(0.0);
        // For a fixed population, subtract the square of each person's expected contribution. If
        // numbers are rounded, its mean is at least that of the squared weights minus 1/4.
        let means = match whose {
            SamplingModel::FixedPopulation => means,
            SamplingModel::RoundedValues => (means - 0.25 * row).max(0.0),
            SamplingModel::RandomSample => 0.0,
        };
        variance / (rates.hit_probability_gap() * rates.hit_probability_gap()) - means
    }

    /// Returns an upper bound on the cumulant generating function of one report's score at `t`.
    ///
    /// The score is the sum of the weights of the cells that the report hits. For a random sample,
    /// the function is that of a person drawn at random. For a fixed population, it is the mean of
    /// people's individual functions.
    pub(crate) fn score_cumulant_bound(
        &self,
        rates: &CollisionHitProbabilities,
        whose: SamplingModel,
        t: f64,
    ) -> f64 {
        let grown = |part: &WeightedCells| (t * part.cell_weight).exp_m1();
        let any = self
            .cell_groups
            .iter()
            .map(|part| part.cell_count * grown(part));
        let any = rates.p_false * any.sum::<f64>();
        let (mut drawn, mut given, mut row) = (any, 0.0, 0.0);
        for part in &self.cell_groups {
            let own = rates.hit_probability_gap() * grown(part);
            drawn += part.total_share * own;
            given += part.total_share * (any + own).ln_1p();
            row += part.total_share;
        }
        given += (1.0 - row) * any.ln_1p();
        // ln is concave, so the mean of logarithms is at most the logarithm of the mean. A person
        // whose number is rounded at random exceeds the interpolation between the two levels by at
        // most t²/8 (Hoeffding's lemma).
        match whose {
            SamplingModel::FixedPopulation => given,
            SamplingModel::RoundedValues => drawn.ln_1p().min(given + row * t * t / 8.0),
            SamplingModel::RandomSample => drawn.ln_1p(),
        }
    }
}

/// Returns the maximum variance of one report's contribution to the mean within a row of a
/// cross-tabulation.
///
/// The mean is a position from 0 to 1 over `levels` levels. A fraction `share` of all people is in
/// the row. The variance is the first-order approximation (delta method) that standard errors use.
/// The maximum is over the mean and over the answers of the people in the row.
pub(crate) fn max_row_mean_report_variance(
    whose: SamplingModel,
    rates: &CollisionHitProbabilities,
    levels: u32,
    share: f64,
) -> f64 {
    let steps = levels - 1;
    let at = |quarter: u32| {
        // For a fixed mean, the variance is linear in the mean square of people's levels, except
        // for the rounding term. So in the maximum, all people are next to the mean or all at the
        // ends. Means are tried in quarter steps.
        let mean = f64::from(quarter) / 4.0;
        let below = (quarter / 4).min(steps - 1);
        [[below, below + 1], [0, steps]]
            .map(|levels| {
                contrast_of_two_level_row(levels, mean, steps, share)
                    .contribution_variance(rates, whose)
            })
            .into_iter()
            .fold(0.0, f64::max)
    };
    // By symmetry, it is enough to try means in the upper half of the range.
    let worst = (2 * steps..=4 * steps).map(at).fold(0.0, f64::max);
    worst / (share * f64::from(steps)).powi(2)
}

/// Returns the contrast for a row whose people are all at two levels. `mean` is the mean of their
/// levels, in steps.
fn contrast_of_two_level_row(
    [below, above]: [u32; 2],
    mean: f64,
    steps: u32,
    share: f64,
) -> Contrast {
    let high = (mean - f64::from(below)) / f64::from(above - below);
    let part = |level: u32| WeightedCells {
        cell_weight: f64::from(level) - mean,
        cell_count: 1.0,
        total_share: match level {
            _ if level == below => share * (1.0 - high),
            _ if level == above => share * high,
            _ => 0.0,
        },
    };
    Contrast {
        cell_groups: (0..=steps).map(part).collect(),
    }
}
