//! Choice of the cells and the mechanism of a question of kind `number`.

use alloc::string::String;
use alloc::vec::Vec;

use super::collision::Draft;
use super::draft_agreement::{check_equal, check_equal_if_stated};
use super::mechanism::MechanismDraft;
use crate::bounds::{self, ParameterRange};
use crate::error::Error;
use crate::hash::HashFamily;
use crate::mechanism::collision::RuleName;
use crate::task::collected::part_file::ScaleFile;
use crate::task::{BinSpacing, NumberLimits, NumberPurpose, Scale};

/// Scale of a number, whose levels or bins may be unset.
///
/// ```
/// use hushbin::choose::{NumberDraft, NumberPurpose};
///
/// let load = NumberDraft { min: Some(0.0), max: Some(30.0), ..NumberDraft::default() };
/// let spread = NumberDraft { purpose: Some(NumberPurpose::Quantiles), ..load };
/// assert_eq!(spread.complete_scale().unwrap().cell_count(), 64);
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
    pub levels: Option<u32>,
    /// Edges of bins.
    pub edges: Option<Vec<f64>>,
    /// Number of bins (default 64 for quantiles, [`NumberDraft::BINS`] otherwise).
    pub bins: Option<u32>,
    /// Spacing of bins (default even).
    pub spacing: Option<BinSpacing>,
    /// Distance between possible numbers from `min` to `max`. For example, the distance is 1 for
    /// counts. If there are at most 128 possible numbers, each has its own bin.
    pub step: Option<f64>,
}

impl NumberDraft {
    /// Default number of bins of a histogram. Quantiles have twice as many bins by default. That
    /// number is best with 50,000 people at ε = 1, and costs little with fewer people.
    pub const BINS: u32 = 32;

    /// Limit on the number of possible values, for a number with a step. Up to this limit, each
    /// value has its own bin, unless the draft states the number of bins.
    const VALUES: u32 = 128;

    /// Returns whether any field about bins is stated.
    const fn states_bins(&self) -> bool {
        self.edges.is_some() || self.bins.is_some() || self.spacing.is_some() || self.step.is_some()
    }

    /// Returns the stated purpose, or the purpose that the other fields imply.
    pub(super) fn purpose(&self) -> NumberPurpose {
        self.purpose.unwrap_or(if self.states_bins() {
            NumberPurpose::Histogram
        } else {
            NumberPurpose::Mean
        })
    }

    /// Returns the scale, with defaults for unset fields.
    ///
    /// # Errors
    /// [`Error::Combination`] if fields cannot be combined or the range is missing. Also the errors
    /// of [`Scale::from_levels`] and [`Scale::from_edges`].
    pub fn complete_scale(&self) -> Result<Scale, Error> {
        let combination = |reason| Err(Error::Combination { reason });
        let mean = self.purpose() == NumberPurpose::Mean;
        if mean && self.states_bins() {
            return combination(
                "a \"number\" with \"want\": \"mean\" takes \"levels\", but no bins, \"edges\" or \
                 \"step\"",
            );
        }
        if !mean && self.levels.is_some() {
            return combination("\"levels\" are only for the mean of a \"number\", not for bins");
        }
        let scale = match (self.min, self.max, &self.edges) {
            (None, None, Some(edges)) if self.bins.is_none() && self.spacing.is_none() => {
                Scale::from_edges(edges.clone())
            }
            (_, _, Some(_)) => {
                return combination(
                    "\"edges\" determine the bins: omit \"min\", \"max\", \"bins\" and \"spacing\"",
                );
            }
            (Some(min), Some(max), None) if mean => {
                Scale::from_levels(min, max, self.levels.unwrap_or(2))
            }
            (Some(min), Some(max), None) => {
                let quantiles = self.purpose() == NumberPurpose::Quantiles;
                let bins = Self::BINS * (1 + u32::from(quantiles));
                match (self.step, self.spacing) {
                    (Some(step), None) => {
                        Scale::from_edges(self.edges_between_values(min, max, step, bins)?)
                    }
                    (Some(_), Some(_)) => {
                        return combination(
                            "a \"number\" with a \"step\" takes no \"spacing\": its values are \
                             spread evenly over the bins",
                        );
                    }
                    (None, spacing) => {
                        let bins = self.bins.unwrap_or(bins);
                        bounds::CELLS.check(f64::from(bins))?;
                        let spacing = spacing.unwrap_or(BinSpacing::Even);
                        Scale::from_edges(spacing.edges_in_range(min, max, bins)?)
                    }
                }
            }
            _ => return combination("a \"number\" needs its \"min\" and \"max\""),
        };
        let scale = scale?.with_unit(self.unit.clone())?;
        match self.step {
            Some(step) => scale.with_step(step),
            None => Ok(scale),
        }
    }

    /// Returns edges midway between possible numbers. If the draft states no number of bins, each
    /// possible number has its own bin. Above [`VALUES`](Self::VALUES) possible numbers, there are
    /// `bins` bins instead.
    fn edges_between_values(
        &self,
        min: f64,
        max: f64,
        step: f64,
        bins: u32,
    ) -> Result<Vec<f64>, Error> {
        let bound = |name, min, max| ParameterRange { name, min, max };
        bound("step", f64::MIN_POSITIVE, max - min).check(step)?;
        let steps = libm::rint((max - min) / step);
        // A step such as 0.1 is not exact in binary, so the comparison has a tolerance.
        if libm::fabs(min + steps * step - max) > 1e-9 * step {
            return Err(Error::Combination {
                reason: "for a \"number\" with a \"step\", \"max\" minus \"min\" must be a \
                         multiple of the step",
            });
        }
        let values = steps + 1.0;
        let chosen = if values <= f64::from(Self::VALUES) {
            values
        } else {
            f64::from(bins)
        };
        let bins = self.bins.map_or(chosen, f64::from);
        let most = bounds::CELLS.max.min(values);
        bound(bounds::CELLS.name, bounds::CELLS.min, most).check(bins)?;
        let edge = |index: u32| {
            // The numbers of values in bins differ by at most one.
            let before = libm::floor(f64::from(index) * values / bins);
            min + (before - 0.5) * step
        };
        Ok((0..=bins as u32).map(edge).collect())
    }

    /// Returns the best mechanism for the purpose.
    pub(super) fn mechanism_draft(&self) -> MechanismDraft {
        match self.purpose() {
            NumberPurpose::Quantiles => MechanismDraft::Pattern(super::pattern::Draft::default()),
            NumberPurpose::Histogram | NumberPurpose::Mean => collision_draft(None),
        }
    }

    /// Returns this draft with its levels replaced by `levels`, unless `levels` is `None`.
    pub(super) fn with_levels(&self, levels: Option<u32>) -> Self {
        Self {
            levels: levels.or(self.levels),
            ..self.clone()
        }
    }

    /// Checks that a scale in use agrees with the draft.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub(super) fn check_agrees_with(&self, scale: &Scale) -> Result<(), Error> {
        let edges = scale.edges().map(<[f64]>::to_vec);
        let [min, max] = scale.range();
        let mean = edges.is_none();
        let step = Some(scale.step()).filter(|step| *step > 0.0);
        // A draft without a step means any number, so an absent step is compared too.
        check_equal("step", &self.step, &step)?;
        check_equal_if_stated("min", &self.min, min)?;
        check_equal_if_stated("max", &self.max, max)?;
        check_equal_if_stated("edges", &self.edges, edges)?;
        check_equal("unit", &self.unit.as_deref(), &scale.unit())?;
        let cells = scale.cell_count();
        check_equal_if_stated("levels", &self.levels, mean.then_some(cells))?;
        check_equal_if_stated("bins", &self.bins, (!mean).then_some(cells))?;
        check_equal(
            "for its mean",
            &(self.purpose() == NumberPurpose::Mean),
            &mean,
        )
    }
}

impl NumberLimits {
    /// Checks that limits in use are equal to these.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] with the first difference.
    pub(super) fn check_agrees_with(&self, used: &Self) -> Result<(), Error> {
        let [[min, max], [least, most]] = [self.range(), used.range()];
        check_equal("min", &min, &least)?;
        check_equal("max", &max, &most)?;
        check_equal("unit", &self.unit(), &used.unit())
    }
}

impl From<ScaleFile> for NumberDraft {
    fn from(file: ScaleFile) -> Self {
        Self {
            purpose: file.want,
            min: file.min,
            max: file.max,
            unit: file.unit,
            levels: file.levels,
            edges: file.edges,
            bins: file.bins,
            spacing: file.spacing,
            step: file.step,
        }
    }
}

impl BinSpacing {
    fn edges_in_range(self, min: f64, max: f64, bins: u32) -> Result<Vec<f64>, Error> {
        if self == Self::Logarithmic && !(min > 0.0 && max > min) {
            return Err(Error::Combination {
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
pub(super) fn collision_draft(buckets: Option<u32>) -> MechanismDraft {
    MechanismDraft::Collision(Draft {
        rule: Some(RuleName::Heaviest),
        favoured: buckets.map(|_| 1),
        hashing: buckets.map(|_| HashFamily::Balanced),
        buckets,
        hashes: buckets.map(|_| 1),
    })
}
