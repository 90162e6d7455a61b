//! Clock for the times at which batches are opened and closed.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Function that returns the seconds since 1970.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Returns the machine's clock.
pub(crate) fn system_clock() -> Clock {
    Arc::new(now)
}

/// Returns the seconds since 1970, or 0 if the machine's clock shows an earlier time. At time 0, no
/// batch is old enough to be closed by age.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
