//! Creation of sum tasks from fields, and canonical bytes of sum tasks.

use alloc::vec::Vec;

use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::error::Error;
use crate::sums::counted_questions::{CountedKind, CountedQuestions};
use crate::sums::messages::MessageParameters;
use crate::sums::summed_quantity::SummedQuantity;
use crate::sums::task::{SUM_TASK_FORMAT_NAME, SumTask, SumTaskFields};

impl SumTask {
    /// Creates a task from its fields and messages.
    ///
    /// # Errors
    /// [`Error::InvalidTaskId`] and [`Error::OutOfRange`]. [`Error::InvalidCombination`] in these cases:
    ///
    /// - the budget has more than one report a window, a memo, or cover reports;
    /// - there are fewer than two honest people;
    /// - more coordinates are drawn than there are;
    /// - the messages are not those of questions, or not those of numbers or a vector.
    pub fn new(
        parts: SumTaskFields,
        messages: impl Into<MessageParameters>,
    ) -> Result<Self, Error> {
        let messages = messages.into();
        let bytes = canonical_field_bytes(&parts, &messages);
        Self::build_validated_task(parts, messages, &bytes)
    }

    /// Returns the canonical bytes: all fields that the messages and the guarantee depend on. The
    /// fingerprint is the hash of these bytes.
    #[must_use]
    pub fn canonical_bytes(&self) -> Vec<u8> {
        canonical_field_bytes(self.task_fields(), self.message_parameters())
    }
}

fn canonical_field_bytes(parts: &SumTaskFields, messages: &MessageParameters) -> Vec<u8> {
    // Destructured, so that a new field of the task cannot be forgotten.
    let SumTaskFields {
        id,
        summed_quantity: measure,
        central_epsilon: epsilon,
        delta,
        min_people: people,
        honest_fraction,
        report_budget: budget,
    } = parts;
    let mut canonical = CanonicalWriter::default();
    budget.write_canonical(&mut canonical);
    canonical.write_text(SUM_TASK_FORMAT_NAME);
    canonical.write_text(id);
    canonical.write_u64(epsilon.to_bits());
    canonical.write_u64(delta.to_bits());
    canonical.write_u64(*people);
    canonical.write_u64(honest_fraction.to_bits());
    measure.write_canonical(&mut canonical);
    messages.write_canonical(&mut canonical);
    canonical.into_bytes()
}

impl WriteCanonical for SummedQuantity {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        match self {
            Self::NumbersWithLimits(items, limits) => {
                canonical.write_u64(0);
                items.write_canonical(canonical);
                limits.iter().for_each(|own| own.write_canonical(canonical));
            }
            Self::BoundedVector(ball) => {
                canonical.write_u64(1);
                ball.items().write_canonical(canonical);
                canonical.write_u64(ball.max_length().to_bits());
                canonical.write_u64(ball.frame_seed());
                canonical.write_u64(ball.coefficient_bound_factor().to_bits());
            }
            Self::CountedQuestions(questions) => questions.write_canonical(canonical),
        }
    }
}

impl WriteCanonical for CountedQuestions {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        let kind = match self.kind() {
            CountedKind::Choice { .. } => 2,
            CountedKind::Set { .. } => 3,
            CountedKind::Flags => 4,
            CountedKind::Number { .. } => 5,
        };
        canonical.write_u64(kind);
        self.items().write_canonical(canonical);
        match self.kind() {
            CountedKind::Choice { name } => canonical.write_text(name),
            CountedKind::Set { name, sparsity } => {
                canonical.write_text(name);
                canonical.write_u64((*sparsity).into());
            }
            CountedKind::Flags => {}
            CountedKind::Number { name, limits } => {
                canonical.write_text(name);
                limits.write_canonical(canonical);
            }
        }
    }
}

impl WriteCanonical for MessageParameters {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        match self {
            Self::UnitSteps(steps) => {
                for small in [
                    steps.messages_per_unit(),
                    steps.drawn_coordinate_count(),
                    steps.noise_trial_count(),
                ] {
                    canonical.write_u64(small.into());
                }
                canonical.write_u64(steps.noise_threshold().0);
                canonical.write_u64(steps.max_noise_messages().into());
            }
            Self::Lottery(lottery) => {
                canonical.write_u64(lottery.draws().into());
                // The 64 low bits, so that 2⁶⁴ is written as 0.
                canonical.write_u64(lottery.threshold() as u64);
                canonical.write_u64(lottery.pads_to_equal_counts().into());
            }
        }
    }
}
