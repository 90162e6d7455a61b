//! Tests on crowds with known true values that estimates are unbiased and have the predicted
//! variance. Comparisons fail by chance with probability 10⁻⁶ at most.

use hushbin::Entry;
use hushbin::sample::{draw_below, move_random_subset_to_front};
use hushbin_study::competitors::ratings::{
    OracleSetting, PUBLISHED_RATING_ORACLES, RatingOracle, ReportSums,
};
use hushbin_tests::generators::seeded;
use hushbin_tests::significance::{Moments, assert_moments};
use rand_chacha::ChaCha8Rng;

const SETTING: OracleSetting = OracleSetting {
    item_count: 256,
    sparsity: 4,
    epsilon: 1.0,
    delta: 1e-5,
    protected_distance: 3.0,
};
const PEOPLE: usize = 100_000;
const REPEATS: usize = 60;
const BLOCK: usize = 16_384;

/// Draws a crowd. Each person has one of the first `common` items, and up to s − 1 of the remaining
/// items.
fn crowd(
    setting: &OracleSetting,
    common: u32,
    people: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<Entry>> {
    let mut deck: Vec<u64> = (common.into()..u64::from(setting.item_count)).collect();
    let person = |_| {
        let more = draw_below(rng, setting.sparsity) as usize;
        move_random_subset_to_front(rng, &mut deck, more);
        let mut items = deck[..more].to_vec();
        items.push(draw_below(rng, common).into());
        items.sort_unstable();
        let mut entry = |item| {
            let value = [1.0, 1.0, -1.0][draw_below(rng, 3) as usize];
            Entry { item, value }
        };
        items.into_iter().map(&mut entry).collect()
    };
    (0..people).map(person).collect()
}

/// Returns, for each item, the numbers of people who have it at 1 and at −1.
fn counts(setting: &OracleSetting, crowd: &[Vec<Entry>]) -> Vec<[f64; 2]> {
    let mut counts = vec![[0.0; 2]; setting.item_count as usize];
    for entry in crowd.iter().flatten() {
        counts[entry.item as usize][usize::from(entry.value < 0.0)] += 1.0;
    }
    counts
}

fn hear(
    oracle: &dyn RatingOracle,
    people: &[&[Entry]],
    items: u32,
    rng: &mut ChaCha8Rng,
) -> ReportSums {
    let mut heard = ReportSums::new(items);
    for block in people.chunks(BLOCK) {
        oracle.draw_and_add_reports(block, &mut heard, rng);
    }
    heard
}

/// Sums of errors and of squared errors, in units of the predicted standard deviation.
#[derive(Default)]
struct Errors {
    n: f64,
    sum: f64,
    square: f64,
}

impl Errors {
    fn add(&mut self, estimate: f64, truth: f64, variance: f64) {
        let z = (estimate - truth) / variance.sqrt();
        self.n += 1.0;
        self.sum += z;
        self.square += z * z;
    }

    fn assert_unbiased(&self, what: &str) {
        let bias = self.sum / self.n.sqrt();
        assert!(bias.abs() < 5.0, "{what}: off by {bias} σ");
    }

    /// Checks the variance of at least 15,000 errors. Their mean square has a standard error of at
    /// most 1.2 per cent.
    fn assert_varied(&self, what: &str) {
        let ratio = self.square / self.n;
        assert!(self.n > 15_000.0);
        assert!((ratio - 1.0).abs() < 0.05, "{what}: variance by {ratio}");
    }
}

/// True mean of one item and true frequency of either sign, each with the predicted variance of the
/// estimate.
struct Truth {
    mean: [f64; 2],
    frequencies: Option<[[f64; 2]; 2]>,
}

fn truths(oracle: &dyn RatingOracle, counts: &[[f64; 2]], n: f64) -> Vec<Truth> {
    let (mean, frequency) = (
        oracle
            .report_estimate_moments()
            .mean_variances_by_presence(),
        oracle
            .report_estimate_moments()
            .frequency_variances_by_sign(),
    );
    let of = |[plus, minus]: &[f64; 2]| {
        let rest = n - plus - minus;
        let variance = (plus + minus) * mean[0] + rest * mean[1];
        let sign = |frequency: [f64; 3], own: f64, opposite: f64| {
            let [a, b, c] = frequency;
            [own / n, (own * a + opposite * b + rest * c) / (n * n)]
        };
        Truth {
            mean: [(plus - minus) / n, variance / (n * n)],
            frequencies: frequency.map(|f| [sign(f, *plus, *minus), sign(f, *minus, *plus)]),
        }
    };
    counts.iter().map(of).collect()
}

#[test]
fn large_crowds_have_the_variance_predicted() {
    let crowd = crowd(&SETTING, 4, PEOPLE, &mut seeded(30));
    let people: Vec<&[Entry]> = crowd.iter().map(Vec::as_slice).collect();
    let counts = counts(&SETTING, &crowd);
    for (seed, named) in (31..).zip(PUBLISHED_RATING_ORACLES) {
        let oracle = (named.build)(&SETTING).unwrap();
        let (linear, mut rng) = (oracle.linear_estimator(), seeded(seed));
        let truths = truths(&*oracle, &counts, PEOPLE as f64);
        let (mut means, mut signs) = (Errors::default(), Errors::default());
        let mut common = Errors::default();
        for _ in 0..REPEATS {
            let heard = hear(&*oracle, &people, SETTING.item_count, &mut rng);
            assert_eq!(heard.report_count, PEOPLE as u64);
            let frequencies = linear.sign_frequencies(&heard);
            for (item, (estimate, truth)) in linear.means(&heard).iter().zip(&truths).enumerate() {
                let [mean, variance] = truth.mean;
                means.add(*estimate, mean, variance);
                if item < 4 {
                    common.add(*estimate, mean, variance);
                }
                let (Some(estimates), Some(truths)) = (&frequencies, truth.frequencies) else {
                    continue;
                };
                for (estimates, [truth, variance]) in estimates.iter().zip(truths) {
                    signs.add(estimates[item], truth, variance);
                }
            }
        }
        means.assert_varied(named.name);
        means.assert_unbiased(named.name);
        common.assert_unbiased(named.name);
        if linear.presence_factor_and_offset.is_some() {
            signs.assert_varied(named.name);
            signs.assert_unbiased(named.name);
        } else {
            assert_eq!(signs.n, 0.0);
        }
    }
}

/// Setting with six items, of which each person has up to three.
const SMALL: OracleSetting = OracleSetting {
    item_count: 6,
    sparsity: 3,
    epsilon: 1.0,
    delta: 1e-5,
    protected_distance: 3.0,
};
const RUNS: usize = 20_000;

/// Returns the estimates of many runs: first the means, then the frequencies.
fn runs(
    oracle: &dyn RatingOracle,
    people: &[&[Entry]],
    all: bool,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<f64>> {
    let linear = oracle.linear_estimator();
    let run = |_| {
        let mut heard = ReportSums::new(SMALL.item_count);
        if all {
            oracle.draw_and_add_reports(people, &mut heard, rng);
        } else {
            for entries in people {
                oracle.draw_and_add_report(entries, &mut heard, rng);
            }
        }
        let frequencies = linear
            .sign_frequencies(&heard)
            .into_iter()
            .flatten()
            .flatten();
        linear
            .means(&heard)
            .into_iter()
            .chain(frequencies)
            .collect()
    };
    (0..RUNS).map(run).collect()
}

/// Returns the covariances of all pairs of columns, with their standard errors.
fn covariances(runs: &[Vec<f64>]) -> Vec<[f64; 2]> {
    let (n, columns) = (runs.len() as f64, runs[0].len());
    let mean = |i: usize| runs.iter().map(|run| run[i]).sum::<f64>() / n;
    let means: Vec<f64> = (0..columns).map(mean).collect();
    let pairs = (0..columns).flat_map(|i| (0..i).map(move |j| (i, j)));
    let covariance = |(i, j): (usize, usize)| {
        let products = runs
            .iter()
            .map(|run| (run[i] - means[i]) * (run[j] - means[j]));
        let (sum, square) = products.fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
        [sum / n, (square / n - (sum / n).powi(2)).sqrt() / n.sqrt()]
    };
    pairs.map(covariance).collect()
}

#[test]
fn reports_at_once_are_those_one_by_one() {
    let small = OracleSetting {
        item_count: 5,
        ..SMALL
    };
    let mut crowd = crowd(&small, 2, 40, &mut seeded(60));
    // No person has item 5, and some people have no item.
    crowd.resize(44, Vec::new());
    let people: Vec<&[Entry]> = crowd.iter().map(Vec::as_slice).collect();
    let counts = counts(&SMALL, &crowd);
    for (seed, named) in (61..).zip(PUBLISHED_RATING_ORACLES) {
        let oracle = (named.build)(&SMALL).unwrap();
        let truths = truths(&*oracle, &counts, crowd.len() as f64);
        let means = truths.iter().map(|truth| truth.mean);
        let sign = |sign: usize| {
            truths
                .iter()
                .filter_map(move |t| Some(t.frequencies?[sign]))
        };
        let expected: Vec<[f64; 2]> = means.chain(sign(0)).chain(sign(1)).collect();
        let mut rng = seeded(seed);
        let both = [true, false].map(|all| runs(&*oracle, &people, all, &mut rng));
        for runs in &both {
            let column = |(i, [mean, variance]): (usize, &[f64; 2])| {
                let mut moments = Moments::default();
                runs.iter().for_each(|run| moments.add(run[i]));
                let what = format!("{}, estimate {i}", named.name);
                (what, moments, *mean, Some(*variance))
            };
            assert_eq!(expected.len(), runs[0].len());
            assert_moments(&expected.iter().enumerate().map(column).collect::<Vec<_>>());
        }
        let [at_once, one_by_one] = both.map(|runs| covariances(&runs));
        for (pair, ([a, one], [b, other])) in at_once.iter().zip(&one_by_one).enumerate() {
            let off = (a - b) / one.hypot(*other);
            assert!(off.abs() < 5.5, "{}, pair {pair}: {a}, {b}", named.name);
        }
    }
}

/// Estimates are unbiased for values between −1 and 1. They are also unbiased if k-fold repetition
/// has more than s entries.
#[test]
fn values_between_the_ends_are_unbiased() {
    let entry = |(item, value): (u64, f64)| Entry { item, value };
    let few = [(0, 0.5), (1, -0.3), (4, 1.0)].map(entry);
    let many = [(0, -0.25), (1, 1.0), (2, 0.75), (4, 0.0), (5, -1.0)].map(entry);
    for (seed, named) in (90..).zip(PUBLISHED_RATING_ORACLES) {
        let oracle = (named.build)(&SMALL).unwrap();
        let sampled = !(named.name.starts_with("k-fold")
            || named.name.ends_with("event")
            || named.name.ends_with("within L")
            || named.name.starts_with("PrivKV")
            || named.name == "Harmony");
        // Three of the five entries are kept.
        let kept = if sampled { 0.6 } else { 1.0 };
        let mut rng = seeded(seed);
        for (input, kept) in [(&few[..], 1.0), (&many[..], kept)] {
            let mut truth = [[0.0; 2]; SMALL.item_count as usize];
            for entry in input {
                truth[entry.item as usize] = [kept * entry.value, kept];
            }
            for all in [false, true] {
                let runs = runs(&*oracle, &[input], all, &mut rng);
                let expected = |i: usize| {
                    let [mean, presence] = truth[i % SMALL.item_count as usize];
                    match i / SMALL.item_count as usize {
                        0 => mean,
                        1 => 0.5 * (presence + mean),
                        _ => 0.5 * (presence - mean),
                    }
                };
                let column = |i: usize| {
                    let mut moments = Moments::default();
                    runs.iter().for_each(|run| moments.add(run[i]));
                    (format!("{}, {i}", named.name), moments, expected(i), None)
                };
                assert_moments(&(0..runs[0].len()).map(column).collect::<Vec<_>>());
            }
        }
    }
}
