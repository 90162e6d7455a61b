//! The greatest variance that an estimate may have, whatever people answer: what an
//! error that is promised beforehand is to be made of.

use hushbin::mechanism::collision::Rates;

use crate::estimate::point::{People, variance_over_people};

/// Of a share whose one report varies by `with` for people who have it and by `without`
/// for others.
///
/// Over shares f it is without + f·(with − without), and f(1 − f) more where people are
/// not given: greatest at an end, or where that has no slope.
pub(crate) fn of_share(whose: People, with: f64, without: f64) -> f64 {
    let level = 0.5 * (1.0 + with - without);
    [0.0, 1.0, level.clamp(0.0, 1.0)]
        .map(|share| variance_over_people(whose, share, with, without))
        .into_iter()
        .fold(0.0, f64::max)
}

/// Of the distribution function where it is `part`, at whichever edge between two of so
/// many bins that may be.
pub(crate) fn of_distribution(whose: People, rates: &Rates, bins: u32, part: f64) -> f64 {
    let at = |below: u32| {
        let [with, without] = [true, false].map(|among| rates.sum_variance(below, among));
        variance_over_people(whose, part, with, without)
    };
    (1..bins).map(at).fold(0.0, f64::max)
}

/// Of the mean place of a number on so many levels, from 0 to 1.
///
/// S(x) is the second moment of one report's estimate of a place x, from −1/2 to 1/2 here.
/// At levels it is that of the answer; in between, where a number becomes either level at
/// random, the line through both, as the estimate is of the level. It grows with x², so
/// that where who answers is by chance it is greatest for people of whom half are at
/// either end, whose mean is 0. Else each person's own x² is off: of a line less x² the
/// greatest is where the slope is 2x, or at the nearer level.
pub(crate) fn of_place(whose: People, rates: &Rates, levels: u32) -> f64 {
    let steps = f64::from(levels - 1);
    let weight = |level: u32| f64::from(level) / steps - 0.5;
    let squares = (0..levels).map(|level| weight(level).powi(2)).sum();
    let gap = rates.gap();
    let square = |at: f64| rates.score_square(at, 0.0, squares) / (gap * gap);
    if whose == People::Drawn {
        return square(0.5);
    }
    let between = |level: u32| {
        let (from, to) = (weight(level), weight(level + 1));
        let slope = (square(to) - square(from)) * steps;
        let x = (0.5 * slope).clamp(from, to);
        square(from) + slope * (x - from) - x * x
    };
    (0..levels - 1).map(between).fold(0.0, f64::max)
}
