//! Getters of sum tasks, for collectors.

use crate::sample::Threshold;
use crate::sums::messages::{MessageParameters, longest_message_bytes};
use crate::sums::randomizer::SumRandomizer;
use crate::sums::summed_quantity::BoundedVector;
use crate::sums::task::{SumTask, SumTaskFields, count_honest_people};
use crate::task::{Items, ReportBudget};

impl SumTask {
    /// Fields of the task except its messages.
    #[must_use]
    pub const fn task_fields(&self) -> &SumTaskFields {
        &self.task_fields
    }

    /// Name of the task, a slug.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.task_fields.id
    }

    /// Central ε of a batch. The guarantee holds if the shuffler and at least
    /// [`SumTask::honest_people_count`] people in the batch are honest.
    #[must_use]
    pub const fn central_epsilon(&self) -> f64 {
        self.task_fields.central_epsilon
    }

    /// Central δ, which belongs to the guarantee of [`SumTask::central_epsilon`].
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.task_fields.delta
    }

    /// Minimum number of people in a batch.
    #[must_use]
    pub const fn min_people(&self) -> u64 {
        self.task_fields.min_people
    }

    /// Number n_h of people in a batch who are assumed to be honest, rounded down.
    #[must_use]
    pub fn honest_people_count(&self) -> u64 {
        count_honest_people(&self.task_fields)
    }

    /// Budget of a person: one report in a window of days. It is no ε.
    #[must_use]
    pub const fn report_budget(&self) -> ReportBudget {
        self.task_fields.report_budget
    }

    /// Length of the longest message, in bytes.
    #[must_use]
    pub fn longest_message_bytes(&self) -> usize {
        longest_message_bytes(self.summed_quantity().coordinate_count())
    }

    /// Minimum number of messages in a batch: the number of messages of one person, times the
    /// minimum number of people.
    #[must_use]
    pub fn min_batch_messages(&self) -> u64 {
        self.min_people() * u64::from(self.message_parameters.message_count())
    }
}

impl SumRandomizer {
    /// Creates a randomizer for `task`.
    #[must_use]
    pub fn new(task: &SumTask) -> Self {
        Self::from_task(task.clone())
    }
}

impl MessageParameters {
    /// Number of levels L: the value 1 is sent as L messages up, and −1 as L messages down.
    #[must_use]
    pub const fn messages_per_unit(&self) -> u32 {
        self.level_count
    }

    /// Number k of coordinates whose value a person sends.
    #[must_use]
    pub const fn drawn_coordinate_count(&self) -> u32 {
        self.drawn_coordinate_count
    }

    /// Number w of noise trials for each coordinate and sign.
    #[must_use]
    pub const fn noise_trial_count(&self) -> u32 {
        self.noise_trial_count
    }

    /// Noise probability q of each trial, as a threshold.
    #[must_use]
    pub const fn noise_threshold(&self) -> Threshold {
        self.noise_threshold
    }

    /// Maximum number of noise messages of a person.
    #[must_use]
    pub const fn max_noise_messages(&self) -> u32 {
        self.max_noise_messages
    }
}

impl BoundedVector {
    /// Default spread C. With this spread, the frame represents all vectors without loss, except
    /// vectors that were made to defeat the frame. For d ≤ 64, the remainder was less than 5·10⁻⁶
    /// for every vector tried.
    pub const DEFAULT_BOUND_FACTOR: f64 = 2.0;

    /// Items whose values are the numbers of the vector.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    /// Maximum length R; longer vectors are shortened.
    #[must_use]
    pub const fn max_length(&self) -> f64 {
        self.max_length
    }

    /// Seed of the frame's signs.
    pub(crate) const fn frame_seed(&self) -> u64 {
        self.frame_seed
    }

    /// Spread C: the coefficients of a vector of length 1 are at most C/√d, where d is the padded
    /// dimension.
    #[must_use]
    pub const fn coefficient_bound_factor(&self) -> f64 {
        self.coefficient_spread
    }
}
