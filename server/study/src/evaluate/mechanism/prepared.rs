//! What units of one place share, made by the first of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::evaluate::measure::experiment::StudyError;

/// By place.
pub(crate) struct Prepared<T> {
    made: Mutex<HashMap<usize, Arc<Once<T>>>>,
}

/// What is made once, and held while it is.
type Once<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Prepared<T> {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
        }
    }
}

impl<T> Prepared<T> {
    /// That of a place; whoever comes while it is made waits.
    ///
    /// # Errors
    /// Those of `make`, which the next one then calls again.
    pub(crate) fn get(
        &self,
        place: usize,
        make: impl FnOnce() -> Result<T, StudyError>,
    ) -> Result<Arc<T>, StudyError> {
        let mut places = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::clone(places.entry(place).or_default());
        drop(places);
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*own {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        *own = Some(Arc::clone(&made));
        Ok(made)
    }
}
