//! Getters of sum tasks, for collectors.

use core::ops::RangeInclusive;

use crate::error::{Error, error};
use crate::sample::Threshold;
use crate::sums::counted_questions::CountedQuestions;
use crate::sums::messages::{MessageParameters, NoiseLottery, UnitStepParameters, message_bytes};
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
        message_bytes(self.summed_quantity().largest_message_code())
    }

    /// Minimum and maximum number of messages of one person. They are equal, except in a task of
    /// questions that does not pad to equal counts.
    #[must_use]
    pub fn message_count_range(&self) -> RangeInclusive<u32> {
        match self.message_parameters() {
            MessageParameters::UnitSteps(steps) => {
                let count = steps.message_count();
                count..=count
            }
            MessageParameters::Lottery(lottery) => {
                let questions = self.summed_quantity().counted_questions();
                let own = questions.map_or(0, CountedQuestions::own_message_count);
                // At most 1,024 + 64, which an upload can hold.
                let most = own + lottery.draws;
                (if lottery.pads_to_equal_counts {
                    most
                } else {
                    own
                })..=most
            }
        }
    }

    /// Minimum number of messages in a batch: the maximum number of messages of one person, times
    /// the minimum number of people.
    ///
    /// A batch with this number of messages has enough people, even if each person sent the maximum.
    /// If numbers of messages vary, a batch with enough people usually has fewer messages.
    #[must_use]
    pub fn min_batch_messages(&self) -> u64 {
        self.min_people() * u64::from(*self.message_count_range().end())
    }
}

impl MessageParameters {
    /// Parameters of unit messages, or `None` for a lottery.
    #[must_use]
    pub const fn unit_steps(&self) -> Option<&UnitStepParameters> {
        match self {
            Self::UnitSteps(steps) => Some(steps),
            Self::Lottery(_) => None,
        }
    }
}

impl From<UnitStepParameters> for MessageParameters {
    fn from(steps: UnitStepParameters) -> Self {
        Self::UnitSteps(steps)
    }
}

impl From<NoiseLottery> for MessageParameters {
    fn from(lottery: NoiseLottery) -> Self {
        Self::Lottery(lottery)
    }
}

impl SumRandomizer {
    /// Creates a randomizer for `task`.
    #[must_use]
    pub fn new(task: &SumTask) -> Self {
        Self::from_task(task.clone())
    }
}

impl UnitStepParameters {
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

impl NoiseLottery {
    /// Creates a lottery of r = `draws` draws, each of which sends a message with the probability
    /// ρ = `threshold` / 2⁶⁴. If `equal` is true, blank messages fill up the messages of each
    /// person to the own messages and r more.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for r outside [`LOTTERY_DRAW_COUNT_RANGE`](crate::bounds::LOTTERY_DRAW_COUNT_RANGE).
    /// [`Error::InvalidCombination`] for a threshold of 0 or above 2⁶⁴.
    pub fn new(draws: u32, threshold: u128, equal: bool) -> Result<Self, Error> {
        let last_winning_word = threshold.checked_sub(1).map(u64::try_from);
        let Some(Ok(last_winning_word)) = last_winning_word else {
            return Err(error!(InvalidCombination {
                reason: "the \"threshold\" of a lottery must be above 0 and at most 2⁶⁴",
            }));
        };
        Self::from_last_winning_word(draws, last_winning_word, equal)
    }

    /// Number of draws r, the maximum number of noise messages of a person.
    #[must_use]
    pub const fn draws(&self) -> u32 {
        self.draws
    }

    /// Probability ρ that a draw sends a message, multiplied by 2⁶⁴. It is from 1 to 2⁶⁴, where 2⁶⁴
    /// means always.
    #[must_use]
    pub fn threshold(&self) -> u128 {
        u128::from(self.last_winning_word) + 1
    }

    /// Probability ρ that a draw sends a message, rounded to the nearest double.
    #[must_use]
    pub fn probability(&self) -> f64 {
        // Division by a power of two is exact.
        self.threshold() as f64 / (1_u128 << 64) as f64
    }

    /// Returns whether blank messages fill up the messages of every person to the same number.
    #[must_use]
    pub const fn pads_to_equal_counts(&self) -> bool {
        self.pads_to_equal_counts
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
