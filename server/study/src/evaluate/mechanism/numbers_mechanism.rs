//! Mechanisms for people who all have the same d numeric attributes, and the estimates from their
//! reports.

use crate::competitors::{Budget, GaussianMechanism, MajorityMechanism, SampledTwoPointMechanism};
use hushbin::choose::window::ParametersDraft;
use hushbin::domain::Domain;
use hushbin::mechanism::window::{AtomDecoder, EstimateScaleAndVariance, Window};
use hushbin::sample::{draw_with_probability, move_random_subset_to_front};
use hushbin::task::{NumberLimits, QuestionFields, QuestionKind};
use hushbin::{Entry, Error, Items, Question, Randomizer, Report, Task};
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::evaluate::crowd::random::draw_uniform;

/// Name, in figures, of a mechanism for d numeric attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumbersMechanismName {
    /// Exact sums of the numbers, without privacy.
    WithoutPrivacy,
    /// hushbin's window mechanism, at δ = 0.
    HushbinWindow,
    /// Mechanism-1 with the paper's threshold.
    Majority,
    /// Mechanism-1 with the threshold κ for which the variance is least.
    LeastVarianceMajority,
    /// Mechanism-2 with the paper's number k of drawn attributes.
    SampledTwoPoint,
    /// Mechanism-2 with the number k of drawn attributes for which the variance is least.
    LeastVarianceSampled,
    /// Gaussian mechanism: normal noise on every number.
    Gaussian,
}

impl NumbersMechanismName {
    /// Names of the mechanisms with privacy that P4 compares.
    pub(crate) const PRIVATE_MECHANISMS: [Self; 6] = [
        Self::HushbinWindow,
        Self::Majority,
        Self::LeastVarianceMajority,
        Self::SampledTwoPoint,
        Self::LeastVarianceSampled,
        Self::Gaussian,
    ];

    /// Name of the mechanism in legends.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::WithoutPrivacy => "without privacy",
            Self::HushbinWindow => "hushbin, window",
            Self::Majority => "Mechanism-1",
            Self::LeastVarianceMajority => "Mechanism-1, best κ",
            Self::SampledTwoPoint => "Mechanism-2",
            Self::LeastVarianceSampled => "Mechanism-2, best k",
            Self::Gaussian => "Gaussian",
        }
    }

    /// Builds the mechanism for d attributes under a budget.
    ///
    /// # Errors
    /// [`Error`] if the mechanism refuses its parameters.
    pub(crate) fn build(self, attributes: u32, budget: &Budget) -> Result<NumbersMechanism, Error> {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        Ok(match self {
            Self::WithoutPrivacy => NumbersMechanism::WithoutPrivacy,
            Self::HushbinWindow => NumbersMechanism::HushbinWindow(Box::new(
                WindowSimulation::new(attributes, epsilon)?,
            )),
            Self::Majority => {
                NumbersMechanism::Majority(MajorityMechanism::new(attributes, budget)?)
            }
            Self::LeastVarianceMajority => NumbersMechanism::MajorityByAgreements(
                MajorityByAgreements::new(attributes, budget)?,
            ),
            Self::SampledTwoPoint => NumbersMechanism::SampledTwoPoint(
                SampledTwoPointMechanism::new(attributes, epsilon, delta)?,
            ),
            Self::LeastVarianceSampled => NumbersMechanism::SampledTwoPoint(
                SampledTwoPointMechanism::with_least_variance(attributes, epsilon, delta)?,
            ),
            Self::Gaussian => {
                NumbersMechanism::Gaussian(GaussianMechanism::for_numbers(attributes, budget)?)
            }
        })
    }
}

/// Mechanism for people who each have d numbers from −1 to 1, with its parameters.
#[derive(Debug)]
pub(crate) enum NumbersMechanism {
    /// See [`NumbersMechanismName::WithoutPrivacy`].
    WithoutPrivacy,
    /// See [`NumbersMechanismName::HushbinWindow`].
    HushbinWindow(Box<WindowSimulation>),
    /// See [`NumbersMechanismName::Majority`].
    Majority(MajorityMechanism),
    /// See [`NumbersMechanismName::LeastVarianceMajority`].
    MajorityByAgreements(MajorityByAgreements),
    /// See [`NumbersMechanismName::SampledTwoPoint`].
    SampledTwoPoint(SampledTwoPointMechanism),
    /// See [`NumbersMechanismName::Gaussian`].
    Gaussian(GaussianMechanism),
}

impl NumbersMechanism {
    /// Draws a person's report and adds it to `sums`, which has one sum for each number.
    ///
    /// # Errors
    /// [`Error`] if a number is out of range.
    pub(crate) fn add_report(
        &mut self,
        values: &[f64],
        sums: &mut [f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), Error> {
        match self {
            // `means` adds the normal noise of all people at once.
            Self::WithoutPrivacy | Self::Gaussian(_) => add_values(values, sums),
            Self::HushbinWindow(window) => window.add_report(values, sums, rng)?,
            Self::Majority(majority) => {
                let signs = majority.randomize_to_signs(values, rng)?;
                let both = sums.iter_mut().zip(signs);
                both.for_each(|(sum, plus)| *sum += sign_value(plus));
            }
            Self::MajorityByAgreements(agreeing) => agreeing.add_report(values, sums, rng),
            Self::SampledTwoPoint(sampled) => {
                for (attribute, plus) in sampled.randomize(values, rng)? {
                    sums[attribute as usize] += sign_value(plus);
                }
            }
        }
        Ok(())
    }

    /// Returns the estimated means from the `sums` over `people` people. For the Gaussian
    /// mechanism, the function also draws the noise. The sum of n people's noise is normal with n
    /// times the variance.
    pub(crate) fn estimate_means(
        &self,
        sums: &[f64],
        people: u64,
        rng: &mut ChaCha8Rng,
    ) -> Vec<f64> {
        let n = people as f64;
        let scale = match self {
            Self::WithoutPrivacy => 1.0,
            Self::Gaussian(noise) => {
                let deviation = noise.sigma() / n.sqrt();
                let mut draw = || -> f64 { StandardNormal.sample(rng) };
                return sums
                    .iter()
                    .map(|sum| sum / n + deviation * draw())
                    .collect();
            }
            Self::HushbinWindow(window) => window.scale_and_variance.estimate_factor(),
            Self::Majority(majority) => majority.estimate_scale(),
            Self::MajorityByAgreements(agreeing) => agreeing.majority.estimate_scale(),
            Self::SampledTwoPoint(sampled) => sampled.estimate_scale(),
        };
        sums.iter().map(|sum| scale * sum / n).collect()
    }

    /// Returns the variance of one report's estimate of a number that has this `value`.
    pub(crate) fn variance(&self, value: f64) -> f64 {
        match self {
            Self::WithoutPrivacy => 0.0,
            Self::HushbinWindow(window) => window.scale_and_variance.estimate_variance(value),
            Self::Majority(majority) => majority.single_report_variance(value),
            Self::MajorityByAgreements(agreeing) => agreeing.majority.single_report_variance(value),
            Self::SampledTwoPoint(sampled) => sampled.single_report_variance(value),
            Self::Gaussian(noise) => noise.variance(),
        }
    }
}

fn add_values(values: &[f64], sums: &mut [f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

fn sign_value(plus: bool) -> f64 {
    if plus { 1.0 } else { -1.0 }
}

/// Task of d numbers, whose reports are randomised and decoded as in production.
#[derive(Debug)]
pub(crate) struct WindowSimulation {
    randomizer: Randomizer,
    atom_decoder: AtomDecoder,
    scale_and_variance: EstimateScaleAndVariance,
    /// Buffer for a person's entries.
    entry_buffer: Vec<Entry>,
}

impl WindowSimulation {
    fn new(attributes: u32, epsilon: f64) -> Result<Self, Error> {
        let domain = Domain::of_dense_inputs(attributes);
        let window = Window::choose_parameters(&domain, epsilon, &ParametersDraft::default())?;
        let limits = NumberLimits::new(-1.0, 1.0, None)?;
        let question = Question::new(QuestionFields {
            name: "numbers".to_owned(),
            kind: QuestionKind::Numbers(vec![limits; attributes as usize].into()),
            items: match attributes {
                1 => Items::Count(1),
                _ => Items::Named((0..attributes).map(|own| own.to_string()).collect()),
            },
            max_entries_per_report: attributes,
            weight: 1,
            epsilon,
            mechanism: window.clone().into(),
        })?;
        let task = Task::from_questions("study".to_owned(), vec![question])?;
        let entry = |item| Entry { item, value: 0.0 };
        Ok(Self {
            randomizer: Randomizer::new(&task),
            atom_decoder: window.atom_decoder(&domain),
            scale_and_variance: window.estimate_scale_and_variance(&domain, epsilon),
            entry_buffer: (0..u64::from(attributes)).map(entry).collect(),
        })
    }

    fn add_report(
        &mut self,
        values: &[f64],
        sums: &mut [f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), Error> {
        for (entry, value) in self.entry_buffer.iter_mut().zip(values) {
            entry.value = *value;
        }
        let made = self.randomizer.randomize(&self.entry_buffer, rng)?;
        let Report::Window(report) = made.report else {
            unreachable!("the task's mechanism is the window")
        };
        self.atom_decoder.for_each_atom(&report, |attribute, atom| {
            sums[attribute as usize] +=
                self.scale_and_variance.atom_top_level_ratios[atom as usize];
        });
        Ok(())
    }
}

/// Mechanism-1 for rare favoured vectors. It first draws the number of coordinates in which the
/// report agrees with the person's signs. It then draws these coordinates. [`MajorityMechanism`] draws whole
/// vectors until one is favoured, which would take too long.
///
/// The distribution is the same. All favoured vectors are equally likely, and so are all remaining
/// vectors. Within either group, agreement in exactly `a` coordinates has a probability
/// proportional to C(d, a). Draws are in floating point, for simulations only.
#[derive(Debug)]
pub(crate) struct MajorityByAgreements {
    majority: MajorityMechanism,
    /// Cumulative sums of binomial coefficients: at each index `a`, the sum of C(d, b) over b ≤ a.
    cumulative_binomials: Vec<f64>,
    /// Buffer for a person's signs. The next field is a buffer for a permutation of the attributes.
    sign_buffer: Vec<f64>,
    attribute_permutation: Vec<usize>,
}

impl MajorityByAgreements {
    fn new(attributes: u32, budget: &Budget) -> Result<Self, Error> {
        let (mut ways, mut all) = (1.0, 1.0);
        let mut cumulative_counts = vec![all];
        for a in 0..attributes {
            ways = ways * f64::from(attributes - a) / f64::from(a + 1);
            all += ways;
            cumulative_counts.push(all);
        }
        Ok(Self {
            majority: MajorityMechanism::with_least_variance(attributes, budget)?,
            cumulative_binomials: cumulative_counts,
            sign_buffer: vec![0.0; attributes as usize],
            attribute_permutation: (0..attributes as usize).collect(),
        })
    }

    fn add_report(&mut self, values: &[f64], sums: &mut [f64], rng: &mut ChaCha8Rng) {
        for (own, &value) in self.sign_buffer.iter_mut().zip(values) {
            let certain = draw_with_probability(rng, value);
            let mut fair = || rng.next_u64() >> 63 == 1;
            *own = sign_value(if certain { value > 0.0 } else { fair() });
        }
        let below = self.cumulative_binomials[self.majority.agreement_threshold() as usize - 1];
        let most = self.cumulative_binomials[self.cumulative_binomials.len() - 1];
        let (low, high) = if draw_uniform(rng) < self.majority.favoured_probability() {
            (below, most)
        } else {
            (0.0, below)
        };
        let drawn = low + (high - low) * draw_uniform(rng);
        let agreements = self
            .cumulative_binomials
            .partition_point(|all| *all <= drawn);
        let turned = self.attribute_permutation.len().saturating_sub(agreements);
        move_random_subset_to_front(rng, &mut self.attribute_permutation, turned);
        for &place in &self.attribute_permutation[..turned] {
            self.sign_buffer[place] = -self.sign_buffer[place];
        }
        add_values(&self.sign_buffer, sums);
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Estimates from one person's numbers, repeated many times, are unbiased and have the stated
    /// variance.
    #[test]
    fn estimates_are_unbiased_and_vary_as_said() {
        let values = [1.0, -0.5, 0.25, 0.0, -1.0];
        let runs = 40_000;
        for (seed, name) in NumbersMechanismName::PRIVATE_MECHANISMS
            .into_iter()
            .enumerate()
        {
            for epsilon in [1.0, 5.0] {
                let budget = Budget::new(epsilon, 1e-6).unwrap();
                let mut mechanism = name.build(5, &budget).unwrap();
                let rng = &mut ChaCha8Rng::seed_from_u64(seed as u64);
                let (mut means, mut squares) = ([0.0; 5], [0.0; 5]);
                for _ in 0..runs {
                    let mut sums = [0.0; 5];
                    mechanism.add_report(&values, &mut sums, rng).unwrap();
                    let estimates = mechanism.estimate_means(&sums, 1, rng);
                    for (place, own) in estimates.iter().enumerate() {
                        means[place] += own / f64::from(runs);
                        squares[place] += own * own / f64::from(runs);
                    }
                }
                for (place, &value) in values.iter().enumerate() {
                    let variance = mechanism.variance(value);
                    let error = (variance / f64::from(runs)).sqrt();
                    let off = means[place] - value;
                    assert!(off.abs() < 5.0 * error, "{name:?} {epsilon}: {off}");
                    let observed = squares[place] - means[place].powi(2);
                    let ratio = observed / variance;
                    assert!((ratio - 1.0).abs() < 0.06, "{name:?} {epsilon}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_hidden_without_privacy() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let budget = Budget::new(1.0, 0.0).unwrap();
        let mut plain = NumbersMechanismName::WithoutPrivacy
            .build(2, &budget)
            .unwrap();
        let mut sums = [0.0; 2];
        plain.add_report(&[0.5, -1.0], &mut sums, rng).unwrap();
        plain.add_report(&[0.0, 1.0], &mut sums, rng).unwrap();
        assert_eq!(plain.estimate_means(&sums, 2, rng), [0.25, 0.0]);
        assert_eq!(plain.variance(0.5), 0.0);
        assert!(NumbersMechanismName::Gaussian.build(2, &budget).is_err());
    }
}
