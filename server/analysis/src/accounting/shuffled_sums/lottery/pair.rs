//! Privacy profile of two noisy counts, of which a person increases one or the other by 1.
//!
//! Let X and Y be the noise messages of two cells, and m = X + Y. One input yields the counts (X +
//! 1, Y), the other one (X, Y + 1). Given m, X has the distribution Binomial(m, 1/2), whether m is
//! binomial (a lottery with a known number of draws) or Poisson (independent Poisson counts). So
//! the outcome with y messages in the second cell has the probabilities b(y) and b(y − 1) under the
//! two inputs, with b(y) = P(Binomial(m, 1/2) = y). Its privacy loss is ln((m + 1 − y)/y). With e =
//! exp(ε), the loss exceeds ε if y < (m + 1)/(1 + e). Let h be the largest such y. Then
//!
//! δ(ε) = Σ_m P(m)·[b(h) − (e − 1)·P(Binomial(m, 1/2) < h)].
//!
//! The step from m to m + 1 changes h by 0 or 1, so b and the tail follow from the previous ones. An
//! outcome with y = 0 identifies the input. It is counted separately, as with independent counts:
//! the profile is that of all other outcomes, given that the outcome is one of them. Exchanging the
//! inputs is the same as exchanging the cells, so this pair is its own mirror image.

use crate::accounting::composition::ComposedPart;
use crate::accounting::shuffled_sums::identifying_part::IdentifyingPart;
use crate::numeric::binomial::{
    binomial_probability, chernoff_exponent, poisson_chernoff_exponent, poisson_probability,
    probability_relative_error_bound, tail_to_probability_ratio,
};
use crate::numeric::roots::{bisect, integer_midpoint};

/// Minimum and maximum number of grid points at which δ is computed for a composition.
const GRID_POINT_COUNT_RANGE: [f64; 2] = [256.0, 1024.0];
/// Approximate number of terms in the sums of all grid points together.
const TOTAL_TERM_COUNT: f64 = 3e7;
/// Number of steps after which b is recomputed, so that rounding errors cannot accumulate.
const RECOMPUTATION_INTERVAL_STEPS: u64 = 128;
/// Exponent beyond which probabilities are below the smallest double.
const UNDERFLOW_EXPONENT: f64 = 700.0;

/// Distribution of m, the number of noise messages in both cells.
#[derive(Debug, Clone, Copy)]
pub(super) enum PairTotal {
    /// Binomial number: each of the draws hits one of the two cells with the same probability.
    Binomial {
        /// Number of draws.
        draws: f64,
        /// Probability that a draw hits one of the two cells, and its complement.
        hit: [f64; 2],
    },
    /// Poisson number with this mean.
    Poisson { mean: f64 },
}

impl PairTotal {
    fn mean(self) -> f64 {
        match self {
            Self::Binomial { draws, hit } => draws * hit[0],
            Self::Poisson { mean } => mean,
        }
    }

    fn probability(self, m: f64) -> f64 {
        match self {
            Self::Binomial { draws, hit } => binomial_probability(m, draws, hit),
            Self::Poisson { mean } => poisson_probability(m, mean),
        }
    }

    /// Returns the exponent of Chernoff's bound on the tail that starts at m.
    fn tail_exponent(self, m: f64) -> f64 {
        match self {
            Self::Binomial { draws, hit } => chernoff_exponent(m, draws, hit),
            Self::Poisson { mean } => poisson_chernoff_exponent(m, mean),
        }
    }

    /// Returns ln P(Y = 0), the log-probability that one of the cells has no noise.
    fn log_empty_probability(self) -> f64 {
        match self {
            Self::Binomial { draws, hit } => draws * (-0.5 * hit[0]).ln_1p(),
            Self::Poisson { mean } => -0.5 * mean,
        }
    }

    /// Returns a range of m. The probability below it and the probability above it are each less
    /// than exp(−`far`).
    fn likely_range(self, far: f64) -> [u64; 2] {
        let mean = self.mean();
        let beyond = |m: u64| self.tail_exponent(m as f64) >= far;
        let middle = mean as u64;
        let low = if beyond(0) {
            bisect(0, middle, integer_midpoint, beyond).1
        } else {
            0
        };
        // At this distance above the mean, Bernstein's inequality gives at least `far` for both
        // distributions.
        let most = (mean + (2.0 * far * mean).sqrt() + far).ceil();
        let most = match self {
            Self::Binomial { draws, .. } => most.min(draws),
            Self::Poisson { .. } => most,
        } as u64;
        let high = if middle < most && beyond(most) {
            bisect(most, middle, integer_midpoint, beyond).1
        } else {
            most
        };
        [low, high]
    }
}

/// Privacy profile of two counts, of which a person increases one or the other by 1.
#[derive(Debug, Clone)]
pub(super) struct CountPair {
    /// First m whose probability is in `total_probabilities`.
    first_total: u64,
    /// Probabilities of consecutive m.
    total_probabilities: Vec<f64>,
    /// Upper bound on the probability of all other m.
    omitted_probability_bound: f64,
    /// Relative error of `total_probabilities`.
    total_relative_error: f64,
    /// Lower and upper bound on the probability that the counts identify the input.
    identification_bounds: [f64; 2],
    /// Upper bound on finite privacy losses, except for those of a negligible probability.
    max_finite_loss: f64,
    /// Approximate standard deviation of the privacy loss.
    loss_standard_deviation: f64,
}

impl CountPair {
    /// Computes the distribution of m. Sums omit a probability of about exp(−`far`).
    pub(super) fn new(total: PairTotal, far: f64) -> Self {
        let [low, high] = total.likely_range(far);
        let width = (high - low) as f64;
        let exponent = total.log_empty_probability();
        // The mean is rounded three times, and the logarithm once more.
        let slack = 8.0 * f64::EPSILON * (2.0 - exponent);
        let empty = exponent.exp();
        let [_, largest] = total.likely_range(UNDERFLOW_EXPONENT);
        Self {
            first_total: low,
            total_probabilities: (low..=high).map(|m| total.probability(m as f64)).collect(),
            omitted_probability_bound: 4.0 * (-far).exp(),
            // Rounding of the mean shifts the distribution, which changes P(m).
            total_relative_error: probability_relative_error_bound(0.0)
                + 8.0 * f64::EPSILON * (width + 64.0),
            identification_bounds: [
                empty * (1.0 - slack),
                (empty * (1.0 + slack) + 1e-290).min(1.0),
            ],
            // Of m + 1 messages, at least one is in the second cell.
            max_finite_loss: (largest as f64 + 1.0).ln() * (1.0 + 1e-12) + 1e-9,
            loss_standard_deviation: 2.0 / total.mean().sqrt(),
        }
    }
}

impl IdentifyingPart for CountPair {
    fn identifying_bounds(&self) -> [f64; 2] {
        self.identification_bounds
    }

    fn loss_standard_deviation(&self) -> f64 {
        self.loss_standard_deviation
    }
}

impl ComposedPart for CountPair {
    fn largest_loss(&self) -> f64 {
        self.max_finite_loss
    }

    fn grid_point_count(&self) -> usize {
        (TOTAL_TERM_COUNT / self.total_probabilities.len() as f64)
            .clamp(GRID_POINT_COUNT_RANGE[0], GRID_POINT_COUNT_RANGE[1]) as usize
    }

    /// Returns a lower and an upper bound on δ, given that the outcome is not identifying.
    fn delta_bounds(&self, epsilon: f64) -> (f64, f64) {
        let mut state = PairState::new(self.first_total, epsilon);
        let (mut sum, mut absolute, mut error) = (0.0, 0.0, 0.0);
        for weight in &self.total_probabilities {
            let (gain, lost) = state.gain_and_loss();
            sum += weight * (gain - lost);
            absolute += weight * (gain + lost);
            error += weight * (state.error_bound() + state.relative_error() * (gain + lost));
            state.advance();
        }
        // If rounding moves (m + 1)/(1 + e) across an integer, the term changes by a few roundings.
        let relative = self.total_relative_error
            + f64::EPSILON * (40.0 + self.total_probabilities.len() as f64);
        // Probabilities that underflow sum to less than 10⁻²⁹⁰.
        error += relative * absolute + 1e-290;
        let [most, least] = self.identification_bounds.map(|outright| 1.0 - outright);
        let slack = 8.0 * f64::EPSILON;
        (
            ((sum - error) / most * (1.0 - slack)).max(0.0),
            ((sum + error + self.omitted_probability_bound) / least * (1.0 + slack))
                .clamp(0.0, 1.0),
        )
    }
}

/// State of the sum over m.
#[derive(Debug)]
struct PairState {
    total: u64,
    exp_m1_epsilon: f64,
    /// Share 1/(1 + e) of the messages. The loss exceeds ε if less than it is in the second cell.
    exceeding_share: f64,
    /// Largest number h of messages in the second cell at which the loss exceeds ε.
    threshold: u64,
    /// Probability b(h).
    probability: f64,
    /// Probability of fewer than h messages in the second cell.
    tail: f64,
    /// Bound on the absolute error of `tail`.
    tail_error: f64,
    /// Probability of no message in the second cell.
    empty: f64,
    /// Steps since `probability` was computed, and the relative error it had then.
    steps: u64,
    start_error: f64,
    /// Value of m at which the tail is recomputed.
    next_tail_total: u64,
}

impl PairState {
    fn new(total: u64, epsilon: f64) -> Self {
        let mut state = Self {
            total,
            exp_m1_epsilon: epsilon.exp_m1(),
            exceeding_share: 1.0 / (1.0 + epsilon.exp()),
            threshold: 0,
            probability: 0.0,
            tail: 0.0,
            tail_error: 0.0,
            empty: (-(total as f64)).exp2(),
            steps: 0,
            start_error: 0.0,
            next_tail_total: total,
        };
        state.threshold = state.threshold_at(total);
        state.recompute();
        state
    }

    fn threshold_at(&self, total: u64) -> u64 {
        (((total + 1) as f64 * self.exceeding_share).ceil() as u64).saturating_sub(1)
    }

    fn recompute(&mut self) {
        let (h, m) = (self.threshold as f64, self.total as f64);
        self.probability = binomial_probability(h, m, [0.5, 0.5]);
        self.start_error = probability_relative_error_bound(self.probability);
        self.steps = 0;
        if self.total < self.next_tail_total {
            return;
        }
        (self.tail, self.tail_error) = (0.0, 0.0);
        // A tail of few terms also decreases fast, so an old error would soon matter.
        let mut terms = 1.0;
        if self.threshold > 0 {
            // By symmetry, fewer than h messages are as likely as more than m − h.
            let (ratio, count) = tail_to_probability_ratio(m - h + 1.0, m);
            self.tail = self.probability_below() * ratio;
            self.tail_error = self.tail * (self.start_error + 4.0 * f64::EPSILON * (count + 2.0));
            terms = count;
        }
        self.next_tail_total = self.total + terms as u64;
    }

    /// Returns b(h − 1).
    fn probability_below(&self) -> f64 {
        self.probability * self.threshold as f64 / (self.total - self.threshold + 1) as f64
    }

    fn relative_error(&self) -> f64 {
        self.start_error + 3.0 * f64::EPSILON * self.steps as f64
    }

    fn error_bound(&self) -> f64 {
        self.exp_m1_epsilon * self.tail_error
    }

    /// Returns the probability that counts against the second input, and the amount to subtract.
    fn gain_and_loss(&self) -> (f64, f64) {
        (
            self.probability,
            self.exp_m1_epsilon * self.tail + self.empty,
        )
    }

    fn advance(&mut self) {
        let next = self.threshold_at(self.total + 1);
        let m = (self.total + 1) as f64;
        let change = if next > self.threshold {
            let half = 0.5 * self.probability;
            self.probability *= 0.5 * m / next as f64;
            half
        } else {
            let half = -0.5 * self.probability_below();
            self.probability *= 0.5 * m / (m - next as f64);
            half
        };
        self.tail_error += (self.relative_error() + 4.0 * f64::EPSILON) * change.abs();
        self.tail = (self.tail + change).max(0.0);
        self.tail_error += f64::EPSILON * self.tail;
        (self.threshold, self.total) = (next, self.total + 1);
        self.empty *= 0.5;
        self.steps += 1;
        if self.steps == RECOMPUTATION_INTERVAL_STEPS || self.total >= self.next_tail_total {
            self.recompute();
        }
    }
}
