//! Privacy that a plan may spend.

use crate::plan::survey::LOCAL_EPSILON;

/// Privacy that a plan may spend.
#[derive(Debug, Clone, Copy)]
pub(in crate::plan) struct Budget {
    /// Maximum local ε.
    pub(in crate::plan) epsilon: f64,
    /// Maximum ε of the shuffled reports.
    pub(in crate::plan) central: Option<f64>,
}

impl Budget {
    /// Makes a budget of a local and a central ε; `None` if neither is given.
    pub(in crate::plan) fn new(epsilon: Option<f64>, central: Option<f64>) -> Option<Self> {
        if epsilon.is_none() && central.is_none() {
            return None;
        }
        Some(Self {
            epsilon: epsilon.unwrap_or(LOCAL_EPSILON),
            central,
        })
    }
}

/// Rounds down to four digits, for people to read.
pub(super) fn round_down(epsilon: f64) -> f64 {
    let unit = 10_f64.powi(3 - epsilon.log10().floor() as i32);
    (epsilon * unit).floor() / unit
}
