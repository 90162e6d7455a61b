//! Group privacy: central privacy of a person who sends several reports, with any inputs, to the
//! same batch.
//!
//! To compare two inputs, the person's R reports are replaced one after the other by reports of the
//! other input. At every step, n − 1 other reports hide the one that is replaced. They may come
//! from any sender, because the person's other reports are randomised, too. So n counts all
//! reports, including those of the person. If a batch is (ε', δ')-differentially private for one
//! report, and Pᵢ is its distribution after i replacements, then
//!
//! P₀ ≤ exp(ε')·P₁ + δ' ≤ ... ≤ exp(R·ε')·P_R + δ'·(exp(R·ε') − 1)/(exp(ε') − 1),
//!
//! for every ε'. So every ε' yields a guarantee with ε_c = R·ε' (Dwork and Roth, "The Algorithmic
//! Foundations of Differential Privacy", 2014, Theorem 2.2).

use hushbin::Error;

use super::method::AccountingMethod;
use super::mixture::Mixture;
use super::privacy_profile::{EpsilonBounds, PrivacyProfile};
use super::ranges::REPORTS_PER_PERSON;
use crate::numeric::roots::{NEWTON_ERROR, chandrupatla, find_slightly_above};

/// Checks the number of reports from one person in a batch.
///
/// # Errors
/// [`Error::OutOfRange`] if `reports` is outside [`REPORTS_PER_PERSON`], or larger than
/// `honest_reports`.
pub(super) fn check_reports_per_person(reports: u32, honest_reports: u64) -> Result<(), Error> {
    let most = (honest_reports as f64).min(REPORTS_PER_PERSON.max);
    REPORTS_PER_PERSON.with_max(most).check(f64::from(reports))
}

/// Privacy profile of one batch for a person who sends R reports to it.
#[derive(Debug)]
pub(super) struct GroupPrivacyProfile {
    profile: PrivacyProfile,
    /// Local ε of one report.
    epsilon: f64,
    /// Number R of the person's reports.
    reports: f64,
}

impl GroupPrivacyProfile {
    /// Creates the profile. Its sums are precise for δ down to `delta`.
    pub(super) fn new(mixture: &Mixture, honest_reports: u64, reports: u32, delta: f64) -> Self {
        let reports = f64::from(reports);
        // Group privacy evaluates one report at a smaller δ.
        let profile = PrivacyProfile::new(*mixture, honest_reports, delta / reports);
        Self {
            epsilon: mixture.epsilon(),
            reports,
            profile,
        }
    }

    /// Returns the largest possible privacy loss, R·ε.
    pub(super) fn largest_loss(&self) -> f64 {
        self.reports * self.epsilon
    }

    /// Returns the number of grid points at which δ is computed. The computation at all of these
    /// points takes about a second.
    pub(super) fn grid_point_count(&self) -> usize {
        (3e7 / self.profile.terms_per_sum()).clamp(64.0, 1024.0) as usize
    }

    pub(super) fn method(&self) -> AccountingMethod {
        if self.reports > 1.0 {
            AccountingMethod::GroupPrivacy
        } else {
            self.profile.method()
        }
    }

    /// Returns a lower and an upper bound on δ at ε_c = `central`. The lower bound considers only
    /// one of the person's reports.
    pub(super) fn delta_bounds(&self, central: f64) -> (f64, f64) {
        // Round down, so that R·ε' is at most `central`.
        let each = central / self.reports * (1.0 - f64::EPSILON);
        let one = self.profile.delta_bounds(each);
        if self.reports == 1.0 {
            return (one.lower, one.upper);
        }
        // Factor of δ': the sum of exp(i·ε') over i from 0 to R − 1.
        let steps = if each == 0.0 {
            self.reports
        } else {
            central.exp_m1() / each.exp_m1()
        };
        let upper = one.upper * steps * (1.0 + 1e-12) * (1.0 + 4.0 * f64::EPSILON * central);
        // The privacy loss of one report never exceeds ε.
        let lower = if central < self.epsilon {
            self.profile.reduction_delta_bounds(central).lower
        } else {
            0.0
        };
        (lower, upper.min(1.0))
    }

    /// Returns bounds on the smallest central ε at `delta`.
    pub(super) fn epsilon_bounds(&self, delta: f64) -> EpsilonBounds {
        let one = self.profile.epsilon_bounds(delta);
        if self.reports == 1.0 {
            return one;
        }
        if self.delta_bounds(0.0).1 <= delta {
            return EpsilonBounds {
                lower: 0.0,
                reduction: 0.0,
                upper: 0.0,
            };
        }
        // The bound on δ need not be monotone in ε_c, but it is 0 at the largest loss. Every ε_c
        // that it proves is valid.
        let excess =
            |central: f64| -(self.delta_bounds(central).1.max(f64::MIN_POSITIVE) / delta).ln();
        let most = self.largest_loss();
        let near = chandrupatla([one.lower.max(1e-12 * most), most], excess);
        let upper = find_slightly_above(near, most, NEWTON_ERROR, |central| {
            self.delta_bounds(central).1 <= delta
        });
        EpsilonBounds {
            lower: one.lower,
            reduction: one.reduction,
            upper,
        }
    }
}
