//! Statistics of hash-bin's reports, from fixed seeds. Each comparison fails by chance with
//! probability at most 10⁻⁶, shared among its cells.

use std::collections::BTreeSet;

use hushbin::hash::{HashFamily, HashKeys};
use hushbin::mechanism::hash_bin::{
    PrivacyLevel, RandomisedResponse, SumNoiseKind, share_surviving_clipping,
};
use hushbin::{Entry, Randomizer, Report};
use rand_chacha::rand_core::Rng;

use crate::support::generators::{randomize, seeded};
use crate::support::hash_bin::Model;
use crate::support::significance::{Moments, assert_distributed, assert_moments};

const BALANCED: HashFamily = HashFamily::Balanced;
const INDEPENDENT: HashFamily = HashFamily::Independent;
const LAPLACE: SumNoiseKind = SumNoiseKind::Laplace;
const TWO_POINT: SumNoiseKind = SumNoiseKind::TwoPoint;

fn closed(level: PrivacyLevel, hashing: HashFamily, bins: u32, grid: u32) -> Model {
    Model {
        items: Some(40),
        sparsity: 2,
        epsilon: 4.0,
        level,
        hashing,
        bins,
        grid,
    }
}

fn open(level: PrivacyLevel, bins: u32, grid: u32) -> Model {
    Model {
        items: None,
        ..closed(level, INDEPENDENT, bins, grid)
    }
}

fn user(clip: f64, noise: SumNoiseKind) -> PrivacyLevel {
    PrivacyLevel::User { clip, noise }
}

fn neighbouring(distance: f64, delta: Option<f64>) -> PrivacyLevel {
    PrivacyLevel::Neighbouring { distance, delta }
}

/// Every level with both hashes, and in open domains.
fn models(clip: f64, grid: u32) -> Vec<Model> {
    let mut models = Vec::new();
    for noise in [TWO_POINT, LAPLACE] {
        models.push(closed(user(clip, noise), BALANCED, 1, grid));
        models.push(closed(user(clip, noise), INDEPENDENT, 1, grid));
        models.push(open(user(clip, noise), 1, grid));
    }
    for level in [
        PrivacyLevel::Event,
        neighbouring(1.5, None),
        neighbouring(40.0, Some(0.01)),
    ] {
        models.push(closed(level, BALANCED, 1, grid));
        models.push(closed(level, BALANCED, 7, grid));
        models.push(closed(level, BALANCED, 40, grid));
        models.push(closed(level, INDEPENDENT, 5, grid));
        models.push(open(level, 3, grid));
    }
    models
}

/// Estimates of items from single reports of an input.
fn estimates(model: &Model, input: &[Entry], watched: &[u64], n: u32, seed: u64) -> Vec<Moments> {
    let task = model.task();
    let domain = task.questions()[0].domain();
    let hash_bin = model.hash_bin();
    let support = hash_bin.item_bin_lookup(&domain);
    let scale = hash_bin
        .estimate_scale_and_variance(&domain, model.epsilon)
        .estimate_scale;
    let mut randomizer = Randomizer::new(&task);
    let mut rng = seeded(seed);
    let mut moments = vec![Moments::default(); watched.len()];
    for _ in 0..n {
        let made = randomize(&mut randomizer, input, &mut rng).unwrap();
        assert!(!made.was_sampled_down);
        let Report::HashBin(report) = made.report else {
            unreachable!()
        };
        for (moments, &item) in moments.iter_mut().zip(watched) {
            let (bin, sign) = support.bin_and_sign(&HashKeys::new(report.seed), item);
            assert_eq!((bin as usize, sign), model.place(report.seed, item));
            let response = match &report.response {
                RandomisedResponse::Sign(true) => 1.0,
                RandomisedResponse::Sign(false) => -1.0,
                RandomisedResponse::Bins(bins) => bins[bin as usize] as f64,
            };
            moments.add(f64::from(sign) * response * scale);
        }
    }
    moments
}

fn entry(item: u64, value: f64) -> Entry {
    Entry { item, value }
}

/// One bin has one value off the grid, the rest on it. Each sum is then off the grid by that value,
/// so one-sided rounding would show.
#[test]
fn values_off_the_grid_are_unbiased() {
    let input = [entry(0, 1.0), entry(7, 0.15), entry(39, -1.0)];
    let means = [(7, 0.15), (0, 1.0), (39, -1.0), (8, 0.0)];
    for (seed, model) in (50..).zip(models(3.0, 2)) {
        let moments = estimates(&model, &input, &means.map(|(item, _)| item), 60_000, seed);
        let draws: Vec<_> = means
            .into_iter()
            .zip(moments)
            .map(|((item, mean), moments)| {
                (format!("item {item} of {model:?}"), moments, mean, None)
            })
            .collect();
        assert_moments(&draws);
    }
}

/// Entries of ±1, every third one negative.
fn signs(entries: u32) -> Vec<Entry> {
    (0..u64::from(entries))
        .map(|item| entry(item, if item % 3 == 2 { -1.0 } else { 1.0 }))
        .collect()
}

/// Checks means of two entries and of an absent item, and their variances, against the rates for
/// people with `entries` entries.
fn assert_as_stated(model: &Model, entries: u32, n: u32, seed: u64) {
    let hash_bin = model.hash_bin();
    let rates =
        hash_bin.estimate_scale_and_variance(&model.task().questions()[0].domain(), model.epsilon);
    let left = hash_bin.share_surviving_clipping(entries);
    let square = rates.input_sum_second_moment(entries);
    let present = rates.value_variance(square, left);
    let absent = rates.value_variance(square, 0.0);
    let stated = [(0, left, present), (2, -left, present), (39, 0.0, absent)];
    // The rates allow for rounding, but whole values are on every grid.
    let rounding = if rates.is_two_point_response {
        0.0
    } else {
        0.25 / f64::from(hash_bin.grid_steps()).powi(2)
    };
    let watched = stated.map(|(item, ..)| item);
    let moments = estimates(model, &signs(entries), &watched, n, seed);
    let draws: Vec<_> = stated
        .into_iter()
        .zip(moments)
        .map(|((item, mean, variance), moments)| {
            let what = format!("item {item}, {entries} entries, {model:?}");
            (what, moments, mean, Some(variance - rounding))
        })
        .collect();
    assert_moments(&draws);
}

/// People with 15 times s entries, none of which is left out.
#[test]
fn all_entries_count_and_spread_as_stated() {
    for (seed, model) in (100..).zip(models(32.0, 1024)) {
        assert_as_stated(&model, 30, 30_000, seed);
    }
}

#[test]
fn a_clip_leaves_what_attenuation_says() {
    let mut seed = 150;
    for noise in [TWO_POINT, LAPLACE] {
        for (entries, clip) in [(3, 0.5), (6, 1.5), (7, 2.0), (25, 4.0), (30, 40.0)] {
            for model in [
                closed(user(clip, noise), BALANCED, 1, 1024),
                open(user(clip, noise), 1, 2),
            ] {
                assert_eq!(
                    model.hash_bin().share_surviving_clipping(entries),
                    share_surviving_clipping(entries, clip)
                );
                assert_as_stated(&model, entries, 60_000, seed);
                seed += 1;
            }
        }
    }
}

/// The difference between a report's bins and their sums is discrete Laplace noise in every bin, at
/// the scale for the level's Δ.
#[test]
fn bins_have_discrete_laplace_noise() {
    let with_epsilon = |epsilon, model: Model| Model { epsilon, ..model };
    // Δ in steps: 2Γ; LΓ + b, rounded up; 2ηΓ.
    let models = [
        (1.0, 2.0, closed(PrivacyLevel::Event, BALANCED, 2, 1)),
        (3.0, 8.0, open(PrivacyLevel::Event, 1, 4)),
        (1.0, 4.0, closed(neighbouring(0.7, None), BALANCED, 3, 1)),
        (
            0.5,
            1437.0,
            closed(neighbouring(0.7, None), INDEPENDENT, 3, 2048),
        ),
        (2.0, 6.0, closed(user(0.75, LAPLACE), BALANCED, 1, 4)),
        (0.01, 131_072.0, open(PrivacyLevel::Event, 2, 1 << 16)),
    ];
    for (seed, (epsilon, sensitivity, model)) in (200..).zip(models) {
        let model = with_epsilon(epsilon, model);
        let task = model.task();
        let mut randomizer = Randomizer::new(&task);
        let mut rng = seeded(seed);
        // Cells of a fifth of a scale, and at least a step.
        let scale = sensitivity / epsilon;
        let width = (scale / 5.0).max(1.0) as i64;
        let q = (-1.0 / scale).exp();
        let below = |y: i64| {
            if y < 0 {
                q.powf(-y as f64) / (1.0 + q)
            } else {
                1.0 - q.powf((y + 1) as f64) / (1.0 + q)
            }
        };
        // Hardly any noise exceeds eight scales on either side.
        let reach = (5.0 * scale / width as f64).ceil() as i64;
        let mut probabilities = vec![below(-reach * width - 1)];
        probabilities.extend(
            (-reach..reach).map(|cell| below((cell + 1) * width - 1) - below(cell * width - 1)),
        );
        probabilities.push(1.0 - below(reach * width - 1));
        let mut counts = vec![vec![0; probabilities.len()]; model.bins as usize];
        let input = [entry(3, 1.0), entry(5, -1.0)];
        for _ in 0..100_000 {
            let Report::HashBin(report) =
                randomize(&mut randomizer, &input, &mut rng).unwrap().report
            else {
                unreachable!()
            };
            let RandomisedResponse::Bins(bins) = report.response else {
                unreachable!()
            };
            let sums = model.sums(report.seed, &input);
            for ((counts, bin), sum) in counts.iter_mut().zip(bins).zip(sums) {
                let noise = bin - (sum / model.step()) as i64;
                let cell = noise.div_euclid(width).clamp(-reach - 1, reach);
                counts[(cell + reach + 1) as usize] += 1;
            }
        }
        for (bin, counts) in counts.iter().enumerate() {
            assert_distributed(counts, &probabilities, &format!("bin {bin} of {model:?}"));
        }
    }
}

/// Listed items equal those queried one by one, every item once.
#[test]
fn listed_items_are_those_asked_for() {
    let mut rng = seeded(60);
    for model in models(1.0, 4) {
        let support = model
            .hash_bin()
            .item_bin_lookup(&model.task().questions()[0].domain());
        for _ in 0..50 {
            let seed = rng.next_u64();
            let keys = HashKeys::new(seed);
            let mut listed = BTreeSet::new();
            support.for_each_item_and_bin(&keys, |item, bin| {
                assert_eq!(bin, support.bin_and_sign(&keys, u64::from(item)).0);
                assert!(listed.insert(item));
            });
            assert!(listed.into_iter().eq(0..model.items.unwrap_or(0)));
        }
    }
}
