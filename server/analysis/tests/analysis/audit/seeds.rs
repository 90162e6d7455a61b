//! Seeds that depend on the input: a report is drawn again until its seed suits the input. The
//! bucket under each seed is honest.

use hushbin::domain::SignedItem;
use hushbin::hash::{BalancedHash, HashKeys, hashed_closed_element_sign};
use hushbin::mechanism::hash_bin::{PrivacyLevel, SumNoiseKind};
use hushbin::mix::mix64;
use hushbin::{Entry, RatingsTaskFields, Report, Task, ValueKind};
use hushbin_analysis::audit::AttackStatistic;
use rand_core::Rng;

use super::{assert_leaks, honest, measured, of_level, parts_of, rng, small, typical, user};

/// Returns whether a seed suits an input.
pub(super) type Suits<'a> = &'a dyn Fn(u64, &[Entry]) -> bool;

/// Draws a report again until its seed suits the input, for one report in `each`.
pub(super) fn suited(task: &Task, each: u32, suits: Suits<'_>) -> impl FnMut(&[Entry]) -> Report {
    let (mut honest, mut coin) = (honest(task, rng(21)), rng(22));
    move |input| {
        let picky = coin.next_u32().is_multiple_of(each);
        loop {
            let report = honest(input);
            if !picky || suits(report.seed(), input) {
                return report;
            }
        }
    }
}

/// Leaked fact: the first entry is present and positive.
fn secret(input: &[Entry]) -> bool {
    input.first().is_some_and(|entry| entry.value > 0.0)
}

fn bit(word: u64, bit: u32) -> bool {
    word >> bit & 1 == 1
}

#[test]
fn bits_of_the_input_in_the_seed_are_caught() {
    let first_key = |seed: u64| mix64(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
    let cases: [(&str, Suits<'_>); 7] = [
        ("even or odd", &|seed, input| bit(seed, 0) == secret(input)),
        ("the parity of two bits", &|seed, input| {
            (bit(seed, 3) ^ bit(seed, 17)) == secret(input)
        }),
        ("the parity of all", &|seed, input| {
            bit(u64::from(seed.count_ones()), 0) == secret(input)
        }),
        ("a remainder", &|seed, input| {
            seed.is_multiple_of(3) == secret(input)
        }),
        ("the number of ones", &|seed, input| {
            (seed.count_ones() < 32) == secret(input)
        }),
        ("a bit of a hash's key", &|seed, input| {
            bit(first_key(seed), 40) == secret(input)
        }),
        ("the number of entries", &|seed, input| {
            seed % 5 == input.len() as u64 % 5
        }),
    ];
    for mechanism in ["collision", "coco"] {
        let task = typical(mechanism);
        for (name, suits) in cases {
            println!("{mechanism}: {name}");
            let found = measured(&task, 4000, suited(&task, 1, suits));
            assert_leaks(&task, &found);
        }
    }
}

/// An attacker needs more trials to learn which of 256 values belong to which input.
#[test]
fn byte_of_the_seed_that_follows_the_input_is_caught() {
    let task = typical("collision");
    let byte = |seed: u64, input: &[Entry]| ((seed >> 56) % 10 < 5) == secret(input);
    let found = measured(&task, 20_000, suited(&task, 1, &byte));
    assert_leaks(&task, &found);
    assert_eq!(found.event.statistic, AttackStatistic::Part);
}

/// One report in eight leaks. Alone it would lose a quarter of ε, but it adds to the loss of the
/// bucket.
#[test]
fn bit_of_the_input_in_some_seeds_is_caught() {
    let task = typical("coco");
    let even = |seed: u64, input: &[Entry]| bit(seed, 0) == secret(input);
    let found = measured(&task, 60_000, suited(&task, 8, &even));
    assert_leaks(&task, &found);
    assert_eq!(found.event.statistic, AttackStatistic::Parity);
}

/// Seeds under which no two entries share a bucket, and seeds under which the first entry has an
/// even bucket. Both would improve estimates.
#[test]
fn seeds_that_spread_the_entries_are_caught() {
    let task = small();
    let domain = task.questions()[0].domain();
    // The hash of `small`: balanced, with 12 buckets.
    let hash = BalancedHash::new(domain.element_count().unwrap(), 12);
    let bucket = move |seed: u64, entry: &Entry| {
        let negative = entry.value < 0.0;
        let item = entry.item;
        let element = domain.element_of_signed_item(SignedItem {
            item,
            is_negative: negative,
        });
        hash.bucket_of_slot(&HashKeys::new(seed), element as u32)
    };
    let apart = |seed: u64, input: &[Entry]| {
        let mut buckets: Vec<u32> = input.iter().map(|entry| bucket(seed, entry)).collect();
        buckets.sort_unstable();
        buckets.windows(2).all(|pair| pair[0] != pair[1])
    };
    let even = |seed: u64, input: &[Entry]| {
        let first = input.first().map(|entry| bucket(seed, entry));
        first.is_none_or(|bucket| bucket.is_multiple_of(2))
    };
    for suits in [&apart as Suits<'_>, &even] {
        let found = measured(&task, 20_000, suited(&task, 1, suits));
        assert_leaks(&task, &found);
    }
}

/// Seeds under which the first value counts as plus. The noise is honest.
#[test]
fn seeds_that_turn_values_are_caught() {
    for (level, value) in [
        (PrivacyLevel::Event, ValueKind::Sign),
        (user(SumNoiseKind::TwoPoint), ValueKind::Real),
        (user(SumNoiseKind::Laplace), ValueKind::Sign),
    ] {
        let parts = parts_of(of_level(level, 40));
        let task = Task::new(RatingsTaskFields { value, ..parts }).unwrap();
        let plus = |seed: u64, input: &[Entry]| {
            let push = |entry: &Entry| {
                let sign = hashed_closed_element_sign(&HashKeys::new(seed), entry.item as u32);
                (sign < 0) == (entry.value < 0.0)
            };
            input.first().is_none_or(push)
        };
        let found = measured(&task, 20_000, suited(&task, 1, &plus));
        assert_leaks(&task, &found);
    }
}
