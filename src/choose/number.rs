//! The scale of a number whose cells are left open, and the mechanism that suits it.

use alloc::string::String;
use alloc::vec::Vec;

use super::collision::Draft;
use super::differs::{same, same_if_said};
use super::mechanism::MechanismDraft;
use super::tree;
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::collision::{Collision, Rule, RuleName};
use crate::task::collected::part_file::ScaleFile;
use crate::task::{Limits, Scale, Spacing, Tree, Want};

/// A number's scale, of which the levels or bins may be left open.
///
/// ```
/// use hushbin::choose::{NumberDraft, Want};
///
/// let load = NumberDraft { min: Some(0.0), max: Some(30.0), ..NumberDraft::default() };
/// let spread = NumberDraft { want: Some(Want::Quantiles), ..load };
/// assert_eq!(spread.scale().unwrap().cells(), 32);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberDraft {
    /// What it is wanted for; by default what its levels or edges are for, or else its
    /// mean.
    pub want: Option<Want>,
    /// The least number that is not clipped.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// Its unit.
    pub unit: Option<String>,
    /// Number of levels, for a mean within rows.
    pub levels: Option<u32>,
    /// Edges of bins.
    pub edges: Option<Vec<f64>>,
    /// Branches of a [tree](crate::task::Tree) over bins; one alone says that there is none.
    pub tree: Option<Vec<u32>>,
    /// Number of bins, by default [`NumberDraft::BINS`].
    pub bins: Option<u32>,
    /// How bins are spaced, by default evenly.
    pub spacing: Option<Spacing>,
}

impl NumberDraft {
    /// How many bins there are where nothing is said.
    pub const BINS: u32 = 32;

    /// From how many bins on a tree is chosen for quantiles. With fewer it makes shares in the
    /// middle more exact too, but those near the ends, and of bins, less: of 32 bins at ε = 1
    /// the variance of the share below the median is 0.4 of that without, below the first edge
    /// it is 1.7 times that.
    pub const MANY: u32 = 64;

    /// Whether something is said of bins.
    const fn is_binned(&self) -> bool {
        let bins = self.edges.is_some() || self.bins.is_some() || self.spacing.is_some();
        bins || self.tree.is_some()
    }

    /// What it is wanted for, by what is said.
    pub(super) fn wanted(&self) -> Want {
        self.want.unwrap_or(if self.is_binned() {
            Want::Histogram
        } else {
            Want::Mean
        })
    }

    /// Returns the scale, without a tree unless one is said.
    ///
    /// # Errors
    /// [`Error::Combination`] where what is said does not go together or the range is
    /// missing, and those of [`Scale::levels`], [`Scale::bins`] and [`Scale::in_tree`].
    pub fn scale(&self) -> Result<Scale, Error> {
        let scale = self.cells()?;
        match self.tree.as_deref() {
            None => Ok(scale),
            Some([all]) if scale.edges().is_some() && *all == scale.cells() => Ok(scale),
            Some(branches) => scale.in_tree(branches.to_vec()),
        }
    }

    /// The same with the tree that is best, of [`NumberDraft::MANY`] bins or more that are
    /// wanted for quantiles, where none is said and one is predicted to be better than none.
    pub(super) fn best_scale(&self, epsilon: f64) -> Result<Scale, Error> {
        let scale = self.scale()?;
        let many =
            self.tree.is_none() && self.wanted() == Want::Quantiles && scale.cells() >= Self::MANY;
        if !many {
            return Ok(scale);
        }
        let flat = best_for_sums(scale.cells(), epsilon)?.1;
        match tree::best(scale.cells(), epsilon) {
            Some(best) if best.1 < flat => scale.in_tree(best.0),
            _ => Ok(scale),
        }
    }

    /// The scale without its tree.
    fn cells(&self) -> Result<Scale, Error> {
        let combination = |reason| Err(Error::Combination { reason });
        let mean = self.wanted() == Want::Mean;
        if mean && self.is_binned() {
            return combination("the mean of a \"number\" takes \"levels\", not bins or \"edges\"");
        }
        if !mean && self.levels.is_some() {
            return combination("\"levels\" are for the mean of a \"number\", which has no bins");
        }
        let scale = match (self.min, self.max, &self.edges) {
            (None, None, Some(edges)) if self.bins.is_none() && self.spacing.is_none() => {
                Scale::bins(edges.clone())
            }
            (_, _, Some(_)) => {
                return combination(
                    "\"edges\" say all: no \"min\", \"max\", \"bins\" or \"spacing\"",
                );
            }
            (Some(min), Some(max), None) if mean => {
                Scale::levels(min, max, self.levels.unwrap_or(2))
            }
            (Some(min), Some(max), None) => {
                let bins = self.bins.unwrap_or(Self::BINS);
                bounds::CELLS.check(f64::from(bins))?;
                Scale::bins(
                    self.spacing
                        .unwrap_or(Spacing::Even)
                        .edges(min, max, bins)?,
                )
            }
            _ => return combination("a \"number\" needs its \"min\" and \"max\""),
        };
        scale?.in_unit(self.unit.clone())
    }

    /// Collision with the number of buckets that is best for what is wanted.
    ///
    /// # Errors
    /// As [`NumberDraft::scale`].
    pub(super) fn mechanism(&self, epsilon: f64) -> Result<MechanismDraft, Error> {
        let scale = self.best_scale(epsilon)?;
        if let Some(tree) = scale.tree() {
            return Ok(Self::hashed(
                Hashing::Independent,
                tree::buckets(tree, epsilon),
            ));
        }
        let cells = scale.cells();
        let buckets = match self.wanted() {
            Want::Quantiles => Some(best_for_sums(cells, epsilon)?.0),
            Want::Histogram | Want::Mean => None,
        };
        Ok(Self::collision(buckets))
    }

    /// Collision with so many buckets, or with what is best for cells.
    pub(super) fn collision(buckets: Option<u32>) -> MechanismDraft {
        match buckets {
            Some(buckets) => Self::hashed(Hashing::Balanced, buckets),
            None => MechanismDraft::Collision(Draft {
                rule: Some(RuleName::Heaviest),
                ..Draft::default()
            }),
        }
    }

    fn hashed(hashing: Hashing, buckets: u32) -> MechanismDraft {
        MechanismDraft::Collision(Draft {
            rule: Some(RuleName::Heaviest),
            favoured: Some(1),
            hashing: Some(hashing),
            buckets: Some(buckets),
            hashes: Some(1),
            ..Draft::default()
        })
    }

    /// The same with so many levels, where there are any.
    pub(super) fn with_levels(&self, levels: Option<u32>) -> Self {
        Self {
            levels: levels.or(self.levels),
            ..self.clone()
        }
    }

    /// The check that a scale in use has what is said.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(super) fn agrees_with(&self, scale: &Scale) -> Result<(), Error> {
        let edges = scale.edges().map(<[f64]>::to_vec);
        let [min, max] = scale.range();
        let mean = edges.is_none();
        same_if_said("min", self.min.as_ref(), Some(&min))?;
        same_if_said("max", self.max.as_ref(), Some(&max))?;
        same_if_said("edges", self.edges.as_ref(), edges.as_ref())?;
        let flat = alloc::vec![scale.cells()];
        let tree = scale.tree().map_or(&flat[..], Tree::branches);
        same_if_said("tree", self.tree.as_deref().as_ref(), Some(&tree))?;
        same("unit", &self.unit.as_deref(), &scale.unit())?;
        let cells = scale.cells();
        let [levels, bins] = [mean, !mean].map(|own| own.then_some(&cells));
        same_if_said("levels", self.levels.as_ref(), levels)?;
        same_if_said("bins", self.bins.as_ref(), bins)?;
        same("for its mean", &(self.wanted() == Want::Mean), &mean)
    }
}

impl Limits {
    /// Checks that limits in use are these.
    ///
    /// # Errors
    /// [`Error::TaskDiffers`] naming the first difference.
    pub(super) fn agrees_with(&self, used: &Self) -> Result<(), Error> {
        let [[min, max], [least, most]] = [self.range(), used.range()];
        same("min", &min, &least)?;
        same("max", &max, &most)?;
        same("unit", &self.unit(), &used.unit())
    }
}

impl From<ScaleFile> for NumberDraft {
    fn from(file: ScaleFile) -> Self {
        Self {
            want: file.want,
            min: file.min,
            max: file.max,
            unit: file.unit,
            levels: file.levels,
            edges: file.edges,
            tree: file.tree,
            bins: file.bins,
            spacing: file.spacing,
        }
    }
}

impl Spacing {
    fn edges(self, min: f64, max: f64, bins: u32) -> Result<Vec<f64>, Error> {
        if self == Self::Logarithmic && !(min > 0.0 && max > min) {
            return Err(Error::Combination {
                reason: "\"logarithmic\" bins need a \"min\" above 0 and a greater \"max\"",
            });
        }
        let ratio = libm::log(max / min);
        let edge = |index: u32| {
            let part = f64::from(index) / f64::from(bins);
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

/// The number of buckets at which the distribution function of so many bins has the
/// least variance, and that variance, averaged over the edges between them for people spread evenly.
fn best_for_sums(cells: u32, epsilon: f64) -> Result<(u32, f64), Error> {
    let domain = Domain::exact(cells, 1);
    let mut best = (f64::INFINITY, 2);
    // The best is 2.2·(exp(ε) + 1) or less, of all numbers of cells up to 100 and ε up to 5.
    let most = libm::ceil(3.0 * (libm::exp(epsilon) + 1.0)) as u32;
    for buckets in 2..=cells.clamp(2, most) {
        let rule = Rule::Heaviest { favoured: 1 };
        let rates = Collision::new(rule, Hashing::Balanced, buckets)?.rates(&domain, epsilon);
        let average = |answers: u32| {
            let within = f64::from(answers) / f64::from(cells);
            within * rates.sum_variance(answers, true)
                + (1.0 - within) * rates.sum_variance(answers, false)
        };
        let variance: f64 = (1..cells).map(average).sum();
        if variance < best.0 {
            best = (variance, buckets);
        }
    }
    Ok((best.1, best.0 / f64::from(cells - 1)))
}
