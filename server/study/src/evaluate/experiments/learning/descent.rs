//! Models that predict a target y from w·x, trained by stochastic gradient descent on randomised
//! gradients. w is the vector of weights, and x is the vector of features.

use crate::competitors::{Budget, LossFunction, clip_gradient_coordinates};
use hushbin::Error;
use rand_chacha::ChaCha8Rng;

use crate::evaluate::mechanism::numbers_mechanism::{NumbersMechanism, NumbersMechanismName};

/// Regularisation λ: the loss has the additional term λ·|w|², where w is the vector of weights.
const REGULARIZATION: f64 = 1e-4;

/// Model that is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrainedModel {
    /// Linear regression.
    Linear,
    /// Logistic regression.
    Logistic,
    /// Support vector machine.
    SupportVectorMachine,
}

impl TrainedModel {
    /// List of all models.
    pub(super) const ALL: [Self; 3] = [Self::Linear, Self::Logistic, Self::SupportVectorMachine];

    /// Name of the model in tables.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Linear => "linear regression",
            Self::Logistic => "logistic regression",
            Self::SupportVectorMachine => "support vector machine",
        }
    }

    /// Returns the name of the error metric. Lower values are better.
    pub(super) const fn error_metric_name(self) -> &'static str {
        match self {
            Self::Linear => "MSE",
            Self::Logistic | Self::SupportVectorMachine => "misclassified",
        }
    }

    const fn loss_function_kind(self) -> LossFunction {
        match self {
            Self::Linear => LossFunction::Squared,
            Self::Logistic => LossFunction::Logistic,
            Self::SupportVectorMachine => LossFunction::Hinge,
        }
    }

    /// Returns the learning rate of the first step. It was chosen for about 90 steps without
    /// privacy. Squared loss needs a small rate, because it is steep along features that are equal
    /// for nearly all people.
    const fn learning_rate(self) -> f64 {
        match self {
            Self::Linear => 0.03,
            Self::Logistic => 0.6,
            Self::SupportVectorMachine => 0.2,
        }
    }

    /// Returns the target that the model predicts: the income itself, from −1 to 1, or its sign.
    pub(super) fn target_from_income(self, income: f64) -> f64 {
        match self {
            Self::Linear => income,
            _ if income < 0.0 => -1.0,
            _ => 1.0,
        }
    }

    /// Returns the error of the prediction w·x for one person: the squared difference, or 1 for a
    /// wrong sign.
    fn prediction_error(self, prediction: f64, target: f64) -> f64 {
        match self {
            Self::Linear => (prediction - target).powi(2),
            _ if prediction * target > 0.0 => 0.0,
            _ => 1.0,
        }
    }
}

/// Model during its training, with the mechanism that randomises its gradients.
#[derive(Debug)]
pub(super) struct Learner {
    pub(super) model: TrainedModel,
    pub(super) mechanism_name: NumbersMechanismName,
    mechanism: NumbersMechanism,
    weights: Vec<f64>,
    gradient_sums: Vec<f64>,
    gradient_count: u64,
    step_count: u32,
    /// Sum of the errors for the held-out people so far.
    error_sum: f64,
    held_out_count: u64,
    rng: ChaCha8Rng,
}

impl Learner {
    /// Creates a learner whose weights are 0.
    ///
    /// # Errors
    /// [`Error`] if the mechanism refuses its parameters.
    pub(super) fn new(
        model: TrainedModel,
        name: NumbersMechanismName,
        features: u32,
        budget: &Budget,
        rng: ChaCha8Rng,
    ) -> Result<Self, Error> {
        Ok(Self {
            model,
            mechanism_name: name,
            mechanism: name.build(features, budget)?,
            weights: vec![0.0; features as usize],
            gradient_sums: vec![0.0; features as usize],
            gradient_count: 0,
            step_count: 0,
            error_sum: 0.0,
            held_out_count: 0,
            rng,
        })
    }

    /// Clips and randomises a person's gradient, and adds it to the sums.
    ///
    /// # Errors
    /// [`Error`] if the mechanism refuses the gradient, which does not happen because it is
    /// clipped.
    pub(super) fn add_gradient(&mut self, features: &[f64], income: f64) -> Result<(), Error> {
        let target = self.model.target_from_income(income);
        let loss = self.model.loss_function_kind();
        let mut gradient = loss.gradient(&self.weights, features, target, REGULARIZATION);
        clip_gradient_coordinates(&mut gradient);
        self.mechanism
            .add_report(&gradient, &mut self.gradient_sums, &mut self.rng)?;
        self.gradient_count += 1;
        Ok(())
    }

    /// Changes the weights by a step against the average of the gradients since the last step. Step
    /// t has the model's learning rate divided by √t.
    pub(super) fn take_step(&mut self) {
        let means =
            self.mechanism
                .estimate_means(&self.gradient_sums, self.gradient_count, &mut self.rng);
        self.step_count += 1;
        let rate = self.model.learning_rate() / f64::from(self.step_count).sqrt();
        for (weight, mean) in self.weights.iter_mut().zip(means) {
            *weight -= rate * mean;
        }
        self.gradient_sums.fill(0.0);
        self.gradient_count = 0;
    }

    /// Predicts the target of a held-out person and adds the error to the sum.
    pub(super) fn add_held_out_error(&mut self, features: &[f64], income: f64) {
        let both = self.weights.iter().zip(features);
        let prediction: f64 = both.map(|(weight, feature)| weight * feature).sum();
        self.error_sum += self
            .model
            .prediction_error(prediction, self.model.target_from_income(income));
        self.held_out_count += 1;
    }

    /// Returns the model's [metric](Model::metric) over the held-out people.
    pub(super) fn mean_error(&self) -> f64 {
        self.error_sum / self.held_out_count as f64
    }

    /// Number d of features, which is the number of weights.
    pub(super) fn feature_count(&self) -> u32 {
        self.weights.len() as u32
    }

    /// Returns the standard error of one coordinate of an average gradient over `people` people. It
    /// is for the worst value of the coordinate.
    pub(super) fn step_standard_error(&self, people: u64) -> f64 {
        (self.mechanism.variance(0.0) / people as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;
    use crate::evaluate::crowd::census::{CensusCrowd, CensusExtract, Person};

    /// Checks that after one step with many people, the weights under every mechanism differ from
    /// the weights without privacy by about one standard error.
    #[test]
    fn a_step_is_unbiased_whatever_the_mechanism() {
        let census = CensusCrowd::new(CensusExtract::Brazil);
        let budget = Budget::new(2.0, 1e-6).unwrap();
        let people = 4000;
        for model in TrainedModel::ALL {
            let step = |name: NumbersMechanismName| {
                let rng = ChaCha8Rng::seed_from_u64(5);
                let mut own = Learner::new(model, name, 42, &budget, rng).unwrap();
                let (mut rng, mut person) = (ChaCha8Rng::seed_from_u64(6), Person::default());
                for _ in 0..people {
                    census.draw_person(&mut rng, &mut person);
                    own.add_gradient(&person.features, person.income).unwrap();
                }
                own.take_step();
                own
            };
            let plain = step(NumbersMechanismName::WithoutPrivacy);
            for name in NumbersMechanismName::PRIVATE_MECHANISMS {
                let own = step(name);
                let error = model.learning_rate() * own.step_standard_error(people);
                let both = own.weights.iter().zip(&plain.weights);
                let squares: f64 = both.map(|(a, b)| ((a - b) / error).powi(2)).sum();
                // The sum is about χ² with 42 degrees of freedom; the variance omits the gradients'
                // squares.
                assert!(
                    (10.0..90.0).contains(&squares),
                    "{model:?} {name:?}: {squares}"
                );
            }
        }
    }

    #[test]
    fn steps_are_shorter_the_later_they_are() {
        let budget = Budget::new(1.0, 0.0).unwrap();
        let rng = ChaCha8Rng::seed_from_u64(1);
        let mut own = Learner::new(
            TrainedModel::SupportVectorMachine,
            NumbersMechanismName::WithoutPrivacy,
            2,
            &budget,
            rng,
        )
        .unwrap();
        own.add_gradient(&[1.0, -0.5], 0.7).unwrap();
        own.take_step();
        assert_eq!(own.weights, [0.2, -0.1]);
        own.add_gradient(&[1.0, -0.5], 0.7).unwrap();
        own.take_step();
        let second = own.weights[0] - 0.2;
        assert!((second - 0.2 / 2.0_f64.sqrt()).abs() < 1e-4, "{second}");
        own.add_held_out_error(&[1.0, 0.0], 0.1);
        own.add_held_out_error(&[1.0, 0.0], -0.1);
        assert_eq!(own.mean_error(), 0.5);
    }
}
