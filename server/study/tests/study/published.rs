//! Tests that compare hushbin's shuffle accounting with the published bounds.

use hushbin::TaskDraft;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_study::published::{BoundScope, PublishedBound, published_bounds};
use hushbin_tests::mixtures::heaviest;
use serde_json::{Value, json};
use statrs::distribution::{Binomial, Discrete};

const ERLINGSSON: &str = "amplification by shuffling";
const HOEFFDING: &str = "privacy blanket, Hoeffding";
const BENNETT: &str = "privacy blanket, Bennett";
const OWN_HOEFFDING: &str = "own privacy blanket, Hoeffding";
const OWN_BENNETT: &str = "own privacy blanket, Bennett";
const COLLISION: &str = "Collision's closed form";
const CLONES: &str = "clones";
const CLONES_EXACT: &str = "clones, exact sum";
const STRONGER: &str = "stronger clones";
const STRONGER_EXACT: &str = "stronger clones, exact sum";
const NAMES: [&str; 10] = [
    ERLINGSSON,
    HOEFFDING,
    BENNETT,
    OWN_HOEFFDING,
    OWN_BENNETT,
    COLLISION,
    CLONES,
    CLONES_EXACT,
    STRONGER,
    STRONGER_EXACT,
];

/// Returns the mixture of P1's collision mechanism with P1's number of buckets.
fn printed(s: u32, epsilon: f64) -> ReportMixture {
    let t = f64::from(s) * epsilon.exp() + 2.0 * f64::from(s) - 1.0;
    let collision = Collision::new(
        FavouredBucketRule::Occupied,
        HashFamily::Independent,
        t as u32,
    )
    .unwrap();
    ReportMixture::for_collision(&collision, s, epsilon).unwrap()
}

/// Returns the mixture of the mechanism that hushbin chooses for a draft.
fn chosen(s: u32, epsilon: f64, value: &str, mechanism: &Value) -> ReportMixture {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "t", "items": 300, "sparsity": s, "epsilon": epsilon, "value": value,
        "mechanism": mechanism,
    }))
    .unwrap();
    ReportMixture::for_task(&draft.resolve_task().unwrap()).unwrap()
}

fn find<'a>(all: &'a [PublishedBound], name: &str) -> &'a PublishedBound {
    all.iter().find(|bound| bound.name == name).unwrap()
}

fn value(mixture: &ReportMixture, n: u64, delta: f64, name: &str) -> Option<f64> {
    let all = published_bounds(mixture, n, 1.0, delta).unwrap();
    find(&all, name).central_epsilon
}

/// Returns mixtures of one mechanism of every kind.
fn mechanisms(s: u32, epsilon: f64) -> Vec<ReportMixture> {
    vec![
        printed(s, epsilon),
        chosen(s, epsilon, "sign", &json!({ "name": "collision" })),
        chosen(s, epsilon, "real", &json!({ "name": "coco" })),
        chosen(
            s,
            epsilon,
            "real",
            &json!({ "name": "coco", "rule": "overwrite" }),
        ),
        chosen(
            s,
            epsilon,
            "real",
            &json!({ "name": "hash-bin", "level": "user" }),
        ),
        // More than half of the buckets are favoured, or nearly none.
        heaviest(s, s + 1, epsilon),
        heaviest(2 * s, 3 * s, epsilon),
        heaviest(1, 1 << 20, epsilon),
    ]
}

#[test]
fn none_is_below_what_is_known_to_be_needed() {
    for s in [4, 64] {
        for epsilon in [0.1, 0.3, 1.0, 2.0, 4.0] {
            for mixture in mechanisms(s, epsilon) {
                for (n, delta) in [
                    (2, 1e-3),
                    (50, 0.05),
                    (10_000, 1e-6),
                    (10_000, 1e-12),
                    (100_000, 1e-7),
                    (100_000_000, 1e-10),
                ] {
                    let all = published_bounds(&mixture, n, 1.0, delta).unwrap();
                    assert_eq!(
                        all.iter().map(|bound| bound.name).collect::<Vec<_>>(),
                        NAMES
                    );
                    let own = compute_batch_privacy(&mixture, n, 1.0, delta)
                        .unwrap()
                        .reduction_lower_epsilon;
                    let any = ReportMixture::for_any_randomizer(epsilon).unwrap();
                    let any = compute_batch_privacy(&any, n, 1.0, delta)
                        .unwrap()
                        .reduction_lower_epsilon;
                    for bound in all {
                        let needed = match bound.scope {
                            BoundScope::AnyRandomizer => any,
                            BoundScope::BatchMechanism => own,
                        };
                        let at = format!("{mixture:?}, {n}, {delta}, {needed}: {bound:?}");
                        match bound.central_epsilon {
                            Some(central) => {
                                assert!((needed..=epsilon).contains(&central), "{at}");
                                assert!(bound.unmet_condition.is_none(), "{at}");
                            }
                            None => assert!(bound.unmet_condition.is_some(), "{at}"),
                        }
                    }
                }
            }
        }
    }
}

/// P1 claims an ε a fifth to a third below the best known bound for any randomizer. The mechanism's
/// own blanket, which P1 omits, is closer.
#[test]
fn the_exact_sum_is_below_the_best_known() {
    for s in [4, 64] {
        for (n, delta) in [(10_000, 1e-6), (100_000, 1e-7)] {
            let mixture = printed(s, 1.0);
            let ours = compute_batch_privacy(&mixture, n, 1.0, delta)
                .unwrap()
                .central_epsilon;
            let all = published_bounds(&mixture, n, 1.0, delta).unwrap();
            let less = |scope: BoundScope| {
                let of = all.iter().filter(|bound| bound.scope == scope);
                let best = of.filter_map(|bound| bound.central_epsilon);
                1.0 - ours / best.fold(f64::INFINITY, f64::min)
            };
            let (any, own) = (
                less(BoundScope::AnyRandomizer),
                less(BoundScope::BatchMechanism),
            );
            assert!((0.2..0.3).contains(&any), "s = {s}, n = {n}: {any}");
            assert!((0.1..0.2).contains(&own), "s = {s}, n = {n}: {own}");
        }
    }
}

/// Values of Balle's program (github.com/BorjaBalle/amplification-by-shuffling, commit 1778a0d, tol
/// = 1e-13). The values are for any randomizer, and for randomised response over k answers, which
/// favours one answer.
#[test]
fn blankets_are_those_of_their_authors() {
    for (k, epsilon, n, delta, hoeffding, bennett) in [
        (
            None,
            0.25,
            10_000,
            1e-6,
            0.02190928732695095,
            0.058748117524514275,
        ),
        (
            Some(3),
            0.25,
            10_000,
            1e-6,
            0.009877813004157807,
            0.00802246746463557,
        ),
        (
            Some(20),
            0.25,
            10_000,
            1e-6,
            0.010289732171202244,
            0.003043876905301404,
        ),
        (
            None,
            1.0,
            10_000,
            1e-6,
            0.16663436322430158,
            0.16616588706410634,
        ),
        (
            Some(3),
            1.0,
            10_000,
            1e-6,
            0.05536172201121723,
            0.04520093894905409,
        ),
        (
            Some(20),
            1.0,
            10_000,
            1e-6,
            0.06736078660433042,
            0.020306120647767222,
        ),
        (
            None,
            1.0,
            100_000,
            1e-7,
            0.0554593681287059,
            0.0547166092848106,
        ),
        (
            Some(3),
            1.0,
            100_000,
            1e-7,
            0.018614623959033204,
            0.015096687279669967,
        ),
        (
            Some(20),
            1.0,
            100_000,
            1e-7,
            0.022616774995240653,
            0.00677483168631249,
        ),
        (
            None,
            3.0,
            100_000,
            1e-7,
            2.0339355015825036,
            0.4826245764604706,
        ),
        (
            Some(3),
            3.0,
            100_000,
            1e-7,
            0.10362356070745983,
            0.0845817773539488,
        ),
        (
            Some(20),
            3.0,
            100_000,
            1e-7,
            0.20794974583641518,
            0.0628446695338806,
        ),
    ] {
        let (mixture, names) = match k {
            None => (
                ReportMixture::for_any_randomizer(epsilon).unwrap(),
                [HOEFFDING, BENNETT],
            ),
            Some(k) => (heaviest(1, k, epsilon), [OWN_HOEFFDING, OWN_BENNETT]),
        };
        for (name, known) in names.into_iter().zip([hoeffding, bennett]) {
            let found = value(&mixture, n, delta, name).unwrap();
            let at = format!("{k:?}, {epsilon}, {n}, {name}: {found}, {known}");
            assert!((found / known - 1.0).abs() < 1e-6, "{at}");
        }
    }
}

/// Brackets of Apple's program (github.com/apple/ml-shuffling-amplification, commit 993d285, 30
/// iterations, steps of 1 at n = 10⁴ and 10 at 10⁵).
#[test]
fn clones_are_between_their_authors_bounds() {
    for (epsilon, n, delta, lower, upper) in [
        (
            0.25,
            10_000,
            1e-6,
            0.008516538322630766,
            0.009033885618101214,
        ),
        (1.0, 10_000, 1e-6, 0.05300519174626192, 0.05556159207050932),
        (
            1.0,
            100_000,
            1e-7,
            0.018095050891096448,
            0.018843677447110282,
        ),
        (3.0, 100_000, 1e-7, 0.10645426878818481, 0.1101910679533866),
    ] {
        let any = ReportMixture::for_any_randomizer(epsilon).unwrap();
        let found = value(&any, n, delta, CLONES_EXACT).unwrap();
        assert!((lower..upper).contains(&found), "{epsilon}, {n}: {found}");
    }
}

/// Probabilities of one batch under the two inputs of the target person.
type Pair = (f64, f64);

/// Returns the hockey-stick divergence at ε_c, the greater of both directions.
fn divergence(batches: &[Pair], central: f64) -> f64 {
    let k = central.exp();
    let excess = |p: f64, q: f64| (p - k * q).max(0.0);
    let forth: f64 = batches.iter().map(|&(p, q)| excess(p, q)).sum();
    let back: f64 = batches.iter().map(|&(p, q)| excess(q, p)).sum();
    forth.max(back)
}

/// Returns the pair of distributions of the clones, term by term.
fn clones(epsilon: f64, n: u64) -> Vec<Pair> {
    let binomial = |p: f64, n: u64| Binomial::new(p, n).unwrap();
    let (mine, theirs) = (1.0 / ((-epsilon).exp() + 1.0), 1.0 / (epsilon.exp() + 1.0));
    let mut pairs = Vec::new();
    for c in 0..n {
        let of_c = binomial((-epsilon).exp(), n - 1).pmf(c);
        for a in 0..=c + 1 {
            let half = |a: u64| if a <= c { binomial(0.5, c).pmf(a) } else { 0.0 };
            let (same, fewer) = (half(a), a.checked_sub(1).map_or(0.0, half));
            let first = mine * fewer + theirs * same;
            let second = theirs * fewer + mine * same;
            pairs.push((of_c * first, of_c * second));
        }
    }
    pairs
}

#[test]
fn clones_are_summed_exactly() {
    for n in [2, 5, 40, 300] {
        for epsilon in [0.05, 0.7, 2.0, 5.0] {
            let pairs = clones(epsilon, n);
            for delta in [0.1, 1e-3, 1e-7] {
                let any = ReportMixture::for_any_randomizer(epsilon).unwrap();
                let found = value(&any, n, delta, CLONES_EXACT).unwrap();
                let at = format!("n = {n}, ε = {epsilon}, δ = {delta}: {found}");
                // The probabilities in the sum above have rounding errors.
                let enough = divergence(&pairs, found) <= delta * (1.0 + 1e-9) + 1e-13;
                let less = found * (1.0 - 1e-6);
                let needed = divergence(&pairs, less) > delta * (1.0 - 1e-9) - 1e-13;
                assert!(enough || found == epsilon, "{at}");
                assert!(needed || found < 1e-9, "{at}");
            }
        }
    }
}

/// Closed forms against values computed by hand, and the limits of each range.
#[test]
fn closed_forms_hold_within_their_ranges() {
    let any = |epsilon| ReportMixture::for_any_randomizer(epsilon).unwrap();
    let close = |found: Option<f64>, known: f64| {
        let found = found.unwrap();
        assert!((found / known - 1.0).abs() < 1e-9, "{found}, {known}");
    };
    // By hand: 12·0.25·√(ln 10⁶/10⁴). Balle's program gives 0.11150766566549514.
    close(
        value(&any(0.25), 10_000, 1e-6, ERLINGSSON),
        0.11150766566549514,
    );
    assert!(value(&any(0.499), 1000, 0.0099, ERLINGSSON).is_some());
    for (epsilon, n, delta) in [
        (0.5, 1000, 0.0099),
        (0.499, 999, 0.0099),
        (0.499, 1000, 0.01),
    ] {
        assert!(value(&any(epsilon), n, delta, ERLINGSSON).is_none());
    }
    // e = 2, n = 40000, δ = 4·exp(−8): ln(1 + (8·√(16)/200 + 16/40000)/3), and ln(1 +
    // 4·√(16/120000) + 10⁻⁴).
    let (two, delta) = (2_f64.ln(), 4.0 * (-8_f64).exp());
    close(
        value(&any(two), 40_000, delta, CLONES),
        (0.1604_f64 / 3.0).ln_1p(),
    );
    let many = 4.0 * (16.0_f64 / 120_000.0).sqrt() + 1e-4;
    close(value(&any(two), 40_000, delta, STRONGER), many.ln_1p());
    // At δ = 2·exp(−8) the ranges end at e = n/128 and e + 1 = n/64.
    let delta = 2.0 * (-8_f64).exp();
    for (name, last) in [(CLONES, 256), (STRONGER, 192)] {
        assert!(
            value(&any(two - 1e-9), last, delta, name).is_some(),
            "{name}"
        );
        assert!(
            value(&any(two + 1e-9), last, delta, name).is_none(),
            "{name}"
        );
    }
    // Ω = 4e + 13; the bound applies up to ε_c = 1.
    let omega = 4.0 * 1_f64.exp() + 13.0;
    let central = (14.0 * 2e7_f64.ln() * omega / 99_999.0).sqrt();
    close(value(&printed(4, 1.0), 100_000, 1e-7, COLLISION), central);
    assert!(value(&printed(4, 1.0), 5000, 1e-7, COLLISION).is_none());
    assert!(value(&any(1.0), 100_000, 1e-7, COLLISION).is_none());
}

#[test]
fn more_reports_and_more_delta_lose_less() {
    for epsilon in [0.2, 1.0, 3.0] {
        for mixture in mechanisms(4, epsilon) {
            for name in NAMES {
                for (n, delta) in [(3000, 1e-8), (3000, 1e-3), (200_000, 1e-8)] {
                    let Some(base) = value(&mixture, n, delta, name) else {
                        continue;
                    };
                    for (n, delta) in [(2 * n, delta), (n, 2.0 * delta)] {
                        let less = value(&mixture, n, delta, name).unwrap();
                        let at = format!("{mixture:?}, {n}, {delta}, {name}");
                        assert!(less <= base * (1.0 + 1e-9), "{at}: {base}, {less}");
                        assert!(less < base || base == epsilon, "{at}: {base}");
                    }
                }
            }
        }
    }
}

#[test]
fn only_the_honest_count() {
    let mixture = printed(4, 1.0);
    assert_eq!(
        published_bounds(&mixture, 40_000, 0.25, 1e-6).unwrap(),
        published_bounds(&mixture, 10_000, 1.0, 1e-6).unwrap()
    );
    assert!(published_bounds(&mixture, 1, 1.0, 1e-6).is_err());
    assert!(published_bounds(&mixture, 100, 1.0, 0.0).is_err());
    assert!(published_bounds(&mixture, 100, 1.5, 1e-6).is_err());
}

/// A theorem is closest to failing where its range begins.
#[test]
fn closed_forms_hold_from_where_they_begin() {
    for epsilon in [0.01, 0.1, 0.4, 0.499, 1.0, 2.5, 4.0] {
        for delta in [0.1, 0.0099, 1e-4, 1e-9, 1e-15] {
            let mixture = printed(4, epsilon);
            for name in [ERLINGSSON, COLLISION, CLONES, STRONGER] {
                let has = |n| value(&mixture, n, delta, name).is_some();
                if name == ERLINGSSON && (epsilon >= 0.5 || delta >= 0.01) {
                    assert!(!has(1 << 20));
                    continue;
                }
                let mut with = 4_u64;
                while !has(with) {
                    with *= 2;
                }
                let mut without = with / 2;
                while with - without > 1 {
                    let middle = without.midpoint(with);
                    if has(middle) {
                        with = middle;
                    } else {
                        without = middle;
                    }
                }
                for n in [with, with + 1, with + 20, 2 * with, 10 * with] {
                    let all = published_bounds(&mixture, n, 1.0, delta).unwrap();
                    let bound = find(&all, name);
                    let least = match bound.scope {
                        BoundScope::AnyRandomizer => {
                            ReportMixture::for_any_randomizer(epsilon).unwrap()
                        }
                        BoundScope::BatchMechanism => mixture,
                    };
                    let least = compute_batch_privacy(&least, n, 1.0, delta)
                        .unwrap()
                        .reduction_lower_epsilon;
                    assert!(
                        bound.central_epsilon.unwrap() >= least,
                        "{n}, {delta}: {bound:?}"
                    );
                }
            }
        }
    }
}
