//! Defaults and costs of hash families, for the choice of parameters.

use super::family::{ElementHash, HashFamily};
use crate::domain::Domain;

impl HashFamily {
    /// Returns the requested family, or the default if none is requested. The default is balanced
    /// for a closed domain and independent for an open one.
    pub(crate) fn requested_or_default_family(asked: Option<Self>, domain: &Domain) -> Self {
        asked.unwrap_or(match domain.item_count() {
            Some(_) => Self::Balanced,
            None => Self::Independent,
        })
    }
}

impl ElementHash {
    /// Number of rounds that hash one element.
    pub(crate) const fn round_count(&self) -> usize {
        match self {
            Self::Balanced(balanced) => balanced.round_count(),
            Self::Independent { .. } => 1,
        }
    }
}
