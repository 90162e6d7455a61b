//! Choice of a window: values with the least worst variance, and sizes.

use hushbin::ErrorCode;
use hushbin::choose::PrivacyBudget;
use hushbin::choose::window::{ParametersDraft, VarianceObjective};
use hushbin::domain::Domain;
use hushbin::mechanism::window::Window;
use serde_json::Value;

use super::{list, number, rows, whole};

fn choose(attributes: u32, epsilon: f64, draft: &ParametersDraft) -> Window {
    Window::choose_parameters(&Domain::of_dense_inputs(attributes), epsilon, draft).unwrap()
}

fn worst(window: &Window, attributes: u32, epsilon: f64) -> f64 {
    let domain = Domain::of_dense_inputs(attributes);
    window
        .estimate_scale_and_variance(&domain, epsilon)
        .max_variance()
}

/// Values of one number have a variance at most 10⁻⁴ above the optimum, and never below it.
/// Integers cost 2 per mille more at large ε.
#[test]
fn values_reach_the_optima_of_the_reference() {
    let mut seen = 0;
    for row in rows("optima") {
        // The reference draws one of d numbers, if the row has a d.
        let attributes = row["D"].as_f64().unwrap_or(1.0) as u32;
        let (epsilon, optimum) = (number(&row, "epsilon"), number(&row, "value"));
        let draft = ParametersDraft {
            drawn: Some(1),
            atoms: Some(whole(&row, "atoms")),
            favoured: Some(whole(&row, "favoured")),
            ..ParametersDraft::default()
        };
        let found = worst(&choose(attributes, epsilon, &draft), attributes, epsilon);
        let most = if epsilon > 5.0 { 2e-3 } else { 3e-4 };
        let ratio = found / optimum;
        assert!((1.0 - 1e-6..1.0 + most).contains(&ratio), "{row}: {ratio}");
        seen += 1;
    }
    assert_eq!(seen, 18);
}

#[test]
fn values_of_several_numbers_reach_the_optima_of_the_reference() {
    for row in rows("joint") {
        let (epsilon, attributes) = (number(&row, "epsilon"), whole(&row, "attributes"));
        let draft = ParametersDraft {
            drawn: Some(whole(&row, "drawn")),
            atoms: Some(whole(&row, "atoms")),
            favoured: Some(whole(&row, "favoured")),
            ..ParametersDraft::default()
        };
        let found = worst(&choose(attributes, epsilon, &draft), attributes, epsilon);
        let ratio = found / number(&row, "optimum");
        assert!((1.0 - 1e-6..1.0 + 3e-4).contains(&ratio), "{ratio}: {row}");
        // The choice without a draft may have fewer atoms.
        let open = worst(
            &choose(attributes, epsilon, &ParametersDraft::default()),
            attributes,
            epsilon,
        );
        assert!(open <= 1.006 * number(&row, "optimum"), "{open}: {row}");
    }
}

/// Returns the bound of a certificate, by weak duality. For λ, and α and β at each input, let g =
/// λy² − βy − α. F(y) = Σ g⁺ − e·Σ g⁻ must be at least 0 for all y, or the bound is lower by the
/// least F. Between sign changes of any g, F is a quadratic.
fn certified(row: &Value) -> f64 {
    let e = number(row, "epsilon").exp();
    let [x, la, al, be] = ["x", "la", "al", "be"].map(|field| list(row, field));
    let mut turns = vec![-1e6, 1e6];
    for ((l, a), b) in la.iter().zip(&al).zip(&be) {
        let root = b * b + 4.0 * l * a;
        if *l > 0.0 && root >= 0.0 {
            turns.extend([-1.0, 1.0].map(|sign| (b + sign * root.sqrt()) / (2.0 * l)));
        } else if *l == 0.0 && *b != 0.0 {
            turns.push(-a / b);
        }
    }
    turns.sort_by(f64::total_cmp);
    let mut least = 0.0_f64;
    for pair in turns.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        let (mut square, mut line, mut flat) = (0.0, 0.0, 0.0);
        for ((l, a), b) in la.iter().zip(&al).zip(&be) {
            let positive = l * middle * middle - b * middle - a >= 0.0;
            let weight = if positive { 1.0 } else { e };
            square += weight * l;
            line -= weight * b;
            flat -= weight * a;
        }
        let at = |y: f64| (square * y + line) * y + flat;
        let turn = if square > 0.0 {
            -line / (2.0 * square)
        } else {
            pair[0]
        };
        for y in [pair[0], pair[1], turn.clamp(pair[0], pair[1])] {
            least = least.min(at(y));
        }
    }
    let sums = x.iter().zip(&la).zip(al.iter().zip(&be));
    let sum: f64 = sums.map(|((x, l), (a, b))| a + b * x - l * x * x).sum();
    sum + least
}

/// No unbiased mechanism has a worst variance below the certificates. The chosen window is at most
/// 1 per cent above up to ε = 5, and 1.5 per cent at 6.
#[test]
fn the_chosen_window_is_near_the_lower_bound() {
    let mut seen = 0;
    for row in rows("certificates") {
        let epsilon = number(&row, "epsilon");
        let bound = certified(&row);
        assert!(
            (bound / number(&row, "lower_bound") - 1.0).abs() < 1e-7,
            "{epsilon}: {bound}"
        );
        let found = worst(&choose(1, epsilon, &ParametersDraft::default()), 1, epsilon);
        let most = if epsilon <= 5.0 { 1.01 } else { 1.015 };
        assert!(
            found >= bound && found <= most * bound,
            "{epsilon}: {found}, {bound}"
        );
        seen += 1;
    }
    assert_eq!(seen, 16);
}

/// The least worst variance at small ε is coth(g)/g − 1 with g = tanh(ε/2).
#[test]
fn the_chosen_window_is_near_the_exact_optimum() {
    for row in rows("small_epsilon_optima") {
        let epsilon = number(&row, "epsilon");
        let g = (0.5 * epsilon).tanh();
        let optimum = 1.0 / (g.tanh() * g) - 1.0;
        assert!(
            (optimum / number(&row, "optimum") - 1.0).abs() < 1e-9,
            "{row}"
        );
        let found = worst(&choose(1, epsilon, &ParametersDraft::default()), 1, epsilon);
        assert!(
            found >= optimum * (1.0 - 1e-9) && found <= 1.01 * optimum,
            "{row}: {found}"
        );
    }
}

/// At ε without a reference, no other size is better by much more than the cost of fewer atoms.
#[test]
fn no_other_size_is_much_better() {
    let one = [0.37, 1.71, 2.05, 2.3, 3.3, 4.65, 9.0].map(|epsilon| (1, epsilon));
    let several = [(2, 6.0), (3, 2.6), (3, 4.0), (7, 0.8), (8, 8.0)];
    for (attributes, epsilon) in one.into_iter().chain(several) {
        let chosen = choose(attributes, epsilon, &ParametersDraft::default());
        let least = worst(&chosen, attributes, epsilon);
        for drawn in 1..=attributes.min(3) {
            for atoms in (2..=16).chain([20, 27, 35, 48, 64]) {
                let near = (atoms / 2).min(
                    3 * chosen.favoured_atom_count() * atoms / chosen.atoms_per_attribute() / 2 + 2,
                );
                for favoured in 1..=near {
                    let draft = ParametersDraft {
                        drawn: Some(drawn),
                        atoms: Some(atoms),
                        favoured: Some(favoured),
                        ..ParametersDraft::default()
                    };
                    let domain = Domain::of_dense_inputs(attributes);
                    let Ok(other) = Window::choose_parameters(&domain, epsilon, &draft) else {
                        continue;
                    };
                    let other = worst(&other, attributes, epsilon);
                    let most = if epsilon <= 6.0 { 1.006 } else { 1.01 };
                    assert!(
                        least <= most * other,
                        "{attributes}, {epsilon}: {chosen:?}, {least}, and {draft:?}, {other}"
                    );
                }
            }
        }
    }
}

#[test]
fn drafts_of_windows_are_kept_to() {
    let draft = |drawn, atoms, favoured, values: Option<&[u32]>| ParametersDraft {
        drawn,
        atoms,
        favoured,
        values: values.map(<[u32]>::to_vec),
        objective: None,
    };
    assert_eq!(
        choose(20, 6.0, &draft(Some(2), None, None, None)).drawn_attribute_count(),
        2
    );
    assert_eq!(
        choose(20, 4.0, &draft(None, Some(5), None, None)).atoms_per_attribute(),
        5
    );
    assert_eq!(
        choose(20, 4.0, &draft(None, None, Some(3), None)).favoured_atom_count(),
        3
    );
    let all = draft(Some(2), Some(4), Some(1), Some(&[3, 7]));
    assert_eq!(choose(20, 1.0, &all), Window::new(2, 4, 1, [3, 7]).unwrap());
    for (own, code) in [
        (draft(Some(21), None, None, None), ErrorCode::OutOfRange),
        (draft(Some(0), None, None, None), ErrorCode::OutOfRange),
        (
            draft(Some(12), Some(3), None, None),
            ErrorCode::InvalidCombination,
        ),
        (draft(None, Some(4), Some(3), None), ErrorCode::OutOfRange),
        (
            draft(None, Some(4), None, Some(&[1])),
            ErrorCode::InvalidCombination,
        ),
    ] {
        let error = Window::choose_parameters(&Domain::of_dense_inputs(20), 1.0, &own).unwrap_err();
        assert_eq!(error.code(), code, "{own:?}: {error}");
    }
    // There are too few attributes.
    let few = Window::choose_parameters(
        &Domain::of_dense_inputs(1),
        4.0,
        &draft(Some(2), None, None, None),
    );
    assert_eq!(few.unwrap_err().code(), ErrorCode::OutOfRange);
}

/// If a report must reveal little, the window has more atoms, or the choice fails.
#[test]
fn windows_keep_to_what_a_shuffled_report_may_tell() {
    let domain = Domain::of_dense_inputs(1);
    for (epsilon, alpha) in [(4.0, 0.05), (4.0, 0.02), (4.0, 0.0175), (0.25, 0.02)] {
        let budget = PrivacyBudget {
            epsilon,
            max_alpha: alpha,
        };
        let own = Window::choose_parameters(&domain, budget, &ParametersDraft::default()).unwrap();
        let [k, t] = [own.favoured_atom_count(), own.atoms_per_attribute()].map(f64::from);
        assert!(
            k.min(t - k) / (k * epsilon.exp() + t - k) <= alpha,
            "{own:?}"
        );
    }
    let budget = PrivacyBudget {
        epsilon: 4.0,
        max_alpha: 0.9 / (4_f64.exp() + 63.0),
    };
    let refused = Window::choose_parameters(&domain, budget, &ParametersDraft::default());
    assert_eq!(refused.unwrap_err().code(), ErrorCode::InvalidCombination);
}

/// Given fields are kept, and the open ones are the best for them.
#[test]
fn drafts_are_completed_well() {
    let worst = |attributes: u32, epsilon: f64, draft: &ParametersDraft| {
        let domain = Domain::of_dense_inputs(attributes);
        let own = Window::choose_parameters(&domain, epsilon, draft).unwrap();
        let said = [
            (draft.drawn, own.drawn_attribute_count()),
            (draft.atoms, own.atoms_per_attribute()),
            (draft.favoured, own.favoured_atom_count()),
        ];
        assert!(
            said.into_iter()
                .all(|(said, own)| said.is_none_or(|said| said == own))
        );
        assert!(
            draft
                .values
                .as_deref()
                .is_none_or(|said| said == own.upper_half_atom_values())
        );
        own.estimate_scale_and_variance(&domain, epsilon)
            .max_variance()
    };
    let atoms = |atoms: u32| ParametersDraft {
        atoms: Some(atoms),
        ..ParametersDraft::default()
    };
    for (of, epsilon, most) in [
        (46, 6.0, 0.0275),
        (13, 6.0, 0.032),
        (14, 6.0, 0.031),
        (35, 4.0, 0.128),
    ] {
        let own = worst(1, epsilon, &atoms(of));
        assert!(own < most, "{of}, {epsilon}: {own}");
    }
    // The variance has several local minima over the number of drawn numbers.
    assert!(worst(40, 12.0, &ParametersDraft::default()) < 3.6);
    let values = ParametersDraft {
        atoms: Some(4),
        favoured: Some(1),
        values: Some(vec![0, 5]),
        ..ParametersDraft::default()
    };
    assert!(worst(3, 4.0, &values) > 0.0);
    // A complete draft needs no solver, which would take minutes here.
    let all = ParametersDraft {
        drawn: Some(1),
        atoms: Some(4096),
        favoured: Some(2048),
        values: Some((1..=2048).map(|at| at / 3).collect()),
        ..ParametersDraft::default()
    };
    assert!(worst(1, 1.0, &all) > 0.0);
    // The solver may not converge far from the best sizes.
    let far = ParametersDraft {
        favoured: Some(1),
        ..atoms(64)
    };
    assert!(worst(1, 1.0, &far) < 82.0);
}

#[test]
fn drafts_out_of_range_are_refused_at_once() {
    for draft in [
        ParametersDraft {
            atoms: Some(u32::MAX),
            ..ParametersDraft::default()
        },
        ParametersDraft {
            favoured: Some(1 << 31),
            ..ParametersDraft::default()
        },
        ParametersDraft {
            values: Some(vec![1, 2]),
            ..ParametersDraft::default()
        },
        ParametersDraft {
            values: Some(vec![1, 2]),
            atoms: Some(4),
            ..ParametersDraft::default()
        },
    ] {
        let error =
            Window::choose_parameters(&Domain::of_dense_inputs(1), 1.0, &draft).unwrap_err();
        assert!(error.to_string().contains("atoms"), "{error}");
    }
}

/// Sizes chosen with values for the average. `number.md` has the worst variance, and that of
/// uniform numbers and of 0, at other sizes. At the sizes of the first row of each ε they agree to
/// two digits.
#[test]
fn values_for_the_average_have_less_variance_there_and_more_at_the_worst() {
    for (epsilon, sizes, expected) in [
        (1.0, (13, 6), [4.18, 3.92, 3.90]),
        (2.0, (18, 7), [0.983, 0.811, 0.751]),
        (4.0, (35, 9), [0.171, 0.113, 0.086]),
    ] {
        let of = |objective| ParametersDraft {
            atoms: Some(sizes.0),
            favoured: Some(sizes.1),
            objective: Some(objective),
            ..ParametersDraft::default()
        };
        let variances = |objective| {
            let window = choose(1, epsilon, &of(objective));
            let rates = window.estimate_scale_and_variance(&Domain::of_dense_inputs(1), epsilon);
            let variances = [
                rates.max_variance(),
                rates.uniform_average_variance(),
                rates.estimate_variance(0.0),
            ];
            (window.thresholds(epsilon), variances)
        };
        let (threshold, least) = variances(VarianceObjective::Worst);
        let (same, found) = variances(VarianceObjective::Average);
        assert_eq!(threshold, same);
        assert!(found[1] < least[1] && found[0] > least[0], "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "ε = {epsilon}: {found}, {expected}"
            );
        }
    }
    let open = ParametersDraft {
        objective: Some(VarianceObjective::Average),
        ..ParametersDraft::default()
    };
    let all = [0.5, 3.0, 6.0].map(|epsilon| {
        let [average, worst] =
            [&open, &ParametersDraft::default()].map(|draft| choose(1, epsilon, draft));
        assert_eq!(average.atoms_per_attribute(), worst.atoms_per_attribute());
        let domain = Domain::of_dense_inputs(1);
        let of = |window: &Window| {
            window
                .estimate_scale_and_variance(&domain, epsilon)
                .uniform_average_variance()
        };
        of(&average) / of(&worst)
    });
    assert!(
        all.iter().all(|ratio| (0.8..1.0).contains(ratio)),
        "{all:?}"
    );
    let said = ParametersDraft {
        values: Some(vec![1]),
        atoms: Some(2),
        favoured: Some(1),
        ..open
    };
    let error = Window::choose_parameters(&Domain::of_dense_inputs(1), 1.0, &said).unwrap_err();
    assert!(error.to_string().contains("objective"), "{error}");
}

/// The book's table lists the chosen windows.
#[test]
fn the_table_of_the_book_is_what_is_chosen() {
    let page = include_str!("../../../www/docs/src/math/window.md");
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let table = page.split("| ε | t, k |").nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut seen = 0;
    for row in rows.map(cells) {
        let epsilon = row[1].parse().unwrap();
        let own = choose(1, epsilon, &ParametersDraft::default());
        assert_eq!(
            row[2],
            format!(
                "{}, {}",
                own.atoms_per_attribute(),
                own.favoured_atom_count()
            ),
            "{row:?}"
        );
        let (found, said) = (worst(&own, 1, epsilon), row[3].parse::<f64>().unwrap());
        assert!((found / said - 1.0).abs() < 1e-3, "{row:?}: {found}");
        seen += 1;
    }
    assert_eq!(seen, 5);
}
