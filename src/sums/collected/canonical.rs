//! Creation of sum tasks from fields, and canonical bytes of sum tasks.

use alloc::vec::Vec;

use crate::canonical::{CanonicalWriter, WriteCanonical};
use crate::error::Error;
use crate::sums::measure::Measure;
use crate::sums::messages::Messages;
use crate::sums::task::{FORM, SumParts, SumTask};

impl SumTask {
    /// Creates a task from its fields and messages.
    ///
    /// # Errors
    /// [`Error::TaskId`] and [`Error::OutOfRange`]. [`Error::Combination`] in these cases:
    ///
    /// - the budget has more than one report a window, or permanent answers;
    /// - there are fewer than two honest people;
    /// - more coordinates are drawn than there are.
    pub fn new(parts: SumParts, messages: Messages) -> Result<Self, Error> {
        let bytes = write(&parts, &messages);
        Self::build(parts, messages, &bytes)
    }

    /// Returns the canonical bytes: all fields that the messages and the guarantee depend on. The
    /// fingerprint is the hash of these bytes.
    #[must_use]
    pub fn canonical_bytes(&self) -> Vec<u8> {
        write(self.parts(), self.messages())
    }
}

fn write(parts: &SumParts, messages: &Messages) -> Vec<u8> {
    // Destructured, so that a new field of the task cannot be forgotten.
    let SumParts {
        id,
        measure,
        epsilon,
        delta,
        people,
        honest_fraction,
        budget,
    } = parts;
    let mut canonical = CanonicalWriter::default();
    budget.write_canonical(&mut canonical);
    canonical.text(FORM);
    canonical.text(id);
    canonical.number(epsilon.to_bits());
    canonical.number(delta.to_bits());
    canonical.number(*people);
    canonical.number(honest_fraction.to_bits());
    measure.write_canonical(&mut canonical);
    messages.write_canonical(&mut canonical);
    canonical.into_bytes()
}

impl WriteCanonical for Measure {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        match self {
            Self::Box(items, limits) => {
                canonical.number(0);
                items.write_canonical(canonical);
                limits.iter().for_each(|own| own.write_canonical(canonical));
            }
            Self::Ball(ball) => {
                canonical.number(1);
                ball.items().write_canonical(canonical);
                canonical.number(ball.length().to_bits());
                canonical.number(ball.seed());
                canonical.number(ball.spread().to_bits());
            }
        }
    }
}

impl WriteCanonical for Messages {
    fn write_canonical(&self, canonical: &mut CanonicalWriter) {
        for small in [self.levels(), self.drawn(), self.trials()] {
            canonical.number(small.into());
        }
        canonical.number(self.threshold().0);
        canonical.number(self.noise().into());
    }
}
