//! The greatest variance that an estimate may have, whatever people answer: what an
//! error that is promised beforehand is to be made of.

use hushbin::mechanism::{collision::Rates, pattern};

use crate::estimate::point::{People, variance_over_people};

/// Of a share whose one report varies by `with` for people who have it and by `without` for others.
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

/// Of the distribution function where it is `part`, at whichever edge between two bins of a
/// pattern that may be, of people who are in the bins of greatest variance. They are drawn, as
/// intervals of quantiles say.
pub(crate) fn of_pattern(rates: &pattern::Rates, part: f64) -> f64 {
    let at = |below: usize| {
        let weights = rates.weights(0..below);
        let own = rates.variances(&rates.sum(&weights), &weights);
        let most = |own: &[f64]| own.iter().copied().fold(0.0, f64::max);
        let (with, without) = own.split_at(below);
        variance_over_people(People::Drawn, part, most(with), most(without))
    };
    (1..rates.cells()).map(at).fold(0.0, f64::max)
}
