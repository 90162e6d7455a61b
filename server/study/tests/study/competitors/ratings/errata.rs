//! Errata of P1, P2 and P3 about compared mechanisms and about the sizes of errors and bounds.
//!
//! These tests compute the tables of `analysis/src/docs/errata.md`.

use hushbin::mechanism::coco::Coco;
use hushbin::{Mechanism, Task};
use hushbin_study::competitors::ratings::{
    EstimateMoments, GaussianRatingMechanism, NaivePerturbation, OracleSetting, PckvGrr,
    PrivacyUnit, RatingOracle, drafts_as_printed,
};
use hushbin_tests::contest::task;
use hushbin_tests::errata::assert_table;
use serde_json::{Value, json};

use super::models::{inputs, models, naive, repeated_bits, repeated_hits, setting};
use super::privacy::loss;

/// Returns the sum of the variances of all 2d frequencies, for a person with s entries of ±1.
fn total(setting: &OracleSetting, moments: &EstimateMoments) -> f64 {
    let (d, s) = (f64::from(setting.item_count), f64::from(setting.sparsity));
    let [own, opposite, other] = moments.frequency_variances_by_sign().unwrap();
    s * (own + opposite) + (d - s) * 2.0 * other
}

/// Erratum to P1 §8: P1 runs PCKV-GRR with a response at ε. The whole report then spends less than
/// ε.
#[test]
fn a_response_at_epsilon_spends_less_where_an_entry_is_drawn() {
    // By enumeration, for tasks small enough to list all reports.
    for epsilon in [0.1, 1.0, 2.0] {
        let small = setting(3, 2, epsilon);
        let listed = models(&small);
        let grr = listed
            .iter()
            .find(|model| model.name == "PCKV-GRR")
            .unwrap();
        let spent = loss(
            &grr.law,
            &inputs(3, 2, &[1.0, -1.0]),
            PrivacyUnit::UserLevel,
        );
        assert!((spent - (1.0 + epsilon.exp_m1() / 2.0).ln()).abs() < 1e-9);
    }
    let mut rows = Vec::new();
    for (s, epsilon) in [
        (4, 0.1),
        (4, 1.0),
        (4, 2.0),
        (16, 1.0),
        (32, 0.1),
        (32, 1.0),
        (32, 2.0),
    ] {
        let setting = setting(256, s, epsilon);
        let [direct, adaptive] = [
            PckvGrr::without_amplification(&setting),
            PckvGrr::with_amplification(&setting),
        ];
        let (direct, adaptive) = (direct.unwrap(), adaptive.unwrap());
        let spent = direct.privacy_loss();
        assert!((spent - (1.0 + epsilon.exp_m1() / f64::from(s)).ln()).abs() < 1e-11);
        assert!((adaptive.privacy_loss() - epsilon).abs() < 1e-11);
        let [as_compared, right] = [
            direct.report_estimate_moments(),
            adaptive.report_estimate_moments(),
        ];
        let [as_compared, right] = [as_compared, right].map(|moments| total(&setting, &moments));
        let ratio = as_compared / right;
        assert!(ratio > f64::from(s) && ratio < f64::from(s * s));
        rows.push(format!(
            "| {s} | {epsilon} | {spent:.3} | {as_compared:.0} | {right:.0} | {ratio:.1} |"
        ));
    }
    assert_table(
        "| s | ε | ε that PCKV-GRR spends | its variance | of PCKV-AGRR, which spends ε | ratio |",
        &rows,
    );
}

/// Erratum to P1 §3.1: the domain of PCKV-AGRR consists of signed items and signed dummies, 2(d +
/// s) elements instead of d.
#[test]
fn adaptive_responses_are_over_signed_items() {
    // Variance of the share of an element outside the input. A report is one of `elements`
    // elements, of which s have e times the weight of every other.
    let of_other = |elements: f64, s: f64, epsilon: f64| {
        let all = s * epsilon.exp_m1() + elements;
        (all - 1.0) / epsilon.exp_m1().powi(2)
    };
    let mut rows = Vec::new();
    for (d, s, epsilon) in [
        (256, 4, 0.1),
        (256, 4, 1.0),
        (256, 4, 2.0),
        (256, 32, 1.0),
        (512, 16, 1.0),
    ] {
        let setting = setting(d, s, epsilon);
        let own = PckvGrr::with_amplification(&setting)
            .unwrap()
            .report_estimate_moments();
        let [_, _, right] = own.frequency_variances_by_sign().unwrap();
        let (items, slots) = (f64::from(d), f64::from(s));
        let same = of_other(2.0 * (items + slots), slots, epsilon);
        assert!((right / same - 1.0).abs() < 1e-9, "{right}, {same}");
        let printed = of_other(items, slots, epsilon);
        let ratio = right / printed;
        rows.push(format!(
            "| {d} | {s} | {epsilon} | {printed:.1} | {right:.1} | {ratio:.2} |"
        ));
    }
    assert_table(
        "| d | s | ε | variance with domain d | with 2(d + s) | ratio |",
        &rows,
    );
}

/// Returns the task of the collision mechanism with the printed parameters.
fn printed(d: u32, s: u32, epsilon: f64) -> Task {
    task(
        d,
        s,
        epsilon,
        &drafts_as_printed::collision_draft(s, epsilon),
    )
}

/// Erratum to P1 Theorem 3: for small ε the error is proportional to 1/ε, not to 1/ε².
#[test]
fn errors_of_collision_grow_with_one_epsilon() {
    let (d, n) = (256, 1e5);
    let mut rows = Vec::new();
    let mut constants = Vec::new();
    for (s, epsilon) in [
        (4, 1.0),
        (4, 0.1),
        (4, 0.01),
        (4, 0.001),
        (16, 0.01),
        (32, 0.01),
    ] {
        let task = printed(d, s, epsilon);
        let question = &task.questions()[0];
        let Mechanism::Collision(collision) = question.mechanism() else {
            panic!("it is Collision")
        };
        let rates = collision.hit_probabilities(&question.domain(), epsilon);
        let [own, other] = [true, false].map(|own| rates.frequency_variance(own).sqrt());
        // Expected magnitude of a normal error with variance 1/n.
        let size = (2.0 / std::f64::consts::PI / n).sqrt();
        let (items, slots) = (f64::from(d), f64::from(s));
        let error = size * (slots * own + (2.0 * items - slots) * other);
        let [one, two] =
            [1, 2].map(|power| error * n.sqrt() * epsilon.powi(power) / (items * slots.sqrt()));
        if epsilon < 0.1 {
            constants.push(one);
        }
        rows.push(format!(
            "| {s} | {epsilon} | {error:.2} | {one:.2} | {two:.4} |"
        ));
    }
    for constant in &constants {
        assert!(
            (constant / constants[0] - 1.0).abs() < 0.25,
            "{constants:?}"
        );
    }
    assert_table(
        "| s | ε | error | over d√s/(ε√n) | over d√s/(ε²√n) |",
        &rows,
    );
}

/// Erratum to P1 Theorem 7: CoCo's buckets form pairs, so their number must be even.
#[test]
fn numbers_of_buckets_of_pairs_are_even() {
    let d = 256;
    let mut rows = Vec::new();
    for (s, epsilon) in [
        (4, 0.1),
        (4, 0.5),
        (4, 1.0),
        (16, 0.5),
        (16, 1.0),
        (32, 1.0),
        (32, 2.0),
    ] {
        let weight = f64::from(s) * f64::exp(epsilon);
        let even = |t: u32| t.next_multiple_of(2);
        let for_means = (weight + f64::from(s) + 2.0).ceil() as u32;
        let for_presence = (weight + 5.0 * f64::from(s)).ceil() as u32;
        let coco = |t: u32| {
            json!({ "name": "coco", "rule": "overwrite",
            "hashing": "independent", "buckets": t })
        };
        let totals = |mechanism: &Value| {
            let task = task(d, s, epsilon, mechanism);
            let question = &task.questions()[0];
            let Mechanism::Coco(own) = question.mechanism() else {
                panic!("it is CoCo")
            };
            let rates = own.hit_probabilities(&question.domain(), epsilon);
            let [own, other] =
                [true, false].map(|has| rates.presence_estimate_variance(has).unwrap());
            let (items, slots) = (f64::from(d), f64::from(s));
            let presence = slots * own + (items - slots) * other;
            [rates.total_variance(&question.domain()), presence]
        };
        for t in [for_means, for_presence] {
            let rule = hushbin::mechanism::coco::FavouredSideRule::RandomEntryDecides;
            let refused = Coco::new(rule, hushbin::hash::HashFamily::Independent, t).is_err();
            assert_eq!(refused, t % 2 == 1);
        }
        let (means, presence) = (even(for_means).max(2 * s + 2), even(for_presence));
        // The least variances over all even numbers of buckets.
        let all = (s + 1..8 * s + 60).map(|pairs| totals(&coco(2 * pairs)));
        let best = all.fold([f64::INFINITY; 2], |best, own| {
            [best[0].min(own[0]), best[1].min(own[1])]
        });
        let over = [
            totals(&coco(means))[0] / best[0],
            totals(&coco(presence))[1] / best[1],
        ];
        rows.push(format!(
            "| {s} | {epsilon} | {for_means} | {means} | {:.3} | {for_presence} | {presence} | {:.3} |",
            over[0], over[1]
        ));
    }
    assert_table(
        "| s | ε | ⌈e·s + s + 2⌉ | even | over the best even t | ⌈e·s + 5s⌉ | even | over the best even t |",
        &rows,
    );
}

/// Erratum to P2, abstract and §1.4: the short form of the bound has t instead of Ω.
#[test]
fn the_short_form_of_the_amplification_is_too_small() {
    let (n, delta) = (1e5, 1e-7);
    let mut rows = Vec::new();
    for (s, epsilon) in [
        (4, 0.1),
        (4, 1.0),
        (4, 2.0),
        (16, 1.0),
        (64, 1.0),
        (64, 4.0),
    ] {
        let task = printed(256, s, epsilon);
        let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
            panic!("it is Collision")
        };
        let t = f64::from(collision.buckets_per_hash());
        let (weight, slots) = (f64::from(s) * f64::exp(epsilon), f64::from(s));
        assert!((t - (weight + 2.0 * slots - 1.0)).abs() < 1.0);
        let bound = |omega: f64| (14.0 * f64::ln(2.0 / delta) * omega / (n - 1.0)).sqrt();
        let short = bound(weight + 2.0 * slots - 1.0);
        // Ω = s·e + t − s, with t before rounding.
        let theorem = bound(2.0 * weight + slots - 1.0);
        assert!(theorem > short);
        rows.push(format!(
            "| {s} | {epsilon} | {:.1} | {:.1} | {short:.3} | {theorem:.3} | {:.3} |",
            weight + 2.0 * slots - 1.0,
            2.0 * weight + slots - 1.0,
            short / theorem
        ));
    }
    assert_table(
        "| s | ε | s·e + 2s − 1 | Ω | ε_c with the former | with Ω | ratio |",
        &rows,
    );
}

/// Erratum to P2 §5: for a given Ω, the error is divided by the square of the gap p − q, not by the
/// gap.
#[test]
fn errors_divide_by_the_square_of_the_gap() {
    let mut rows = Vec::new();
    for (d, s, omega) in [
        (4096, 4, 200),
        (4096, 1, 200),
        (4096, 16, 200),
        (4096, 4, 100),
        (4096, 4, 1000),
        (256, 4, 200),
    ] {
        let (items, slots, all) = (f64::from(d), f64::from(s), f64::from(omega));
        let own = |t: u32| (all + slots - f64::from(t)) / (all * slots);
        let gap = |t: u32| own(t) - 1.0 / f64::from(t);
        // Sum of the variances of the s elements in the input and of all other elements.
        let variances = |t: u32| {
            let (p, q) = (own(t), 1.0 / f64::from(t));
            slots * p * (1.0 - p) + (2.0 * items - slots) * q * (1.0 - q)
        };
        let right = |t: u32| variances(t) / gap(t).powi(2);
        let best = |error: &dyn Fn(u32) -> f64| {
            let all = (s + 1..omega).filter(|&t| gap(t) > 0.0);
            all.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap()
        };
        let (printed, squared) = (best(&|t| variances(t) / gap(t)), best(&right));
        let more = right(printed) / right(squared);
        rows.push(format!(
            "| {d} | {s} | {omega} | {printed} | {squared} | {more:.3} |"
        ));
    }
    assert_table(
        "| d | s | Ω | best t of the printed | of the square | error at the former over that at the latter |",
        &rows,
    );
}

/// Erratum to P3 §2.1: slots in the order of items lose more than ε.
#[test]
fn repeated_answers_need_a_random_order() {
    let mut rows = Vec::new();
    for (k, epsilon) in [(1, 1.0), (2, 0.5), (2, 1.0), (2, 2.0)] {
        let setting = setting(3, k, epsilon);
        let inputs = inputs(3, k, &[1.0, -1.0]);
        let mut cells = Vec::new();
        for of in [repeated_hits, repeated_bits] {
            for random in [false, true] {
                cells.push(loss(
                    &of(&setting, random),
                    &inputs,
                    PrivacyUnit::EventLevel,
                ));
            }
        }
        let [a, b, c, d] = cells[..] else {
            panic!("there are four")
        };
        rows.push(format!(
            "| {k} | {epsilon} | {a:.4} | {b:.4} | {c:.4} | {d:.4} |"
        ));
    }
    assert_table(
        "| k | ε | OLH, in the order of items | in random order | one bit, in the order of items | in random order |",
        &rows,
    );
}

/// Erratum to P3 Table 1: naive perturbation of at most k entries at user level spends only half of
/// its ε.
#[test]
fn half_of_each_entrys_budget_is_left() {
    let mut rows = Vec::new();
    for (k, epsilon) in [(1, 1.0), (2, 1.0), (3, 1.0), (3, 4.0)] {
        let setting = |epsilon| setting(2 * k, k, epsilon);
        let inputs = inputs(2 * k, k, &[1.0, -1.0]);
        let of = |epsilon| {
            let own = NaivePerturbation::with_user_level_privacy(&setting(epsilon)).unwrap();
            let (law, _) = naive(&setting(epsilon), &own);
            (
                loss(&law, &inputs, PrivacyUnit::UserLevel),
                own.report_estimate_moments().mean_variances_by_presence()[1],
            )
        };
        let ((half, printed), (whole, right)) = (of(epsilon / 2.0), of(epsilon));
        assert!((half - epsilon / 2.0).abs() < 1e-9 && (whole - epsilon).abs() < 1e-9);
        rows.push(format!(
            "| {k} | {epsilon} | {half:.4} | {printed:.1} | {whole:.4} | {right:.1} | {:.2} |",
            printed / right
        ));
    }
    assert_table(
        "| k | ε | ε that ε/(2k) each spends | variance | that ε/k each spends | variance | ratio |",
        &rows,
    );
}

/// P3's code uses the classical σ, which is larger than necessary.
#[test]
fn the_classical_noise_is_more_than_is_needed() {
    let mut rows = Vec::new();
    for epsilon in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5] {
        let setting = setting(4096, 64, epsilon);
        let [coded, least] = [
            GaussianRatingMechanism::user_level_with_classical_sigma(&setting),
            GaussianRatingMechanism::with_user_level_privacy(&setting),
        ];
        let (coded, least) = (coded.unwrap(), least.unwrap());
        let [sigma, least_sigma] = [coded, least].map(|noise| noise.gaussian_mechanism().sigma());
        let classical = 16.0 * (2.0 * f64::ln(1.25e5)).sqrt() / epsilon;
        assert!((sigma / classical - 1.0).abs() < 1e-12);
        assert!((least.privacy_loss() - epsilon).abs() < 1e-9);
        rows.push(format!(
            "| {epsilon} | {sigma:.1} | {:.3} | {least_sigma:.1} | {:.2} |",
            coded.privacy_loss(),
            sigma / least_sigma
        ));
    }
    assert_table(
        "| ε | σ as coded | ε that it spends | least σ | ratio |",
        &rows,
    );
}
