//! Errata of P4, "Locally Differentially Private Data Collection and Analysis". By enumeration, the
//! printed parameters violate the claims, and the implemented parameters satisfy them.
//!
//! These tests compute the tables of `analysis/src/docs/errata.md`.

use hushbin_study::competitors::{
    EPSILON_PER_DRAWN_ATTRIBUTE, MajorityMechanism, SampledTwoPointMechanism, TwoPointMechanism,
    as_printed, best_bucket_count, hockey_stick_divergence, least_epsilon,
};
use hushbin_tests::errata::assert_table;

use super::models::{Law, budget, majority_of_signs, worst};

/// Returns the report distributions of Mechanism-1 for all corners, with the threshold of a strict
/// majority and this α.
fn corners(d: u32, alpha: f64) -> Vec<Law> {
    let law = |corner| majority_of_signs(d, d / 2 + 1, alpha, corner);
    (0..1 << d).map(law).collect()
}

/// Returns the maximum of P(o) − exp(ε)·P′(o) over all single outputs o and all pairs of inputs
/// with distributions P and P′.
fn worst_output(laws: &[Law], epsilon: f64) -> f64 {
    let pairs = laws.iter().flat_map(|p| laws.iter().map(move |q| (p, q)));
    let most = |(p, q): (&Law, &Law)| {
        let outputs = p.iter().zip(q);
        let each = outputs.map(|(&p, &q)| hockey_stick_divergence([(p, q)], epsilon));
        each.fold(0.0, f64::max)
    };
    pairs.map(most).fold(0.0, f64::max)
}

fn favoured(d: u32) -> f64 {
    MajorityMechanism::new(d, &budget(1.0, 0.0))
        .unwrap()
        .favoured_count()
}

/// Erratum to Lemma 1: a bound for every single output does not imply the bound for sets of
/// outputs.
#[test]
fn outputs_that_are_private_are_not_private_in_sets() {
    let delta = 1e-3;
    let mut rows = Vec::new();
    for d in 1..=6 {
        let laws = corners(
            d,
            as_printed::uncorrected_majority_mechanism(d, &budget(1.0, delta))
                .unwrap()
                .favoured_probability,
        );
        let (single, set) = (worst_output(&laws, 1.0), worst(&laws, 1.0));
        assert!((single / delta - 1.0).abs() < 1e-9, "{single}");
        assert!((set / single / favoured(d) - 1.0).abs() < 1e-9, "{set}");
        // The converse is true, because a single output is a set.
        let right = MajorityMechanism::new(d, &budget(1.0, delta)).unwrap();
        assert!(worst_output(&corners(d, right.favoured_probability()), 1.0) <= delta);
        rows.push(format!(
            "| {d} | {} | {single:.3} | {set:.3} |",
            favoured(d)
        ));
    }
    assert_table("| d | N₊ | worst output | worst set |", &rows);
}

/// Erratum to α, for odd and even d: the printed α is (ε, N₊·δ) private instead of (ε, δ) private.
#[test]
fn the_printed_probability_gives_away_more() {
    let mut rows = Vec::new();
    for (d, epsilon, delta) in [
        (1, 1.0, 1e-3),
        (2, 1.0, 1e-3),
        (3, 1.0, 1e-3),
        (4, 1.0, 1e-3),
        (5, 1.0, 1e-3),
        (6, 1.0, 1e-3),
        (5, 0.5, 1e-2),
        (5, 2.0, 1e-2),
    ] {
        let budget = budget(epsilon, delta);
        let printed = as_printed::uncorrected_majority_mechanism(d, &budget).unwrap();
        let right = MajorityMechanism::new(d, &budget).unwrap();
        let [false_delta, true_delta] =
            [printed.favoured_probability, right.favoured_probability()]
                .map(|alpha| worst(&corners(d, alpha), epsilon));
        assert!((false_delta / delta / favoured(d) - 1.0).abs() < 1e-9);
        assert!((printed.actual_delta - false_delta).abs() < 1e-12);
        assert!(true_delta <= delta && true_delta > delta - 1e-11);
        rows.push(format!(
            "| {d} | {epsilon} | {delta} | {:.4} | {:.4} | {false_delta:.3} | {true_delta:.3} |",
            printed.favoured_probability,
            right.favoured_probability()
        ));
    }
    assert_table(
        "| d | ε | δ | printed α | right α | real δ of the printed | of the right |",
        &rows,
    );
    // The numbers of features in the paper's learning experiments, 42 and 85.
    assert!(as_printed::uncorrected_majority_mechanism(42, &budget(1.0, 1e-12)).is_err());
    assert!(as_printed::uncorrected_majority_mechanism(85, &budget(1.0, 1e-25)).is_err());
    assert!(as_printed::uncorrected_majority_mechanism(85, &budget(1.0, 1e-26)).is_ok());
}

/// Returns the expected estimate of an attribute with value 1, with this scale B and the correct α.
fn estimated_at(own: &MajorityMechanism, scale: f64) -> f64 {
    let d = own.attribute_count();
    let law = majority_of_signs(
        d,
        own.agreement_threshold(),
        own.favoured_probability(),
        (1 << d) - 1,
    );
    let sign = |o: usize| if o & 1 == 1 { scale } else { -scale };
    law.iter().enumerate().map(|(o, p)| p * sign(o)).sum()
}

/// Erratum to B and to Theorem 2: both are for the printed α, whose real δ is N₊·δ.
#[test]
fn the_printed_scale_is_too_small() {
    let mut rows = Vec::new();
    for (d, epsilon, delta) in [
        (1, 1.0, 1e-3),
        (3, 1.0, 1e-3),
        (5, 1.0, 1e-3),
        (8, 1.0, 1e-3),
        (5, 0.1, 1e-3),
        (10, 0.1, 1e-4),
    ] {
        let budget = budget(epsilon, delta);
        let printed = as_printed::uncorrected_majority_mechanism(d, &budget).unwrap();
        let right = MajorityMechanism::new(d, &budget).unwrap();
        assert!((estimated_at(&right, right.estimate_scale()) - 1.0).abs() < 1e-9);
        let short = estimated_at(&right, printed.estimate_scale);
        assert!((short - printed.estimate_scale / right.estimate_scale()).abs() < 1e-9);
        assert!(short < 1.0 + 1e-9 && (d > 1) == (short < 0.999));
        // Relative gain that δ brings: with the printed B, and with the correct B.
        let pure = MajorityMechanism::new(d, &self::budget(epsilon, 0.0)).unwrap();
        let [promised, true_gain] = [printed.estimate_scale, right.estimate_scale()]
            .map(|scale| 1.0 - scale / pure.estimate_scale());
        let e = epsilon.exp();
        if d % 2 == 1 {
            let gain = 2.0 * delta / (e - 1.0 + 2.0 * delta);
            assert!((true_gain - gain).abs() < 1e-9, "{true_gain}, {gain}");
        }
        let printed_gain = 2_f64.powi(d as i32) * delta;
        let printed_gain = printed_gain / (e - 1.0 + printed_gain);
        assert!((promised - printed_gain).abs() < 1e-9);
        rows.push(format!(
            "| {d} | {epsilon} | {delta} | {:.3} | {:.3} | {short:.3} | {:.2} | {:.2} |",
            printed.estimate_scale,
            right.estimate_scale(),
            100.0 * promised,
            100.0 * true_gain
        ));
    }
    assert_table(
        "| d | ε | δ | printed B | right B | 1 is estimated at | gain promised, % | true gain, % |",
        &rows,
    );
    // At δ = 10⁻⁶ the gain is negligible.
    let [with, without] =
        [1e-6, 0.0].map(|delta| MajorityMechanism::new(5, &budget(1.0, delta)).unwrap());
    assert!(1.0 - with.estimate_scale() / without.estimate_scale() < 2e-6);
}

/// Erratum: Duchi's probability e/(e + 1) is valid only for odd d.
#[test]
fn even_numbers_of_attributes_lose_more_with_the_odd_probability() {
    let mut rows = Vec::new();
    for (d, epsilon) in [
        (2, 1.0),
        (3, 1.0),
        (4, 0.5),
        (4, 1.0),
        (4, 2.0),
        (5, 1.0),
        (6, 1.0),
    ] {
        let e = f64::exp(epsilon);
        let laws = corners(d, e / (e + 1.0));
        let real = least_epsilon(1e-13, |epsilon| worst(&laws, epsilon));
        let ratio: f64 = 2_f64.powi(d as i32) / favoured(d) - 1.0;
        assert!((real - epsilon - ratio.ln()).abs() < 1e-9, "{d}: {real}");
        let right = MajorityMechanism::new(d, &budget(epsilon, 0.0)).unwrap();
        let laws = corners(d, right.favoured_probability());
        let kept = least_epsilon(1e-15, |epsilon| worst(&laws, epsilon));
        assert!(kept <= epsilon && kept > epsilon - 1e-9, "{kept}");
        rows.push(format!(
            "| {d} | {epsilon} | {:.4} | {real:.4} | {:.4} | {kept:.4} |",
            e / (e + 1.0),
            right.favoured_probability()
        ));
    }
    assert_table(
        "| d | ε | e/(e + 1) | its real ε | right α | its real ε |",
        &rows,
    );
}

/// Returns a·((e^a + 1)/(e^a − 1))². With k attributes at ε = k·a, the variance is this times d/ε.
fn cost(a: f64) -> f64 {
    a / (a / 2.0).tanh().powi(2)
}

/// Erratum to Mechanism-2's number of attributes: the printed interval of the best ε is reversed,
/// and the floor is not always the best rounding.
#[test]
fn the_best_epsilon_of_an_attribute_is_between_the_printed_ends() {
    // The cost is least at the a with 2a = sinh a.
    let (mut low, mut high) = (2.0, 2.5);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle.sinh() < 2.0 * middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    assert!(low > 2.176 && high < 2.178, "{low}");
    for (below, above) in [(low - 1e-3, low), (high, high + 1e-3)] {
        let rises = cost(above) > cost(below);
        assert_eq!(rises, below >= high);
    }
    // The paper prints 2.177 < a < 2.176.
    assert!(!(2.177..2.176).contains(&low));
    assert!((EPSILON_PER_DRAWN_ATTRIBUTE - low).abs() < 0.01);
    let mut rows = Vec::new();
    for (d, epsilon) in [(10, 4.0), (10, 6.0), (10, 8.0), (10, 10.0), (4, 3.5)] {
        let [printed, best] = [
            SampledTwoPointMechanism::new(d, epsilon, 0.0),
            SampledTwoPointMechanism::with_least_variance(d, epsilon, 0.0),
        ]
        .map(Result::unwrap);
        let [floor, least] = [printed, best].map(|own| own.single_report_variance(0.0));
        // The formula for the variance, evaluated for every k.
        let variance = |k: u32| {
            let each = TwoPointMechanism::new(&budget(epsilon / f64::from(k), 0.0));
            f64::from(d) / f64::from(k) * each.variance(0.0)
        };
        let all = (1..=d).map(variance).fold(f64::INFINITY, f64::min);
        assert!((all / least - 1.0).abs() < 1e-9 && least <= floor);
        rows.push(format!(
            "| {d} | {epsilon} | {} | {} | {floor:.4} | {least:.4} |",
            printed.drawn_count(),
            best.drawn_count()
        ));
    }
    assert_table(
        "| d | ε | ⌊ε/2.17⌋ | best k | variance at 0 | of the best |",
        &rows,
    );
}

/// Erratum to the Gaussian mechanism of the comparison: Δ = 2 is valid only for one attribute.
#[test]
fn noise_for_one_attribute_does_not_hide_several() {
    let mut rows = Vec::new();
    for (d, epsilon, delta) in [
        (1, 1.0, 1e-6),
        (5, 0.1, 1e-6),
        (5, 1.0, 1e-6),
        (5, 4.0, 1e-6),
        (15, 1.0, 1e-6),
        (85, 1.0, 1e-6),
    ] {
        let printed = as_printed::undercalibrated_gaussian(d, &budget(epsilon, delta)).unwrap();
        // Computes δ without the formula: integrates the noise of two opposite corners along their
        // difference, over thin cells.
        let moved = 2.0 * f64::from(d).sqrt() / printed.sigma;
        let cells = 200_000;
        let width = 24.0 / f64::from(cells);
        let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * width;
        let cell = |i: u32| {
            let z = (f64::from(i) + 0.5) * width - 12.0;
            (density(z), density(z + moved))
        };
        let summed = hockey_stick_divergence((0..cells).map(cell), epsilon);
        assert!(
            (summed / printed.actual_delta - 1.0).abs() < 1e-4,
            "{summed}, {printed:?}"
        );
        assert!((d > 1) == (printed.actual_delta > 100.0 * delta));
        let times = (printed.corrected_sigma / printed.sigma).powi(2);
        assert!((times / f64::from(d) - 1.0).abs() < 1e-9);
        rows.push(format!(
            "| {d} | {epsilon} | {:.3} | {} | {:.3} |",
            printed.sigma,
            scientific(printed.actual_delta),
            printed.corrected_sigma
        ));
    }
    assert_table("| d | ε | σ of Δ = 2 | its real δ | σ of Δ = 2√d |", &rows);
}

fn scientific(number: f64) -> String {
    format!("{number:.1e}")
}

/// Erratum to OLH's g: the printed root suffers from cancellation.
#[test]
fn the_printed_root_cancels() {
    let mut rows = Vec::new();
    for (epsilon, delta) in [
        (1.0, 1e-6),
        (1.0, 1e-9),
        (1.0, 1e-12),
        (1.0, 1e-14),
        (1.0, 1e-15),
        (0.1, 1e-15),
        (4.0, 1e-15),
    ] {
        let budget = budget(epsilon, delta);
        let printed = as_printed::uncorrected_best_bucket_count(&budget).unwrap();
        let right = best_bucket_count(&budget).unwrap();
        // e + 1, with the first-order change by δ.
        let e = f64::exp(epsilon);
        let moved = (e + 1.0) * (1.0 + delta * (3.0 - 2.0 / (e + 1.0) + (e + 1.0) / (e - 1.0)));
        assert!((right / moved - 1.0).abs() < 1e-9, "{right}, {moved}");
        // Expected error: one part in 10¹⁶ of the subtracted numbers, divided by 2δ.
        let off = (printed / right - 1.0).abs();
        assert!(off < 1e-15 / delta, "{off}");
        rows.push(format!(
            "| {epsilon} | {} | {right:.7} | {} |",
            scientific(delta),
            scientific(off)
        ));
    }
    assert_table("| ε | δ | g* | the printed root is off by |", &rows);
}

/// A family of hash functions: for three answers, the buckets of each function.
type Family = Vec<[u32; 3]>;

/// Returns the maximum collision probability of two answers, and two expected estimates of an
/// answer that no person gives. The first estimate uses q = 1/g, the second the true q of the
/// family.
fn absent(family: &Family, g: u32, epsilon: f64) -> [f64; 3] {
    let hash = hushbin_study::competitors::LocalHash::new(3, g, &budget(epsilon, 0.0)).unwrap();
    let p = hash.support_probabilities().own_answer_probability;
    let others = (1.0 - p) / f64::from(g - 1);
    let pair = |own: usize, other: usize| {
        let meet = family.iter().filter(|f| f[own] == f[other]).count();
        meet as f64 / family.len() as f64
    };
    // The worst pair of answers is for the collision probability. The first pair is for the
    // estimates.
    let pairs = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| pair(a, b));
    let most = pairs.into_iter().fold(0.0, f64::max);
    let supported = pairs[0] * p + (1.0 - pairs[0]) * others;
    let estimate = |q: f64| (supported - q) / (p - q);
    [most, estimate(1.0 / f64::from(g)), estimate(supported)]
}

/// Erratum to LH: a universal family of hash functions is not sufficient.
#[test]
fn universal_hashing_is_not_enough() {
    let g = 3;
    let every: Family = (0..27).map(|f| [f % 3, f / 3 % 3, f / 9]).collect();
    let permutations: Family = every
        .iter()
        .copied()
        .filter(|f| f[0] != f[1] && f[0] != f[2] && f[1] != f[2])
        .collect();
    // Carter and Wegman's functions (a·x + b mod 7) mod 3 with a from 1 to 6.
    let linear: Family = (1..7)
        .flat_map(|a| (0..7).map(move |b| [1, 2, 4].map(|x| (a * x + b) % 7 % 3)))
        .collect();
    let rows: Vec<String> = [
        ("all functions", every),
        ("(ax + b mod 7) mod 3", linear),
        ("permutations", permutations),
    ]
    .into_iter()
    .map(|(name, family)| {
        let [most, printed, right] = absent(&family, g, 1.0);
        // All three families are universal.
        assert!(most <= 1.0 / 3.0 + 1e-12, "{name}: {most}");
        assert!(
            (name == "all functions") == (printed.abs() < 1e-9),
            "{name}: {printed}"
        );
        assert!(right.abs() < 1e-12);
        let printed = if printed.abs() < 1e-9 { 0.0 } else { printed };
        format!("| {name} | {most:.3} | {printed:.3} | {:.3} |", right.abs())
    })
    .collect();
    assert_table(
        "| family | two answers meet | q = 1/g | q of the family |",
        &rows,
    );
}
