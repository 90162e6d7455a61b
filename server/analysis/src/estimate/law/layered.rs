//! Sums of shares of a number's bins, from reports that tell of one layer of a tree each.
//!
//! Nodes of all layers are combined by weighted least squares ([`Combined`]), so that any sum
//! of shares is a sum of hits, each multiplied by what its node is worth. Nodes are hashed
//! independently, so that the law of that sum is known: of each layer's reports the product
//! of the laws of its nodes' hits.

use hushbin::choose::Combined;
use hushbin::mechanism::collision::Rates;
use hushbin::task::Tree;

use super::one_answer::OneAnswer;
use super::score::STEEPEST;
use crate::estimate::point::{ItemPoints, People, Point, variance_over_people};
use crate::numeric::limits::{Failure, Observed, Side};
use crate::numeric::projection::{Sum, project};
use crate::numeric::roots::bisect;

/// What reports say of the bins under a tree.
#[derive(Debug, Clone)]
pub(crate) struct Layered {
    tree: Tree,
    rates: Rates,
    /// Numbers of reports by layer, which are the layers' weights.
    reports: Vec<f64>,
    /// The bins' shares by least squares, which sum to 1.
    shares: Vec<f64>,
    /// The same, as people can have them.
    likely: Vec<f64>,
}

impl Layered {
    /// From the hits of the nodes of each layer, in all of its reports; `None` while there
    /// are none of the bins themselves.
    pub(crate) fn new(tree: &Tree, layers: &[OneAnswer]) -> Option<Self> {
        let last = layers.last().filter(|last| last.reports > 0)?;
        let reports: Vec<f64> = layers.iter().map(|layer| layer.reports as f64).collect();
        let (bins, even) = (tree.bins(), 1.0 / f64::from(tree.bins()));
        // What nodes' estimates are more than those of even shares, weighted, in sum over the
        // nodes that each bin is in.
        let mut more = vec![0.0; bins as usize];
        for (layer, answers) in layers.iter().enumerate().filter(|(_, own)| own.reports > 0) {
            let joined = tree.joined(layer);
            for (place, node) in tree.layer(layer).enumerate() {
                let first = place as u32 * joined;
                let inside = first..(first + joined).min(bins);
                let own = answers.share(node as usize) - even * inside.len() as f64;
                for bin in inside {
                    more[bin as usize] += reports[layer] * own;
                }
            }
        }
        let combined = Combined::new(tree, &reports, &more);
        let of_bins = &combined.of_nodes[tree.layer(layers.len() - 1).start as usize..];
        let weight = reports[layers.len() - 1];
        let shares: Vec<f64> = of_bins.iter().map(|part| even + part / weight).collect();
        let mut likely = shares.clone();
        project(&mut likely, Sum::Exactly(1.0));
        Some(Self {
            tree: tree.clone(),
            rates: last.rates,
            reports,
            shares,
            likely,
        })
    }

    /// The share of people in the first so many bins.
    pub(crate) fn below(&self, bins: usize) -> (Point, LayeredLaw) {
        self.among(0..bins)
    }

    /// The share of people in a bin.
    pub(crate) fn bin(&self, bin: usize) -> (Point, LayeredLaw) {
        self.among(bin..bin + 1)
    }

    /// Point estimates of these bins.
    pub(crate) fn points(&self, bins: &[u64]) -> Vec<ItemPoints> {
        let share = |&bin: &u64| ItemPoints {
            share: Some(self.bin(bin as usize).0),
            ..ItemPoints::default()
        };
        bins.iter().map(share).collect()
    }

    fn among(&self, bins: std::ops::Range<usize>) -> (Point, LayeredLaw) {
        let all = 0..self.shares.len();
        let wanted = all.map(|bin| f64::from(u8::from(bins.contains(&bin))));
        let wanted: Vec<f64> = wanted.collect();
        let combined = Combined::new(&self.tree, &self.reports, &wanted);
        let estimate = self.shares[bins.clone()].iter().sum();
        let people = [true, false].map(|among| self.people(&wanted, among));
        let layers = (0..self.tree.layers()).filter(|layer| self.reports[*layer] > 0.0);
        let layers = layers.map(|layer| self.layer(layer, &combined, &people));
        let law = LayeredLaw {
            rates: self.rates,
            layers: layers.collect(),
            constant: combined.constant,
        };
        (law.point(estimate), law)
    }

    /// Shares of people by bin, of those in the wanted bins or of the others.
    fn people(&self, wanted: &[f64], among: bool) -> Vec<f64> {
        let is_one = |wanted: f64| (wanted == 1.0) == among;
        let held = wanted.iter().zip(&self.likely);
        let held = held.map(|(wanted, share)| if is_one(*wanted) { *share } else { 0.0 });
        let mut held: Vec<f64> = held.collect();
        let mut sum: f64 = held.iter().sum();
        if sum == 0.0 {
            held = wanted
                .iter()
                .map(|one| f64::from(u8::from(is_one(*one))))
                .collect();
            sum = held.iter().sum();
        }
        held.iter_mut().for_each(|share| *share /= sum);
        held
    }

    fn layer(&self, layer: usize, combined: &Combined, people: &[Vec<f64>; 2]) -> Layer {
        let joined = self.tree.joined(layer) as usize;
        let reports = self.reports[layer];
        let nodes = self.tree.layer(layer).enumerate();
        let mut groups: Vec<Group> = nodes
            .map(|(place, node)| {
                let inside = place * joined..((place + 1) * joined).min(self.shares.len());
                Group {
                    worth: combined.of_nodes[node as usize] / reports,
                    nodes: 1.0,
                    people: people
                        .each_ref()
                        .map(|own| own[inside.clone()].iter().sum()),
                }
            })
            .collect();
        groups.sort_unstable_by(|a, b| a.worth.total_cmp(&b.worth));
        groups.dedup_by(|next, group| {
            let same = next.worth == group.worth;
            if same {
                group.nodes += next.nodes;
                group.people[0] += next.people[0];
                group.people[1] += next.people[1];
            }
            same
        });
        Layer { reports, groups }
    }
}

/// Nodes of a layer whose hits are worth the same.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group {
    worth: f64,
    nodes: f64,
    /// Shares of those who are in the wanted bins, and of others, that are in these nodes.
    people: [f64; 2],
}

#[derive(Debug, Clone, PartialEq)]
struct Layer {
    reports: f64,
    groups: Vec<Group>,
}

/// How a sum of shares is distributed, whatever it is in truth.
///
/// Given the layers that reports tell of, these are independent: people are drawn for each.
/// Of those in the wanted bins, and of the others, the shares among the bins are taken as
/// estimated; on them the mean does not depend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayeredLaw {
    rates: Rates,
    layers: Vec<Layer>,
    constant: f64,
}

/// Truths this near are not told apart.
const SAME: f64 = 1e-12;

impl LayeredLaw {
    fn groups(&self) -> impl Iterator<Item = (f64, &Group)> {
        let layers = self.layers.iter();
        layers.flat_map(|layer| layer.groups.iter().map(|group| (layer.reports, group)))
    }

    /// The estimate with its standard error, where it is the truth.
    fn point(&self, estimate: f64) -> Point {
        let truth = estimate.clamp(0.0, 1.0);
        let [p, q] = [self.rates.p_true, self.rates.p_false].map(|p| p * (1.0 - p));
        let gap = self.rates.gap();
        let mut variance = 0.0;
        for layer in &self.layers {
            let (mut noise, mut square, mut mean) = (0.0, 0.0, 0.0);
            for group in &layer.groups {
                let [among, others] = group.people;
                let here = truth * among + (1.0 - truth) * others;
                let own = group.worth * group.worth;
                noise += own * (group.nodes * q + here * (p - q));
                square += own * here;
                mean += group.worth * here;
            }
            variance += layer.reports * (noise / (gap * gap) + square - mean * mean);
        }
        Point::new(estimate, variance, 1.0)
    }

    /// The limit on one side of the truth that an estimate leaves.
    pub(crate) fn limit(&self, point: Point, failure: &Failure, side: Side) -> f64 {
        let gap = self.rates.gap();
        let without: f64 = self
            .groups()
            .map(|(reports, group)| reports * group.nodes * group.worth)
            .sum();
        let of_one = self
            .groups()
            .fold(0.0, |most: f64, (_, own)| most.max(own.worth.abs()));
        let largest = self.layers.iter().map(|layer| {
            let sum = |sign: f64| -> f64 {
                let groups = layer.groups.iter();
                groups
                    .map(|own| (sign * own.worth).max(0.0) * own.nodes)
                    .sum()
            };
            sum(1.0).max(sum(-1.0))
        });
        let observed = Observed {
            sum: self.rates.p_false * without + gap * (point.estimate - self.constant),
            // Sums come in no steps, but are as skew as if they came in those of one hit.
            shift: of_one,
            deviation: gap * point.standard_error,
            steepest: STEEPEST / largest.fold(0.0, f64::max),
        };
        observed.limit(failure, side, |t, sum, exponent| {
            self.truth(t, t * sum - exponent)
        })
    }

    /// The truth at which the sum of hits has this cumulant at t; none where it does not rise
    /// with the truth, or fall for a negative t.
    fn truth(&self, t: f64, cumulant: f64) -> Option<f64> {
        let layers: Vec<[f64; 4]> = self.layers.iter().map(|own| self.moments(own, t)).collect();
        let at = |truth: f64| -> f64 {
            let of = |[reports, none, among, others]: &[f64; 4]| {
                reports * (none + (truth * among + (1.0 - truth) * others).ln_1p())
            };
            layers.iter().map(of).sum()
        };
        // Concave: where it rises at the end of what is to rise, or falls at the begin of what
        // is to fall, it does everywhere.
        let slope = |truth: f64| -> f64 {
            let of = |[reports, _, among, others]: &[f64; 4]| {
                reports * (among - others) / (1.0 + truth * among + (1.0 - truth) * others)
            };
            layers.iter().map(of).sum()
        };
        if slope(if t > 0.0 { 1.0 } else { 0.0 }) * t < 0.0 {
            return None;
        }
        let [none, all] = [at(0.0), at(1.0)];
        let beyond = |truth: f64, here: f64| truth + (cumulant - here) / (t * self.rates.gap());
        if (cumulant - none) * t <= 0.0 {
            return Some(beyond(0.0, none));
        }
        if (cumulant - all) * t >= 0.0 {
            return Some(beyond(1.0, all));
        }
        let near = |a: f64, b: f64| ((b - a).abs() > SAME).then_some(0.5 * (a + b));
        Some(bisect(0.0, 1.0, near, |truth| (at(truth) - cumulant) * t < 0.0).1)
    }

    /// Reports; the logarithm of E[e^(tX)] for a report of nobody in the layer; and by how
    /// much more, as a part, it is of those in the wanted bins and of the others.
    fn moments(&self, layer: &Layer, t: f64) -> [f64; 4] {
        let Rates {
            p_true, p_false, ..
        } = self.rates;
        let (mut none, mut people) = (0.0, [0.0; 2]);
        for group in &layer.groups {
            let hit = (t * group.worth).exp_m1();
            none += group.nodes * (p_false * hit).ln_1p();
            let own = (p_true - p_false) * hit / (1.0 + p_false * hit);
            for (sum, share) in people.iter_mut().zip(group.people) {
                *sum += share * own;
            }
        }
        [layer.reports, none, people[0], people[1]]
    }
}

/// Variances of one report's estimate of a sum of bins' shares, of people in those bins and of
/// others, at the worst over which of these people are in, where each of L layers is drawn as
/// often.
///
/// In layer l a report counts T, which is what it adds to the estimates of nobody, ρ. Of people
/// who are drawn for each layer the variance is L·Σ E[T²] − L·Σ E[T]² over layers. The first is
/// W at most, that of people whose nodes are worth most; the second is at least (Σ E[T])² by
/// Cauchy and Schwarz, which is (f − ρ)², as estimates are without bias. That is f·(1 − ρ)² +
/// (1 − f)·ρ² − f(1 − f), so that what is left is f·(W − (1 − ρ)²) + (1 − f)·(W′ − ρ²) + f(1 − f).
pub(crate) fn variances(tree: &Tree, rates: &Rates, wanted: &[f64]) -> [f64; 2] {
    let layers = tree.layers();
    let combined = Combined::new(tree, &vec![1.0; layers], wanted);
    let gap = rates.gap() * rates.gap();
    let [p, q] = [rates.p_true, rates.p_false].map(|p| p * (1.0 - p));
    let squares = combined.of_nodes.iter().map(|worth| worth * worth);
    let noise = squares.sum::<f64>() * q / gap;
    let own = (p - q) / gap + 1.0;
    let mut most = [0.0_f64; 2];
    for bin in 0..tree.bins() {
        let worth = (0..layers).map(|layer| combined.of_nodes[tree.node(layer, bin) as usize]);
        let square: f64 = worth.map(|worth| worth * worth).sum();
        let whose = usize::from(wanted[bin as usize] == 0.0);
        most[whose] = most[whose].max(square);
    }
    let means = [1.0 - combined.constant, combined.constant];
    [0, 1].map(|whose| layers as f64 * (noise + own * most[whose]) - means[whose] * means[whose])
}

/// The greatest variance of one report's estimate of the distribution function where it is
/// `part`, at whichever edge that may be, of up to [`EDGES`].
pub(crate) fn worst_of_distribution(tree: &Tree, rates: &Rates, part: f64) -> f64 {
    let at = |below: u32| {
        let wanted = (0..tree.bins()).map(|bin| f64::from(u8::from(bin < below)));
        let [with, without] = variances(tree, rates, &wanted.collect::<Vec<_>>());
        variance_over_people(People::Drawn, part, with, without)
    };
    edges(tree).map(at).fold(0.0, f64::max)
}

/// How many bins are below an edge, of up to [`EDGES`] edges or all.
pub(crate) fn edges(tree: &Tree) -> impl Iterator<Item = u32> {
    // Odd, so that edges are not all in the same place of their nodes.
    let step = (tree.bins() / EDGES) as usize | 1;
    (1..tree.bins()).step_by(step)
}

/// How many edges are looked at, about, where there are more.
const EDGES: u32 = 64;

#[cfg(test)]
mod tests {
    use hushbin::domain::Domain;
    use hushbin::hash::Hashing;
    use hushbin::mechanism::collision::{Collision, Rule};

    use super::*;

    fn layered() -> Layered {
        let tree = Tree::new(11, vec![3, 2, 2]).unwrap();
        let rule = Rule::Heaviest { favoured: 1 };
        let collision = Collision::new(rule, Hashing::Independent, 4).unwrap();
        let rates = collision.rates(&Domain::exact(tree.nodes(), 1), 1.5);
        let layer = |reports: u64| OneAnswer {
            rates,
            whose: People::Drawn,
            hits: (0..u64::from(tree.nodes()))
                .map(|node| reports / 4 + node * node % 7)
                .collect(),
            reports,
            slots: None,
        };
        Layered::new(&tree, &[900, 1000, 1100].map(layer)).unwrap()
    }

    /// Shares of bins are those of least squares: sums are what [`Combined`] makes of nodes.
    #[test]
    fn sums_of_bins_are_combined_nodes() {
        let layered = layered();
        let all: f64 = layered.shares.iter().sum();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
        for bins in 1..11 {
            let (point, law) = layered.below(bins);
            let wanted: Vec<f64> = (0..11).map(|bin| f64::from(u8::from(bin < bins))).collect();
            let combined = Combined::new(&layered.tree, &layered.reports, &wanted);
            let gap = law.rates.gap();
            let mut sum = combined.constant;
            for (layer, reports) in layered.reports.iter().enumerate() {
                for node in layered.tree.layer(layer) {
                    let hits = (*reports as u64 / 4 + u64::from(node * node % 7)) as f64;
                    let own = (hits / reports - law.rates.p_false) / gap;
                    sum += combined.of_nodes[node as usize] * own;
                }
            }
            assert!(
                (sum - point.estimate).abs() < 1e-12,
                "{bins}: {sum}, {point:?}"
            );
        }
    }

    /// Cumulants rise with the truth as the mean does, and curve as the variance is.
    #[test]
    fn laws_have_the_mean_and_the_variance_of_sums() {
        let layered = layered();
        for bins in 1..11 {
            let (point, law) = layered.below(bins);
            let gap = law.rates.gap();
            let groups = law.groups();
            let none: f64 = groups.map(|(n, own)| n * own.nodes * own.worth).sum();
            let mean = |truth: f64| law.rates.p_false * none + gap * (truth - law.constant);
            // Far enough from 0 that cumulants are not lost in rounding.
            let t = 1e-2 / (gap * point.standard_error);
            for truth in [0.0, 0.3, 1.0] {
                // The truth at which the cumulant is that of the mean and the variance.
                let of = law.point(truth).standard_error * gap;
                let near = |t: f64| {
                    law.truth(t, t * mean(truth) + 0.5 * t * t * of * of)
                        .unwrap()
                };
                let [above, below] = [t, -t].map(near);
                // Third cumulants are left, which change sign.
                assert!(
                    (0.5 * (above + below) - truth).abs() < 2e-5,
                    "{bins}, {truth}: {above}, {below}"
                );
                assert!(
                    (above - below).abs() < 2e-3,
                    "{bins}, {truth}: {above}, {below}"
                );
            }
        }
    }
}
