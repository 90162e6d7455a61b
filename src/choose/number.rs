//! Choice of the cells and the mechanism of a question of kind `number`.

use alloc::string::String;
use alloc::vec::Vec;

use super::collision::ParametersDraft;
use super::draft_agreement::{check_equal, check_equal_if_stated};
use super::mechanism_draft::MechanismDraft;
use crate::bounds::{self, ParameterRange};
use crate::error::Error;
use crate::hash::HashFamily;
use crate::mechanism::collision::FavouredBucketRuleName;
use crate::task::collected::part_file::ScaleFields;
use crate::task::collected::scale_getters::OPTIONAL_WITHOUT_BINS_ERROR;
use crate::task::{BinSpacing, NumberLimits, NumberPurpose, NumberScale};

/// Scale of a number, whose levels or bins may be unset.
///
/// ```
/// use hushbin::choose::{NumberDraft, NumberPurpose};
///
/// let load = NumberDraft { min: Some(0.0), max: Some(30.0), ..NumberDraft::default() };
/// let spread = NumberDraft { purpose: Some(NumberPurpose::Quantiles), ..load };
/// assert_eq!(spread.scale_with_defaults().unwrap().cell_count(), 64);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberDraft {
    /// Purpose (default a histogram if any field about bins is stated, else the mean).
    pub purpose: Option<NumberPurpose>,
    /// Minimum. Smaller numbers are clipped.
    pub min: Option<f64>,
    /// Maximum. Larger numbers are clipped.
    pub max: Option<f64>,
    /// Unit of the number.
    pub unit: Option<String>,
    /// Number of levels, for means within the rows of a `cross`.
    pub level_count: Option<u32>,
    /// Edges of bins.
    pub bin_edges: Option<Vec<f64>>,
    /// Number of bins (default 64 for quantiles, [`NumberDraft::DEFAULT_BIN_COUNT`] otherwise).
    pub bin_count: Option<u32>,
    /// Spacing of bins (default even).
    pub linear_or_log_spacing: Option<BinSpacing>,
    /// Distance between possible numbers from `min` to `max`. For example, the distance is 1 for
    /// counts. If there are at most 128 possible numbers, each has its own bin.
    pub value_step: Option<f64>,
    /// True if a person may have no number.
    pub optional: bool,
}

impl NumberDraft {
    /// Default number of bins of a histogram. Quantiles have twice as many bins by default. That
    /// number is best with 50,000 people at ε = 1, and costs little with fewer people.
    pub const DEFAULT_BIN_COUNT: u32 = 32;

    /// Limit on the number of possible values, for a number with a step. Up to this limit, each
    /// value has its own bin, unless the draft states the number of bins.
    const MAX_VALUES_WITH_OWN_BIN: u32 = 128;

    /// Returns whether any field about bins is stated.
    const fn has_stated_bins(&self) -> bool {
        self.bin_edges.is_some()
            || self.bin_count.is_some()
            || self.linear_or_log_spacing.is_some()
            || self.value_step.is_some()
    }

    /// Returns the stated purpose, or the purpose that the other fields imply.
    pub(super) fn stated_or_implied_purpose(&self) -> NumberPurpose {
        self.purpose.unwrap_or(if self.has_stated_bins() {
            NumberPurpose::Histogram
        } else {
            NumberPurpose::Mean
        })
    }

    /// Returns the scale, with defaults for unset fields.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] if fields cannot be combined or the range is missing. Also the errors
    /// of [`NumberScale::from_levels`] and [`NumberScale::from_edges`].
    pub fn scale_with_defaults(&self) -> Result<NumberScale, Error> {
        let combination = |reason| Err(Error::InvalidCombination { reason });
        let mean = self.stated_or_implied_purpose() == NumberPurpose::Mean;
        if mean && self.has_stated_bins() {
            return combination(
                "a \"number\" with \"want\": \"mean\" takes \"levels\", but no bins, \"edges\" or \
                 \"step\"",
            );
        }
        if !mean && self.level_count.is_some() {
            return combination("\"levels\" are only for the mean of a \"number\", not for bins");
        }
        if mean && self.optional {
            return combination(OPTIONAL_WITHOUT_BINS_ERROR);
        }
        let scale = match (self.min, self.max, &self.bin_edges) {
            (None, None, Some(edges))
                if self.bin_count.is_none() && self.linear_or_log_spacing.is_none() =>
            {
                NumberScale::from_edges(edges.clone())
            }
            (_, _, Some(_)) => {
                return combination(
                    "\"edges\" determine the bins: omit \"min\", \"max\", \"bins\" and \"spacing\"",
                );
            }
            (Some(min), Some(max), None) if mean => {
                NumberScale::from_levels(min, max, self.level_count.unwrap_or(2))
            }
            (Some(min), Some(max), None) => {
                let quantiles = self.stated_or_implied_purpose() == NumberPurpose::Quantiles;
                let bins = Self::DEFAULT_BIN_COUNT * (1 + u32::from(quantiles));
                match (self.value_step, self.linear_or_log_spacing) {
                    (Some(step), None) => {
                        NumberScale::from_edges(self.edges_between_values(min, max, step, bins)?)
                    }
                    (Some(_), Some(_)) => {
                        return combination(
                            "a \"number\" with a \"step\" takes no \"spacing\": its values are \
                             spread evenly over the bins",
                        );
                    }
                    (None, spacing) => {
                        let bins = self.bin_count.unwrap_or(bins);
                        bounds::NUMBER_BIN_COUNT_RANGE.check_in_range(f64::from(bins))?;
                        let spacing = spacing.unwrap_or(BinSpacing::Even);
                        NumberScale::from_edges(spacing.bin_edges_in_range(min, max, bins)?)
                    }
                }
            }
            _ => return combination("a \"number\" needs its \"min\" and \"max\""),
        };
        scale?.with_details(self.unit.clone(), self.value_step, self.optional)
    }

    /// Returns edges midway between possible numbers. If the draft states no number of bins, each
    /// possible number has its own bin. Above [`MAX_VALUES_WITH_OWN_BIN`](Self::MAX_VALUES_WITH_OWN_BIN) possible numbers, there are
    /// `bins` bins instead.
    fn edges_between_values(
        &self,
        min: f64,
        max: f64,
        step: f64,
        bins: u32,
    ) -> Result<Vec<f64>, Error> {
        let bound = |name, min, max| ParameterRange { name, min, max };
        bound("step", f64::MIN_POSITIVE, max - min).check_in_range(step)?;
        let steps = libm::rint((max - min) / step);
        // A step such as 0.1 is not exact in binary, so the comparison has a tolerance.
        if libm::fabs(min + steps * step - max) > 1e-9 * step {
            return Err(Error::InvalidCombination {
                reason: "for a \"number\" with a \"step\", \"max\" minus \"min\" must be a \
                         multiple of the step",
            });
        }
        let values = steps + 1.0;
        let chosen = if values <= f64::from(Self::MAX_VALUES_WITH_OWN_BIN) {
            values
        } else {
            f64::from(bins)
        };
        let bins = self.bin_count.map_or(chosen, f64::from);
        let most = bounds::NUMBER_BIN_COUNT_RANGE.max.min(values);
        bound(
            bounds::NUMBER_BIN_COUNT_RANGE.name,
            bounds::NUMBER_BIN_COUNT_RANGE.min,
            most,
        )
        .check_in_range(bins)?;
        let edge = |index: u32| {
            // The numbers of values in bins differ by at most one.
            let before = libm::floor(f64::from(index) * values / bins);
            min + (before - 0.5) * step
        };
        Ok((0..=bins as u32).map(edge).collect())
    }

    /// Returns the best mechanism for the purpose.
    pub(super) fn mechanism_draft(&self) -> MechanismDraft {
        match self.stated_or_implied_purpose() {
            // The bins of a pattern form a sequence, in which people without a number have no place.
            NumberPurpose::Quantiles if !self.optional => {
                MechanismDraft::Pattern(super::pattern::ParametersDraft::default())
            }
            _ => one_favoured_collision_draft(None),
        }
    }

    /// Returns this draft with its levels replaced by `levels`, unless `levels` is `None`.
    pub(super) fn with_levels(&self, levels: Option<u32>) -> Self {
        Self {
            level_count: levels.or(self.level_count),
            ..self.clone()
        }
    }

    /// Checks that a scale in use agrees with the draft.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub(super) fn check_agrees_with(&self, scale: &NumberScale) -> Result<(), Error> {
        let edges = scale.edges().map(<[f64]>::to_vec);
        let [min, max] = scale.range();
        let mean = edges.is_none();
        let step = Some(scale.value_step()).filter(|step| *step > 0.0);
        // A draft without a step means any number, so an absent step is compared too.
        check_equal("step", &self.value_step, &step)?;
        check_equal_if_stated("min", &self.min, min)?;
        check_equal_if_stated("max", &self.max, max)?;
        check_equal_if_stated("edges", &self.bin_edges, edges)?;
        check_equal("unit", &self.unit.as_deref(), &scale.unit())?;
        check_equal("optional", &self.optional, &scale.is_optional())?;
        let cells = scale.level_or_bin_count();
        check_equal_if_stated("levels", &self.level_count, mean.then_some(cells))?;
        check_equal_if_stated("bins", &self.bin_count, (!mean).then_some(cells))?;
        check_equal(
            "for its mean",
            &(self.stated_or_implied_purpose() == NumberPurpose::Mean),
            &mean,
        )
    }
}

impl NumberLimits {
    /// Checks that limits in use are equal to these.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub(super) fn check_equals_limits(&self, used: &Self) -> Result<(), Error> {
        let [[min, max], [least, most]] = [self.range(), used.range()];
        check_equal("min", &min, &least)?;
        check_equal("max", &max, &most)?;
        check_equal("unit", &self.unit(), &used.unit())
    }
}

impl From<ScaleFields> for NumberDraft {
    fn from(file: ScaleFields) -> Self {
        Self {
            purpose: file.number_purpose,
            min: file.min,
            max: file.max,
            unit: file.unit,
            level_count: file.level_count,
            bin_edges: file.bin_edges,
            bin_count: file.bin_count,
            linear_or_log_spacing: file.bin_spacing,
            value_step: file.value_step,
            optional: file.optional,
        }
    }
}

impl BinSpacing {
    fn bin_edges_in_range(self, min: f64, max: f64, bins: u32) -> Result<Vec<f64>, Error> {
        if self == Self::Logarithmic && !(min > 0.0 && max > min) {
            return Err(Error::InvalidCombination {
                reason: "\"logarithmic\" bins need a \"min\" above 0, and a \"max\" above \"min\"",
            });
        }
        let ratio = libm::log(max / min);
        let edge = |index: u32| {
            let part = f64::from(index) / f64::from(bins);
            // The outer edges are exact: the formulas below would round them.
            match (index, self) {
                (0, _) => min,
                (index, _) if index == bins => max,
                (_, Self::Even) => min + (max - min) * part,
                (_, Self::Logarithmic) => min * libm::exp(ratio * part),
            }
        };
        Ok((0..=bins).map(edge).collect())
    }
}

/// Returns a draft of Collision with `buckets` buckets and one favoured bucket. `None` leaves both
/// numbers unset.
pub(super) fn one_favoured_collision_draft(buckets: Option<u32>) -> MechanismDraft {
    MechanismDraft::Collision(ParametersDraft {
        rule: Some(FavouredBucketRuleName::Heaviest),
        favoured: buckets.map(|_| 1),
        hashing: buckets.map(|_| HashFamily::Balanced),
        buckets,
        hashes: buckets.map(|_| 1),
    })
}
