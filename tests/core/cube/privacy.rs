//! The loss between all corners, exact, from the threshold that is sampled.

use hushbin::domain::Domain;
use hushbin::mechanism::cube::Randomizer;
use num_bigint::BigUint;

use super::{cubes, signed};
use crate::support::exact::{Exact, Exp};
use crate::support::extremes;

const EPSILONS: [f64; 52] = {
    let mut all = [0.0; 52];
    let mut index = 0;
    while index < 50 {
        // A prime makes for steps of all sizes.
        all[index] = 0.011 + 0.237 * index as f64;
        index += 1;
    }
    all[50] = 0.001;
    all[51] = 12.0;
    all
};

/// The probability of a favoured corner over that of another.
fn ratio(cube: &hushbin::mechanism::cube::Cube, epsilon: f64) -> Exact {
    let inside = BigUint::from(cube.thresholds(epsilon).inside().0);
    let outside = (BigUint::from(1_u8) << 64) - &inside;
    Exact::new(inside, cube.favoured().into()) / Exact::new(outside, cube.others().into())
}

/// Over more than a thousand sets of parameters of up to six attributes: between any two
/// corners no report is likelier by more than the effective ε, which is no more than was
/// asked for; as is so of mixtures of corners, which other inputs are.
#[test]
fn corners_hide_in_each_other() {
    let mut sets = 0;
    for cube in cubes(6) {
        let (drawn, domain) = (cube.drawn(), Domain::dense(cube.drawn()));
        for epsilon in EPSILONS {
            sets += 1;
            let thresholds = cube.thresholds(epsilon);
            let effective = thresholds.effective_epsilon();
            assert!(effective <= epsilon);
            let ratio = ratio(&cube, epsilon);
            assert!(
                ratio <= Exp::of(effective).low_ratio(),
                "{cube:?}, {epsilon}"
            );
            assert!(
                ratio >= Exact::from_integer(1_u8.into()),
                "{cube:?}, {epsilon}"
            );

            // All of them, under one seed: it permutes the attributes at most.
            let randomizer = Randomizer::new(&cube, &domain, epsilon);
            let [favoured, other] = thresholds.levels();
            let rows = (0..1 << drawn).map(|corner| {
                let row = randomizer.probabilities(5, &signed(corner, drawn));
                let inside = row.iter().filter(|p| **p == favoured).count() as u64;
                assert_eq!(inside, cube.favoured(), "{cube:?}");
                assert!(row.iter().all(|p| *p == favoured || *p == other));
                row
            });
            // Every report is favoured by some corner and not by another.
            assert!(extremes(rows).iter().all(|own| *own == [other, favoured]));
        }
    }
    assert!(sets > 1000, "{sets}");
}

/// Of all parameters there are.
#[test]
fn no_cube_spends_more_than_is_asked() {
    let mut sets = 0;
    for cube in cubes(64) {
        for epsilon in [0.001, 0.1, 1.0, 2.5, 6.0, 12.0] {
            sets += 1;
            let effective = cube.thresholds(epsilon).effective_epsilon();
            let ratio = ratio(&cube, epsilon);
            assert!(effective <= epsilon, "{cube:?}, {epsilon}");
            assert!(
                ratio <= Exp::of(effective).low_ratio(),
                "{cube:?}, {epsilon}"
            );
            // Of the rarer side, one in 2¹²·e of all at least, rounding takes off 2⁻⁶⁴.
            assert!(
                effective > epsilon - 1e-10,
                "{cube:?}, {epsilon}: {effective}"
            );
        }
    }
    assert!(sets > 5000, "{sets}");
}
