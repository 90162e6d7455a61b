//! hushbin's account and the published bounds as curves, against the number of reports and
//! against the local ε.

mod curve;
mod draw;

use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::output::{Error, progress_bar};
use curve::{Curve, Panel};
use hushbin::bounds::EPSILON;
use hushbin_analysis::accounting::{
    HONEST_REPORTS, Kind, Mixture, REPORTS, account, published_bounds,
};

/// What is plotted: a batch, and what varies about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) epsilon: f64,
    pub(crate) reports: u64,
    pub(crate) honest_fraction: f64,
    pub(crate) delta: f64,
}

/// Points of a curve.
const POINTS: u32 = 49;

/// A picture of both, as SVG; `at` makes the mechanism of a local ε.
///
/// # Errors
/// Those of `at`.
pub(crate) fn svg(
    batch: &Batch,
    at: impl Fn(f64) -> Result<Mixture, Error> + Sync,
) -> Result<String, Error> {
    let Batch {
        epsilon,
        reports,
        honest_fraction,
        delta,
    } = *batch;
    // Two decades of reports on either side, one of ε.
    let fewest = REPORTS
        .min
        .max((HONEST_REPORTS.min / honest_fraction).ceil());
    let sizes = spaced(reports as f64, 100.0, fewest, REPORTS.max);
    let budgets = spaced(epsilon, 10.0, EPSILON.min, EPSILON.max);
    let bar = progress_bar(2 * u64::from(POINTS), "batches");
    let here = at(epsilon)?;
    let by_reports = curves(&sizes, &bar, |reports| {
        values(&here, reports.round() as u64, honest_fraction, delta)
    })?;
    let by_epsilon = curves(&budgets, &bar, |epsilon| {
        values(&at(epsilon)?, reports, honest_fraction, delta)
    })?;
    bar.finish_and_clear();
    let panels = [
        Panel {
            x_title: format!(
                "reports in the batch (number), local ε = {}",
                (epsilon * 1e4).round() / 1e4
            ),
            here: reports as f64,
            curves: by_reports,
        },
        Panel {
            x_title: format!("local ε of a report (nats), n = {reports}"),
            here: epsilon,
            curves: by_epsilon,
        },
    ];
    draw::svg(&format!("central ε (nats) at δ = {delta:e}"), &panels)
}

/// From `middle` a factor of `reach` down and up, as far as there is any.
fn spaced(middle: f64, reach: f64, min: f64, max: f64) -> Vec<f64> {
    let (low, high) = ((middle / reach).max(min), (middle * reach).min(max));
    (0..POINTS)
        .map(|point| {
            let part = f64::from(point) / f64::from(POINTS - 1);
            (low * (high / low).powf(part)).clamp(low, high)
        })
        .collect()
}

/// What a bound says of a batch.
#[derive(Debug)]
struct Value {
    name: &'static str,
    kind: Option<Kind>,
    central: Option<f64>,
}

/// The account, and the published bounds in their order.
fn values(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Vec<Value>, Error> {
    let mut values = vec![Value {
        name: "hushbin, exact sum",
        kind: None,
        central: Some(account(mixture, reports, honest_fraction, delta)?.central_epsilon),
    }];
    let published = published_bounds(mixture, reports, honest_fraction, delta)?;
    values.extend(published.into_iter().map(|bound| Value {
        name: bound.name,
        kind: Some(bound.kind),
        central: bound.central_epsilon,
    }));
    Ok(values)
}

fn curves(
    at: &[f64],
    bar: &ProgressBar,
    values: impl Fn(f64) -> Result<Vec<Value>, Error> + Sync,
) -> Result<Vec<Curve>, Error> {
    let all: Vec<Vec<Value>> = at
        .par_iter()
        .map(|&x| {
            let found = values(x);
            bar.inc(1);
            found
        })
        .collect::<Result<_, Error>>()?;
    let mut curves: Vec<Curve> = Vec::new();
    for (&x, found) in at.iter().zip(all) {
        for (index, value) in found.into_iter().enumerate() {
            // Every batch has the same bounds in the same order.
            if index == curves.len() {
                curves.push(Curve {
                    name: value.name,
                    kind: value.kind,
                    points: Vec::with_capacity(at.len()),
                });
            }
            curves[index].points.push((x, value.central));
        }
    }
    Ok(curves)
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
            let points = spaced(middle, reach, min, max);
            assert!(points.is_sorted() && points.len() == POINTS as usize);
            assert!(points.iter().all(|x| (min..=max).contains(x)), "{points:?}");
            assert_eq!(points[0], (middle / reach).max(min));
        }
    }
}
