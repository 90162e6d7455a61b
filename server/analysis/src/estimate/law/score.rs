//! Sums of scores: how a sum of what reports count for is distributed, for whatever truth
//! of one number that it rises with.

use crate::estimate::point::Point;
use crate::numeric::limits::{Failure, Observed, Side};

/// What one report counts for: whole numbers, and their probabilities.
pub(crate) type Score = Vec<(f64, f64)>;

/// A truth, and the cumulant or moment of one report's score there.
pub(crate) type Node = (f64, f64);

/// Where |t| is this over the largest score, outcomes differ by e⁴⁰ in what they
/// count, and nothing changes beyond.
pub(crate) const STEEPEST: f64 = 40.0;

/// Nodes this near are one, but for rounding.
const SAME: f64 = 1e-12;

/// By how much nearer to the mean a normal tail starts: half a step, for sums being
/// whole, and half of one for their skewness.
const SHIFT: f64 = 1.0;

/// People and the laws of their reports' scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crowd {
    /// Shares, which sum to 1, and the score of each.
    pub(crate) people: Vec<(f64, Score)>,
}

impl Crowd {
    /// People of one score.
    pub(crate) fn alike(score: Score) -> Self {
        Self {
            people: vec![(1.0, score)],
        }
    }

    fn mean(&self) -> f64 {
        let mean = |score: &Score| score.iter().map(|(x, p)| x * p).sum::<f64>();
        self.people
            .iter()
            .map(|(share, score)| share * mean(score))
            .sum()
    }

    /// E[e^(tX)] − 1 of people drawn, or the mean of ln E[e^(tX)] where they are `given`.
    fn of(&self, t: f64, given: bool) -> f64 {
        let moment =
            |score: &Score| -> f64 { score.iter().map(|(x, p)| p * (t * x).exp_m1()).sum() };
        let of = |score| {
            if given {
                moment(score).ln_1p()
            } else {
                moment(score)
            }
        };
        self.people
            .iter()
            .map(|(share, score)| share * of(score))
            .sum()
    }
}

/// The law of one report's score, by the truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreLaw {
    /// Truths, from the least to the greatest that there is, with the law of people of whom
    /// it is true; between them people are mixed.
    pub(crate) nodes: Vec<(f64, Crowd)>,
    /// Whether people are given: then their cumulants add up, else moments do, as if they
    /// were drawn.
    pub(crate) given: bool,
    /// People between two nodes.
    pub(crate) whose: Whose,
}

/// People of whom a truth between nodes is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// People of the two nodes around it.
    Neighbours,
    /// People with the greatest cumulant, at nodes or at random at one of two neighbouring nodes.
    Any,
}

/// Parts of the way between neighbouring nodes at which somebody is looked for.
const BETWEEN: [f64; 7] = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];

/// Returns the least concave function that is nowhere below the people at nodes or between
/// them. Between nodes moments are linear in the truth.
fn envelope(moments: &[Node], given: bool) -> Vec<Node> {
    let of = |moment: f64| if given { moment.ln_1p() } else { moment };
    let mut all: Vec<Node> = Vec::new();
    let mut add = |(truth, moment): Node| {
        let node = (truth, of(moment));
        while let [.., a, b] = all[..] {
            // Cross product: whether b is above the line from a to the new node.
            if (b.0 - a.0) * (node.1 - a.1) < (b.1 - a.1) * (node.0 - a.0) {
                break;
            }
            all.pop();
        }
        all.push(node);
    };
    for (index, &node) in moments.iter().enumerate() {
        add(node);
        if let Some(next) = moments.get(index + 1) {
            for part in BETWEEN {
                let between = |a: f64, b: f64| a + part * (b - a);
                add((between(node.0, next.0), between(node.1, next.1)));
            }
        }
    }
    all
}

impl ScoreLaw {
    /// The limit on one side of the truth that an estimate from so many reports leaves.
    pub(crate) fn limit(&self, point: Point, reports: u64, failure: &Failure, side: Side) -> f64 {
        let ends = [&self.nodes[0], &self.nodes[self.nodes.len() - 1]];
        let [least, most] = ends.map(|(truth, crowd)| (truth, crowd.mean()));
        let gain = (most.1 - least.1) / (most.0 - least.0);
        let without = least.1 - gain * least.0;
        let crowds = self.nodes.iter().flat_map(|(_, crowd)| &crowd.people);
        let scores = crowds.flat_map(|(_, score)| score);
        let largest = scores.fold(1.0, |most: f64, (x, _)| most.max(x.abs()));
        let reports = reports as f64;
        let observed = Observed {
            sum: reports * (without + gain * point.estimate),
            shift: SHIFT,
            deviation: reports * gain * point.standard_error,
            steepest: STEEPEST / largest,
        };
        observed.limit(failure, side, |t, sum, exponent| {
            let of = |given| -> Vec<Node> {
                let nodes = self.nodes.iter();
                nodes
                    .map(|(truth, crowd)| (*truth, crowd.of(t, given)))
                    .collect()
            };
            let nodes = match self.whose {
                Whose::Neighbours => of(self.given),
                Whose::Any => envelope(&of(false), self.given),
            };
            truth_at(&nodes, self.given, gain, t, (t * sum - exponent) / reports)
        })
    }
}

/// The truth at which a report's score has this cumulant at t; none where cumulants do
/// not rise with the truth, or fall for a negative t.
///
/// Between nodes cumulants, where people are given, or else moments are linear in the
/// truth. No truth is beyond the last nodes; there the law is as at the node, with
/// another mean, which rises with the truth by `gain`.
pub(crate) fn truth_at(
    nodes: &[Node],
    given: bool,
    gain: f64,
    t: f64,
    cumulant: f64,
) -> Option<f64> {
    let value = if given { cumulant } else { cumulant.exp_m1() };
    let rises = |[a, b]: [Node; 2]| (b.1 - a.1) * t >= 0.0 || b.0 - a.0 < SAME;
    if !nodes.windows(2).all(|pair| rises([pair[0], pair[1]])) {
        return None;
    }
    let before = |node: &Node| (value - node.1) * t < 0.0;
    let cumulant_of = |value: f64| if given { value } else { value.ln_1p() };
    let beyond = |(truth, at): Node| truth + (cumulant - cumulant_of(at)) / (t * gain);
    Some(match nodes.iter().position(before) {
        None => beyond(nodes[nodes.len() - 1]),
        Some(0) => beyond(nodes[0]),
        Some(next) => {
            let (low, high) = (nodes[next - 1], nodes[next]);
            low.0 + (high.0 - low.0) * (value - low.1) / (high.1 - low.1)
        }
    })
}
