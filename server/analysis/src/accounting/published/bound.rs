//! A published bound, and the batch that it is about.

use serde::Serialize;

use crate::accounting::mixture::Favoured;
use crate::numeric::roots::{arithmetic, bisect};

/// The way in which a bound is found.
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
pub(super) struct Batch {
    pub(super) epsilon: f64,
    pub(super) favoured: Option<Favoured>,
    pub(super) n: u64,
    pub(super) delta: f64,
}

/// A value, or the condition that is not met.
pub(super) type Value = Result<f64, &'static str>;

impl Batch {
    /// Rounded up: formulas have a dozen operations.
    pub(super) fn published(
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
    pub(super) fn invert(&self, delta_at: impl Fn(f64) -> f64) -> f64 {
        let enough = |central: f64| delta_at(central) * (1.0 + 1e-9) <= self.delta;
        bisect(self.epsilon, 0.0, arithmetic(1e-12), enough).0
    }
}
