//! Leaks that only fractions, zeros or too many entries reveal, and look-alikes that are none.

use hushbin::domain::SignedItem;
use hushbin::hash::{HashFamily, HashKeys, independent_bucket};
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::collision::{self, Collision};
use hushbin::mechanism::hash_bin::PrivacyLevel;
use hushbin::mix::mix64;
use hushbin::{Entry, Mechanism, RatingsTaskFields, Report, Task, ValueKind};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use super::seeds::suited;
use super::{
    assert_leaks, honest, measured, of_level, parts_of, pick, pick_along, rng, small, typical,
    with_epsilon,
};

fn real(task: &Task) -> Task {
    let parts = parts_of(task.clone());
    let value = ValueKind::Real;
    Task::new(RatingsTaskFields { value, ..parts }).unwrap()
}

fn has_fractions(input: &[Entry]) -> bool {
    input.iter().any(|entry| entry.value.fract() != 0.0)
}

/// One of two randomizers, chosen by the input.
fn either(
    mut one: impl FnMut(&[Entry]) -> Report,
    mut other: impl FnMut(&[Entry]) -> Report,
    is_other: impl Fn(&[Entry]) -> bool,
) -> impl FnMut(&[Entry]) -> Report {
    move |input| {
        if is_other(input) {
            other(input)
        } else {
            one(input)
        }
    }
}

type Kind<'a> = &'a dyn Fn(&[Entry]) -> bool;

#[test]
fn larger_epsilon_for_some_inputs_is_caught() {
    let is_tiny = |entry: &Entry| entry.value != 0.0 && entry.value.abs() < 1e-6;
    let kinds: [(&str, Kind<'_>); 3] = [
        ("fractions", &has_fractions),
        ("more than s", &|input| input.len() > 3),
        ("tiny values", &|input| input.iter().any(is_tiny)),
    ];
    for task in [real(&typical("collision")), real(&typical("coco"))] {
        for (name, kind) in kinds {
            println!("{name}");
            let larger = with_epsilon(&task, 2.5);
            let leaky = either(honest(&task, rng(31)), honest(&larger, rng(32)), kind);
            let found = measured(&task, 20_000, leaky);
            assert_leaks(&task, &found);
        }
    }
    // Fractions differ by at most half as much as whole values.
    let task = real(&of_level(PrivacyLevel::Event, 40));
    let larger = with_epsilon(&task, 3.0);
    let leaky = either(
        honest(&task, rng(33)),
        honest(&larger, rng(34)),
        has_fractions,
    );
    assert_leaks(&task, &measured(&task, 20_000, leaky));
}

/// An entry of 0 marks the seed, although it should count as absent.
#[test]
fn zeros_that_show_are_caught() {
    for task in [
        typical("collision"),
        real(&of_level(PrivacyLevel::Event, 40)),
    ] {
        let marked = |seed: u64, input: &[Entry]| {
            seed.is_multiple_of(2) == input.iter().any(|entry| entry.value == 0.0)
        };
        let found = measured(&task, 4000, suited(&task, 1, &marked));
        assert_leaks(&task, &found);
    }
}

/// Entries that remain: each if its draw is below its value, then the first s.
fn left(input: &[Entry], draw: impl Fn(u64) -> u64) -> Vec<SignedItem> {
    let is_left = |entry: &&Entry| draw(entry.item) as f64 / 2_f64.powi(64) < entry.value.abs();
    let signed = |entry: &Entry| SignedItem {
        item: entry.item,
        is_negative: entry.value < 0.0,
    };
    input.iter().filter(is_left).map(signed).take(3).collect()
}

/// One random word decides which values remain, and then whether a favoured bucket is reported.
#[test]
fn ternarisation_that_shares_the_randomizers_word_is_caught() {
    let task = real(&small());
    let mut words = rng(36);
    let mut draw = pick_along(&task);
    let found = measured(&task, 20_000, |input| {
        let word = words.next_u64();
        draw(words.next_u64(), &left(input, |_| word), word)
    });
    assert_leaks(&task, &found);
}

/// Values remain in proportion and are scaled up in return: the probability of a favoured bucket is
/// divided by the value.
#[test]
fn values_that_weigh_what_they_lost_are_caught() {
    let task = real(&small());
    let mut words = rng(37);
    let mut draw = pick_along(&task);
    let found = measured(&task, 20_000, |input| {
        let (seed, word) = (words.next_u64(), words.next_u64());
        let greatest = input
            .iter()
            .map(|entry| entry.value.abs())
            .fold(0.0, f64::max);
        let share = if greatest > 0.4 { greatest } else { 1.0 };
        let signed = left(input, |item| mix64(seed ^ mix64(item)));
        draw(seed, &signed, (word as f64 * share) as u64)
    });
    assert_leaks(&task, &found);
}

/// Every entry favours its bucket, even if there are more than s. Each has the weight that it
/// would have among s.
#[test]
fn set_that_grows_with_the_entries_is_caught() {
    let collision = Collision::new(
        collision::FavouredBucketRule::Occupied,
        HashFamily::Independent,
        12,
    )
    .unwrap();
    let parts = parts_of(typical("collision"));
    let mechanism = Mechanism::Collision(collision);
    let task = Task::new(RatingsTaskFields { mechanism, ..parts }).unwrap();
    let (mut words, domain) = (rng(38), task.questions()[0].domain());
    let e = task.epsilon().exp();
    let inside = e / (3.0 * e + 9.0);
    let grown = |input: &[Entry]| {
        let seed = words.next_u64();
        let mut row = [0.0; 12];
        for entry in input {
            let (item, negative) = (entry.item, entry.value < 0.0);
            let element = domain.element_of_signed_item(SignedItem {
                item,
                is_negative: negative,
            });
            row[independent_bucket(&HashKeys::new(seed), element, 12) as usize] = inside;
        }
        let empty = row.iter().filter(|p| **p == 0.0).count() as f64;
        let outside = (1.0 - inside * (12.0 - empty)).max(0.0) / empty;
        row.iter_mut()
            .filter(|p| **p == 0.0)
            .for_each(|p| *p = outside);
        let bucket = pick(&row, words.next_u64());
        Report::Collision(BucketReport { seed, bucket })
    };
    let leaky = either(honest(&task, rng(39)), grown, |input| input.len() > 3);
    assert_leaks(&task, &measured(&task, 20_000, leaky));
}

/// The public seed may even determine which values and entries remain. The report then randomises a
/// function of the input that is known from the seed.
#[test]
fn preprocessing_by_the_seed_is_no_leak() {
    for task in [real(&small()), real(&typical("coco"))] {
        let mut words: ChaCha20Rng = rng(40);
        let mut draw = pick_along(&task);
        let found = measured(&task, 20_000, |input| {
            let (seed, word) = (words.next_u64(), words.next_u64());
            let mut input = input.to_vec();
            input.sort_unstable_by_key(|entry| mix64(entry.item.wrapping_add(seed)));
            draw(seed, &left(&input, |item| mix64(seed ^ mix64(item))), word)
        });
        println!("{found:?}");
        assert!(found.lower_bound <= 1.0, "{found:?}");
    }
}
