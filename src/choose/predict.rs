//! The squared error to expect of a population's estimates.

use super::population::Population;
use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::contract::Parameters;

/// A squared error of one item's estimate, averaged over items.
///
/// ```
/// use hushbin::choose::SquaredError;
///
/// let error = SquaredError { variance: 0.5, squared_bias: 0.25, ..SquaredError::default() };
/// assert_eq!((error.total(), error.likely()), (0.75, 0.5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SquaredError {
    /// The variance of the noise, which falls with the number of people.
    pub variance: f64,
    /// The variance of an item that hardly anybody has; one that many have is of the same order.
    pub rare_variance: f64,
    /// The square of the bias of leaving out or clipping, in the worst case: all
    /// people have the same items. It does not fall with the number of people.
    pub squared_bias: f64,
    /// The same if people's items overlap as a draft says, or else as is assumed. It is no
    /// bound: parameters are chosen by it.
    pub likely_squared_bias: f64,
}

impl SquaredError {
    /// Variance plus squared bias, in the worst case.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.variance + self.squared_bias
    }

    /// Variance plus likely squared bias, by which parameters are chosen.
    #[must_use]
    pub fn likely(&self) -> f64 {
        self.variance + self.likely_squared_bias
    }
}

/// What errors to expect; `None` what a mechanism does not estimate.
///
/// ```
/// # let draft: hushbin::TaskDraft = serde_json::from_str(
/// #     r#"{ "id": "settings", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
/// # ).unwrap();
/// let picked = draft.choose().unwrap().remove(0).picked;
/// // Collision answers for both.
/// let [mean, frequency] = [picked.predicted.mean, picked.predicted.frequency];
/// assert!(mean.unwrap().total() > frequency.unwrap().total());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Of means.
    pub mean: Option<SquaredError>,
    /// Of the frequencies of an item with either sign.
    pub frequency: Option<SquaredError>,
    /// Of the non-missing frequencies of items.
    pub nonmissing: Option<SquaredError>,
}

/// What can be told of a mechanism's reports and their error before there are any.
pub(crate) trait Predict: Parameters + Into<Mechanism> {
    /// The error to expect of a population with entries of ±1. In an open
    /// domain, items that hardly anybody has.
    ///
    /// # Panics
    /// If the parameters do not suit the domain; those of a
    /// [`Task`](crate::Task) do.
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted;

    /// Whether a value of a person with s entries is cut off on average.
    fn clips(&self, _: &Domain) -> bool {
        false
    }
}

/// The error over `estimands` numbers of people who are sampled down to s
/// entries: each entry kept is one of the numbers and has the variance `with`,
/// each other number of a person who keeps k has the variance `without(k)`.
pub(super) fn sampled(
    domain: &Domain,
    population: &Population,
    estimands: f64,
    with: f64,
    without: impl Fn(u32) -> f64,
) -> SquaredError {
    let s = domain.sparsity();
    let rare = population.average(|entries| without(entries.min(s)));
    let lost = |entries: u32| (1.0 - f64::from(s) / f64::from(entries)).max(0.0);
    let total = match domain.items() {
        Some(_) => population.average(|entries| {
            let kept = entries.min(s);
            f64::from(kept) * with + (estimands - f64::from(kept)) * without(kept)
        }),
        None => estimands * rare,
    };
    SquaredError {
        variance: total / estimands / population.people(),
        rare_variance: rare / population.people(),
        squared_bias: population.squared_bias(1.0, lost) / estimands,
        likely_squared_bias: population.likely_squared_bias(items(domain, population), lost)
            / estimands,
    }
}

/// How many items the error is averaged over.
pub(super) fn items(domain: &Domain, population: &Population) -> f64 {
    let items = domain.items().unwrap_or(population.most_entries());
    f64::from(items.max(1))
}
