//! What time it is, to which batches are opened and closed.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// That of the machine.
pub(crate) fn system() -> Clock {
    Arc::new(now)
}

/// Seconds since 1970. A machine that was set to before then closes no batch by its age.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
