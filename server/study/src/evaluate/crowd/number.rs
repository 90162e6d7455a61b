//! Crowds in which each person has one number, given as a fraction of its range. Some distributions
//! are smooth. In others, many people have the same number.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Exp, Gamma, LogNormal, Normal};
use statrs::distribution::{self as exact, ContinuousCDF};

use super::random::draw_uniform;

/// Crowd whose people have one number each, with the scale on which they report it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NumberCrowd {
    /// Names of the estimated quantiles in tables, for each level of [`QUANTILE_LEVELS`]. A name contains
    /// the name of the crowd.
    pub(crate) quantile_estimand_names: [&'static str; 3],
    number_distribution: NumberDistribution,
    scale: NumberScale,
}

/// Distribution of the number over the people of a crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NumberDistribution {
    /// Load times with a lognormal distribution. Its long tail is clipped to the upper end of the
    /// range.
    LoadTime,
    Beta,
    /// Mixture of two normal distributions.
    Bimodal,
    /// 30 per cent of the people have the same number. The remaining numbers have a smooth
    /// distribution.
    PointMass,
    Exponential,
    Uniform,
    /// Latencies in a range of 10 s: 6 per cent are timeouts after 5 s. The remaining ones follow a
    /// gamma distribution, cut at 5 s.
    LatencyWithTimeout,
    /// Counts up to 400, rounded to multiples of ten.
    RoundedCount,
}

/// Scale on which the number's range is divided into equally wide cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberScale {
    Linear,
    /// Logarithmic scale, from [`LOG_SCALE_LOWER_END`] to 1.
    Logarithmic,
}

/// Levels of the estimated quantiles. A level is the share of people at or below the quantile.
pub(crate) const QUANTILE_LEVELS: [f64; 3] = [0.5, 0.75, 0.95];
/// Lower end of the logarithmic scale as a fraction of the range: 50 ms of 10 s.
pub(crate) const LOG_SCALE_LOWER_END: f64 = 0.005;

macro_rules! crowd {
    ($name:literal, $shape:ident, $scale:ident) => {
        NumberCrowd {
            quantile_estimand_names: [
                concat!("p50, ", $name),
                concat!("p75, ", $name),
                concat!("p95, ", $name),
            ],
            number_distribution: NumberDistribution::$shape,
            scale: NumberScale::$scale,
        }
    };
}

/// Crowds of the experiment on quantiles.
pub(crate) const NUMBER_CROWDS: [NumberCrowd; 9] = [
    crowd!("load", LoadTime, Linear),
    crowd!("log", LoadTime, Logarithmic),
    crowd!("beta", Beta, Linear),
    crowd!("bimodal", Bimodal, Linear),
    crowd!("atom", PointMass, Linear),
    crowd!("exp", Exponential, Linear),
    crowd!("uniform", Uniform, Linear),
    crowd!("timeout", LatencyWithTimeout, Linear),
    crowd!("rounded", RoundedCount, Linear),
];

/// Parameters of the lognormal distribution of load times in ms: the logarithm of the median, and
/// the standard deviation of the logarithm.
const LOAD_TIME_PARAMETERS: [f64; 2] = [7.2, 0.7];
/// Upper end of the range of load times, in ms.
const MAX_LOAD_TIME_MS: f64 = 10_000.0;
const POINT_MASS_SHARE_AND_VALUE: [f64; 2] = [0.3, 0.4];
const EXPONENTIAL_MEAN: f64 = 0.1;
const TIMEOUT_SHARE_AND_VALUE: [f64; 2] = [0.06, 0.5];
/// Parameters of the gamma distribution of latencies: its shape, and its mean as a fraction of 10
/// s.
const LATENCY_GAMMA_PARAMETERS: [f64; 2] = [2.0, 0.09];
/// Parameters of the lognormal distribution of counts: the logarithm of the median, and the
/// standard deviation of the logarithm.
const COUNT_LOGNORMAL_PARAMETERS: [f64; 2] = [4.2, 0.8];
const MAX_COUNT: f64 = 400.0;
const COUNT_ROUNDING_STEP: f64 = 10.0;
const VALID_PARAMETERS_MESSAGE: &str = "parameters are in range";

impl NumberCrowd {
    /// Name of the crowd.
    pub(crate) fn name(&self) -> &'static str {
        &self.quantile_estimand_names[0]["p50, ".len()..]
    }

    /// Returns the scale on which the number is reported.
    pub(crate) const fn scale(&self) -> NumberScale {
        self.scale
    }

    /// Draws the numbers of `people` people, from 0 to 1.
    pub(crate) fn draw_numbers(&self, people: u64, rng: &mut ChaCha8Rng) -> Vec<f64> {
        (0..people)
            .map(|_| self.number_distribution.draw_number(rng))
            .collect()
    }

    /// Returns the quantile at level `part`: the smallest number such that at least this share of
    /// people is at or below it.
    pub(crate) fn true_quantile(&self, part: f64) -> f64 {
        let (mut below, mut reached) = (0.0, 1.0);
        loop {
            let middle = 0.5 * (below + reached);
            // No double lies between neighbouring doubles, so the bisection ends here.
            if middle <= below || middle >= reached {
                return reached;
            }
            if self.number_distribution.distribution_function(middle) >= part {
                reached = middle;
            } else {
                below = middle;
            }
        }
    }
}

impl NumberScale {
    /// Returns the position of a number on the scale, from 0 to 1.
    pub(crate) fn scale_position(self, number: f64) -> f64 {
        match self {
            Self::Linear => number,
            Self::Logarithmic => (1.0 - number.ln() / LOG_SCALE_LOWER_END.ln()).clamp(0.0, 1.0),
        }
    }

    /// Returns the number at a position on the scale, from 0 to 1.
    pub(crate) fn number_at_position(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Logarithmic => LOG_SCALE_LOWER_END.powf(1.0 - place),
        }
    }
}

impl NumberDistribution {
    fn draw_number(self, rng: &mut ChaCha8Rng) -> f64 {
        let normal = |mean, spread, rng: &mut ChaCha8Rng| {
            Normal::new(mean, spread)
                .expect(VALID_PARAMETERS_MESSAGE)
                .sample(rng)
        };
        let number: f64 = match self {
            Self::LoadTime => {
                let [log, spread] = LOAD_TIME_PARAMETERS;
                LogNormal::new(log, spread)
                    .expect(VALID_PARAMETERS_MESSAGE)
                    .sample(rng)
                    / MAX_LOAD_TIME_MS
            }
            Self::Beta => Beta::new(5.0, 2.0)
                .expect(VALID_PARAMETERS_MESSAGE)
                .sample(rng),
            Self::Bimodal if draw_uniform(rng) < 0.6 => normal(0.25, 0.05, rng),
            Self::Bimodal => normal(0.7, 0.1, rng),
            Self::PointMass if draw_uniform(rng) < POINT_MASS_SHARE_AND_VALUE[0] => {
                POINT_MASS_SHARE_AND_VALUE[1]
            }
            Self::PointMass => Beta::new(2.0, 5.0)
                .expect(VALID_PARAMETERS_MESSAGE)
                .sample(rng),
            Self::Exponential => Exp::new(1.0 / EXPONENTIAL_MEAN)
                .expect(VALID_PARAMETERS_MESSAGE)
                .sample(rng),
            Self::Uniform => draw_uniform(rng),
            Self::LatencyWithTimeout if draw_uniform(rng) < TIMEOUT_SHARE_AND_VALUE[0] => {
                TIMEOUT_SHARE_AND_VALUE[1]
            }
            Self::LatencyWithTimeout => {
                let [shape, mean] = LATENCY_GAMMA_PARAMETERS;
                let latency: f64 = Gamma::new(shape, mean / shape)
                    .expect(VALID_PARAMETERS_MESSAGE)
                    .sample(rng);
                latency.min(TIMEOUT_SHARE_AND_VALUE[1])
            }
            Self::RoundedCount => {
                let [log, spread] = COUNT_LOGNORMAL_PARAMETERS;
                let count: f64 = LogNormal::new(log, spread)
                    .expect(VALID_PARAMETERS_MESSAGE)
                    .sample(rng);
                (count / COUNT_ROUNDING_STEP).round() * COUNT_ROUNDING_STEP / MAX_COUNT
            }
        };
        number.clamp(0.0, 1.0)
    }

    /// Returns the distribution function: the share of people with `number` or less.
    fn distribution_function(self, number: f64) -> f64 {
        if number >= 1.0 {
            return 1.0;
        }
        let log_normal = |[log, spread]: [f64; 2], at: f64| {
            exact::LogNormal::new(log, spread)
                .expect(VALID_PARAMETERS_MESSAGE)
                .cdf(at)
        };
        let normal = |mean, spread| {
            exact::Normal::new(mean, spread)
                .expect(VALID_PARAMETERS_MESSAGE)
                .cdf(number)
        };
        let beta = |a, b| {
            exact::Beta::new(a, b)
                .expect(VALID_PARAMETERS_MESSAGE)
                .cdf(number)
        };
        let at = |[share, place]: [f64; 2]| if number >= place { share } else { 0.0 };
        match self {
            Self::LoadTime => log_normal(LOAD_TIME_PARAMETERS, number * MAX_LOAD_TIME_MS),
            Self::Beta => beta(5.0, 2.0),
            Self::Bimodal => 0.6 * normal(0.25, 0.05) + 0.4 * normal(0.7, 0.1),
            Self::PointMass => {
                at(POINT_MASS_SHARE_AND_VALUE)
                    + (1.0 - POINT_MASS_SHARE_AND_VALUE[0]) * beta(2.0, 5.0)
            }
            Self::Exponential => -(-number / EXPONENTIAL_MEAN).exp_m1(),
            Self::Uniform => number,
            Self::LatencyWithTimeout if number >= TIMEOUT_SHARE_AND_VALUE[1] => 1.0,
            Self::LatencyWithTimeout => {
                let [shape, mean] = LATENCY_GAMMA_PARAMETERS;
                let latency =
                    exact::Gamma::new(shape, shape / mean).expect(VALID_PARAMETERS_MESSAGE);
                (1.0 - TIMEOUT_SHARE_AND_VALUE[0]) * latency.cdf(number)
            }
            Self::RoundedCount => {
                // Compares with exactly the double that `draw` computes, so rounding errors cannot
                // matter.
                let near = (number * MAX_COUNT / COUNT_ROUNDING_STEP).round();
                let is_above = near * COUNT_ROUNDING_STEP / MAX_COUNT > number;
                let multiple = if is_above { near - 1.0 } else { near };
                log_normal(
                    COUNT_LOGNORMAL_PARAMETERS,
                    (multiple + 0.5) * COUNT_ROUNDING_STEP,
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Within five standard errors, a quantile's level is between two shares of the drawn people:
    /// those below the quantile, and those at or below it.
    #[test]
    fn quantiles_are_those_of_people() {
        const PEOPLE: u64 = 100_000;
        for (seed, crowd) in (0..).zip(NUMBER_CROWDS) {
            let mut numbers = crowd.draw_numbers(PEOPLE, &mut ChaCha8Rng::seed_from_u64(seed));
            numbers.sort_by(f64::total_cmp);
            assert!(numbers[0] >= 0.0 && numbers[numbers.len() - 1] <= 1.0);
            for part in QUANTILE_LEVELS {
                let truth = crowd.true_quantile(part);
                let share =
                    |end: f64| numbers.partition_point(|own| *own < end) as f64 / PEOPLE as f64;
                let reach = 5.0 * (part * (1.0 - part) / PEOPLE as f64).sqrt();
                let what = format!("{} {part}: {truth}", crowd.name());
                assert!(share(truth * (1.0 - 1e-9)) < part + reach, "{what}");
                assert!(share(truth * (1.0 + 1e-9)) > part - reach, "{what}");
            }
        }
    }

    #[test]
    fn quantiles_are_at_the_numbers_that_many_have() {
        let crowd = |name: &str| {
            NUMBER_CROWDS
                .into_iter()
                .find(|own| own.name() == name)
                .unwrap()
        };
        assert_eq!(crowd("atom").true_quantile(0.75), 0.4);
        assert_eq!(crowd("timeout").true_quantile(0.95), 0.5);
        for part in QUANTILE_LEVELS {
            let multiple = crowd("rounded").true_quantile(part) * 40.0;
            assert!((multiple - multiple.round()).abs() < 1e-12, "{multiple}");
            assert_eq!(crowd("uniform").true_quantile(part), part);
        }
    }

    #[test]
    fn places_lead_back_to_numbers() {
        for number in [LOG_SCALE_LOWER_END, 0.01, 0.3, 1.0] {
            for scale in [NumberScale::Linear, NumberScale::Logarithmic] {
                let place = scale.scale_position(number);
                assert!((0.0..=1.0).contains(&place));
                assert!((scale.number_at_position(place) - number).abs() < 1e-12);
            }
        }
        assert_eq!(NumberScale::Logarithmic.scale_position(0.0), 0.0);
    }
}
