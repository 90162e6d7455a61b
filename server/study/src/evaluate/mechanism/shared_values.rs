//! Values that several units of an experiment share. The first unit that needs a value builds it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::evaluate::measure::experiment::StudyError;

/// Values that several units of an experiment share. Each value has an index.
pub(crate) struct SharedValues<T> {
    values: Mutex<HashMap<usize, Arc<LazyValue<T>>>>,
}

/// Value that is built once. Its lock is held while the value is built.
type LazyValue<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for SharedValues<T> {
    fn default() -> Self {
        Self {
            values: Mutex::default(),
        }
    }
}

impl<T> SharedValues<T> {
    /// Returns the value with the index `index`. The first call builds the value, and concurrent
    /// calls wait until it is built.
    ///
    /// # Errors
    /// Any error of `build`. The next call then tries to build the value again.
    pub(crate) fn value_or_build(
        &self,
        index: usize,
        build: impl FnOnce() -> Result<T, StudyError>,
    ) -> Result<Arc<T>, StudyError> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::clone(values.entry(index).or_default());
        // Other indices must not wait for this one's build, so the map's lock is released first.
        drop(values);
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(values) = &*own {
            return Ok(Arc::clone(values));
        }
        let values = Arc::new(build()?);
        *own = Some(Arc::clone(&values));
        Ok(values)
    }
}
