//! Tests of ε by enumeration of all reports of all inputs, over small domains.

use hushbin::Entry;
use hushbin::ErrorCode;
use hushbin_study::competitors::hockey_stick_divergence;
use hushbin_study::competitors::ratings::{
    GaussianRatingMechanism, LaplaceMechanism, OneSparseOracle, OracleSetting,
    PUBLISHED_RATING_ORACLES, PrivKv, PrivacyUnit, RatingOracle, SignedItemHashOracle,
};

use super::models::{
    Law, inputs, models, named, neighbours, repeated_bits, repeated_hits, setting, vector,
};

fn settings() -> impl Iterator<Item = OracleSetting> {
    let sizes = [(2, 1), (3, 1), (3, 2)];
    let all = sizes.into_iter();
    all.flat_map(|(d, s)| [0.01, 0.5, 1.0, 2.0, 4.0].map(|epsilon| setting(d, s, epsilon)))
}

/// Returns the greatest log ratio of a report's probabilities under two neighbouring inputs.
pub(super) fn loss(law: &Law, inputs: &[Vec<Entry>], protects: PrivacyUnit) -> f64 {
    loss_within(law, inputs, protects, f64::NAN)
}

/// Returns the same maximum. `distance` is the L that defines neighbours of mechanisms for inputs
/// at most L apart.
fn loss_within(law: &Law, inputs: &[Vec<Entry>], protects: PrivacyUnit, distance: f64) -> f64 {
    let laws: Vec<Vec<f64>> = inputs.iter().map(|input| law(input)).collect();
    for law in &laws {
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let mut most: f64 = 0.0;
    for (a, one) in inputs.iter().zip(&laws) {
        for (b, other) in inputs.iter().zip(&laws) {
            if neighbours(protects, distance, a, b) {
                let ratios = one.iter().zip(other).map(|(p, q)| p / q);
                most = ratios.fold(most, f64::max);
            }
        }
    }
    most.ln()
}

/// Returns all inputs. The values ±1 suffice for the worst case, because probabilities are linear
/// in an entry's value. The value 1/2 is added if there are few enough reports.
fn all_inputs(name: &str, setting: &OracleSetting) -> Vec<Vec<Entry>> {
    let values = if name.starts_with("k-fold") {
        &[1.0, -1.0][..]
    } else {
        &[1.0, -1.0, 0.5]
    };
    let most = if name == "naive bits, event" {
        setting.item_count
    } else {
        setting.sparsity
    };
    inputs(setting.item_count, most, values)
}

#[test]
fn losses_are_those_of_all_reports() {
    let (mut compared, mut spent) = (0, 0);
    for setting in settings() {
        for model in models(&setting) {
            let inputs = all_inputs(model.name, &setting);
            let enumerated = loss(&model.law, &inputs, model.protects);
            let (stated, what) = (model.oracle.privacy_loss(), model.name);
            assert!(
                (stated - enumerated).abs() < 1e-9,
                "{what}, {setting:?}: {stated}, {enumerated}"
            );
            assert!(
                stated <= setting.epsilon + 1e-12,
                "{what}, {setting:?}: {stated}"
            );
            let all = stated > setting.epsilon - 1e-9;
            // Exceptions: mechanisms that are known to spend less than ε.
            let less = match what {
                "PrivKV" => true,
                "PCKV-GRR" => setting.sparsity > 1,
                _ => false,
            };
            assert_eq!(all, !less, "{what}, {setting:?}: {stated}");
            compared += 1;
            spent += usize::from(all);
        }
    }
    assert_eq!((compared, spent), (15 * 13, 15 * 12 - 5));
}

/// Compares the model of OLH with an enumeration of all hash functions and reported buckets.
#[test]
fn hits_are_those_of_all_hash_functions() {
    for epsilon in [0.5, 1.0] {
        let setting = setting(2, 1, epsilon);
        let hash = *SignedItemHashOracle::new(&setting).unwrap().local_hash();
        let (g, p) = (
            hash.bucket_count(),
            hash.support_probabilities().own_answer_probability,
        );
        let elements = 5;
        for own in 0..elements {
            let mut sets = vec![0.0; 1 << elements];
            let functions = g.pow(elements);
            for function in 0..functions {
                let bucket = |element: u32| function / g.pow(element) % g;
                for reported in 0..g {
                    let hit = |element: u32| u32::from(bucket(element) == reported);
                    let set: u32 = (0..elements).map(|e| hit(e) << e).sum();
                    let chance = match hit(own) {
                        1 => p,
                        _ => (1.0 - p) / f64::from(g - 1),
                    };
                    sets[set as usize] += chance / f64::from(functions);
                }
            }
            let value = [1.0, -1.0][own as usize % 2];
            let entry = Entry {
                item: u64::from(own / 2),
                value,
            };
            let input = if own == 4 { vec![] } else { vec![entry] };
            let model = repeated_hits(&setting, true)(&input);
            for (set, (a, b)) in sets.iter().zip(model).enumerate() {
                assert!((a - b).abs() < 1e-12, "{own}, {set}: {a}, {b}");
            }
        }
    }
}

/// With slots in the order of items, an added entry also moves a later entry. Two answers then
/// depend on it, so the loss is 2ε.
#[test]
fn slots_in_the_order_of_items_lose_twice() {
    for epsilon in [0.5, 1.0] {
        let setting = setting(3, 2, epsilon);
        let inputs = inputs(3, 2, &[1.0, -1.0]);
        for of in [repeated_hits, repeated_bits] {
            let [ordered, random] = [false, true]
                .map(|random| loss(&of(&setting, random), &inputs, PrivacyUnit::EventLevel));
            assert!((ordered - 2.0 * epsilon).abs() < 1e-9, "{ordered}");
            assert!((random - epsilon).abs() < 1e-9, "{random}");
        }
    }
}

#[test]
fn half_and_half_is_no_sum() {
    let loss = |d, s, name| named(name, &setting(d, s, 1.0)).privacy_loss();
    assert!((loss(3, 2, "PrivKV") - 0.719_070_196).abs() < 1e-8);
    assert!((loss(3, 2, "PCKV-GRR") - 0.620_114_507).abs() < 1e-8);
    // The formula for the loss holds for all ε₁ and ε₂.
    for (presence, sign) in [(0.5, 0.5), (1.0, 0.3), (0.3, 2.0), (3.0, 1e-4), (1e-4, 3.0)] {
        let setting = setting(3, 2, 1.0);
        let stated = PrivKv::with_presence_and_sign_epsilon(&setting, presence, sign)
            .unwrap()
            .privacy_loss();
        let mixed = presence + (2.0 / (1.0 + f64::exp(-sign))).ln();
        assert!((stated - mixed.max(sign).max(presence)).abs() < 1e-9);
    }
}

/// Compares the sensitivity with the maximum distance of all pairs of neighbours. Compares the
/// privacy loss with an integral over thin cells.
#[test]
fn normal_noise_has_the_loss_of_the_farthest_neighbours() {
    for (d, s, epsilon) in [(3, 1, 0.5), (3, 2, 1.0), (4, 4, 3.5)] {
        let setting = setting(d, s, epsilon);
        let all = inputs(d, s, &[1.0, -1.0, 0.5]);
        let [event, user, coded] = [
            GaussianRatingMechanism::with_event_level_privacy(&setting),
            GaussianRatingMechanism::with_user_level_privacy(&setting),
            GaussianRatingMechanism::user_level_with_classical_sigma(&setting),
        ]
        .map(Result::unwrap);
        for (noise, protects) in [
            (event, PrivacyUnit::EventLevel),
            (user, PrivacyUnit::UserLevel),
            (coded, PrivacyUnit::UserLevel),
        ] {
            assert_loss(&noise, &setting, farthest(&setting, &all, protects));
        }
        assert!(event.privacy_loss() > epsilon - 1e-9 && user.privacy_loss() > epsilon - 1e-9);
        assert!(
            coded.privacy_loss() < 0.95 * epsilon,
            "{}",
            coded.privacy_loss()
        );
    }
}

/// Checks the sensitivity and the privacy loss of the noise. `farthest` is the maximum distance of
/// two neighbours. δ is integrated over thin cells along the difference of two such vectors.
fn assert_loss(noise: &GaussianRatingMechanism, setting: &OracleSetting, farthest: f64) {
    assert!((noise.gaussian_mechanism().sensitivity() - farthest).abs() < 1e-12);
    let moved = farthest / noise.gaussian_mechanism().sigma();
    let cells = 200_000;
    let width = 24.0 / f64::from(cells);
    let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * width;
    let cell = |i: u32| {
        let z = (f64::from(i) + 0.5) * width - 12.0;
        (density(z), density(z + moved))
    };
    let summed = hockey_stick_divergence((0..cells).map(cell), noise.privacy_loss());
    assert!((summed / setting.delta - 1.0).abs() < 1e-3, "{summed}");
    assert!(
        noise.privacy_loss() <= setting.epsilon + 1e-11,
        "{}",
        noise.privacy_loss()
    );
}

/// Distances L: for one entry, for several entries, and above the maximum distance of two inputs of
/// three items.
const DISTANCES: [f64; 9] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 100.0];

#[test]
fn normal_noise_within_a_distance_has_the_loss_of_the_farthest_neighbours() {
    let all = inputs(3, 3, &[1.0, -1.0, 0.5]);
    for (distance, epsilon) in DISTANCES
        .into_iter()
        .zip([0.5, 1.0, 3.5].into_iter().cycle())
    {
        let setting = OracleSetting {
            protected_distance: distance,
            ..setting(3, 1, epsilon)
        };
        let noise = GaussianRatingMechanism::with_distance_privacy(&setting).unwrap();
        let farthest = farthest(&setting, &all, PrivacyUnit::WithinDistance);
        assert_loss(&noise, &setting, farthest);
        assert!(
            noise.privacy_loss() > epsilon - 1e-9,
            "{}",
            noise.privacy_loss()
        );
        let most = (distance * distance.min(2.0)).sqrt();
        assert!(farthest < most + 1e-12, "{farthest}");
    }
}

/// Returns the distribution of the cells into which the noisy coordinates fall. Some cells are
/// beyond both ends of the range, where the ratio of densities is greatest.
fn laplace_cells(items: u32, scale: f64) -> Law {
    let below = move |x: f64| match x / scale {
        z if z < 0.0 => 0.5 * z.exp(),
        z => 1.0 - 0.5 * (-z).exp(),
    };
    let above = move |x: f64| below(-x);
    let edges = [-1.0, -0.25, 0.5, 1.0];
    let cells = move |value: f64| {
        let between = edges.windows(2).map(move |pair| {
            let [low, high] = [pair[0] - value, pair[1] - value];
            if low < 0.0 {
                below(high) - below(low)
            } else {
                above(low) - above(high)
            }
        });
        let ends = [below(edges[0] - value), above(edges[3] - value)];
        between.chain(ends).collect::<Vec<f64>>()
    };
    Box::new(move |input| {
        let all = vector(items, input).into_iter().map(cells);
        all.fold(vec![1.0], |law, cells| {
            let both = law.iter().flat_map(|p| cells.iter().map(move |q| p * q));
            both.collect()
        })
    })
}

#[test]
fn laplace_noise_has_the_loss_of_the_farthest_neighbours() {
    let all = inputs(3, 3, &[1.0, -1.0, 0.5]);
    for (distance, epsilon) in DISTANCES
        .into_iter()
        .zip([0.01, 1.0, 4.0].into_iter().cycle())
    {
        let setting = OracleSetting {
            protected_distance: distance,
            ..setting(3, 1, epsilon)
        };
        let noise = LaplaceMechanism::new(&setting).unwrap();
        let law = laplace_cells(3, noise.noise_scale());
        let enumerated = loss_within(&law, &all, PrivacyUnit::WithinDistance, distance);
        let stated = noise.privacy_loss();
        assert!((stated - enumerated).abs() < 1e-9, "{stated}, {enumerated}");
        assert!((stated - epsilon).abs() < 1e-12, "{stated}");
        let least = distance.min(6.0) / epsilon;
        assert!(
            (noise.report_estimate_moments().mean_variances_by_presence()[1]
                / (2.0 * least * least)
                - 1.0)
                .abs()
                < 1e-12
        );
    }
}

/// Returns the greatest Euclidean distance between the vectors of two neighbours.
fn farthest(setting: &OracleSetting, inputs: &[Vec<Entry>], protects: PrivacyUnit) -> f64 {
    let vector = |input: &[Entry]| vector(setting.item_count, input);
    let mut most: f64 = 0.0;
    for a in inputs {
        for b in inputs {
            if neighbours(protects, setting.protected_distance, a, b) {
                let both = vector(a).into_iter().zip(vector(b));
                let square = both.map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                most = most.max(square.sqrt());
            }
        }
    }
    most
}

#[test]
fn bad_settings_are_refused() {
    let one = setting(10, 3, 1.0);
    let bad = [
        OracleSetting {
            item_count: 0,
            ..one
        },
        OracleSetting {
            item_count: (1 << 20) + 1,
            ..one
        },
        OracleSetting { sparsity: 0, ..one },
        OracleSetting {
            sparsity: 11,
            ..one
        },
        OracleSetting {
            item_count: 2000,
            sparsity: 1025,
            ..one
        },
        OracleSetting {
            epsilon: 0.0,
            ..one
        },
        OracleSetting {
            epsilon: f64::NAN,
            ..one
        },
        OracleSetting {
            epsilon: 12.1,
            ..one
        },
        OracleSetting { delta: -0.1, ..one },
        OracleSetting { delta: 0.7, ..one },
    ];
    for named in PUBLISHED_RATING_ORACLES {
        for setting in &bad {
            let refused = (named.build)(setting).err().map(|error| error.code());
            assert_eq!(
                refused,
                Some(ErrorCode::OutOfRange),
                "{}, {setting:?}",
                named.name
            );
        }
        // Normal noise needs a δ above 0. All other mechanisms accept δ = 0.
        let none = OracleSetting { delta: 0.0, ..one };
        let built = (named.build)(&none);
        assert_eq!(
            built.is_err(),
            named.name.starts_with("Gaussian"),
            "{}",
            named.name
        );
    }
    for distance in [0.0, -1.0, f64::NAN, 2049.0] {
        let far = OracleSetting {
            protected_distance: distance,
            ..one
        };
        for named in PUBLISHED_RATING_ORACLES {
            let refused = (named.build)(&far).err().map(|error| error.code());
            let expected = (named.privacy_unit == PrivacyUnit::WithinDistance)
                .then_some(ErrorCode::OutOfRange);
            assert_eq!(refused, expected, "{}, {distance}", named.name);
        }
    }
    let many = setting(1 << 20, 3, 1.0);
    let refused = SignedItemHashOracle::new(&many).map_err(|error| error.code());
    assert_eq!(refused.err(), Some(ErrorCode::OutOfRange));
    for (presence, sign) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, 12.1)] {
        let refused = PrivKv::with_presence_and_sign_epsilon(&one, presence, sign)
            .map_err(|error| error.code());
        assert_eq!(refused.err(), Some(ErrorCode::InvalidCombination));
    }
}
