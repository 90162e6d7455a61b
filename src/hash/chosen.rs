//! Hash families as parameters are chosen by.

use super::family::{Hash, Hashing};
use crate::domain::Domain;

impl Hashing {
    /// What is asked for, or else balanced where the domain can be.
    pub(crate) fn default_for(asked: Option<Self>, domain: &Domain) -> Self {
        asked.unwrap_or(match domain.items() {
            Some(_) => Self::Balanced,
            None => Self::Independent,
        })
    }
}

impl Hash {
    /// In how many rounds an element is hashed.
    pub(crate) const fn rounds(&self) -> usize {
        match self {
            Self::Balanced(balanced) => balanced.rounds(),
            Self::Independent { .. } => 1,
        }
    }
}
