//! Sums of scores: distribution of a sum of reports' contributions, for every value of an
//! increasing parameter.

use crate::estimate::point::Point;
use crate::numeric::limits::{Failure, Observed, Side};

/// Distribution of one report's score, as pairs (score, probability).
pub(crate) type Score = Vec<(f64, f64)>;

/// A true value, with the cumulant or moment of one report's score there.
pub(crate) type Node = (f64, f64);

/// Maximum of |t| times the largest score. There the weights of outcomes differ by e⁴⁰, so a larger
/// |t| changes nothing.
pub(crate) const MAX_TILT: f64 = 40.0;

/// Distance below which nodes are equal, up to rounding.
const NODE_TOLERANCE: f64 = 1e-12;

/// Continuity correction of a normal tail: 1/2 for whole scores and 1/2 for skewness.
const CONTINUITY_CORRECTION: f64 = 1.0;

/// People, with a distribution of scores each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crowd {
    /// Shares of people, which sum to 1, and the score of each.
    pub(crate) people: Vec<(f64, Score)>,
}

impl Crowd {
    /// Creates a crowd whose people have equal scores.
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

    /// Returns E[e^(tX)] − 1 of drawn people, or the mean of ln E[e^(tX)] if people are `given`.
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

/// Distribution of one report's score, by true value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreDistribution {
    /// True values from the minimum to the maximum, each with people who have it. Between nodes,
    /// people are mixed.
    pub(crate) nodes: Vec<(f64, Crowd)>,
    /// True if people are given: then cumulants add up. Otherwise moments do, as if people
    /// were drawn.
    pub(crate) given: bool,
    /// Assumption about people between two nodes.
    pub(crate) whose: BetweenNodes,
}

/// Assumption about people whose true value lies between nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BetweenNodes {
    /// Mixture of the people of the two neighbouring nodes.
    Neighbours,
    /// Worst case: people with the greatest cumulant, at nodes or random between two neighbouring
    /// nodes.
    Any,
}

/// Positions between neighbouring nodes at which the envelope is sampled.
const ENVELOPE_POSITIONS: [f64; 7] = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];

/// Returns the least concave function above all people, at nodes and between them. Between nodes,
/// moments are linear in the true value.
fn envelope(moments: &[Node], given: bool) -> Vec<Node> {
    let of = |moment: f64| if given { moment.ln_1p() } else { moment };
    let mut all: Vec<Node> = Vec::new();
    let mut add = |(truth, moment): Node| {
        let node = (truth, of(moment));
        while let [.., a, b] = all[..] {
            // Cross product: positive if b lies above the line from a to the new node.
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
            for part in ENVELOPE_POSITIONS {
                let between = |a: f64, b: f64| a + part * (b - a);
                add((between(node.0, next.0), between(node.1, next.1)));
            }
        }
    }
    all
}

impl ScoreDistribution {
    /// Returns the confidence limit for the true value on one side, from `reports` reports.
    pub(crate) fn limit(&self, point: Point, reports: u64, failure: &Failure, side: Side) -> f64 {
        let ends = [&self.nodes[0], &self.nodes[self.nodes.len() - 1]];
        let [least, most] = ends.map(|(truth, crowd)| (truth, crowd.mean()));
        let gain = (most.1 - least.1) / (most.0 - least.0);
        // The expected score is linear in the true value: without + gain·truth.
        let without = least.1 - gain * least.0;
        let crowds = self.nodes.iter().flat_map(|(_, crowd)| &crowd.people);
        let scores = crowds.flat_map(|(_, score)| score);
        let largest = scores.fold(1.0, |most: f64, (x, _)| most.max(x.abs()));
        let reports = reports as f64;
        let observed = Observed {
            sum: reports * (without + gain * point.estimate),
            shift: CONTINUITY_CORRECTION,
            deviation: reports * gain * point.standard_error,
            max_t: MAX_TILT / largest,
        };
        observed.limit(failure, side, |t, sum, exponent| {
            let of = |given| -> Vec<Node> {
                let nodes = self.nodes.iter();
                nodes
                    .map(|(truth, crowd)| (*truth, crowd.of(t, given)))
                    .collect()
            };
            let nodes = match self.whose {
                BetweenNodes::Neighbours => of(self.given),
                BetweenNodes::Any => envelope(&of(false), self.given),
            };
            solve_truth(&nodes, self.given, gain, t, (t * sum - exponent) / reports)
        })
    }
}

/// Returns the true value at which a report's score has this cumulant at t. `None` unless cumulants
/// rise with the true value (or fall, for a negative t).
///
/// Between nodes, cumulants (given people) or moments are linear in the true value. No true value
/// lies beyond the last nodes. There the distribution is that of the node with another mean, which
/// rises by `gain`.
pub(crate) fn solve_truth(
    nodes: &[Node],
    given: bool,
    gain: f64,
    t: f64,
    cumulant: f64,
) -> Option<f64> {
    let value = if given { cumulant } else { cumulant.exp_m1() };
    let rises = |[a, b]: [Node; 2]| (b.1 - a.1) * t >= 0.0 || b.0 - a.0 < NODE_TOLERANCE;
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
