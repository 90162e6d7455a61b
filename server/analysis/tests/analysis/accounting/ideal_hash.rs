//! Tests of the account under an ideal hash: overlaps of favoured sets by enumerating all hashes,
//! and the account against the sum over the four exact atoms.

use hushbin::hash::HashFamily;
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use serde_json::json;

/// Returns each bucket's probability of being among the c heaviest, with ties broken uniformly.
fn favoured(c: usize, counts: &[usize]) -> Vec<f64> {
    let share = |&here: &usize| {
        let stronger = counts.iter().filter(|&&other| other > here).count();
        let equal = counts.iter().filter(|&&other| other == here).count();
        c.saturating_sub(stronger).min(equal) as f64 / equal as f64
    };
    counts.iter().map(share).collect()
}

/// Returns E[o] of two inputs of s elements with `common` elements in common, over all ways in
/// which R functions of t buckets can hash all elements.
fn overlap(s: usize, common: usize, t: usize, functions: usize, c: usize) -> f64 {
    let elements = 2 * s - common;
    let hashed = elements * functions;
    let mut sum = 0.0;
    for mut number in 0..t.pow(hashed as u32) {
        let mut counts = [vec![0; t * functions], vec![0; t * functions]];
        for function in 0..functions {
            for element in 0..elements {
                let bucket = function * t + number % t;
                number /= t;
                counts[0][bucket] += usize::from(element < s);
                counts[1][bucket] += usize::from(element >= s - common);
            }
        }
        let [first, second] = counts.map(|counts| favoured(c, &counts));
        sum += first.iter().zip(&second).map(|(p, q)| p * q).sum::<f64>();
    }
    sum / (t as f64).powi(hashed as i32)
}

#[test]
fn favoured_sets_overlap_at_least_as_those_of_strangers() {
    for (s, t, functions) in [
        (1, 3, 1),
        (2, 3, 1),
        (2, 4, 1),
        (1, 3, 2),
        (2, 2, 2),
        (3, 3, 1),
    ] {
        for c in 1..t * functions {
            let least = (c * c) as f64 / (t * functions) as f64;
            let at = format!("s = {s}, {functions} of {t}, c = {c}");
            let strangers = overlap(s, 0, t, functions, c);
            assert!((strangers - least).abs() < 1e-12, "{at}: {strangers}");
            for common in 1..=s {
                let found = overlap(s, common, t, functions, c);
                assert!(found >= least - 1e-12, "{at}: {found}");
            }
        }
    }
}

fn heaviest(c: u32, t: u32, hashing: HashFamily, epsilon: f64) -> ReportMixture {
    let task = json!({
        "id": "t", "items": 1000, "sparsity": 4, "epsilon": epsilon, "value": "sign",
        "mechanism": {
            "name": "collision", "rule": "heaviest", "favoured": c, "hashing": hashing, "buckets": t,
        },
    });
    ReportMixture::for_task(&serde_json::from_value(task).unwrap()).unwrap()
}

/// Returns δ(ε_c) of the sum of n draws of the four atoms with their probabilities.
fn delta([c, t]: [f64; 2], epsilon: f64, n: i32, central: f64) -> f64 {
    let (e, k) = (epsilon.exp(), central.exp());
    let (o, omega) = (c * c / t, c * e + t - c);
    let atoms = [
        (e - k, c - o),
        (1.0 - k * e, c - o),
        (e * (1.0 - k), o),
        (1.0 - k, t - 2.0 * c + o),
    ];
    let gamma = t / omega;
    let mut sum = 0.0;
    let mut visit = |counts: [i32; 5]| {
        let mut log = ln_factorial(n);
        let mut value = 0.0;
        for (&(atom, weight), &count) in atoms.iter().zip(&counts) {
            if count > 0 {
                log += f64::from(count) * (weight / omega).ln() - ln_factorial(count);
                value += f64::from(count) * atom;
            }
        }
        let none = counts[4];
        if none > 0 {
            log += f64::from(none) * (1.0 - gamma).ln() - ln_factorial(none);
        }
        sum += log.exp() * f64::max(value, 0.0);
    };
    for a in 0..=n {
        for b in 0..=n - a {
            for both in 0..=n - a - b {
                for neither in 0..=n - a - b - both {
                    visit([a, b, both, neither, n - a - b - both - neither]);
                }
            }
        }
    }
    sum / f64::from(n)
}

fn ln_factorial(n: i32) -> f64 {
    (1..=n).map(|i| f64::from(i).ln()).sum()
}

#[test]
fn an_ideal_hash_is_accounted_for_as_its_atoms_say() {
    for (c, t, epsilon) in [
        (2, 7, 1.0),
        (4, 16, 1.0),
        (3, 9, 2.0),
        (5, 8, 0.5),
        (1, 4, 3.0),
    ] {
        for (n, at) in [(3, 1e-2), (12, 1e-3), (24, 1e-3)] {
            let mixture = heaviest(c, t, HashFamily::Independent, epsilon);
            let found = compute_batch_privacy(&mixture, n, 1.0, at).unwrap();
            let ideal = found.ideal_hash_epsilon.unwrap();
            assert!(ideal <= found.central_epsilon);
            let sum = |central| delta([c, t].map(f64::from), epsilon, n as i32, central);
            let words = format!("{c} of {t}, ε = {epsilon}, n = {n}: {ideal}, {found:?}");
            assert!(sum(ideal) <= at * (1.0 + 1e-9), "{words}");
            // Moving an atom costs little even in the smallest batches.
            assert!(sum(0.85 * ideal) > at, "{words}");
        }
    }
}

#[test]
fn an_ideal_hash_takes_off_what_sets_share() {
    // Close to the c that is chosen for frequencies at ε = 1.
    let found = |hashing| {
        let mixture = heaviest(4, 16, hashing, 1.0);
        compute_batch_privacy(&mixture, 100_000, 1.0, 1e-8).unwrap()
    };
    let independent = found(HashFamily::Independent);
    let less = 1.0 - independent.ideal_hash_epsilon.unwrap() / independent.central_epsilon;
    assert!((0.14..0.141).contains(&less), "{less}");
    assert_eq!(found(HashFamily::Balanced).ideal_hash_epsilon, None);
}
