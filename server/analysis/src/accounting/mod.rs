//! Shuffle accounting: how much less the reports of a batch give away to whoever
//! sees them shuffled.
//!
//! P1's Theorem 1 (Feldman, McMillan and Talwar's reduction) compares two
//! distributions that depend on n, the local ε and one number α of the
//! mechanism. Where a report may tell nothing that is no bound, if nearly one in
//! large batches; what is proven is the privacy blanket. Both divergences are
//! summed up here, in memory that does not grow with n; every error is counted
//! upwards.
//!
//! Sources: Balle, Bell, Gascón, Nissim, "The Privacy Blanket of the Shuffle
//! Model"; Wang et al. as in [`hushbin::mechanism::collision`], with
//! [`errata`](crate::errata); Feldman, McMillan, Talwar, "Stronger Privacy
//! Amplification by Shuffling for Rényi and Approximate Differential Privacy".

mod calibration;
mod composition;
mod group_privacy;
mod hockey_stick;
mod mixture;
mod privacy_blanket;
mod privacy_profile;
mod published;

pub use calibration::{
    CENTRAL_EPSILON, largest_alpha, largest_epsilon, meets_central_epsilon, smallest_batch,
};
pub use composition::{BATCHES, Composed, Exposure, account_exposure};
pub use group_privacy::REPORTS_PER_PERSON;
pub use mixture::{Favoured, Mixture};
pub use published::{Kind, Published, Scope, published_bounds, wang_collision_theorem_3};

use std::fmt;

use hushbin::Error;
use hushbin::bounds::Bound;
use serde::Serialize;

use hockey_stick::{Delta, Divergence};

/// Number of reports n of a batch.
pub const REPORTS: Bound = Bound {
    name: "reports",
    min: 2.0,
    max: 1e12,
};
/// Number of honest reports among them.
pub const HONEST_REPORTS: Bound = Bound {
    name: "honest_reports",
    ..REPORTS
};
/// δ of a batch.
pub const DELTA: Bound = Bound {
    name: "delta",
    min: 1e-15,
    max: 0.1,
};
/// Part of the reports that are assumed to be honest.
pub const HONEST_FRACTION: Bound = Bound {
    name: "honest_fraction",
    min: 1e-12,
    max: 1.0,
};

/// Why a batch cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A parameter is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// Other people's reports need not hide a person where ε is about
    /// neighbours only: they may be further away.
    #[error(
        "hash-bin is accounted for at level \"user\" only: below it ε is about neighbours, and \
         shuffling with people who are none is not known to hide anyone"
    )]
    Neighbours,
}

/// What a batch was accounted for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The sum over all batches, by the numbers of reports that tell the one
    /// input, the other, and nothing.
    ExactSum,
    /// The same, but for how the last number varies: what that adds, which is
    /// little, is bounded by a factor.
    BoundedSum,
    /// Group privacy: one report exchanged after the other.
    GroupPrivacy,
    /// The losses of batches, on a grid, added up.
    LossDistribution,
    /// Basic composition of batches.
    BasicComposition,
    /// Advanced composition of batches.
    AdvancedComposition,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ExactSum => "exact sum",
            Self::BoundedSum => "exact sum, a small rest bounded",
            Self::GroupPrivacy => "group privacy",
            Self::LossDistribution => "privacy-loss distribution",
            Self::BasicComposition => "basic composition",
            Self::AdvancedComposition => "advanced composition",
        })
    }
}

/// The privacy of a shuffled batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Account {
    /// ε_c: the batch is (ε_c, δ)-differentially private. Proven by the privacy
    /// blanket, and never above the local ε.
    pub central_epsilon: f64,
    /// The least ε_c by the reduction of P1's Theorem 1, rounded up. It is no
    /// bound where reports may tell nothing, if only by little in large batches:
    /// see [`errata`](crate::errata). Only of one batch and one report of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_epsilon: Option<f64>,
    /// What the least ε_c of the reduction is above. A batch of others whose
    /// favoured sets meet neither of two inputs', where there are such, gives
    /// away as much or more (P1 Theorem 6).
    pub lower_bound_epsilon: f64,
    /// α of the mechanism.
    pub alpha: f64,
    /// δ.
    pub delta: f64,
    /// How it was computed.
    pub method: Method,
    /// Reports of honest people: those that hide each other.
    pub honest_reports: u64,
}

/// Accounts for a batch of `n` shuffled reports, of which a part `honest` hides
/// the others.
///
/// ```
/// use hushbin_analysis::accounting::{Mixture, account};
///
/// let any = Mixture::generic(1.0).unwrap();
/// let batch = account(&any, 1_000_000, 1.0, 1e-8).unwrap();
/// assert!(batch.central_epsilon < 0.01);
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] when n or the honest of them are outside [`REPORTS`],
/// the part outside [`HONEST_FRACTION`] or δ outside [`DELTA`].
pub fn account(mixture: &Mixture, n: u64, honest: f64, delta: f64) -> Result<Account, Error> {
    let honest_reports = hiding(n, honest)?;
    DELTA.check(delta)?;
    let divergence = Divergence::new(*mixture, honest_reports, delta);
    let start = divergence.limit(delta);
    let privacy_profile::Bracket {
        lower,
        reduction,
        upper,
    } = privacy_profile::least(&divergence, mixture.epsilon(), start, delta);
    Ok(Account {
        central_epsilon: upper,
        reduction_epsilon: Some(reduction),
        lower_bound_epsilon: lower,
        alpha: mixture.alpha(),
        delta,
        method: divergence.method(),
        honest_reports,
    })
}

/// The whole part of n that is honest.
fn honest_of(n: u64, honest: f64) -> u64 {
    (honest * n as f64).floor() as u64
}

/// The reports that hide each other: the honest of n.
fn hiding(n: u64, honest: f64) -> Result<u64, Error> {
    REPORTS.check(n as f64)?;
    HONEST_FRACTION.check(honest)?;
    let honest_reports = honest_of(n, honest);
    HONEST_REPORTS.check(honest_reports as f64)?;
    Ok(honest_reports)
}

/// Bounds on δ(ε_c) of `n` shuffled reports: what is proven to be enough, and
/// what the reduction says at least. Sharp for δ above [`DELTA`]'s least; below,
/// the upper one is still true.
///
/// # Errors
/// [`Error::OutOfRange`] when n is outside [`REPORTS`] or ε_c is not from 0 to
/// the local ε.
pub fn delta_bounds(mixture: &Mixture, n: u64, central: f64) -> Result<(f64, f64), Error> {
    let found = found_at(mixture, n, central)?;
    Ok((found.lower, found.upper))
}

/// Bounds on the δ(ε_c) of the reduction of P1's Theorem 1; see
/// [`Account::reduction`].
///
/// # Errors
/// As [`delta_bounds`].
pub fn reduction_delta_bounds(
    mixture: &Mixture,
    n: u64,
    central: f64,
) -> Result<(f64, f64), Error> {
    let found = found_at(mixture, n, central)?;
    Ok((found.lower, found.above))
}

fn found_at(mixture: &Mixture, n: u64, central: f64) -> Result<Delta, Error> {
    REPORTS.check(n as f64)?;
    let range = Bound {
        name: "central_epsilon",
        min: 0.0,
        max: mixture.epsilon(),
    };
    range.check(central)?;
    Ok(Divergence::new(*mixture, n, DELTA.min).at(central))
}
