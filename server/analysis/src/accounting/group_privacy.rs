//! Group privacy: several reports of one person in the same batch, of any inputs.
//!
//! The R reports are exchanged one after the other. At every step the batch has n − 1 other
//! reports, from any senders. The person's own other reports are randomised too, and hide the one
//! as well. So n counts all reports, the person's own included. With (ε', δ') for one report,
//!
//! P₀ ≤ exp(ε')·P₁ + δ' ≤ ... ≤ exp(R·ε')·P_R + δ'·(exp(R·ε') − 1)/(exp(ε') − 1),
//!
//! for every ε'. Each ε' gives one ε_c = R·ε' (Dwork and Roth, "The Algorithmic Foundations of
//! Differential Privacy", 2014, Theorem 2.2).

use hushbin::Error;

use super::method::Method;
use super::mixture::Mixture;
use super::privacy_profile::{EpsilonBounds, PrivacyProfile};
use super::ranges::REPORTS_PER_PERSON;
use crate::numeric::roots::{NEWTON_ERROR, chandrupatla, least_above};

/// Checks that one person has few enough reports among the honest.
///
/// # Errors
/// [`Error::OutOfRange`] when the reports are outside [`REPORTS_PER_PERSON`], or more than the
/// honest reports.
pub(super) fn check(reports: u32, honest_reports: u64) -> Result<(), Error> {
    let most = (honest_reports as f64).min(REPORTS_PER_PERSON.max);
    REPORTS_PER_PERSON.at_most(most).check(f64::from(reports))
}

/// Privacy loss of one batch about a person with R reports.
#[derive(Debug)]
pub(super) struct OneBatch {
    profile: PrivacyProfile,
    /// Local ε of one report.
    epsilon: f64,
    /// Number R of the person's reports.
    reports: f64,
}

impl OneBatch {
    /// Returns the bounds, precise for δ from `delta` on.
    pub(super) fn new(mixture: &Mixture, honest_reports: u64, reports: u32, delta: f64) -> Self {
        let reports = f64::from(reports);
        // Group privacy needs a smaller δ of one report.
        let profile = PrivacyProfile::new(*mixture, honest_reports, delta / reports);
        Self {
            epsilon: mixture.epsilon(),
            reports,
            profile,
        }
    }

    /// Returns the greatest loss, R·ε.
    pub(super) fn most(&self) -> f64 {
        self.reports * self.epsilon
    }

    /// Returns the number of grid points of δ that take about a second to compute.
    pub(super) fn points(&self) -> usize {
        (3e7 / self.profile.width()).clamp(64.0, 1024.0) as usize
    }

    pub(super) fn method(&self) -> Method {
        if self.reports > 1.0 {
            Method::GroupPrivacy
        } else {
            self.profile.method()
        }
    }

    /// Returns bounds on δ(ε_c). The lower bound counts only one of the reports.
    pub(super) fn delta(&self, central: f64) -> (f64, f64) {
        // Rounded down, so that R·ε' is at most `central`.
        let each = central / self.reports * (1.0 - f64::EPSILON);
        let one = self.profile.delta(each);
        if self.reports == 1.0 {
            return (one.lower, one.upper);
        }
        // Σ exp(i·ε') for i < R, the factor of δ'.
        let steps = if each == 0.0 {
            self.reports
        } else {
            central.exp_m1() / each.exp_m1()
        };
        let upper = one.upper * steps * (1.0 + 1e-12) * (1.0 + 4.0 * f64::EPSILON * central);
        // The loss of one report never exceeds ε.
        let lower = if central < self.epsilon {
            self.profile.reduction_delta(central).lower
        } else {
            0.0
        };
        (lower, upper.min(1.0))
    }

    /// Returns bounds on the least ε_c at δ.
    pub(super) fn epsilon(&self, delta: f64) -> EpsilonBounds {
        let one = self.profile.epsilon(delta);
        if self.reports == 1.0 {
            return one;
        }
        if self.delta(0.0).1 <= delta {
            return EpsilonBounds {
                lower: 0.0,
                reduction: 0.0,
                upper: 0.0,
            };
        }
        // The bound on δ need not be monotone, but is 0 at the end. Any ε_c that it proves is
        // valid.
        let excess = |central: f64| -(self.delta(central).1.max(f64::MIN_POSITIVE) / delta).ln();
        let most = self.most();
        let near = chandrupatla([one.lower.max(1e-12 * most), most], excess);
        let upper = least_above(near, most, NEWTON_ERROR, |central| {
            self.delta(central).1 <= delta
        });
        EpsilonBounds {
            lower: one.lower,
            reduction: one.reduction,
            upper,
        }
    }
}
