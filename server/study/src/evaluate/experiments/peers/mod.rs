//! Comparison of published mechanisms with hushbin's at the same ε. The variances of one report are
//! computed by formula, without simulated people.

mod choice;
mod crowds;
mod number;
mod peer;
mod several;
#[cfg(test)]
mod tests;

use rand_chacha::ChaCha8Rng;

use crate::evaluate::measure::experiment::{
    Contest, Experiment, Figure, Measurement, Panel, Point, StudyError, Unit,
};
use crate::evaluate::measure::table::Table;
use crowds::Crowd;
use peer::{FOR_AVERAGE, LEAST, MEAN, Peer, WORST};

/// Experiment that compares mechanisms for one number, for several numbers and for a choice.
pub(crate) struct Peers;

/// Kind of question for which mechanisms are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Several,
    Choice,
}

/// Parameters of one comparison: the kind of question, its size, and ε.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    kind: Kind,
    /// Number of attributes of a person, or number of answers of a choice.
    items: u32,
    epsilon: f64,
}

/// Metrics that are quotients: hushbin's variance divided by another variance.
const OVER_BEST: &str = "over the best published";
const WORST_OVER_BEST: &str = "worst variance over the best published";
const MEAN_OVER_BEST: &str = "mean variance over the best published";
const OVER_BOUND: &str = "over the lower bound";

impl Kind {
    const ALL: [Self; 3] = [Self::Number, Self::Several, Self::Choice];

    /// Estimand in tables for the variances of this kind of question.
    const fn name(self) -> &'static str {
        match self {
            Self::Number => "one number",
            Self::Several => "several numbers",
            Self::Choice => "a choice",
        }
    }

    /// Estimand in tables for the quotients of variances of this kind of question.
    const fn quotients(self) -> &'static str {
        match self {
            Self::Number => "one number, quotients",
            Self::Several => "several numbers, quotients",
            Self::Choice => "a choice, quotients",
        }
    }

    /// Names of hushbin's mechanisms for this kind of question.
    const fn own(self) -> &'static [&'static str] {
        match self {
            Self::Number | Self::Several => &["hushbin window", FOR_AVERAGE],
            Self::Choice => &["hushbin choice"],
        }
    }

    fn cells(self) -> Vec<Cell> {
        let (items, epsilons): (&[u32], &[f64]) = match self {
            Self::Number => (&[1], &number::EPSILONS),
            Self::Several => (&several::ATTRIBUTES, &several::EPSILONS),
            Self::Choice => (&choice::OPTIONS, &choice::EPSILONS),
        };
        let cell = |items: &u32, epsilon: &f64| Cell {
            kind: self,
            items: *items,
            epsilon: *epsilon,
        };
        let cells = items
            .iter()
            .flat_map(|items| epsilons.iter().map(move |epsilon| cell(items, epsilon)));
        cells.collect()
    }

    fn metrics(self) -> Vec<&'static str> {
        match self {
            Self::Number => std::iter::once(WORST)
                .chain(Crowd::ALL.map(Crowd::metric))
                .collect(),
            Self::Several | Self::Choice => vec![WORST, MEAN],
        }
    }
}

impl Cell {
    /// Returns the mechanisms that are compared in this cell, hushbin's first.
    fn peers(&self) -> Result<Vec<Peer>, StudyError> {
        match self.kind {
            Kind::Number => number::peers(self.epsilon),
            Kind::Several => several::peers(self.items, self.epsilon),
            Kind::Choice => choice::peers(self.items, self.epsilon),
        }
    }

    const fn point(&self) -> Point {
        Point {
            people: 1,
            items: self.items,
            sparsity: match self.kind {
                Kind::Several => self.items,
                Kind::Number | Kind::Choice => 1,
            },
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        }
    }

    fn rows(&self) -> Result<Vec<Measurement>, StudyError> {
        let peers = self.peers()?;
        let point = self.point();
        let row = |peer: &Peer, (metric, value)| {
            Measurement::new(point, peer.name, self.kind.name(), metric, value)
        };
        let mut rows: Vec<Measurement> = peers
            .iter()
            .flat_map(|peer| peer.values.iter().map(|value| row(peer, *value)))
            .collect();
        let kind = self.kind.quotients();
        let quotient = |(label, metric): (String, &str), value| {
            Measurement::new(point, label, kind, metric, value)
        };
        let best = |metric| {
            let published = peers.iter().filter(|peer| peer.is_published());
            published
                .filter_map(|peer| peer.value(metric))
                .min_by(f64::total_cmp)
        };
        for metric in self.kind.metrics() {
            if let (Some(own), Some(best)) = (peers[0].value(metric), best(metric)) {
                rows.push(quotient(self.quotient(metric), own / best));
            }
        }
        let average = peers.iter().find(|peer| peer.name == FOR_AVERAGE);
        let average = average.and_then(|peer| peer.value(MEAN));
        if let (Some(own), Some(best)) = (average, best(MEAN)) {
            rows.push(quotient((FOR_AVERAGE.to_owned(), OVER_BEST), own / best));
        }
        let bound = peers.iter().find_map(|peer| peer.value(LEAST));
        if let (Some(own), Some(bound)) = (peers[0].value(WORST), bound) {
            rows.push(quotient((WORST.to_owned(), OVER_BOUND), own / bound));
        }
        Ok(rows)
    }

    /// Returns the label and the metric of a quotient of variances.
    fn quotient(&self, metric: &str) -> (String, &'static str) {
        let letter = match self.kind {
            Kind::Number => return (metric.to_owned(), OVER_BEST),
            Kind::Several => 'd',
            Kind::Choice => 'k',
        };
        let over = match metric {
            WORST => WORST_OVER_BEST,
            _ => MEAN_OVER_BEST,
        };
        (format!("{letter} = {}", self.items), over)
    }
}

impl Experiment for Peers {
    fn name(&self) -> &'static str {
        "peers"
    }

    fn title(&self) -> &'static str {
        "Variance of one report, by published mechanisms and by hushbin"
    }

    fn units(&self) -> Vec<Unit> {
        let kinds = Kind::ALL.iter().enumerate();
        kinds
            .map(|(index, kind)| Unit::computed(kind.name(), index))
            .collect()
    }

    fn run(&self, unit: &Unit, _: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let mut rows = Vec::new();
        for cell in Kind::ALL[unit.index].cells() {
            rows.extend(cell.rows()?);
        }
        Ok(rows)
    }

    fn figures(&self, table: &Table) -> Vec<Figure> {
        let figure = |kind: Kind, name: &str, metrics: [&str; 2]| Figure {
            name: format!("peers-{name}"),
            title: format!("Variance of {} by hushbin, as a quotient", kind.name()),
            x: "ε",
            y: "quotient of variances",
            logarithmic: [true, true],
            panels: metrics
                .map(|metric| Panel {
                    title: metric.to_owned(),
                    curves: table.curves(kind.quotients(), metric, |_| true, |point| point.epsilon),
                })
                .into(),
        };
        let of_both = [WORST_OVER_BEST, MEAN_OVER_BEST];
        vec![
            figure(Kind::Number, "number", [OVER_BEST, OVER_BOUND]),
            figure(Kind::Several, "numbers", of_both),
            figure(Kind::Choice, "choice", of_both),
        ]
    }

    fn contests(&self) -> Vec<Contest> {
        let of_kind = |kind: Kind| {
            kind.metrics().into_iter().map(move |metric| Contest {
                estimand: kind.name(),
                metric,
                ours: kind.own(),
                logarithm: false,
            })
        };
        Kind::ALL.into_iter().flat_map(of_kind).collect()
    }
}
