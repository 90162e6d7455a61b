//! Header `Retry-After`, which states when a refused client may try again.

use axum::http::HeaderValue;

use super::kinds::Problem;

impl Problem {
    /// Returns the value of the header `Retry-After` in seconds, or `None` if retrying cannot help.
    pub(super) const fn retry_after(&self) -> Option<HeaderValue> {
        let seconds = match self {
            // An operator has to free the disk, or restart the collector.
            Self::Storage | Self::ReadOnly => "30",
            // A batch takes more reports with every second. A flood takes most of them.
            Self::BatchFillsTooFast => "30",
            // The shuffler asks its analyser for keys every second, at most.
            Self::UnlistedSealingKey { .. } => "5",
            // The rate limit is per minute. A sixth of a minute already allows some requests.
            Self::TooManyRequests => "10",
            _ if self.kind().status == 503 => "1",
            _ => return None,
        };
        Some(HeaderValue::from_static(seconds))
    }
}
