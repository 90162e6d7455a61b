//! Distribution of the sum of all reports' scores, for every true value. A report's score is its
//! contribution to an estimate, up to a linear function. The expected score increases with the true
//! value.
//!
//! People are *given* if the population is fixed. Then the cumulants ln E[e^(tX)] of people's
//! scores X add up. Otherwise people are *drawn* at random. Then all scores have one distribution,
//! whose moment E[e^(tX)] is the average over people.

use crate::estimate::point::PointEstimate;
use crate::numeric::confidence_limits::{LimitSide, SumForConfidenceLimits, TailThresholds};

/// Distribution of one report's score, as pairs (score, probability).
pub(crate) type ScoreProbabilities = Vec<(f64, f64)>;

/// True value, and a quantity of one report's score at this true value. The quantity is the
/// cumulant (given people) or the moment minus 1 (drawn people).
pub(crate) type TruthAndCumulantOrMoment = (f64, f64);

/// Upper limit for |t|·s, where t is the argument of the moment E[e^(tX)] and s is the largest
/// score. At this limit, the weights e^(tX) of outcomes differ by a factor e⁴⁰, so a larger |t|
/// changes nothing.
pub(crate) const MAX_ARGUMENT_TIMES_SCORE: f64 = 40.0;

/// Distance between true values below which two nodes count as one, because of rounding errors.
const SAME_NODE_DISTANCE: f64 = 1e-12;

/// Continuity correction of a normal tail, for integer scores: 1/2 because sums are discrete, and
/// 1/2 for skewness.
const CONTINUITY_CORRECTION: f64 = 1.0;

/// Groups of people, with one distribution of scores for each group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoredGroups {
    /// Share of people in each group, and the score distribution of a person in it. Shares sum to
    /// 1.
    pub(crate) group_shares_and_scores: Vec<(f64, ScoreProbabilities)>,
}

impl ScoredGroups {
    /// Creates a crowd in which every person has the same score distribution.
    pub(crate) fn of_one_group(score: ScoreProbabilities) -> Self {
        Self {
            group_shares_and_scores: vec![(1.0, score)],
        }
    }

    fn mean(&self) -> f64 {
        let mean = |score: &ScoreProbabilities| score.iter().map(|(x, p)| x * p).sum::<f64>();
        self.group_shares_and_scores
            .iter()
            .map(|(share, score)| share * mean(score))
            .sum()
    }

    /// Returns the mean over people of ln E[e^(tX)] if people are `given`. Otherwise returns
    /// E[e^(tX)] − 1 for a person drawn at random. X is the score of a person's report.
    fn cumulant_or_moment(&self, t: f64, given: bool) -> f64 {
        let moment = |score: &ScoreProbabilities| -> f64 {
            score.iter().map(|(x, p)| p * (t * x).exp_m1()).sum()
        };
        let of = |score| {
            if given {
                moment(score).ln_1p()
            } else {
                moment(score)
            }
        };
        self.group_shares_and_scores
            .iter()
            .map(|(share, score)| share * of(score))
            .sum()
    }
}

/// Distribution of one report's score, for every true value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreDistribution {
    /// Nodes: true values in ascending order, each with a crowd that has this true value. The first
    /// and last node are the minimum and maximum of the true value. For a true value between two
    /// nodes, `whose` describes the crowd.
    pub(crate) nodes: Vec<(f64, ScoredGroups)>,
    /// True if people are given. Then cumulants are averaged over people. Otherwise people are
    /// drawn, and moments are averaged.
    pub(crate) is_fixed_population: bool,
    /// Assumption about the crowd if the true value lies between two nodes.
    pub(crate) crowd_between_nodes: CrowdBetweenNodes,
}

/// Assumption about the crowd if the true value lies between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrowdBetweenNodes {
    /// The crowd is a mixture of the crowds of the two neighbouring nodes.
    NeighbourMixture,
    /// The crowd is the worst case: of all crowds with this true value, the one with the greatest
    /// cumulant. Each person in it is at a node, or is rounded at random to one of two neighbouring
    /// nodes.
    WorstCase,
}

/// Positions between two neighbouring nodes at which the envelope is sampled, as fractions of the
/// distance between the nodes.
const ENVELOPE_POSITIONS: [f64; 7] = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];

/// Returns the corners of a concave envelope, as a function of the true value. The envelope is the
/// smallest concave function that is nowhere below the cumulants (given people) or moments (drawn
/// people). `moments` contains the moments at the nodes. Between nodes, moments are linear in the
/// true value.
fn concave_envelope(
    moments: &[TruthAndCumulantOrMoment],
    given: bool,
) -> Vec<TruthAndCumulantOrMoment> {
    let of = |moment: f64| if given { moment.ln_1p() } else { moment };
    let mut all: Vec<TruthAndCumulantOrMoment> = Vec::new();
    let mut add = |(truth, moment): TruthAndCumulantOrMoment| {
        let node = (truth, of(moment));
        while let [.., a, b] = all[..] {
            // Keep b if it lies above the line from a to the new node, by the cross product.
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
    pub(crate) fn confidence_limit(
        &self,
        point: PointEstimate,
        reports: u64,
        failure: &TailThresholds,
        side: LimitSide,
    ) -> f64 {
        let ends = [&self.nodes[0], &self.nodes[self.nodes.len() - 1]];
        let [least, most] = ends.map(|(truth, crowd)| (truth, crowd.mean()));
        let gain = (most.1 - least.1) / (most.0 - least.0);
        // The expected score is linear in the true value: without + gain·truth.
        let without = least.1 - gain * least.0;
        let crowds = self
            .nodes
            .iter()
            .flat_map(|(_, crowd)| &crowd.group_shares_and_scores);
        let scores = crowds.flat_map(|(_, score)| score);
        let largest = scores.fold(1.0, |most: f64, (x, _)| most.max(x.abs()));
        let reports = reports as f64;
        let observed = SumForConfidenceLimits {
            observed_sum: reports * (without + gain * point.estimate),
            continuity_correction: CONTINUITY_CORRECTION,
            standard_deviation: reports * gain * point.standard_error,
            max_cumulant_argument: MAX_ARGUMENT_TIMES_SCORE / largest,
        };
        observed.confidence_limit(failure, side, |t, sum, exponent| {
            let of = |given| -> Vec<TruthAndCumulantOrMoment> {
                let nodes = self.nodes.iter();
                nodes
                    .map(|(truth, crowd)| (*truth, crowd.cumulant_or_moment(t, given)))
                    .collect()
            };
            let nodes = match self.crowd_between_nodes {
                CrowdBetweenNodes::NeighbourMixture => of(self.is_fixed_population),
                CrowdBetweenNodes::WorstCase => {
                    concave_envelope(&of(false), self.is_fixed_population)
                }
            };
            solve_true_value(
                &nodes,
                self.is_fixed_population,
                gain,
                t,
                (t * sum - exponent) / reports,
            )
        })
    }
}

/// Returns the true value for which ln E[e^(tX)] of a report's score X is `cumulant`. Returns
/// `None` unless this quantity increases with the true value (decreases, if t is negative).
///
/// Between nodes, cumulants (given people) or moments (drawn people) are linear in the true value.
/// True values outside all nodes are impossible, but the function is extended to them. There the
/// score has the distribution of the nearest node, shifted by `gain` per unit of the true value.
pub(crate) fn solve_true_value(
    nodes: &[TruthAndCumulantOrMoment],
    given: bool,
    gain: f64,
    t: f64,
    cumulant: f64,
) -> Option<f64> {
    let value = if given { cumulant } else { cumulant.exp_m1() };
    let rises = |[a, b]: [TruthAndCumulantOrMoment; 2]| {
        (b.1 - a.1) * t >= 0.0 || b.0 - a.0 < SAME_NODE_DISTANCE
    };
    if !nodes.windows(2).all(|pair| rises([pair[0], pair[1]])) {
        return None;
    }
    let before = |node: &TruthAndCumulantOrMoment| (value - node.1) * t < 0.0;
    let cumulant_of = |value: f64| if given { value } else { value.ln_1p() };
    let beyond =
        |(truth, at): TruthAndCumulantOrMoment| truth + (cumulant - cumulant_of(at)) / (t * gain);
    Some(match nodes.iter().position(before) {
        None => beyond(nodes[nodes.len() - 1]),
        Some(0) => beyond(nodes[0]),
        Some(next) => {
            let (low, high) = (nodes[next - 1], nodes[next]);
            low.0 + (high.0 - low.0) * (value - low.1) / (high.1 - low.1)
        }
    })
}
