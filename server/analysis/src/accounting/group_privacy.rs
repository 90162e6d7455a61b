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
use super::mixture::ReportMixture;
use super::privacy_profile::{EpsilonBounds, PrivacyProfile};
use super::ranges::REPORTS_PER_PERSON_RANGE;
use crate::numeric::roots::{
    NEWTON_RELATIVE_ERROR, find_root_by_chandrupatla, find_valid_value_above,
};

/// Checks the number of reports from one person in a batch.
///
/// # Errors
/// [`Error::OutOfRange`] if `reports` is outside [`REPORTS_PER_PERSON_RANGE`], or larger than
/// `honest_reports`.
pub(super) fn check_reports_per_person(reports: u32, honest_reports: u64) -> Result<(), Error> {
    let most = (honest_reports as f64).min(REPORTS_PER_PERSON_RANGE.max);
    REPORTS_PER_PERSON_RANGE
        .with_max(most)
        .check_in_range(f64::from(reports))
}

/// Privacy profile of one batch for a person who sends R reports to it.
#[derive(Debug)]
pub(super) struct GroupPrivacyProfile {
    batch_profile: PrivacyProfile,
    /// Local ε of one report.
    local_epsilon: f64,
    /// Number R of the person's reports.
    reports_per_person: f64,
}

impl GroupPrivacyProfile {
    /// Creates the profile. Its sums are precise for δ down to `delta`.
    pub(super) fn new(
        mixture: &ReportMixture,
        honest_reports: u64,
        reports: u32,
        delta: f64,
    ) -> Self {
        let reports = f64::from(reports);
        // Group privacy evaluates one report at a smaller δ.
        let profile = PrivacyProfile::new(*mixture, honest_reports, delta / reports);
        Self {
            local_epsilon: mixture.epsilon(),
            reports_per_person: reports,
            batch_profile: profile,
        }
    }

    /// Returns the largest possible privacy loss, R·ε.
    pub(super) fn largest_loss(&self) -> f64 {
        self.reports_per_person * self.local_epsilon
    }

    /// Returns the number of grid points at which δ is computed. The computation at all of these
    /// points takes about a second.
    pub(super) fn grid_point_count(&self) -> usize {
        (3e7 / self.batch_profile.terms_per_sum()).clamp(64.0, 1024.0) as usize
    }

    pub(super) fn accounting_method(&self) -> AccountingMethod {
        if self.reports_per_person > 1.0 {
            AccountingMethod::GroupPrivacy
        } else {
            self.batch_profile.accounting_method()
        }
    }

    /// Returns a lower and an upper bound on δ at ε_c = `central`. The lower bound considers only
    /// one of the person's reports.
    pub(super) fn delta_bounds(&self, central: f64) -> (f64, f64) {
        // Round down, so that R·ε' is at most `central`.
        let each = central / self.reports_per_person * (1.0 - f64::EPSILON);
        let one = self.batch_profile.delta_bounds(each);
        if self.reports_per_person == 1.0 {
            return (one.reduction_lower_delta, one.proven_upper_delta);
        }
        // Factor of δ': the sum of exp(i·ε') over i from 0 to R − 1.
        let steps = if each == 0.0 {
            self.reports_per_person
        } else {
            central.exp_m1() / each.exp_m1()
        };
        let upper =
            one.proven_upper_delta * steps * (1.0 + 1e-12) * (1.0 + 4.0 * f64::EPSILON * central);
        // The privacy loss of one report never exceeds ε.
        let lower = if central < self.local_epsilon {
            self.batch_profile
                .reduction_delta_bounds(central)
                .reduction_lower_delta
        } else {
            0.0
        };
        (lower, upper.min(1.0))
    }

    /// Returns bounds on the smallest central ε at `delta`.
    pub(super) fn epsilon_bounds(&self, delta: f64) -> EpsilonBounds {
        let one = self.batch_profile.epsilon_bounds(delta);
        if self.reports_per_person == 1.0 {
            return one;
        }
        if self.delta_bounds(0.0).1 <= delta {
            return EpsilonBounds {
                reduction_lower_epsilon: 0.0,
                reduction_upper_epsilon: 0.0,
                proven_upper_epsilon: 0.0,
            };
        }
        // The bound on δ need not be monotone in ε_c, but it is 0 at the largest loss. Every ε_c
        // that it proves is valid.
        let excess =
            |central: f64| -(self.delta_bounds(central).1.max(f64::MIN_POSITIVE) / delta).ln();
        let most = self.largest_loss();
        let near = find_root_by_chandrupatla(
            [one.reduction_lower_epsilon.max(1e-12 * most), most],
            excess,
        );
        let upper = find_valid_value_above(near, most, NEWTON_RELATIVE_ERROR, |central| {
            self.delta_bounds(central).1 <= delta
        });
        EpsilonBounds {
            reduction_lower_epsilon: one.reduction_lower_epsilon,
            reduction_upper_epsilon: one.reduction_upper_epsilon,
            proven_upper_epsilon: upper,
        }
    }
}
