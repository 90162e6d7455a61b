//! Memory budget, in bytes, that all uploads share while they are between socket and disk, or all
//! requests while they wait for a relay's gateway.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory budget, in bytes. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudget(Arc<Semaphore>);

/// Part of the memory budget that one request has reserved. Dropping the reservation returns the
/// bytes to the budget.
#[derive(Debug)]
pub(crate) struct MemoryReservation {
    budget: MemoryBudget,
    held: Option<OwnedSemaphorePermit>,
}

/// Error of a reservation: the rest of the memory budget is too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryExhausted;

impl MemoryBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// Creates an empty reservation.
    pub(crate) fn empty_reservation(&self) -> MemoryReservation {
        MemoryReservation {
            budget: self.clone(),
            held: None,
        }
    }
}

impl MemoryReservation {
    /// Reserves `bytes` further bytes, or none if the rest of the budget is too small.
    ///
    /// A reservation grows with the bytes that have arrived, not with the announced length. So slow
    /// clients cannot occupy the budget with bytes that they have only announced.
    ///
    /// # Errors
    /// [`MemoryExhausted`] when other uploads hold the rest of the budget.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), MemoryExhausted> {
        // A semaphore counts permits in 32 bits.
        let bytes = u32::try_from(bytes).map_err(|_| MemoryExhausted)?;
        let more = Arc::clone(&self.budget.0)
            .try_acquire_many_owned(bytes)
            .map_err(|_| MemoryExhausted)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            held @ None => *held = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_comes_back() {
        let memory = MemoryBudget::new(10);
        let mut first = memory.empty_reservation();
        first.grow(4).unwrap();
        first.grow(4).unwrap();
        let mut second = memory.empty_reservation();
        assert_eq!(second.grow(3), Err(MemoryExhausted));
        second.grow(2).unwrap();
        drop(first);
        second.grow(8).unwrap();
        assert_eq!(second.grow(1), Err(MemoryExhausted));
    }
}
