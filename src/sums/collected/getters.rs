//! Getters of tasks of sums, for collectors.

use crate::sample::Threshold;
use crate::sums::measure::Ball;
use crate::sums::messages::{Messages, longest};
use crate::sums::randomizer::SumRandomizer;
use crate::sums::task::{SumParts, SumTask, honest};
use crate::task::{Budget, Items};

impl SumTask {
    /// All but the messages.
    #[must_use]
    pub const fn parts(&self) -> &SumParts {
        &self.parts
    }

    /// The slug that the task goes by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.parts.id
    }

    /// The central ε of a batch, promised where the shuffler and the honest fraction of its
    /// people are honest.
    #[must_use]
    pub const fn central_epsilon(&self) -> f64 {
        self.parts.epsilon
    }

    /// δ of the same promise.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.parts.delta
    }

    /// People of a batch at least.
    #[must_use]
    pub const fn people(&self) -> u64 {
        self.parts.people
    }

    /// n_h: people of a batch whose noise is counted on, rounded down.
    #[must_use]
    pub fn honest_people(&self) -> u64 {
        honest(&self.parts)
    }

    /// How much one person reports.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.parts.budget
    }

    /// Bytes of the longest message.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        longest(self.measure().coordinates())
    }

    /// The least number of messages of a batch; everybody sends as many.
    #[must_use]
    pub fn batch_messages(&self) -> u64 {
        self.people() * u64::from(self.messages.count())
    }
}

impl SumRandomizer {
    /// Prepares for `task`.
    #[must_use]
    pub fn new(task: &SumTask) -> Self {
        Self::of(task.clone())
    }
}

impl Messages {
    /// L: how many messages up or down say 1 or −1.
    #[must_use]
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// k: the coordinates of which a person tells the value.
    #[must_use]
    pub const fn drawn(&self) -> u32 {
        self.drawn
    }

    /// w: how often noise is drawn for a coordinate and sign.
    #[must_use]
    pub const fn trials(&self) -> u32 {
        self.trials
    }

    /// q, with which each draw is a message.
    #[must_use]
    pub const fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// Messages of noise at most.
    #[must_use]
    pub const fn noise(&self) -> u32 {
        self.noise
    }
}

impl Ball {
    /// C by which all but vectors made for it are spread without loss: of d ≤ 64 less than
    /// 5·10⁻⁶ of any vector tried was left.
    pub const SPREAD: f64 = 2.0;

    /// The vector's numbers.
    #[must_use]
    pub const fn items(&self) -> &Items {
        &self.items
    }

    /// R: the greatest length that is not shortened.
    #[must_use]
    pub const fn length(&self) -> f64 {
        self.length
    }

    /// The seed of the frame's signs.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// C.
    #[must_use]
    pub const fn spread(&self) -> f64 {
        self.spread
    }
}
