//! Rates and variances against their definitions. All placements of a few elements under an ideal
//! hash are enumerated, with probabilities.

use std::collections::HashMap;

use hushbin::hash::{BalancedHash, HashFamily};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

use crate::support::collision::Model;

/// Probabilities of the hits of a member and two non-members: bit 0 is the member, bits 1 and 2 are
/// the non-members.
struct Hits([f64; 8]);

impl Hits {
    fn expect(&self, value: impl Fn(f64, f64, f64) -> f64) -> f64 {
        let bit = |hits: usize, index: usize| ((hits >> index) & 1) as f64;
        (0..8)
            .map(|hits| self.0[hits] * value(bit(hits, 0), bit(hits, 1), bit(hits, 2)))
            .sum()
    }
}

/// Enumerates placements of s members, then of two non-members.
struct Enumeration<'a> {
    model: &'a Model,
    /// Slots per bucket; `None` for independent elements.
    per_bucket: Option<u32>,
    distributions: HashMap<Vec<u32>, Vec<f64>>,
    hits: [f64; 8],
}

impl Enumeration<'_> {
    fn run(model: &Model) -> Hits {
        let elements = 2 * model.items + model.sparsity;
        let balanced = || BalancedHash::new(elements, model.buckets).slots_per_bucket();
        let mut enumeration = Enumeration {
            model,
            per_bucket: model.hashing.is_balanced().then(balanced),
            distributions: HashMap::new(),
            hits: [0.0; 8],
        };
        enumeration.place(&mut Vec::new(), 1.0);
        Hits(enumeration.hits)
    }

    /// Buckets of the elements so far are in `placed`.
    fn place(&mut self, placed: &mut Vec<usize>, probability: f64) {
        let s = self.model.sparsity as usize;
        if placed.len() == s + 2 {
            self.report(placed, probability);
            return;
        }
        let t = self.model.buckets;
        for bucket in 0..t as usize {
            let taken = placed.iter().filter(|&&other| other == bucket).count() as f64;
            let here = match self.per_bucket {
                None => 1.0 / f64::from(t),
                Some(m) => (f64::from(m) - taken) / (f64::from(m * t) - placed.len() as f64),
            };
            if here > 0.0 {
                placed.push(bucket);
                self.place(placed, probability * here);
                placed.pop();
            }
        }
    }

    fn report(&mut self, placed: &[usize], probability: f64) {
        let model = self.model;
        let s = model.sparsity as usize;
        let mut counts = vec![0; model.buckets as usize];
        for &bucket in &placed[..s] {
            counts[bucket] += 1;
        }
        let distribution = self
            .distributions
            .entry(counts)
            .or_insert_with_key(|counts| {
                let thresholds = model.collision().thresholds(model.sparsity, model.epsilon);
                model
                    .distribution(counts, |k| {
                        BigUint::from(thresholds.favoured_threshold(k).0)
                    })
                    .iter()
                    .map(|p| p.to_f64().unwrap())
                    .collect()
            });
        for (bucket, p) in distribution.iter().enumerate() {
            let hit = |index: usize| usize::from(placed[index] == bucket);
            self.hits[hit(0) | hit(s) << 1 | hit(s + 1) << 2] += probability * p;
        }
    }
}

fn assert_close(ours: f64, exact: f64, what: &str, model: &Model) {
    assert!(
        (ours - exact).abs() <= 1e-9 * exact.abs().max(1e-6),
        "{what} is {ours}, by enumeration {exact}: {model:?}"
    );
}

#[test]
fn rates_are_those_of_the_ideal_hash() {
    let mut models = 0;
    for (items, sparsity) in [(1, 1), (2, 1), (3, 2), (3, 3), (5, 3), (4, 4)] {
        for buckets in [2, 3, 4, 6, 15] {
            if buckets == 15 && sparsity > 2 {
                continue;
            }
            for rule in Model::rules(sparsity, buckets) {
                for hashing in [HashFamily::Balanced, HashFamily::Independent] {
                    for epsilon in [0.4, 3.0] {
                        let model = Model {
                            items,
                            sparsity,
                            epsilon,
                            rule,
                            hashing,
                            buckets,
                            hashes: 1,
                        };
                        check(&model);
                        models += 1;
                    }
                }
            }
        }
    }
    assert!(models > 300, "{models}");
}

fn check(model: &Model) {
    let hits = Enumeration::run(model);
    let domain = model.task().questions()[0].domain();
    let rates = model.collision().hit_probabilities(&domain, model.epsilon);
    let close = |ours, exact, what| assert_close(ours, exact, what, model);

    let (p_true, p_false) = (hits.expect(|a, _, _| a), hits.expect(|_, b, _| b));
    close(hits.expect(|_, _, _| 1.0), 1.0, "the sum");
    close(rates.p_true, p_true, "p_true");
    close(rates.p_false, p_false, "p_false");
    close(
        rates.member_and_nonmember_hit,
        hits.expect(|a, b, _| a * b),
        "both_member",
    );
    close(
        rates.two_nonmembers_hit,
        hits.expect(|_, b, c| b * c),
        "both_none",
    );

    // Estimates from one report, and the stated moments.
    let gap = p_true - p_false;
    if gap < 1e-6 {
        // All buckets are equally favoured, so nothing can be estimated.
        return;
    }
    let frequency = |hit: f64| (hit - p_false) / gap;
    close(
        hits.expect(|a, _, _| frequency(a)),
        1.0,
        "a member's frequency",
    );
    let square = hits.expect(|a, _, _| (frequency(a) - 1.0).powi(2));
    close(
        rates.frequency_variance(true),
        square,
        "a member's variance",
    );
    let square = hits.expect(|_, b, _| frequency(b).powi(2));
    close(
        rates.frequency_variance(false),
        square,
        "another's variance",
    );

    let square = hits.expect(|a, b, _| ((a - b) / gap).powi(2));
    close(
        rates.estimate_second_moment(true),
        square,
        "mean_square(true)",
    );
    let square = hits.expect(|_, b, c| ((b - c) / gap).powi(2));
    close(
        rates.estimate_second_moment(false),
        square,
        "mean_square(false)",
    );

    let presence = |a: f64, b: f64| frequency(a) + frequency(b);
    let square = hits.expect(|a, b, _| (presence(a, b) - 1.0).powi(2));
    close(
        rates.presence_estimate_variance(true),
        square,
        "nonmissing_variance(true)",
    );
    let square = hits.expect(|_, b, c| presence(b, c).powi(2));
    close(
        rates.presence_estimate_variance(false),
        square,
        "nonmissing_variance(false)",
    );

    let product = |a: f64, b: f64| (a - b) / gap * presence(a, b);
    let exact = hits.expect(|a, b, _| product(a, b));
    // The value is 0 for two buckets of the independent hash, so the comparison is relative to 1.
    close(
        1.0 + rates.mean_presence_cross_moment(),
        1.0 + exact,
        "mean_times_presence",
    );
    let without = hits.expect(|_, b, c| product(b, c));
    assert!((without * gap * gap).abs() < 1e-12, "{without}: {model:?}");
}
