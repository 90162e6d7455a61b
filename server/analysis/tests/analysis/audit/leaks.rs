//! Randomizers that reveal more than stated; the audit catches each of them.

use hushbin::domain::SignedItem;
use hushbin::hash::HashKeys;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::hash_bin::{self, PrivacyLevel, RandomisedResponse, SumNoiseKind};
use hushbin::{Entry, Mechanism, Randomizer, Report, Task};
use hushbin_analysis::audit::AttackStatistic;
use hushbin_analysis::likelihood::core_bucket_probability_fn;
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use super::{
    assert_leaks, honest, measured, of_level, rng, small, typical, user, with_epsilon, within,
};

/// Noise for half the distance, a clip that is not applied, and no noise in one report of 50.
#[test]
fn leaks_of_hash_bin_are_caught() {
    let task = of_level(PrivacyLevel::Event, 40);
    let leaky = of_level(within(1.0), 40);
    let found = measured(&task, 30_000, honest(&leaky, rng(11)));
    assert_leaks(&task, &found);

    let task = of_level(user(SumNoiseKind::TwoPoint), 40);
    let sums = unclipped(&task);
    let mut words = rng(12);
    // The sum of s entries exceeds the clip.
    let found = measured(&task, 30_000, |input| {
        let seed = words.next_u64();
        let lean = sums(seed, input)[0] / 1.5 * 0.5_f64.tanh();
        let plus = f64::from(words.next_u32()) / f64::from(u32::MAX) < 0.5 * (1.0 + lean);
        let response = RandomisedResponse::Sign(plus);
        Report::HashBin(hash_bin::Report { seed, response })
    });
    assert_leaks(&task, &found);

    let task = of_level(PrivacyLevel::Event, 3);
    let sums = unclipped(&task);
    let mut honest = honest(&task, rng(13));
    let mut coin = rng(14);
    let found = measured(&task, 30_000, |input| {
        let mut report = honest(input);
        if let Report::HashBin(report) = &mut report
            && coin.next_u32().is_multiple_of(50)
        {
            let exact = sums(report.seed, input);
            let steps = exact.iter().map(|sum| (sum * 1024.0) as i64);
            report.response = RandomisedResponse::Bins(steps.collect());
        }
        report
    });
    assert_leaks(&task, &found);
}

/// Sums of signed values by bin, without a clip.
fn unclipped(task: &Task) -> impl Fn(u64, &[Entry]) -> Vec<f64> + use<> {
    let Mechanism::HashBin(hash_bin) = task.questions()[0].mechanism() else {
        unreachable!()
    };
    let (support, bins) = (
        hash_bin.item_bin_lookup(&task.questions()[0].domain()),
        hash_bin.bin_count() as usize,
    );
    move |seed, input| {
        let keys = HashKeys::new(seed);
        let mut sums = vec![0.0; bins];
        for entry in input {
            let (bin, sign) = support.bin_and_sign(&keys, entry.item);
            sums[bin as usize] += f64::from(sign) * entry.value;
        }
        sums
    }
}

#[test]
fn thresholds_of_a_larger_epsilon_are_caught() {
    for mechanism in ["collision", "coco"] {
        let task = typical(mechanism);
        let leaky = with_epsilon(&task, 1.25);
        let found = measured(&task, 40_000, honest(&leaky, rng(2)));
        assert_leaks(&task, &found);
    }
}

/// The seed of one report in 50 encodes the items and signs.
#[test]
fn input_in_clear_is_caught() {
    let task = typical("collision");
    let mut honest = honest(&task, rng(3));
    let mut coin = rng(33);
    let found = measured(&task, 30_000, |input| {
        let report = honest(input);
        if !coin.next_u32().is_multiple_of(50) {
            return report;
        }
        let Report::Collision(BucketReport { bucket, .. }) = report else {
            unreachable!()
        };
        let signed = |entry: &Entry| 2 * entry.item + u64::from(entry.value < 0.0);
        let seed = input
            .iter()
            .fold(0, |seed, entry| seed << 8 | signed(entry));
        Report::Collision(BucketReport { seed, bucket })
    });
    assert_leaks(&task, &found);
}

/// One report in 30 comes from a generator that restarts every time, so its noise can be
/// subtracted.
#[test]
fn noise_that_repeats_is_caught() {
    let task = typical("coco");
    let mut honest = honest(&task, rng(4));
    let mut randomizer = Randomizer::new(&task);
    let mut coin = rng(44);
    let found = measured(&task, 30_000, |input| {
        if !coin.next_u32().is_multiple_of(30) {
            return honest(input);
        }
        randomizer.randomize(input, &mut rng(5)).unwrap().report
    });
    assert_leaks(&task, &found);
}

/// People with item 0 sometimes get the same seed.
#[test]
fn seed_reused_for_some_inputs_is_caught() {
    let task = typical("coco");
    let mut honest = honest(&task, rng(6));
    let mut coin = rng(66);
    let found = measured(&task, 30_000, |input| {
        let report = honest(input);
        let Report::Coco(BucketReport { bucket, .. }) = report else {
            unreachable!()
        };
        if coin.next_u32().is_multiple_of(20) && input.iter().any(|entry| entry.item == 0) {
            return Report::Coco(BucketReport { seed: 0, bucket });
        }
        report
    });
    assert_leaks(&task, &found);
}

/// The first s entries, for values −1, 0 and 1.
fn signed(task: &Task, input: &[Entry]) -> Vec<SignedItem> {
    let present = input.iter().filter(|entry| entry.value != 0.0);
    let signed = present.map(|entry| SignedItem {
        item: entry.item,
        is_negative: entry.value < 0.0,
    });
    signed
        .take(task.questions()[0].max_entries_per_report() as usize)
        .collect()
}

/// Draws by inverting the cumulated probabilities of buckets, after `distort` changed them.
fn along(
    task: &Task,
    mut rng: ChaCha20Rng,
    distort: impl Fn(&mut [f64]),
) -> impl FnMut(&[Entry]) -> Report {
    let mut probabilities = core_bucket_probability_fn(&task.questions()[0]).unwrap();
    let task = task.clone();
    move |input| {
        let seed = rng.next_u64();
        let mut row = probabilities(seed, &signed(&task, input), 0);
        distort(&mut row);
        let mut left = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let bucket = row.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        // Probability lost by rounding goes to the last bucket.
        let bucket = bucket.unwrap_or(row.len() - 1) as u32;
        Report::Collision(BucketReport { seed, bucket })
    }
}

/// The distortions below are what the audit catches, not this way of drawing.
#[test]
fn drawing_along_probabilities_is_not_flagged() {
    let task = small();
    let found = measured(&task, 40_000, along(&task, rng(7), |_| {}));
    assert!(found.lower_bound <= 1.0, "{found:?}");
}

/// Probabilities are cut to five bits, and the last bucket gets the remainder.
#[test]
fn coarse_probabilities_are_caught() {
    let task = small();
    let distort = |row: &mut [f64]| row.iter_mut().for_each(|p| *p = (*p * 32.0).floor() / 32.0);
    let found = measured(&task, 40_000, along(&task, rng(8), distort));
    assert_leaks(&task, &found);
}

/// The favoured buckets have the right total probability, but the first of them gets half of it.
/// Only the bucket's position reveals that.
#[test]
fn favourite_among_the_favoured_is_caught() {
    let task = small();
    let distort = |row: &mut [f64]| {
        let most = row.iter().copied().fold(0.0, f64::max);
        let favoured = |p: &f64| *p > 0.999 * most;
        let first = row.iter().position(favoured).unwrap();
        for p in row.iter_mut().skip(first + 1).filter(|p| favoured(p)) {
            *p -= 0.25 * most;
        }
        row[first] += 1.0 - row.iter().sum::<f64>();
    };
    let found = measured(&task, 30_000, along(&task, rng(9), distort));
    assert_leaks(&task, &found);
    assert_ne!(found.event.statistic, AttackStatistic::LikelihoodRatio);
}
