//! Values that several units share, built once by the first unit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::evaluate::measure::experiment::StudyError;

/// Shared values by index.
pub(crate) struct Prepared<T> {
    made: Mutex<HashMap<usize, Arc<Once<T>>>>,
}

/// A value that is built once. The lock is held during the build.
type Once<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Prepared<T> {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
        }
    }
}

impl<T> Prepared<T> {
    /// Returns the value of an index, building it on the first call. Concurrent calls wait.
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
