//! Result of a check.

/// Reason that a check does not end with "ok", with what to do about it.
pub(super) enum Trouble {
    Warning(String),
    Error(String),
}

impl<E: std::error::Error> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Error(error.to_string())
    }
}

/// Result of a check: a sentence, or trouble.
pub(super) type Checked = Result<String, Trouble>;

/// Clock of another machine: its name, and its time in seconds since 1970.
pub(super) type PeerClock = (String, u64);
