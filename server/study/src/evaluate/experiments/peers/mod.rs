//! Comparison of published mechanisms with hushbin's mechanisms at the same ε. The variances of one
//! report's estimates are computed by formula, without simulated people.

mod choice;
mod compared_mechanism;
mod crowds;
mod number;
mod several_numbers;
#[cfg(test)]
mod tests;

use rand_chacha::ChaCha8Rng;

use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, MetricComparison, Panel, StudyError,
    WorkUnit,
};
use crate::evaluate::measure::table::MeasurementTable;
use compared_mechanism::{
    AVERAGE_VARIANCE_METRIC, ComparedMechanism, HUSHBIN_FOR_AVERAGE_NAME, LOWER_BOUND_METRIC,
    WORST_VARIANCE_METRIC,
};
use crowds::AveragedCrowd;

/// Experiment that compares mechanisms for one number, for several numbers and for a choice.
pub(crate) struct PeerComparisonExperiment;

/// Kind of question for which mechanisms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionKind {
    Number,
    Several,
    Choice,
}

/// Parameters of one comparison: the kind of question, its size, and ε.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ComparisonCell {
    kind: QuestionKind,
    /// Number of attributes of a person, or number of answers of a choice.
    attribute_or_option_count: u32,
    epsilon: f64,
}

/// Metric: hushbin's variance divided by the least published variance. The metrics that follow are
/// similar ratios.
const OVER_BEST_PUBLISHED_METRIC: &str = "over the best published";
const WORST_OVER_BEST_METRIC: &str = "worst variance over the best published";
const MEAN_OVER_BEST_METRIC: &str = "mean variance over the best published";
const OVER_LOWER_BOUND_METRIC: &str = "over the lower bound";

impl QuestionKind {
    const ALL: [Self; 3] = [Self::Number, Self::Several, Self::Choice];

    /// Name, in tables, of the estimand for this kind of question.
    const fn estimand(self) -> &'static str {
        match self {
            Self::Number => "one number",
            Self::Several => "several numbers",
            Self::Choice => "a choice",
        }
    }

    /// Name, in tables, of the estimand whose values are ratios of variances for this kind of
    /// question.
    const fn ratio_estimand(self) -> &'static str {
        match self {
            Self::Number => "one number, quotients",
            Self::Several => "several numbers, quotients",
            Self::Choice => "a choice, quotients",
        }
    }

    /// Names of hushbin's mechanisms for this kind of question.
    const fn hushbin_mechanisms(self) -> &'static [&'static str] {
        match self {
            Self::Number | Self::Several => &["hushbin window", HUSHBIN_FOR_AVERAGE_NAME],
            Self::Choice => &["hushbin choice"],
        }
    }

    fn comparison_cells(self) -> Vec<ComparisonCell> {
        let (items, epsilons): (&[u32], &[f64]) = match self {
            Self::Number => (&[1], &number::COMPARED_EPSILONS),
            Self::Several => (
                &several_numbers::COMPARED_ATTRIBUTE_COUNTS,
                &several_numbers::COMPARED_EPSILONS,
            ),
            Self::Choice => (&choice::COMPARED_OPTION_COUNTS, &choice::COMPARED_EPSILONS),
        };
        let cell = |items: &u32, epsilon: &f64| ComparisonCell {
            kind: self,
            attribute_or_option_count: *items,
            epsilon: *epsilon,
        };
        let cells = items
            .iter()
            .flat_map(|items| epsilons.iter().map(move |epsilon| cell(items, epsilon)));
        cells.collect()
    }

    fn metrics(self) -> Vec<&'static str> {
        match self {
            Self::Number => std::iter::once(WORST_VARIANCE_METRIC)
                .chain(AveragedCrowd::ALL.map(AveragedCrowd::mean_variance_metric))
                .collect(),
            Self::Several | Self::Choice => vec![WORST_VARIANCE_METRIC, AVERAGE_VARIANCE_METRIC],
        }
    }
}

impl ComparisonCell {
    /// Returns the mechanisms that are compared in this cell. hushbin's mechanism is the first.
    fn compared_mechanisms(&self) -> Result<Vec<ComparedMechanism>, StudyError> {
        match self.kind {
            QuestionKind::Number => number::compared_mechanisms(self.epsilon),
            QuestionKind::Several => {
                several_numbers::compared_mechanisms(self.attribute_or_option_count, self.epsilon)
            }
            QuestionKind::Choice => {
                choice::compared_mechanisms(self.attribute_or_option_count, self.epsilon)
            }
        }
    }

    const fn point(&self) -> MeasurementPoint {
        MeasurementPoint {
            people: 1,
            items: self.attribute_or_option_count,
            sparsity: match self.kind {
                QuestionKind::Several => self.attribute_or_option_count,
                QuestionKind::Number | QuestionKind::Choice => 1,
            },
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        }
    }

    fn measurements(&self) -> Result<Vec<Measurement>, StudyError> {
        let peers = self.compared_mechanisms()?;
        let point = self.point();
        let row = |peer: &ComparedMechanism, (metric, value)| {
            Measurement::new(point, peer.name, self.kind.estimand(), metric, value)
        };
        let mut rows: Vec<Measurement> = peers
            .iter()
            .flat_map(|peer| peer.values.iter().map(|value| row(peer, *value)))
            .collect();
        let kind = self.kind.ratio_estimand();
        let quotient = |(label, metric): (String, &str), value| {
            Measurement::new(point, label, kind, metric, value)
        };
        let best = |metric| {
            let published = peers.iter().filter(|peer| peer.is_published());
            published
                .filter_map(|peer| peer.metric_value(metric))
                .min_by(f64::total_cmp)
        };
        for metric in self.kind.metrics() {
            if let (Some(own), Some(best)) = (peers[0].metric_value(metric), best(metric)) {
                rows.push(quotient(self.ratio_label_and_metric(metric), own / best));
            }
        }
        let average = peers
            .iter()
            .find(|peer| peer.name == HUSHBIN_FOR_AVERAGE_NAME);
        let average = average.and_then(|peer| peer.metric_value(AVERAGE_VARIANCE_METRIC));
        if let (Some(own), Some(best)) = (average, best(AVERAGE_VARIANCE_METRIC)) {
            rows.push(quotient(
                (
                    HUSHBIN_FOR_AVERAGE_NAME.to_owned(),
                    OVER_BEST_PUBLISHED_METRIC,
                ),
                own / best,
            ));
        }
        let bound = peers
            .iter()
            .find_map(|peer| peer.metric_value(LOWER_BOUND_METRIC));
        if let (Some(own), Some(bound)) = (peers[0].metric_value(WORST_VARIANCE_METRIC), bound) {
            rows.push(quotient(
                (WORST_VARIANCE_METRIC.to_owned(), OVER_LOWER_BOUND_METRIC),
                own / bound,
            ));
        }
        Ok(rows)
    }

    /// Returns the label and the metric of the table row for a ratio of variances.
    fn ratio_label_and_metric(&self, metric: &str) -> (String, &'static str) {
        let letter = match self.kind {
            QuestionKind::Number => return (metric.to_owned(), OVER_BEST_PUBLISHED_METRIC),
            QuestionKind::Several => 'd',
            QuestionKind::Choice => 'k',
        };
        let over = match metric {
            WORST_VARIANCE_METRIC => WORST_OVER_BEST_METRIC,
            _ => MEAN_OVER_BEST_METRIC,
        };
        (
            format!("{letter} = {}", self.attribute_or_option_count),
            over,
        )
    }
}

impl Experiment for PeerComparisonExperiment {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn title(&self) -> &'static str {
        "Variance of one report: hushbin and published mechanisms"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let kinds = QuestionKind::ALL.iter().enumerate();
        kinds
            .map(|(index, kind)| WorkUnit::formula_unit(kind.estimand(), index))
            .collect()
    }

    fn run_unit(&self, unit: &WorkUnit, _: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let mut rows = Vec::new();
        for cell in QuestionKind::ALL[unit.index].comparison_cells() {
            rows.extend(cell.measurements()?);
        }
        Ok(rows)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let figure = |kind: QuestionKind, name: &str, metrics: [&str; 2]| Figure {
            name: format!("peers-{name}"),
            title: format!("Variance ratios of hushbin, for {}", kind.estimand()),
            x_label: "ε",
            y_label: "ratio of variances",
            are_x_and_y_logarithmic: [true, true],
            panels: metrics
                .map(|metric| Panel {
                    title: metric.to_owned(),
                    curves: table.mechanism_curves(
                        kind.ratio_estimand(),
                        metric,
                        |_| true,
                        |point| point.epsilon,
                    ),
                })
                .into(),
        };
        let of_both = [WORST_OVER_BEST_METRIC, MEAN_OVER_BEST_METRIC];
        vec![
            figure(
                QuestionKind::Number,
                "number",
                [OVER_BEST_PUBLISHED_METRIC, OVER_LOWER_BOUND_METRIC],
            ),
            figure(QuestionKind::Several, "numbers", of_both),
            figure(QuestionKind::Choice, "choice", of_both),
        ]
    }

    fn compared_metrics(&self) -> Vec<MetricComparison> {
        let of_kind = |kind: QuestionKind| {
            kind.metrics()
                .into_iter()
                .map(move |metric| MetricComparison {
                    estimand: kind.estimand(),
                    metric,
                    hushbin_mechanisms: kind.hushbin_mechanisms(),
                    is_logarithmic: false,
                })
        };
        QuestionKind::ALL.into_iter().flat_map(of_kind).collect()
    }
}
