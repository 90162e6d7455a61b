//! Predicted squared error of a population's estimates.

use super::population::Population;
use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::contract::MechanismParameters;

/// Squared error of one item's estimate, averaged over items.
///
/// ```
/// use hushbin::choose::PredictedSquaredError;
///
/// let error = PredictedSquaredError { variance: 0.5, worst_case_squared_bias: 0.25, ..PredictedSquaredError::default() };
/// assert_eq!((error.worst_case_total_error(), error.likely_total_error()), (0.75, 0.5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PredictedSquaredError {
    /// Variance of the noise. It decreases with the number of people.
    pub variance: f64,
    /// Variance for a rare item. The variance for a common item is of the same order.
    pub rare_item_variance: f64,
    /// Squared bias that is caused by omitting entries or by clipping, in the worst case: all
    /// people have the same items. The bias does not decrease with the number of people.
    pub worst_case_squared_bias: f64,
    /// Squared bias for an overlap: the average number of items that two people have in common. If
    /// the draft states no overlap, one is assumed. Parameters are chosen by this squared bias,
    /// which is not a bound.
    pub likely_squared_bias: f64,
}

impl PredictedSquaredError {
    /// Returns variance plus squared bias, in the worst case.
    #[must_use]
    pub fn worst_case_total_error(&self) -> f64 {
        self.variance + self.worst_case_squared_bias
    }

    /// Returns variance plus likely squared bias, the error by which parameters are chosen.
    #[must_use]
    pub fn likely_total_error(&self) -> f64 {
        self.variance + self.likely_squared_bias
    }
}

/// Predicted errors of estimates. `None` marks an estimate that the mechanism does not provide.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let chosen = draft.choices_per_question().unwrap().remove(0).chosen;
/// // Collision estimates means and frequencies.
/// let [mean, frequency] = [chosen.predicted_errors.mean_error, chosen.predicted_errors.frequency_error];
/// assert!(mean.unwrap().worst_case_total_error() > frequency.unwrap().worst_case_total_error());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedErrors {
    /// Error of means.
    pub mean_error: Option<PredictedSquaredError>,
    /// Error of frequencies, the shares of people who have an item with a given sign.
    pub frequency_error: Option<PredictedSquaredError>,
    /// Error of non-missing frequencies, the shares of people who have an item with either sign.
    pub nonmissing_error: Option<PredictedSquaredError>,
}

/// Mechanism whose errors can be predicted.
pub(crate) trait PredictErrors: MechanismParameters + Into<Mechanism> {
    /// Returns the expected errors of estimates, for a population whose entries are ±1. In an open
    /// domain, the errors are those of rare items.
    ///
    /// # Panics
    /// If the parameters do not suit the domain. The parameters of a [`Task`](crate::Task) do.
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors;

    /// Returns whether clipping biases the values of a person with s entries towards 0, where s is
    /// the sparsity.
    fn has_clipping_bias(&self, _: &Domain) -> bool {
        false
    }
}

/// Returns the average error of the estimates of `estimands` numbers. At most s entries of each
/// person, drawn at random, are kept, where s is the sparsity.
///
/// Each kept entry is one of these numbers, and its estimate has the variance `with`. If a person
/// keeps k entries, the estimates of the other numbers have the variance `without(k)`.
pub(super) fn error_with_entry_limit(
    domain: &Domain,
    population: &Population,
    estimands: f64,
    with: f64,
    without: impl Fn(u32) -> f64,
) -> PredictedSquaredError {
    let s = domain.sparsity();
    let rare = population.average_over_people(|entries| without(entries.min(s)));
    // A person with r > s entries loses the share 1 − s/r of each value.
    let lost = |entries: u32| (1.0 - f64::from(s) / f64::from(entries)).max(0.0);
    let total = match domain.item_count() {
        Some(_) => population.average_over_people(|entries| {
            let kept = entries.min(s);
            f64::from(kept) * with + (estimands - f64::from(kept)) * without(kept)
        }),
        None => estimands * rare,
    };
    PredictedSquaredError {
        variance: total / estimands / population.people_count(),
        rare_item_variance: rare / population.people_count(),
        worst_case_squared_bias: population.squared_bias_at_similarity(1.0, lost) / estimands,
        likely_squared_bias: population
            .likely_squared_bias(item_count_for_averaging(domain, population), lost)
            / estimands,
    }
}

/// Returns the number of items over which errors are averaged.
pub(super) fn item_count_for_averaging(domain: &Domain, population: &Population) -> f64 {
    let items = domain.item_count().unwrap_or(population.max_entries());
    f64::from(items.max(1))
}
