//! CoCo's rates and variances against their definitions. All placements and signs of a few elements
//! under ideal hashes are enumerated, with probabilities.

use std::collections::HashMap;

use hushbin::hash::{BalancedHash, HashFamily};
use num_traits::ToPrimitive;

use crate::support::coco::{Model, Pushes};
use hushbin::mechanism::coco::{CocoHitProbabilities, PairHitProbabilities};

/// Probabilities of a report's hits, averaged over the seed.
#[derive(Debug, Default)]
struct Averages {
    sum: f64,
    /// P(hit on the side that an entry pushes to), and P(hit on the opposite side).
    own: f64,
    opposite: f64,
    /// P(hit on the pair) of an item that is no entry.
    other_pair: f64,
    /// P(an entry decides its pair), if one entry of each pair does.
    deciding: f64,
}

/// Enumerates placements of s entries with signed pushes, then of another item.
struct Enumeration<'a> {
    model: &'a Model,
    /// Slots per pair; `None` for independent elements.
    per_pair: Option<u32>,
    distributions: HashMap<Pushes, Vec<f64>>,
    averages: Averages,
}

impl Enumeration<'_> {
    fn run(model: &Model) -> Averages {
        let balanced = || BalancedHash::new(model.elements(), model.pairs).slots_per_bucket();
        let mut enumeration = Enumeration {
            model,
            per_pair: model.hashing.is_balanced().then(balanced),
            distributions: HashMap::new(),
            averages: Averages::default(),
        };
        enumeration.place(&mut Vec::new(), 1.0);
        enumeration.averages
    }

    /// Sides that the elements in `placed` push to. The last element, another item, pushes to none;
    /// its side is the pair's plus side.
    fn place(&mut self, placed: &mut Vec<usize>, probability: f64) {
        let s = self.model.sparsity as usize;
        if placed.len() == s + 1 {
            self.report(placed, probability);
            return;
        }
        let pairs = self.model.pairs;
        for pair in 0..pairs as usize {
            let taken = placed.iter().filter(|&&side| side / 2 == pair).count() as f64;
            let here = match self.per_pair {
                None => 1.0 / f64::from(pairs),
                Some(m) => (f64::from(m) - taken) / (f64::from(m * pairs) - placed.len() as f64),
            };
            if here <= 0.0 {
                continue;
            }
            let signs = if placed.len() < s { 2 } else { 1 };
            for minus in 0..signs {
                placed.push(2 * pair + minus);
                self.place(placed, probability * here / signs as f64);
                placed.pop();
            }
        }
    }

    fn report(&mut self, placed: &[usize], probability: f64) {
        let model = self.model;
        let (entries, other) = placed.split_at(model.sparsity as usize);
        let mut pushes = vec![0; model.buckets() as usize];
        for &side in entries {
            pushes[side] += 1;
        }
        let sharing = pushes[entries[0]] + pushes[entries[0] ^ 1];
        let distribution = self
            .distributions
            .entry(pushes)
            .or_insert_with_key(|pushes| {
                let exact = model.distribution(pushes, &model.words());
                exact.iter().map(|p| p.to_f64().unwrap()).collect()
            });
        let averages = &mut self.averages;
        averages.sum += probability * distribution.iter().sum::<f64>();
        averages.own += probability * distribution[entries[0]];
        averages.opposite += probability * distribution[entries[0] ^ 1];
        averages.other_pair += probability * (distribution[other[0]] + distribution[other[0] ^ 1]);
        averages.deciding += probability / f64::from(sharing);
    }
}

fn check(model: &Model) {
    let domain = model.task().questions()[0].domain();
    let rates = model.coco().hit_probabilities(&domain, model.epsilon);
    let slots = BalancedHash::new(model.elements(), model.pairs).slot_count() as f64;
    if model.hashing.is_balanced() && slots == f64::from(model.sparsity) {
        // All slots are entries, so there is no other item, and all pairs are hit equally often.
        let off = rates.predicted_pair_probabilities.pair_hit_if_present
            / rates.mean_pair_hit_probability
            - 1.0;
        assert!(off.abs() < 1e-12, "{off}: {model:?}");
        assert!(rates.total_variance(&domain).is_finite(), "{model:?}");
        return;
    }
    let averages = Enumeration::run(model);
    let close = |ours: f64, exact: f64, what: &str| {
        assert!(
            (ours - exact).abs() <= 1e-9 * exact.abs().max(1e-6),
            "{what} is {ours}, by enumeration {exact}: {model:?}"
        );
    };
    close(averages.sum, 1.0, "the sum");
    let gap = averages.own - averages.opposite;
    assert!(gap > 1e-6, "{model:?}");
    close(rates.side_hit_probability_gap, gap, "gap");
    close(
        model.coco().deciding_probability(&domain),
        averages.deciding,
        "κ",
    );

    let entry_pair = averages.own + averages.opposite;
    let s = f64::from(model.sparsity);
    let pairs = f64::from(model.pairs);
    close(rates.mean_pair_hit_probability, 1.0 / pairs, "1/T");
    match model.hashing {
        HashFamily::Independent => close(averages.other_pair, 1.0 / pairs, "another's pair"),
        // Every pair has equally many slots, so 1/T of all slots are hit.
        _ => {
            let all = s * entry_pair + (slots - s) * averages.other_pair;
            close(all / slots, 1.0 / pairs, "all slots' pairs");
        }
    }
    let Some(presence) = rates.exact_pair_probabilities else {
        assert!(model.coco().favoured_count().is_some());
        assert_eq!(rates.presence_estimate_variance(true), None);
        assert_eq!(rates.mean_presence_cross_moment(), None);
        assert_eq!(rates.frequency_variance_by_sign(), None);
        assert_eq!(rates.opposite_side_weight(), None);
        // This is a prediction. It is worst if few entries share few pairs.
        let off = rates.predicted_pair_probabilities.pair_hit_if_present / entry_pair - 1.0;
        assert!((-0.07..1e-9).contains(&off), "{off}: {model:?}");
        let PairHitProbabilities {
            pair_hit_if_present: p_pair,
            pair_hit_if_absent: q_pair,
        } = rates.predicted_pair_probabilities;
        close(
            rates.estimate_second_moment(true),
            p_pair / (gap * gap),
            "an entry's",
        );
        close(
            rates.estimate_second_moment(false),
            q_pair / (gap * gap),
            "another's",
        );
        match model.hashing {
            HashFamily::Independent => close(q_pair, 1.0 / pairs, "predicted q_pair"),
            // Every pair has equally many slots, so 1/T of all slots are hit.
            _ => {
                close(
                    s * p_pair + (slots - s) * q_pair,
                    slots / pairs,
                    "predicted q_pair",
                );
            }
        }
        assert!(rates.total_variance(&domain) > 0.0, "{model:?}");
        return;
    };
    close(presence.pair_hit_if_present, entry_pair, "p_pair");
    close(presence.pair_hit_if_absent, averages.other_pair, "q_pair");
    // Second moments of ±1/gap on a hit of the pair, and variances of (hit − q)/(p − q).
    let square = |p: f64| p / (gap * gap);
    close(
        rates.estimate_second_moment(true),
        square(entry_pair),
        "an entry's",
    );
    let other = square(averages.other_pair);
    close(rates.estimate_second_moment(false), other, "another's");
    let total = s * (square(entry_pair) - 1.0) + (f64::from(model.items) - s) * other;
    close(rates.total_variance(&domain), total, "total_variance");
    let presence_gap = entry_pair - averages.other_pair;
    for (present, p) in [(true, entry_pair), (false, averages.other_pair)] {
        let ours = rates.presence_estimate_variance(present).unwrap();
        let exact = p * (1.0 - p) / (presence_gap * presence_gap);
        close(ours, exact, "nonmissing_variance");
    }
    // The report hits the own side, the opposite side, or neither.
    let product = |sign: f64, p: f64| p * sign / gap * (1.0 - averages.other_pair) / presence_gap;
    let exact = product(1.0, averages.own) + product(-1.0, averages.opposite);
    let ours = rates.mean_presence_cross_moment().unwrap();
    close(ours, exact, "mean_times_presence");
    check_frequencies(&rates, &averages, close);
}

/// Checks estimates of both signs' frequencies from one report: half the sum and half the
/// difference of presence and mean. For a person with +, − or no entry, they are unbiased with the
/// stated variances and covariance.
fn check_frequencies(
    rates: &CocoHitProbabilities,
    averages: &Averages,
    close: impl Fn(f64, f64, &str),
) {
    let PairHitProbabilities {
        pair_hit_if_present: p_pair,
        pair_hit_if_absent: q_pair,
    } = rates.exact_pair_probabilities.unwrap();
    let (own, opposite) = (averages.own, averages.opposite);
    let other = 0.5 * averages.other_pair;
    let [with, across, without] = rates.frequency_variance_by_sign().unwrap();
    let (member, nobody) = (true, false);
    for (truth, hits, variances, present) in [
        ([1.0, 0.0], [own, opposite], [with, across], member),
        ([0.0, 1.0], [opposite, own], [across, with], member),
        ([0.0, 0.0], [other, other], [without; 2], nobody),
    ] {
        let outcomes = [
            (hits[0], 1.0, 1.0),
            (hits[1], -1.0, 1.0),
            (1.0 - hits[0] - hits[1], 0.0, 0.0),
        ];
        let estimates = outcomes.map(|(p, lean, hit)| {
            let (mean, presence) = (
                lean / rates.side_hit_probability_gap,
                (hit - q_pair) / (p_pair - q_pair),
            );
            (p, [0.5 * (presence + mean), 0.5 * (presence - mean)])
        });
        let average = |of: &dyn Fn([f64; 2]) -> f64| -> f64 {
            estimates.iter().map(|(p, both)| p * of(*both)).sum()
        };
        for sign in [0, 1] {
            close(
                1.0 + average(&|f| f[sign]),
                1.0 + truth[sign],
                "a frequency",
            );
            let exact = average(&|f| (f[sign] - truth[sign]).powi(2));
            close(variances[sign], exact, "its variance");
        }
        // The covariance is a quarter of the difference between the variances of presence and mean.
        let mean = rates.estimate_second_moment(present) - f64::from(u8::from(present));
        let presence = rates.presence_estimate_variance(present).unwrap();
        let exact = average(&|f| (f[0] - truth[0]) * (f[1] - truth[1]));
        let scale = presence + mean;
        close(
            scale + 0.25 * (presence - mean),
            scale + exact,
            "covariance",
        );
    }
    // A hit of the other side has a fraction of the weight of one on the own side.
    let part = rates.opposite_side_weight().unwrap();
    assert!((0.0..1.0).contains(&part), "{part}");
    let (plus, minus) = (
        1.0 / (p_pair - q_pair),
        1.0 / rates.side_hit_probability_gap,
    );
    let exact = (plus - minus) / (plus + minus);
    close(1.0 + part, 1.0 + exact, "other_side");
}

#[test]
fn rates_are_those_of_the_ideal_hashes() {
    let models = Model::all(1..=5, &[1, 2, 3, 4, 5], &[0.4, 3.0]);
    models.iter().for_each(check);
    assert!(models.len() > 600, "{}", models.len());
    let wider: Vec<Model> = Model::all(6..=6, &[5, 6], &[1.0])
        .into_iter()
        .map(|model| Model {
            sparsity: 4,
            ..model
        })
        .collect();
    wider.iter().for_each(check);
    assert!(wider.len() > 40);
}
