//! Models of mechanisms: lists of all outcomes with their probabilities, computed from the stated
//! parameters.

use hushbin_study::competitors::{
    Budget, LocalHash, MajorityMechanism, RandomizedResponse, SampledTwoPointMechanism,
    SubsetSelection, TwoPointMechanism, UnaryEncoding, hockey_stick_divergence,
};

/// Probability of every outcome. Each mechanism has its own order of outcomes.
pub(super) type Law = Vec<f64>;

/// Returns the corner of the cube {−1, 1}^d whose signs are the bits of a number, true for +.
pub(super) fn corner(bits: u32, attributes: u32) -> Vec<bool> {
    (0..attributes).map(|j| bits >> j & 1 == 1).collect()
}

/// Returns the same corner as numbers −1 and 1.
pub(super) fn ends(bits: u32, attributes: u32) -> Vec<f64> {
    let sign = |up| if up { 1.0 } else { -1.0 };
    corner(bits, attributes).into_iter().map(sign).collect()
}

pub(super) fn direct(grr: &RandomizedResponse, answer: u32) -> Law {
    let rates = grr.support_probabilities();
    let of = |other| {
        if other == answer {
            rates.own_answer_probability
        } else {
            rates.other_answer_probability
        }
    };
    (0..grr.option_count()).map(of).collect()
}

pub(super) fn unary(bits: &UnaryEncoding, answer: u32) -> Law {
    let rates = bits.support_probabilities();
    let of = |set: u32| {
        let bit = |option| {
            let p = if option == answer {
                rates.own_answer_probability
            } else {
                rates.other_answer_probability
            };
            if set >> option & 1 == 1 { p } else { 1.0 - p }
        };
        (0..bits.option_count()).map(bit).product()
    };
    (0..1 << bits.option_count()).map(of).collect()
}

/// Lists the probability of every set of options. The index of a set has one bit for each option.
pub(super) fn subset(own: &SubsetSelection, answer: u32) -> Law {
    let (p, chosen) = (
        own.support_probabilities().own_answer_probability,
        own.set_size(),
    );
    let sets = || (0..1_u32 << own.option_count()).filter(|set| set.count_ones() == chosen);
    let holding = sets().filter(|set| set >> answer & 1 == 1).count() as f64;
    let others = sets().count() as f64 - holding;
    let of = |set: u32| match set >> answer & 1 {
        _ if set.count_ones() != chosen => 0.0,
        1 => p / holding,
        _ => (1.0 - p) / others,
    };
    (0..1 << own.option_count()).map(of).collect()
}

/// Lists the probability of every bucket under one hash function, which maps the answer to
/// `bucket`.
pub(super) fn hashed(hash: &LocalHash, bucket: u32) -> Law {
    let p = hash.support_probabilities().own_answer_probability;
    let others = f64::from(hash.bucket_count() - 1);
    let of = |other| {
        if other == bucket {
            p
        } else {
            (1.0 - p) / others
        }
    };
    (0..hash.bucket_count()).map(of).collect()
}

/// Lists the probability of every vector of signs under Mechanism-1 with the given α. `own` has the
/// person's signs after rounding.
pub(super) fn majority_of_signs(d: u32, threshold: u32, alpha: f64, own: u32) -> Law {
    let inside = |o: u32| d - (o ^ own).count_ones() >= threshold;
    let favoured = (0..1 << d).filter(|&o| inside(o)).count() as f64;
    let others = f64::from(1 << d) - favoured;
    let of = |o| {
        if inside(o) {
            alpha / favoured
        } else {
            (1.0 - alpha) / others
        }
    };
    (0..1 << d).map(of).collect()
}

/// Lists the same probabilities for a person's numbers, each of which is rounded to a sign without
/// bias.
pub(super) fn majority(mechanism: &MajorityMechanism, values: &[f64]) -> Law {
    let d = mechanism.attribute_count();
    let mut law = vec![0.0; 1 << d];
    for own in 0..1 << d {
        let up = |(j, x): (usize, &f64)| (1.0 + if own >> j & 1 == 1 { *x } else { -x }) / 2.0;
        let chance: f64 = values.iter().enumerate().map(up).product();
        let given = majority_of_signs(
            d,
            mechanism.agreement_threshold(),
            mechanism.favoured_probability(),
            own,
        );
        for (sum, p) in law.iter_mut().zip(given) {
            *sum += chance * p;
        }
    }
    law
}

pub(super) fn two_points(points: &TwoPointMechanism, value: f64) -> Law {
    vec![
        1.0 - points.plus_probability(value),
        points.plus_probability(value),
    ]
}

/// Lists all outcomes of Mechanism-2: the set of k drawn attributes, the vector of their signs, and
/// the probability.
pub(super) fn sampled(
    mechanism: &SampledTwoPointMechanism,
    each: &TwoPointMechanism,
    values: &[f64],
) -> Vec<(u32, u32, f64)> {
    let (d, k) = (mechanism.attribute_count(), mechanism.drawn_count());
    let sets: Vec<u32> = (0_u32..1 << d)
        .filter(|set| set.count_ones() == k)
        .collect();
    let mut law = Vec::new();
    for &set in &sets {
        for signs in (0..1_u32 << d).filter(|signs| signs & !set == 0) {
            let sign = |(j, x): (usize, &f64)| match (set >> j & 1, signs >> j & 1) {
                (0, _) => 1.0,
                (_, up) => two_points(each, *x)[up as usize],
            };
            let chance: f64 = values.iter().enumerate().map(sign).product();
            law.push((set, signs, chance / sets.len() as f64));
        }
    }
    law
}

/// Returns the greatest δ at ε over all pairs of inputs.
pub(super) fn worst(laws: &[Law], epsilon: f64) -> f64 {
    let pairs = laws.iter().flat_map(|p| laws.iter().map(move |q| (p, q)));
    let delta = |(p, q): (&Law, &Law)| {
        hockey_stick_divergence(p.iter().copied().zip(q.iter().copied()), epsilon)
    };
    pairs.map(delta).fold(0.0, f64::max)
}

pub(super) fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(epsilon, delta).unwrap()
}
