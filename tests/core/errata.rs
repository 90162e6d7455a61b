//! Errata of the papers on randomizers and estimators: the printed formula fails, the implemented
//! one is right. The tables of `server/analysis/src/docs/errata.md` are computed here, in
//! `server/analysis/tests/analysis/errata.rs` for shuffling, and in
//! `server/study/tests/study/competitors` for published mechanisms.

use hushbin::domain::{Domain, SignedItem};
use hushbin::hash::{HashFamily, HashKeys, hashed_closed_element_sign, independent_bucket};
use hushbin::mechanism::coco::{self, FavouredSideRule};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule as CollisionRule};
use hushbin::mechanism::hash_bin::{
    self, DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel, SumNoiseKind,
};
use hushbin::{Entry, ErrorCode, Items, Mechanism, RatingsTaskFields, Task, TaskDraft, ValueKind};
use num_traits::ToPrimitive;
use serde_json::json;

use crate::support::coco::Model;
use hushbin_tests::errata::{assert_table, headers};

fn assert_close(ours: f64, exact: f64, tolerance: f64, what: &str) {
    assert!((ours - exact).abs() <= tolerance, "{what}: {ours}, {exact}");
}

#[test]
fn every_table_is_computed() {
    let tests = [
        include_str!("errata.rs"),
        include_str!("sums/frame.rs"),
        include_str!("../../server/analysis/tests/analysis/errata.rs"),
        include_str!("../../server/study/tests/study/competitors/errata.rs"),
        include_str!("../../server/study/tests/study/competitors/ratings/errata.rs"),
        include_str!("../../server/study/tests/study/competitors/ratings/printed.rs"),
        include_str!("../../server/study/tests/study/competitors/sums/errata.rs"),
    ];
    assert!(headers().count() > 5);
    for header in headers() {
        assert!(tests.iter().any(|test| test.contains(header)), "{header}");
    }
}

fn overwrite(sparsity: u32, epsilon: f64, buckets: u32) -> Model {
    Model {
        items: 2 * sparsity,
        sparsity,
        epsilon,
        rule: FavouredSideRule::RandomEntryDecides,
        hashing: HashFamily::Independent,
        pairs: buckets / 2,
        hashes: 1,
    }
}

/// P1 §7.2: the probability that an entry's pair is reported is (e + 1)/Ω, not half of it. This is
/// true under every seed.
#[test]
fn presence_divides_by_the_whole_pair() {
    let mut rows = Vec::new();
    for (sparsity, epsilon, buckets) in [
        (4, 1.0, 24),
        (16, 0.25, 66),
        (16, 1.0, 66),
        (16, 3.0, 66),
        (64, 1.0, 272),
    ] {
        let model = overwrite(sparsity, epsilon, buckets);
        let domain = model.task().questions()[0].domain();
        let (s, t, e) = (f64::from(sparsity), f64::from(buckets), epsilon.exp());
        let omega = s * (e + 1.0) + t - 2.0 * s;
        let (printed, right) = ((e + 1.0) / (2.0 * omega), (e + 1.0) / omega);
        let none = 2.0 / t;

        let mut randomizer = coco::Randomizer::new(&model.coco(), &domain, epsilon);
        let input: Vec<SignedItem> = (0..u64::from(sparsity))
            .map(|item| SignedItem {
                item,
                is_negative: item % 3 == 0,
            })
            .collect();
        for seed in 0..100 {
            let sides = randomizer.exact_bucket_probabilities(seed, &input, 0);
            let pair = |pair: u32| sides[2 * pair as usize] + sides[2 * pair as usize + 1];
            for entry in &input {
                let own = independent_bucket(&HashKeys::new(seed), entry.item, model.pairs);
                assert_close(pair(own), right, 1e-14, "P(an entry's pair)");
            }
            // Another item's pair is any of the T, for all placements of the entries.
            let all: f64 = (0..model.pairs).map(pair).sum();
            let others = all / f64::from(model.pairs);
            assert_close(others, none, 1e-14, "P(another's pair)");
        }
        let ours = model
            .coco()
            .hit_probabilities(&domain, epsilon)
            .exact_pair_probabilities
            .unwrap();
        assert_close(ours.pair_hit_if_present, right, 1e-14, "p_pair");
        assert_close(ours.pair_hit_if_absent, none, 1e-14, "q_pair");

        let estimate = |constant: f64| (right - none) / (constant - none);
        assert_eq!(estimate(right), 1.0);
        assert!((estimate(printed) - 1.0).abs() > 0.5);
        rows.push(format!(
            "| {sparsity} | {epsilon} | {buckets} | {printed:.4} | {right:.4} | {:.2} | {:.2} |",
            estimate(printed),
            estimate(right),
        ));
    }
    assert_table(
        "| s | ε | t | printed | right | a present item with the printed | with the right |",
        &rows,
    );
}

/// P1 §5: with t = s, the weight outside is 0/0 if every bucket holds an element, and the gap is 0.
#[test]
fn occupied_needs_more_buckets_than_elements() {
    let (sparsity, epsilon) = (4, 1.0_f64);
    let (s, e) = (f64::from(sparsity), epsilon.exp());
    let outside = |k: f64, t: f64| {
        let omega = s * e + t - s;
        (omega - k * e) / ((t - k) * omega)
    };
    assert!(outside(s, s).is_nan());
    assert!(outside(s, s + 1.0) > 0.0);

    let task = |buckets| {
        Task::new(RatingsTaskFields {
            id: "task".to_owned(),
            items: Items::Count(8),
            sparsity,
            epsilon,
            value: ValueKind::Sign,
            mechanism: Mechanism::Collision(
                Collision::new(CollisionRule::Occupied, HashFamily::Independent, buckets).unwrap(),
            ),
        })
    };
    let error = task(sparsity).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    let named = "rule \"occupied\" needs more \"buckets\" than \"sparsity\"";
    assert_eq!(error.to_string(), named);
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "task", "items": 8, "sparsity": sparsity, "epsilon": epsilon, "value": "sign",
        "mechanism": { "name": "collision", "rule": "occupied", "buckets": sparsity },
    }))
    .unwrap();
    assert_eq!(draft.resolve_task().unwrap_err(), error);

    let rows: Vec<String> = [4, 5, 8, 17]
        .into_iter()
        .map(|buckets| {
            let t = f64::from(buckets);
            let p_true = e / (s * e + t - s);
            let gap = p_true - 1.0 / t;
            let answer = if buckets == sparsity {
                assert_close(gap, 0.0, 1e-16, "gap at t = s");
                "refused"
            } else {
                let task = task(buckets).unwrap();
                let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
                    unreachable!("the task is one of Collision")
                };
                let rates = collision.hit_probabilities(&task.questions()[0].domain(), epsilon);
                assert_close(rates.hit_probability_gap(), gap, 1e-14, "gap");
                "taken"
            };
            format!(
                "| {buckets} | {p_true:.4} | {:.4} | {:.4} | {answer} |",
                1.0 / t,
                gap.abs()
            )
        })
        .collect();
    assert_table("| t | e/Ω | 1/t | difference | a task |", &rows);
}

/// Returns the expected estimate of item 0's mean, over ideal hashes. The person has item 0 with
/// this sign and item 1 with the sign +. H2 signs either the item or the signed item of each entry.
/// The estimator uses the sign of item 0, or of 0₊.
fn expected_mean(model: &Model, negative: bool, signed_elements: bool) -> f64 {
    let pairs = model.pairs as usize;
    let words = model.words();
    let mut difference = 0.0;
    for pair in 0..pairs {
        for other in 0..2 * pairs {
            for signs in 0..4 {
                let [plus, minus] = [signs & 1, signs >> 1];
                let looked_at = 2 * pair + plus;
                let sign = if negative && signed_elements {
                    minus
                } else {
                    plus
                };
                let mut pushes = vec![0; 2 * pairs];
                pushes[2 * pair + (sign ^ usize::from(negative))] += 1;
                pushes[other] += 1;
                let sides = model.distribution(&pushes, &words);
                let side = |side: usize| sides[side].to_f64().unwrap();
                difference += side(looked_at) - side(looked_at ^ 1);
            }
        }
    }
    let ways = (8 * pairs * pairs) as f64;
    let gap = model
        .coco()
        .hit_probabilities(&model.task().questions()[0].domain(), model.epsilon)
        .side_hit_probability_gap;
    difference / ways / gap
}

/// P1 Algorithm 1, line 8: H2 signs items. If it signed j₊ and j₋ independently, the estimator
/// would miss negative entries.
#[test]
fn signs_are_of_items() {
    let strongest = |model: Model| Model {
        rule: FavouredSideRule::Strongest { favoured: 2 },
        ..model
    };
    for epsilon in [0.5, 2.0] {
        let model = overwrite(2, epsilon, 8);
        for model in [model, strongest(model)] {
            let rows: Vec<String> = [("1", false), ("-1", true)]
                .into_iter()
                .map(|(entry, negative)| {
                    let value = if negative { -1.0 } else { 1.0 };
                    let items = expected_mean(&model, negative, false);
                    let elements = expected_mean(&model, negative, true);
                    assert_close(items, value, 1e-12, "H2 on items");
                    assert_close(elements, value.max(0.0), 1e-12, "H2 on signed elements");
                    let elements = elements.abs();
                    format!("| {entry} | {items:.2} | {elements:.2} |")
                })
                .collect();
            assert_table("| entry | H2(j) | H2(j₊), H2(j₋) |", &rows);

            // The implementation does this: an entry of the other sign pushes its pair to the other
            // side. A single entry always pushes to its own side.
            let domain = model.task().questions()[0].domain();
            let mut randomizer = coco::Randomizer::new(&model.coco(), &domain, epsilon);
            for seed in 0..200 {
                let signed = |item, negative| SignedItem {
                    item,
                    is_negative: negative,
                };
                let one = [signed(0, false), signed(1, true)];
                let mirrored = [signed(0, true), signed(1, false)];
                let sides = randomizer.exact_bucket_probabilities(seed, &one, 0);
                let opposite = randomizer.exact_bucket_probabilities(seed, &mirrored, 0);
                for (side, &p) in sides.iter().enumerate() {
                    assert_close(opposite[side ^ 1], p, 1e-15, "mirrored");
                }
                let keys = HashKeys::new(seed);
                let pair = |item| independent_bucket(&keys, item, model.pairs);
                if pair(0) != pair(1) {
                    let minus = usize::from(hashed_closed_element_sign(&keys, 0) < 0);
                    let own = 2 * pair(0) as usize + minus;
                    assert!(sides[own] > 1.5 * sides[own ^ 1], "{seed}");
                }
            }
        }
    }
}

/// P3 Algorithm 1, line 6: bin j sums the items hashed to j. As printed, it sums those hashed to
/// the person's number i. That leaves 1/b of the truth to persons 1 to b, and nothing to the rest.
/// Ideal hashes of two items of value 1.
#[test]
fn bins_sum_their_own_items() {
    let expected = |b: usize, summed: &dyn Fn(usize) -> usize| {
        let mut sum = 0;
        for (mine, other) in (0..b * b).map(|hashes| (hashes / b + 1, hashes % b + 1)) {
            for (sign, other_sign) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                let bin = |j: usize| {
                    let holds = |bin: usize| i32::from(bin == summed(j));
                    sign * holds(mine) + other_sign * holds(other)
                };
                sum += sign * bin(mine);
            }
        }
        f64::from(sum) / (4 * b * b) as f64
    };
    let rows: Vec<String> = [1, 4, 16]
        .into_iter()
        .map(|b| {
            let right = expected(b, &|j| j);
            let within = (1..=b).map(|i| expected(b, &|_| i));
            let within: Vec<f64> = within.collect();
            let beyond = expected(b, &|_| b + 1);
            assert_eq!(right, 1.0);
            assert_eq!(within, vec![1.0 / b as f64; b]);
            assert_eq!(beyond, 0.0);
            format!("| {b} | {right} | {} | {beyond} |", within[0])
        })
        .collect();
    assert_table(
        "| b | h(l) = j | h(l) = i, i ≤ b | h(l) = i, i > b |",
        &rows,
    );

    // The implementation does this, in steps of the grid.
    let hash_bin = HashBin::new(
        PrivacyLevel::Event,
        HashFamily::Independent,
        4,
        DEFAULT_GRID_STEPS_PER_UNIT,
    )
    .unwrap();
    let domain = hash_bin_domain(20, hash_bin);
    let mut randomizer = hash_bin::Randomizer::new(&hash_bin, &domain, 1.0);
    let entry = |item, value| Entry { item, value };
    let entries = [
        entry(2, 1.0),
        entry(3, -0.5),
        entry(11, 0.25),
        entry(19, -1.0),
    ];
    for seed in 0..100 {
        let mut bins = vec![0.0; 4];
        for &Entry { item, value } in &entries {
            let (bin, sign) = hash_bin
                .item_bin_lookup(&domain)
                .bin_and_sign(&HashKeys::new(seed), item);
            bins[bin as usize] += f64::from(sign) * value * f64::from(DEFAULT_GRID_STEPS_PER_UNIT);
        }
        assert_eq!(randomizer.bins_before_noise(seed, &entries), bins);
    }
}

fn hash_bin_domain(items: u32, hash_bin: HashBin) -> Domain {
    let task = Task::new(RatingsTaskFields {
        id: "bins".to_owned(),
        items: Items::Count(items),
        sparsity: items,
        epsilon: 1.0,
        value: ValueKind::Real,
        mechanism: Mechanism::HashBin(hash_bin),
    });
    task.unwrap().questions()[0].domain()
}

/// Returns the implemented response at user level, with η on the grid. The first number is the
/// second moment for an empty input. The second is the fraction of an entry that remains for a
/// person of k.
fn implemented(k: u32, eta: f64, noise: SumNoiseKind, epsilon: f64) -> (f64, f64) {
    let level = PrivacyLevel::User { clip: eta, noise };
    let hash_bin = HashBin::new(
        level,
        HashFamily::Independent,
        1,
        DEFAULT_GRID_STEPS_PER_UNIT,
    )
    .unwrap();
    let domain = hash_bin_domain(k, hash_bin);
    (
        hash_bin
            .estimate_scale_and_variance(&domain, epsilon)
            .empty_input_variance,
        hash_bin.share_surviving_clipping(k),
    )
}

fn on_grid(eta: f64) -> f64 {
    let grid = f64::from(DEFAULT_GRID_STEPS_PER_UNIT);
    (eta * grid).round() / grid
}

/// A person with k entries of ±1 whose signed sum is clipped to [−η, η]. Expectations are over the
/// signs: the remaining fraction of an entry, and the mean square of the clipped sum.
struct Clipped {
    share: f64,
    square: f64,
}

impl Clipped {
    fn new(k: u32, eta: f64) -> Self {
        let mut probability = 0.5_f64.powi(k as i32);
        let (mut share, mut square) = (0.0, 0.0);
        for minus in 0..=k {
            let sum = (f64::from(k) - 2.0 * f64::from(minus)).abs();
            let clipped = sum.min(eta);
            share += probability * sum * clipped / f64::from(k);
            square += probability * clipped * clipped;
            probability *= f64::from(k - minus) / f64::from(minus + 1);
        }
        Self { share, square }
    }

    /// Returns the mean squared error of one report for an entry of 1, given the second moment of
    /// the response.
    fn error(&self, second_moment: f64) -> f64 {
        second_moment - 2.0 * self.share + 1.0
    }
}

/// Returns the variance of Laplace noise of scale 2η/ε: twice the squared scale.
fn laplace_variance(eta: f64, epsilon: f64) -> f64 {
    2.0 * (2.0 * eta / epsilon).powi(2)
}

/// Returns A = η(e + 1)/(e − 1), where the response is ±A.
fn two_point(eta: f64, epsilon: f64) -> f64 {
    eta / (epsilon / 2.0).tanh()
}

const BETA: f64 = 0.05;

fn printed_clip(k: u32, n: f64) -> f64 {
    (2.0 * f64::from(k) * (4.0 * n / BETA).ln()).sqrt()
}

fn code_clip(k: u32, n: f64) -> f64 {
    (f64::from(k) * n.ln()).sqrt() / 2.5
}

/// P3 Algorithm 1 at user level: the cost of the printed noise against the two-point response of
/// the authors' code, and the cost of that code's clip.
#[test]
fn two_points_are_less_noisy_than_the_printed_noise() {
    let (k, n) = (64, 1e5);
    let (wide, narrow) = (printed_clip(k, n), code_clip(k, n));
    let rows: Vec<String> = [0.25, 0.5, 1.0, 2.0]
        .into_iter()
        .map(|epsilon: f64| {
            // Unbiased within the clip, and ε-LDP: at the ends of the clip P(+) is e/(e + 1) and
            // 1/(e + 1).
            let a = two_point(narrow, epsilon);
            let plus = |sum: f64| 0.5 + sum / (2.0 * a);
            for sum in [-narrow, -1.0, 0.0, 0.3, narrow] {
                let mean = a * plus(sum) - a * (1.0 - plus(sum));
                assert_close(mean, sum, 1e-12, "the response");
            }
            let loss = (plus(narrow) / plus(-narrow)).ln();
            assert_close(loss, epsilon, 1e-12, "its privacy loss");
            let (eta, wide_eta) = (on_grid(narrow), on_grid(wide));
            let (ours, _) = implemented(k, eta, SumNoiseKind::TwoPoint, epsilon);
            let exact = two_point(eta, epsilon).powi(2);
            assert_close(ours, exact, 1e-9 * exact, "A²");
            let (ours, _) = implemented(k, wide_eta, SumNoiseKind::Laplace, epsilon);
            let exact = laplace_variance(wide_eta, epsilon);
            assert_close(ours, exact, 1e-6 * exact, "8η²/ε²");

            let laplace = |eta: f64| {
                let clipped = Clipped::new(k, eta);
                clipped.error(laplace_variance(eta, epsilon) + clipped.square)
            };
            let response = Clipped::new(k, narrow).error(a * a);
            let (printed, halfway) = (laplace(wide), laplace(narrow));
            assert!(printed > 20.0 * response && printed < 35.0 * response);
            format!(
                "| {epsilon} | {printed:.0} | {response:.0} | {:.1} | {:.1} | {:.2} |",
                printed / response,
                printed / halfway,
                halfway / response,
            )
        })
        .collect();
    assert_table(
        "| ε | as printed | as in their code | ratio | of it by the clip | by the response |",
        &rows,
    );
}

#[test]
fn a_narrow_clip_is_a_bias_that_stays() {
    let epsilon = 1.0;
    let rows: Vec<String> = [
        (16, 1e5),
        (64, 1e4),
        (64, 1e5),
        (64, 1e6),
        (64, 1e7),
        (256, 1e5),
    ]
    .into_iter()
    .map(|(k, n)| {
        let (wide, narrow) = (printed_clip(k, n), code_clip(k, n));
        let (printed, code) = (Clipped::new(k, wide), Clipped::new(k, narrow));
        assert!(printed.share > 1.0 - 1e-7, "{}", printed.share);
        assert!(code.share < 0.9);
        // The mean over n such people has a smaller variance, but the same bias.
        let error = |share: f64, second_moment: f64| {
            ((second_moment - share * share) / n + (1.0 - share).powi(2)).sqrt()
        };
        let noisy = laplace_variance(wide, epsilon) + printed.square;
        let a = two_point(narrow, epsilon);
        format!(
            "| {k} | {n} | {wide:.1} | {:.2} | {:.3} | {narrow:.1} | {:.2} | {:.3} |",
            printed.share,
            error(printed.share, noisy),
            code.share,
            error(code.share, a * a),
        )
    })
    .collect();
    assert_table(
        "| k | n | printed η | estimated at | error | their code's η | estimated at | error |",
        &rows,
    );
}
