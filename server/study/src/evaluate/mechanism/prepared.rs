//! Values that several units of an experiment share. The first unit that needs a value builds it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::evaluate::measure::experiment::StudyError;

/// Shared values, each with an index.
pub(crate) struct Prepared<T> {
    made: Mutex<HashMap<usize, Arc<Once<T>>>>,
}

/// Value that is built once. Its lock is held while it is built.
type Once<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Prepared<T> {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
        }
    }
}

impl<T> Prepared<T> {
    /// Returns the value with the index `place`. The first call builds it, and concurrent calls
    /// wait for that.
    ///
    /// # Errors
    /// Any error of `make`. The next call then builds again.
    pub(crate) fn get(
        &self,
        place: usize,
        make: impl FnOnce() -> Result<T, StudyError>,
    ) -> Result<Arc<T>, StudyError> {
        let mut places = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::clone(places.entry(place).or_default());
        // Other indices must not wait for this one's build, so the map's lock is released first.
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
