//! What was published of ε_c before: the bounds that an exact sum is worth
//! something beside.
//!
//! They differ in what they ask of a randomizer, and in what they lose on the
//! way from a decomposition of reports to a number. P1's reduction, also found
//! as the variation-ratio reduction of Wang et al., "Privacy Amplification via
//! Shuffling: Unified, Simplified, and Tightened" (2024), is not listed: it is no
//! bound in small batches ([`errata`](crate::errata)).
//!
//! ```
//! use hushbin_analysis::accounting::{Mixture, account, published_bounds};
//!
//! let any = Mixture::generic(1.0).unwrap();
//! let ours = account(&any, 100_000, 1.0, 1e-7).unwrap();
//! for bound in published_bounds(&any, 100_000, 1.0, 1e-7).unwrap() {
//!     assert!(bound.central_epsilon.is_none_or(|other| other >= ours.lower_bound_epsilon));
//! }
//! ```

mod balle_2019;
mod erlingsson_2019;
mod feldman_2021;
mod feldman_2023;
mod wang_collision;

pub use wang_collision::theorem_3 as wang_collision_theorem_3;

use hushbin::Error;
use serde::Serialize;

use super::mixture::{Favoured, Mixture};
use super::ranges::{DELTA, honest_reports};
use crate::numeric::roots::{arithmetic, bisect};

/// How a bound is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A formula.
    ClosedForm,
    /// The least ε_c at which a formula of it stays below δ.
    Numeric,
}

/// Whose reports a bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Those of any ε-LDP randomizer.
    AnyRandomizer,
    /// Those of the mechanism: a theorem about randomizers of which more is
    /// known, with what is known here.
    Mechanism,
}

/// A published bound on ε_c.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// What it is called here.
    pub name: &'static str,
    /// Who published it, when and where.
    pub source: &'static str,
    /// Formula or search.
    pub kind: Kind,
    /// Whose reports.
    pub scope: Scope,
    /// ε_c by the bound, rounded up; the local ε where that is smaller, which
    /// holds without any theorem. None where the theorem does not apply.
    pub central_epsilon: Option<f64>,
    /// The condition of the theorem that is not met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// What bounds are about.
#[derive(Debug, Clone, Copy)]
struct Batch {
    epsilon: f64,
    favoured: Option<Favoured>,
    n: u64,
    delta: f64,
}

/// A value, or the condition that is not met.
type Value = Result<f64, &'static str>;

impl Batch {
    /// Rounded up: formulas have a dozen operations.
    fn published(
        &self,
        name: &'static str,
        source: &'static str,
        kind: Kind,
        scope: Scope,
        value: Value,
    ) -> Published {
        let up = |value: f64| (value * (1.0 + 64.0 * f64::EPSILON)).min(self.epsilon);
        Published {
            name,
            source,
            kind,
            scope,
            central_epsilon: value.ok().map(up),
            reason: value.err(),
        }
    }

    /// The least ε_c where `delta_bounds` is at most δ, to one part in 10¹² and
    /// rounded up; ε where there is none below. The δ computed is taken for one
    /// part in 10⁹ too small.
    fn invert(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, arithmetic(1e-12), enough).0
    }
}

/// The published bounds on what [`account`](super::account) computes, in the
/// order of their years. The n of the theorems are the honest reports.
///
/// # Errors
/// As [`account`](super::account).
pub fn published_bounds(
    mixture: &Mixture,
    reports: u64,
    honest_fraction: f64,
    delta: f64,
) -> Result<Vec<Published>, Error> {
    let n = honest_reports(reports, honest_fraction)?;
    DELTA.check(delta)?;
    let batch = Batch {
        n,
        delta,
        epsilon: mixture.epsilon(),
        favoured: mixture.favoured(),
    };
    let mut all = vec![erlingsson_2019::bound(&batch)];
    all.extend(balle_2019::bounds(&batch));
    all.push(wang_collision::bound(&batch));
    all.extend(feldman_2021::bounds(&batch)?);
    all.extend(feldman_2023::bounds(&batch)?);
    Ok(all)
}
