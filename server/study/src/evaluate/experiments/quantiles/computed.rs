//! Variances of estimated distribution functions. The range of a number is divided into cells, and
//! the estimates are the shares of people below the edges between cells. Variances are computed by
//! formula, for people who are spread evenly over the cells.

use hushbin::Mechanism;
use hushbin::mechanism::pattern::{Pattern, PatternEstimator, triangular_cdf};

use super::mechanisms::{HIERARCHY_NAME, PATTERN_NAME, quantile_task};
use crate::competitors::Budget;
use crate::competitors::distribution::{BinSelection, HierarchicalHistogram};
use crate::evaluate::crowd::number::NumberScale;
use crate::evaluate::measure::experiment::{Measurement, MeasurementPoint, StudyError};

/// Numbers of cells for which variances are computed.
pub(super) const COMPUTED_CELL_COUNTS: [u32; 3] = [32, 64, 128];
/// Values of ε for which variances are computed.
pub(super) const COMPUTED_EPSILONS: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// Estimand in tables: the share of people below each edge.
pub(super) const SHARES_BELOW_ESTIMAND: &str = "shares below edges";
/// Estimand in tables: the share of people below each edge, smoothed over neighbouring edges.
pub(super) const SMOOTHED_SHARES_ESTIMAND: &str = "shares below edges, averaged over an eighth";
/// Metric: variance of one report's estimate, averaged over edges.
pub(super) const MEAN_EDGE_VARIANCE_METRIC: &str = "mean variance of one report";
/// Metric: [`MEAN_EDGE_VARIANCE_METRIC`] divided by [`edge_variance_lower_bound`].
pub(super) const VARIANCE_OVER_BOUND_METRIC: &str = "mean variance over the lower bound";
/// Metric: lower bound on [`MEAN_EDGE_VARIANCE_METRIC`] for all unbiased mechanisms.
pub(super) const VARIANCE_BOUND_METRIC: &str = "lower bound of the mean variance";
/// Name of the window mechanism over cells: the discrete form of Square Wave, with an unbiased
/// estimate.
pub(super) const WINDOW_NAME: &str = "window";
/// Name of subset selection among all cells.
pub(super) const CELL_CHOICE_NAME: &str = "choice of a cell";

/// Name, in tables, of the mechanisms that the lower bound covers.
const ANY_MECHANISM_NAME: &str = "any unbiased mechanism";

/// Returns a lower bound on the variance of unbiased estimates of the shares below edges, averaged
/// over edges, if people are spread evenly over the cells.
fn edge_variance_lower_bound(cells: u32, epsilon: f64) -> f64 {
    let k = f64::from(cells);
    let term = |l: u32| 0.5 / (k.sqrt() * (std::f64::consts::PI * f64::from(l) / (2.0 * k)).sin());
    let sum: f64 = (1..cells).map(term).sum();
    sum * sum / (k - 1.0) * 4.0 * epsilon.exp() / epsilon.exp_m1().powi(2)
}

/// Returns two variances of one report's estimates, averaged over the edges between cells. The
/// first is for the share of people below an edge. The second is for this share after smoothing by
/// a triangle, which extends over an eighth of the cells to either side. `variance` returns the
/// variance of a weighted sum of the cells' shares.
fn raw_and_smoothed_variances(cells: u32, variance: &dyn Fn(&[f64]) -> f64) -> [f64; 2] {
    let mean = |width: f64| {
        let of_edge = |edge: u32| {
            let weight = |cell| triangular_cdf((f64::from(edge) - f64::from(cell) - 0.5) / width);
            variance(&(0..cells).map(weight).collect::<Vec<f64>>())
        };
        (1..cells).map(of_edge).sum::<f64>() / f64::from(cells - 1)
    };
    // A triangle of half a cell does not smooth: the result is the share below the edge itself.
    [0.5, f64::from(cells) / 8.0].map(mean)
}

fn estimator_edge_variances(rates: &PatternEstimator) -> [f64; 2] {
    raw_and_smoothed_variances(rates.cell_count() as u32, &|weights| {
        rates.variance_for_even_cells(weights)
    })
}

/// Returns the two [`raw_and_smoothed_variances`] of the window mechanism with the best width.
fn best_window_edge_variances(cells: u32, epsilon: f64) -> Result<[f64; 2], StudyError> {
    let of = |width: u32| {
        let favoured: Vec<u32> = (0..width).collect();
        let pattern = Pattern::new(cells + width - 1, favoured)?;
        Ok::<_, StudyError>(estimator_edge_variances(
            &pattern.share_estimator(cells, epsilon),
        ))
    };
    // The variance falls up to the best width and rises from there, so a ternary search finds it.
    // Only a window of one output (generalised randomised response) may be better than its
    // neighbours, so it is tried separately.
    let (mut narrow, mut wide) = (2, cells);
    while wide - narrow > 2 {
        let third = (wide - narrow) / 3;
        let [low, high] = [narrow + third, wide - third];
        if of(low)?[0] <= of(high)?[0] {
            wide = high;
        } else {
            narrow = low;
        }
    }
    let mut best = of(1)?;
    for width in narrow..=wide {
        let own = of(width)?;
        if own[0] < best[0] {
            best = own;
        }
    }
    Ok(best)
}

/// Returns the two [`raw_and_smoothed_variances`] of the pattern mechanism that the library chooses.
fn pattern_edge_variances(cells: u32, epsilon: f64) -> Result<[f64; 2], StudyError> {
    let task = quantile_task(cells, epsilon, NumberScale::Linear)?;
    match task.questions()[0].mechanism() {
        Mechanism::Pattern(pattern) => Ok(estimator_edge_variances(
            &pattern.share_estimator(cells, epsilon),
        )),
        _ => Err(StudyError::invalid_draft(
            PATTERN_NAME,
            &"the task has another mechanism",
        )),
    }
}

/// Computes the variances of all mechanisms, and the lower bound, for this number of cells.
pub(super) fn formula_measurements(cells: u32) -> Result<Vec<Measurement>, StudyError> {
    let mut rows = Vec::new();
    for epsilon in COMPUTED_EPSILONS {
        let budget = Budget::new(epsilon, 0.0)?;
        let bins = BinSelection::new(cells, &budget)?;
        let hierarchy = HierarchicalHistogram::new(cells.ilog2() as usize, &budget)?;
        let all = [
            (PATTERN_NAME, pattern_edge_variances(cells, epsilon)?),
            (
                HIERARCHY_NAME,
                raw_and_smoothed_variances(cells, &|of| hierarchy.weighted_sum_variance(of)),
            ),
            (
                CELL_CHOICE_NAME,
                raw_and_smoothed_variances(cells, &|weights| bins.weighted_sum_variance(weights)),
            ),
            (WINDOW_NAME, best_window_edge_variances(cells, epsilon)?),
        ];
        let least = edge_variance_lower_bound(cells, epsilon);
        let point = MeasurementPoint {
            people: 1,
            items: cells,
            sparsity: 1,
            epsilon,
            delta: 0.0,
            parameter: 0.0,
        };
        let mut add = |mechanism: &str, estimand: &str, metric: &str, value: f64| {
            rows.push(Measurement::new(point, mechanism, estimand, metric, value));
        };
        for (mechanism, [sharp, smooth]) in all {
            let metric = MEAN_EDGE_VARIANCE_METRIC;
            add(mechanism, SHARES_BELOW_ESTIMAND, metric, sharp);
            add(mechanism, SMOOTHED_SHARES_ESTIMAND, metric, smooth);
            let ratio = sharp / least;
            add(
                mechanism,
                SHARES_BELOW_ESTIMAND,
                VARIANCE_OVER_BOUND_METRIC,
                ratio,
            );
        }
        add(
            ANY_MECHANISM_NAME,
            SHARES_BELOW_ESTIMAND,
            VARIANCE_BOUND_METRIC,
            least,
        );
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variances of window mechanisms and lower bounds agree with an independent program to three
    /// digits. The library's patterns may be better than the patterns that this program knows.
    #[test]
    fn variances_are_those_computed_elsewhere() {
        let rows = formula_measurements(64).unwrap();
        let found = |mechanism: &str, estimand: &str, metric: &str, epsilon: f64| {
            let mut here = rows.iter().filter(|row| {
                (row.mechanism.as_str(), row.estimand.as_str()) == (mechanism, estimand)
                    && (row.metric.as_str(), row.point.epsilon) == (metric, epsilon)
            });
            here.next().unwrap().value
        };
        for (epsilon, [wave, least], [sharp, smooth]) in [
            (0.5, [217.0, 39.8], [59.2, 17.1]),
            (1.0, [46.5, 9.35], [16.7, 3.99]),
            (2.0, [8.31, 1.84], [3.11, 0.843]),
        ] {
            for (value, stated) in [
                (
                    found(
                        WINDOW_NAME,
                        SHARES_BELOW_ESTIMAND,
                        MEAN_EDGE_VARIANCE_METRIC,
                        epsilon,
                    ),
                    wave,
                ),
                (
                    found(
                        ANY_MECHANISM_NAME,
                        SHARES_BELOW_ESTIMAND,
                        VARIANCE_BOUND_METRIC,
                        epsilon,
                    ),
                    least,
                ),
            ] {
                let ratio: f64 = value / stated;
                assert!((ratio - 1.0).abs() < 0.02, "{epsilon}: {value} {stated}");
            }
            let pattern = found(
                PATTERN_NAME,
                SHARES_BELOW_ESTIMAND,
                MEAN_EDGE_VARIANCE_METRIC,
                epsilon,
            );
            assert!(pattern < 1.001 * sharp, "{epsilon}: {pattern}");
            let pattern = found(
                PATTERN_NAME,
                SMOOTHED_SHARES_ESTIMAND,
                MEAN_EDGE_VARIANCE_METRIC,
                epsilon,
            );
            assert!(pattern < 1.05 * smooth, "{epsilon}: {pattern}");
        }
        assert!(
            rows.iter()
                .all(|row| row.metric != VARIANCE_OVER_BOUND_METRIC || row.value > 1.0)
        );
    }
}
