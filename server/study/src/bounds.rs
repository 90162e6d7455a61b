//! Figure of the central ε of a shuffled batch, by hushbin's accounting and by the published
//! bounds. The curves show the central ε as a function of the number of reports, and as a function
//! of the local ε.

use hushbin::bounds::EPSILON_RANGE;
use hushbin_analysis::accounting::{
    HONEST_REPORT_COUNT_RANGE, REPORT_COUNT_RANGE, ReportMixture, compute_batch_privacy,
};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::figure::{Curve, Figure, Panel};
use crate::output::{Error, progress_bar};
use crate::published::published_bounds;

/// Parameters of the shuffled batch in the middle of the curves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShuffledBatch {
    pub(crate) epsilon: f64,
    pub(crate) report_count: u64,
    pub(crate) honest_fraction: f64,
    pub(crate) delta: f64,
}

/// Number of points of a curve.
const CURVE_POINT_COUNT: u32 = 49;

/// Computes the figure. `at` returns, for a local ε, the mechanism of the reports, written as a
/// mixture.
///
/// # Errors
/// Any error that `at` returns, and any error of the bounds.
pub(crate) fn central_epsilon_figure(
    batch: &ShuffledBatch,
    at: impl Fn(f64) -> Result<ReportMixture, Error> + Sync,
) -> Result<Figure, Error> {
    let ShuffledBatch {
        epsilon,
        report_count: reports,
        honest_fraction,
        delta,
    } = *batch;
    // The curves extend by a factor of 100 in the number of reports, and of 10 in ε, to either
    // side.
    let fewest = REPORT_COUNT_RANGE
        .min
        .max((HONEST_REPORT_COUNT_RANGE.min / honest_fraction).ceil());
    let sizes = geometric_points(reports as f64, 100.0, fewest, REPORT_COUNT_RANGE.max);
    let budgets = geometric_points(epsilon, 10.0, EPSILON_RANGE.min, EPSILON_RANGE.max);
    let bar = progress_bar(2 * u64::from(CURVE_POINT_COUNT), "batches");
    let here = at(epsilon)?;
    let by_reports = central_epsilon_curves(&sizes, &bar, |reports| {
        central_epsilon_by_bound(&here, reports.round() as u64, honest_fraction, delta)
    })?;
    let by_epsilon = central_epsilon_curves(&budgets, &bar, |epsilon| {
        central_epsilon_by_bound(&at(epsilon)?, reports, honest_fraction, delta)
    })?;
    bar.finish_and_clear();
    let panel = |title, curves| Panel { title, curves };
    Ok(Figure {
        name: "bounds".to_owned(),
        title: format!("Central ε of a shuffled batch at δ = {delta:e}"),
        // Each panel has its own axis, which its title names.
        x_label: "",
        y_label: "central ε (nats)",
        are_x_and_y_logarithmic: [true; 2],
        panels: vec![
            panel(
                format!(
                    "by reports in the batch, local ε = {}",
                    (epsilon * 1e4).round() / 1e4
                ),
                by_reports,
            ),
            panel(
                format!("by local ε of a report (nats), n = {reports}"),
                by_epsilon,
            ),
        ],
    })
}

/// Returns [`CURVE_POINT_COUNT`] geometrically spaced numbers from `middle / reach` to `middle · reach`. Both
/// ends are limited to `min..=max`.
fn geometric_points(middle: f64, reach: f64, min: f64, max: f64) -> Vec<f64> {
    let (low, high) = ((middle / reach).max(min), (middle * reach).min(max));
    (0..CURVE_POINT_COUNT)
        .map(|point| {
            let part = f64::from(point) / f64::from(CURVE_POINT_COUNT - 1);
            // Rounding in `powf` can exceed the ends by an ulp, and `account` refuses values out of
            // range.
            (low * (high / low).powf(part)).clamp(low, high)
        })
        .collect()
}

/// Returns the name and the central ε of each curve, for one batch. hushbin's accounting is the
/// first curve. The published bounds follow in a fixed order. The ε of a bound is `None` if its
/// theorem does not apply.
fn central_epsilon_by_bound(
    mixture: &ReportMixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Vec<(&'static str, Option<f64>)>, Error> {
    let own = compute_batch_privacy(mixture, reports, honest_fraction, delta)?.central_epsilon;
    let published = published_bounds(mixture, reports, honest_fraction, delta)?;
    let published = published.into_iter();
    let published = published.map(|bound| (bound.name, bound.central_epsilon));
    Ok([("hushbin, exact sum", Some(own))]
        .into_iter()
        .chain(published)
        .collect())
}

fn central_epsilon_curves(
    at: &[f64],
    bar: &ProgressBar,
    values: impl Fn(f64) -> Result<Vec<(&'static str, Option<f64>)>, Error> + Sync,
) -> Result<Vec<Curve>, Error> {
    let all = at.par_iter().map(|&x| {
        let found = values(x);
        bar.inc(1);
        found
    });
    let all: Vec<_> = all.collect::<Result<_, Error>>()?;
    // `central_epsilon_by_bound` returns the same bounds in the same order for every batch.
    let curve = |index: usize| Curve {
        label: all[0][index].0.to_owned(),
        points: at
            .iter()
            .zip(&all)
            .map(|(&x, found)| [x, found[index].1.unwrap_or(f64::NAN), 0.0])
            .collect(),
    };
    let is_drawn = |curve: &Curve| curve.points.iter().any(|[_, y, _]| y.is_finite());
    Ok((0..all[0].len()).map(curve).filter(is_drawn).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_in_range() {
        for (middle, reach, min, max) in [
            (1e6, 100.0, 2.0, 1e12),
            (2.0, 100.0, 2.0, 1e12),
            (1e12, 100.0, 2.0, 1e12),
            (12.0, 10.0, 0.001, 12.0),
            (0.001, 10.0, 0.001, 12.0),
        ] {
            let points = geometric_points(middle, reach, min, max);
            assert!(points.is_sorted() && points.len() == CURVE_POINT_COUNT as usize);
            assert!(points.iter().all(|x| (min..=max).contains(x)), "{points:?}");
            assert_eq!(points[0], (middle / reach).max(min));
        }
    }
}
