//! Point estimates, and the variance of one report's contribution, averaged over people.

mod sampling_model;

pub(crate) use sampling_model::SamplingModel;

use serde::Serialize;

/// Quantity estimated for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum Estimand {
    /// Average value in [-1, 1]. A missing entry counts as 0.
    Mean,
    /// Frequency of the item with a positive value, in [0, 1].
    Plus,
    /// Frequency of the item with a negative value, in [0, 1].
    Minus,
    /// Non-missing frequency, in [0, 1]: frequency of the item with any value, weighted by
    /// magnitude.
    Nonmissing,
    /// Share of people who gave the answer, in [0, 1].
    Share,
}

impl Estimand {
    /// Estimands in the order of output.
    pub const ALL: [Self; 5] = [
        Self::Mean,
        Self::Plus,
        Self::Minus,
        Self::Nonmissing,
        Self::Share,
    ];

    /// Estimands that are estimated if people rate items.
    pub const RATING_ESTIMANDS: [Self; 4] = [Self::Mean, Self::Plus, Self::Minus, Self::Nonmissing];

    /// Returns the name used in output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Plus => "plus",
            Self::Minus => "minus",
            Self::Nonmissing => "nonmissing",
            Self::Share => "share",
        }
    }
}

/// An estimate with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointEstimate {
    /// Estimate, unbiased unless the mechanism clips.
    pub estimate: f64,
    /// Standard error of the estimate.
    pub standard_error: f64,
}

impl PointEstimate {
    /// Creates a point estimate. `variance` is the variance of one report's contribution. The
    /// standard error is √(variance/reports).
    pub(crate) fn new(estimate: f64, variance: f64, reports: f64) -> Self {
        Self {
            estimate,
            standard_error: (variance / reports).sqrt(),
        }
    }
}

/// Returns the variance of one report's contribution, averaged over people.
///
/// A `share` of people, clamped to [0, 1], has the property whose frequency is estimated. Their
/// contributions have mean 1 and variance `with`. All other contributions have mean 0 and variance
/// `without`.
pub(crate) fn share_variance_per_report(
    whose: SamplingModel,
    share: f64,
    with: f64,
    without: f64,
) -> f64 {
    let share = share.clamp(0.0, 1.0);
    let mixed = share * with + (1.0 - share) * without;
    match whose {
        SamplingModel::FixedPopulation => mixed,
        // If people have the property at random, this adds the variance of a Bernoulli variable.
        SamplingModel::RoundedValues | SamplingModel::RandomSample => mixed + share * (1.0 - share),
    }
}

/// Returns the variance of one report's contribution to the frequency of one sign, averaged over
/// people as in [`share_variance_per_report`].
///
/// `own` is the share of people who have the item with this sign, and `other` the share of people
/// who have it with the opposite sign. `variances` are those for people who have the item with
/// [this sign, the opposite sign], and for people without the item.
pub(crate) fn sign_variance_per_report(
    whose: SamplingModel,
    [own, other]: [f64; 2],
    variances: [f64; 3],
) -> f64 {
    let [own, other] = [own, other].map(|share| share.clamp(0.0, 1.0));
    let none = (1.0 - own - other).max(0.0);
    let mixed = own * variances[0] + other * variances[1] + none * variances[2];
    match whose {
        SamplingModel::FixedPopulation => mixed,
        SamplingModel::RoundedValues | SamplingModel::RandomSample => mixed + own * (1.0 - own),
    }
}

/// Returns the covariance of one report's contributions to mean and non-missing frequency, averaged
/// over people.
///
/// `product` is the expected product of the two contributions for a person with a positive value.
/// As in [`share_variance_per_report`], the result depends on the sampling model.
pub(crate) fn mean_presence_covariance(
    whose: SamplingModel,
    mean: f64,
    nonmissing: f64,
    product: f64,
) -> f64 {
    let share = nonmissing.clamp(0.0, 1.0);
    let mean = mean.clamp(-share, share);
    match whose {
        // For a fixed population, subtract the product of each person's two expected contributions.
        // It is ±1 · 1 for people with the item, and averages to `mean`.
        SamplingModel::FixedPopulation => mean * (product - 1.0),
        SamplingModel::RoundedValues | SamplingModel::RandomSample => mean * (product - share),
    }
}

/// Point estimates of one item. A field is `None` if the mechanism does not estimate that quantity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ItemPointEstimates {
    /// Estimate of [`Estimand::Mean`].
    pub mean: Option<PointEstimate>,
    /// Estimate of [`Estimand::Plus`].
    pub positive_frequency: Option<PointEstimate>,
    /// Estimate of [`Estimand::Minus`].
    pub(crate) negative_frequency: Option<PointEstimate>,
    /// Estimate of [`Estimand::Nonmissing`].
    pub(crate) nonmissing_frequency: Option<PointEstimate>,
    /// Covariance of the estimates of mean and non-missing frequency, if both are estimated.
    pub(crate) mean_nonmissing_covariance: Option<f64>,
    /// Estimate of [`Estimand::Share`].
    pub estimated_answer_share: Option<PointEstimate>,
}

impl ItemPointEstimates {
    /// Returns the point estimate of one estimand. `None` if the mechanism does not estimate it.
    #[must_use]
    pub const fn get(&self, estimand: Estimand) -> Option<PointEstimate> {
        match estimand {
            Estimand::Mean => self.mean,
            Estimand::Plus => self.positive_frequency,
            Estimand::Minus => self.negative_frequency,
            Estimand::Nonmissing => self.nonmissing_frequency,
            Estimand::Share => self.estimated_answer_share,
        }
    }

    /// Returns the first estimated quantity and its point estimate. It is the main quantity of the
    /// question: a mean if the mechanism estimates means, otherwise a share.
    pub(crate) fn main_estimate(&self) -> Option<(Estimand, PointEstimate)> {
        let estimands = Estimand::ALL.into_iter();
        estimands
            .filter_map(|estimand| Some((estimand, self.get(estimand)?)))
            .next()
    }
}
