//! Sampling of integers, events and subsets, which every mechanism uses.

use std::collections::BTreeMap;

use hushbin::sample::{Threshold, draw_below, draw_with_probability, move_random_subset_to_front};

use crate::support::generators::{Scripted, seeded};
use crate::support::significance::{assert_rates, assert_uniform};

#[test]
fn integers_are_uniform() {
    let mut rng = seeded(10);
    for range in [1, 2, 3, 6, 7, 10, 100, 1000] {
        let mut counts = vec![0; range as usize];
        (0..100_000).for_each(|_| counts[draw_below(&mut rng, range) as usize] += 1);
        assert_uniform(&counts, &format!("below {range}"));
    }
    // For this range, a product without rejection would return every third integer twice as often.
    let mut counts = [0; 3];
    (0..100_000).for_each(|_| counts[draw_below(&mut rng, 3 << 30) as usize % 3] += 1);
    assert_uniform(&counts, "below 3·2³⁰, by remainder");
}

/// An exact check: ⌊2³²/range⌋ words are accepted for each integer. The words of one integer are
/// consecutive, and all but the first are accepted.
#[test]
fn integers_have_equally_many_words() {
    for range in [
        1u64,
        2,
        3,
        5,
        7,
        10,
        641,
        1378,
        65_537,
        1 << 20,
        3 << 30,
        u64::from(u32::MAX),
    ] {
        for value in [
            0,
            1,
            2,
            range / 3,
            range / 2,
            range.saturating_sub(2),
            range - 1,
        ] {
            let value = value.min(range - 1);
            let first = (value << 32).div_ceil(range);
            let end = ((value + 1) << 32).div_ceil(range);
            // A rejected word is followed by the last one, which is always accepted.
            let accepted = |word: u64| {
                let words = [word, u64::from(u32::MAX)];
                let mut rng = Scripted::new(&words);
                let result = u64::from(draw_below(&mut rng, range as u32));
                assert!(rng.taken > 1 || result == value);
                rng.taken == 1
            };
            let rejected = u64::from(first < end && !accepted(first));
            assert_eq!(
                end - first - rejected,
                (1 << 32) / range,
                "{value} below {range}"
            );
            assert!((first + 1..end.min(first + 3)).all(accepted));
        }
    }
}

#[test]
fn probabilities_are_exact() {
    let draws = |p: f64, word: u64| draw_with_probability(&mut Scripted::new(&[word]), p);
    for value in [
        0.5f64,
        0.1,
        1e-3,
        0.999,
        1.0f64.next_down(),
        2f64.powi(-63),
        3e-19,
    ] {
        let words = (value * 2f64.powi(64)) as u64;
        for value in [value, -value] {
            assert!(draws(value, 0) && draws(value, words - 1));
            assert!(!draws(value, words) && !draws(value, u64::MAX));
        }
    }
    assert!(draws(1.0, u64::MAX) && draws(-1.0, u64::MAX));
    assert!(!draws(0.0, 0) && !draws(-0.0, 0) && !draws(5e-324, 0));
    let threshold = Threshold(1 << 62);
    assert_eq!(
        (threshold.probability(), threshold.false_probability()),
        (0.25, 0.75)
    );

    let mut rng = seeded(11);
    let n = 200_000;
    let rates = [0.5, 0.001, 0.37, 0.999].map(|p| {
        let count = (0..n)
            .filter(|_| draw_with_probability(&mut rng, p))
            .count() as u64;
        (format!("probability {p}"), count, p)
    });
    assert_rates(n, &rates);
}

#[test]
fn subsets_are_uniform() {
    let mut rng = seeded(12);
    for (len, keep) in [(5, 2), (6, 3), (4, 3), (4, 4), (3, 1)] {
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for _ in 0..60_000 {
            let mut items: Vec<u8> = (0..len).collect();
            move_random_subset_to_front(&mut rng, &mut items, keep);
            items.truncate(keep);
            *counts.entry(items).or_default() += 1;
        }
        // Ordered draws are uniform, hence subsets are.
        let orders: usize = (0..keep).map(|i| len as usize - i).product();
        assert_eq!(counts.len(), orders);
        let counts: Vec<u64> = counts.into_values().collect();
        assert_uniform(&counts, &format!("{keep} of {len}"));
    }
}
