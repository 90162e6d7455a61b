//! Sums of shares from all layers of a tree of bins, and the tree whose sums are best.

use alloc::vec::Vec;

use crate::task::Tree;

/// What the estimates of all nodes of a tree are to be multiplied by, to sum to the estimate
/// of least variance of a sum of bins' shares.
///
/// Nodes are estimated without bias, with noise of the same variance for all nodes of a
/// layer, independent or adding up to the same: the nodes' shares are what the bins' shares θ
/// sum to, and these sum to 1. So weighted least squares under that constraint are best (Gauss,
/// Markov), and linear in the estimates.
///
/// With A_l the sums of layer l and w_l its weight, M = Σ w_l·A_lᵀA_l, r the wanted sum and 1
/// the sum of all: rᵀθ = u·Σ w_l·A_lᵀy_l + ρ, with u = M⁻¹(r − ρ1) and ρ = rᵀM⁻¹1 over 1ᵀM⁻¹1.
/// A node's own estimate is multiplied by w_l·(A_l·u) there. M is solved from the bins up and
/// down again, a node joining what its children are solved to by Sherman and Morrison's formula
/// (two passes, as Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially
/// Private Histograms Through Consistency", VLDB 2010, for layers of the same weight).
///
/// ```
/// use hushbin::choose::Combined;
/// use hushbin::task::Tree;
///
/// let tree = Tree::new(4, vec![2, 2]).unwrap();
/// // The first two bins are a node. What their own estimates say of it counts half as much.
/// let half = Combined::new(&tree, &[1.0, 1.0], &[1.0, 1.0, 0.0, 0.0]);
/// let expected = [1.0, -1.0, 0.5, 0.5, -0.5, -0.5].map(|part| part / 3.0);
/// for (found, expected) in half.of_nodes.iter().zip(expected) {
///     assert!((found - expected).abs() < 1e-15);
/// }
/// assert_eq!(half.constant, 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// By node of all layers, from the top.
    pub of_nodes: Vec<f64>,
    /// ρ, what is added.
    pub constant: f64,
}

impl Combined {
    /// Of the layers' weights, which are the inverse variances of their nodes' noise, that of
    /// the bins above 0, and the part of each bin in the sum.
    ///
    /// O(nodes).
    ///
    /// # Panics
    /// If there are not as many weights as layers, or not as many parts as bins.
    #[must_use]
    pub fn new(tree: &Tree, weights: &[f64], wanted: &[f64]) -> Self {
        let last = tree.layers() - 1;
        assert_eq!(
            (weights.len(), wanted.len()),
            (last + 1, tree.bins() as usize)
        );
        // Sums of M⁻¹r and M⁻¹1 over each node, and of nodes without their own weight.
        let of_bin = |part: &f64| [part / weights[last], 1.0 / weights[last]];
        let mut sums: Vec<[f64; 2]> = wanted.iter().map(of_bin).collect();
        let mut joined = Vec::with_capacity(last);
        for layer in (0..last).rev() {
            let branches = tree.branches()[layer + 1] as usize;
            let inner: Vec<[f64; 2]> = sums.chunks(branches).map(total).collect();
            let own = inner.iter().map(|inner| with_own(*inner, weights[layer]));
            sums = own.collect();
            joined.push(inner);
        }
        let [all, ones] = total(&sums);
        let constant = all / ones;
        let mut of_nodes = Vec::with_capacity(tree.nodes() as usize);
        // What is taken off r by all nodes above, of each node of a layer.
        let mut taken = alloc::vec![constant; sums.len()];
        for (layer, inner) in joined.iter().rev().enumerate() {
            let own = inner.iter().zip(&taken).map(|([sum, ones], taken)| {
                weights[layer] * (sum - taken * ones) / (1.0 + weights[layer] * ones)
            });
            let own: Vec<f64> = own.collect();
            let both = own.iter().zip(&taken).map(|(own, taken)| own + taken);
            let branches = tree.branches()[layer + 1] as usize;
            let below = both.flat_map(|both| core::iter::repeat_n(both, branches));
            taken = below.collect();
            of_nodes.extend(own);
        }
        of_nodes.extend(wanted.iter().zip(&taken).map(|(part, taken)| part - taken));
        Self { of_nodes, constant }
    }

    /// Of the share below an edge, so many bins being below it.
    ///
    /// # Panics
    /// As [`Combined::new`].
    #[must_use]
    pub fn below(tree: &Tree, weights: &[f64], bins: u32) -> Self {
        let wanted = (0..tree.bins()).map(|bin| f64::from(u8::from(bin < bins)));
        Self::new(tree, weights, &wanted.collect::<Vec<_>>())
    }
}

/// Sums over a node, of the sums over what it joins: (D + w·11ᵀ)⁻¹x sums to S/(1 + w·σ),
/// where D⁻¹x sums to S and D⁻¹1 to σ.
fn with_own([sum, ones]: [f64; 2], weight: f64) -> [f64; 2] {
    let whole = 1.0 + weight * ones;
    [sum / whole, ones / whole]
}

fn total(sums: &[[f64; 2]]) -> [f64; 2] {
    let add = |all: [f64; 2], own: &[f64; 2]| [all[0] + own[0], all[1] + own[1]];
    sums.iter().fold([0.0; 2], add)
}

/// What the variance of one report's estimate of a sum is made of, averaged over sums, for
/// people spread evenly over bins.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spread {
    layers: f64,
    /// Σ c² over nodes.
    squares: f64,
    /// The same over the nodes that a person is in.
    own_squares: f64,
    /// Variance of c among people.
    own: f64,
}

impl Spread {
    /// Of the shares below up to so many edges, where layers are drawn as often.
    fn below_edges(tree: &Tree, edges: u32) -> Self {
        let (bins, layers) = (tree.bins(), tree.layers());
        // Odd, so that edges are not all in the same place of their nodes.
        let step = (bins / edges) | 1;
        let weights = alloc::vec![1.0; layers];
        let mut spread = Self {
            layers: layers as f64,
            ..Self::default()
        };
        let mut count = 0.0;
        for edge in (1..bins).step_by(step as usize) {
            let combined = Combined::below(tree, &weights, edge);
            spread.add(tree, &combined);
            count += 1.0;
        }
        let of_all = [
            &mut spread.squares,
            &mut spread.own_squares,
            &mut spread.own,
        ];
        of_all.into_iter().for_each(|sum| *sum /= count);
        spread
    }

    fn add(&mut self, tree: &Tree, combined: &Combined) {
        for layer in 0..tree.layers() {
            let joined = f64::from(tree.joined(layer));
            let (mut own, mut mean) = (0.0, 0.0);
            let mut left = f64::from(tree.bins());
            for node in tree.layer(layer) {
                let part = combined.of_nodes[node as usize];
                // The last node may join fewer.
                let share = joined.min(left) / f64::from(tree.bins());
                left -= joined;
                self.squares += part * part;
                own += share * part * part;
                mean += share * part;
            }
            self.own += own - mean * mean;
            self.own_squares += own;
        }
    }

    /// Of one report, by exp(ε) and the number of buckets of an independent hash.
    fn variance(&self, e: f64, buckets: u32) -> f64 {
        let t = f64::from(buckets);
        let (p, q) = (e / (e + t - 1.0), 1.0 / t);
        let (with, without) = (p * (1.0 - p), q * (1.0 - q));
        let gap = (p - q) * (p - q);
        let noise = self.squares * without + self.own_squares * (with - without);
        self.layers * (noise / gap + self.own)
    }
}

/// How many edges variances are averaged over.
const EDGES: u32 = 16;
/// How many nodes a node joins, of trees that are compared. Twos have up to 4 per cent less
/// variance than fours below edges, but twice the layers, and bins so much more of it.
const JOINED: [u32; 3] = [4, 8, 16];

/// The branches of the best of trees whose layers below the first join as many, and the
/// variance that the distribution function then has on average.
pub(super) fn best(bins: u32, epsilon: f64) -> Option<(Vec<u32>, f64)> {
    let trees = JOINED.into_iter().flat_map(|joined| {
        (1..).map_while(move |below| {
            let top = bins.div_ceil(joined.checked_pow(below)?);
            let lower = core::iter::repeat_n(joined, below as usize);
            (top > 1).then(|| core::iter::once(top).chain(lower).collect())
        })
    });
    let mut best = None;
    let mut least = f64::INFINITY;
    for branches in trees {
        let tree = Tree::new(bins, branches).ok()?;
        let (variance, _) = best_buckets(&Spread::below_edges(&tree, EDGES), epsilon);
        if variance < least {
            least = variance;
            best = Some((tree.branches().to_vec(), variance));
        }
    }
    best
}

/// The number of buckets for one tree.
pub(super) fn buckets(tree: &Tree, epsilon: f64) -> u32 {
    best_buckets(&Spread::below_edges(tree, EDGES), epsilon).1
}

/// The least variance, and the number of buckets that it takes: up to the exp(ε) + 1 that are
/// best where nobody's own answer counts.
fn best_buckets(spread: &Spread, epsilon: f64) -> (f64, u32) {
    let e = libm::exp(epsilon);
    let next = |buckets: &u32| Some(buckets + 1 + buckets / FINE);
    let all = core::iter::successors(Some(2), next);
    let all = all.take_while(|buckets| f64::from(*buckets) <= e + 2.0);
    let mut best = (f64::INFINITY, 2);
    for buckets in all {
        let variance = spread.variance(e, buckets);
        if variance < best.0 {
            best = (variance, buckets);
        }
    }
    best
}

/// Numbers of buckets that are closer than this part of themselves are not told apart.
const FINE: u32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Trees, some of whose last nodes join fewer, and weights.
    fn cases() -> Vec<(Tree, Vec<f64>)> {
        let case = |bins, branches: &[u32], weights: &[f64]| {
            (
                Tree::new(bins, branches.to_vec()).unwrap(),
                weights.to_vec(),
            )
        };
        alloc::vec![
            case(4, &[2, 2], &[1.0, 1.0]),
            case(100, &[4, 4, 8], &[3.0, 1.0, 0.2]),
            case(37, &[3, 2, 2, 4], &[0.0, 1.0, 5.0, 2.0]),
            case(64, &[16, 4], &[1000.0, 900.0]),
            case(5, &[3, 2], &[0.5, 4.0]),
        ]
    }

    /// What is summed has the wanted sum as its expectation, whatever the shares; and
    /// what nodes are multiplied by over their weights is what their bins add up to, which
    /// is when no other estimate without bias has less variance (Gauss and Markov).
    #[test]
    fn sums_are_without_bias_and_of_least_variance() {
        for (tree, weights) in cases() {
            let last = tree.layers() - 1;
            let bins = tree.bins();
            for (some, wanted) in [
                (
                    0,
                    Vec::from_iter((0..bins).map(|bin| f64::from(u8::from(bin < bins / 3)))),
                ),
                (
                    1,
                    Vec::from_iter((0..bins).map(|bin| f64::from(u8::from(bin == bins - 1)))),
                ),
                (
                    2,
                    Vec::from_iter((0..bins).map(|bin| f64::from(bin * bin % 7))),
                ),
            ] {
                let what = alloc::format!("{tree:?}, {some}");
                let combined = Combined::new(&tree, &weights, &wanted);
                for bin in 0..bins {
                    let above =
                        (0..=last).map(|layer| combined.of_nodes[tree.node(layer, bin) as usize]);
                    let all = above.sum::<f64>() + combined.constant;
                    assert!(
                        (all - wanted[bin as usize]).abs() < 1e-9,
                        "{what}: {all} of {bin}"
                    );
                }
                for layer in 0..=last {
                    for (place, node) in tree.layer(layer).enumerate() {
                        let inside =
                            (0..bins).filter(|bin| bin / tree.joined(layer) == place as u32);
                        let of_bin = |bin| combined.of_nodes[tree.node(last, bin) as usize];
                        let sum: f64 = inside.map(of_bin).sum::<f64>() / weights[last];
                        let own = combined.of_nodes[node as usize];
                        assert!(
                            (own - weights[layer] * sum).abs() < 1e-9,
                            "{what}: {own}, {sum}"
                        );
                    }
                }
            }
        }
    }

    /// Average variances over those of the flat histogram of as many bins, as computed by a
    /// program of its own; a binary tree's nodes that make up a share, merely summed, have 1.6
    /// times it at 32 bins.
    #[test]
    fn trees_gain_as_much_as_they_should() {
        for (epsilon, bins, branches, flat, ratio) in [
            (1.0, 32, &[2, 2, 2, 2, 2][..], 19.67, 0.667),
            (1.0, 32, &[8, 4], 19.67, 0.634),
            (2.0, 64, &[8, 8], 7.73, 0.516),
            (4.0, 64, &[4, 4, 4], 0.81, 1.054),
            (1.0, 1024, &[16, 8, 8], 630.04, 0.082),
            (1.0, 1024, &[4, 4, 4, 4, 4], 630.04, 0.065),
        ] {
            let tree = Tree::new(bins, branches.to_vec()).unwrap();
            let spread = Spread::below_edges(&tree, bins);
            let found = best_buckets(&spread, epsilon).0 / flat;
            assert!(
                (found / ratio - 1.0).abs() < 0.02,
                "{branches:?}, {epsilon}: {found}"
            );
        }
    }
}
