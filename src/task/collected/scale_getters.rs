//! Properties of a number's cells that estimates need.

use alloc::string::String;

use crate::bounds::ParameterRange;
use crate::error::{Error, error};
use crate::task::local::scale::{NumberScale, ScaleCells};

impl NumberScale {
    /// Restricts the possible numbers: any two differ by a multiple of `step`. For example, counts
    /// have the step 1.
    ///
    /// Each bin then contains at least one possible number, and each edge is midway between two
    /// possible numbers.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a step that is not positive or is wider than a bin.
    /// [`Error::InvalidCombination`] for levels, and for an edge whose distance from the first one is not
    /// a multiple of `step`.
    ///
    /// # Examples
    /// ```
    /// use hushbin::task::NumberScale;
    ///
    /// let visits = NumberScale::from_edges(vec![-0.5, 0.5, 1.5, 3.5]).unwrap().with_value_step(1.0).unwrap();
    /// assert_eq!((visits.range(), visits.cell_and_next_cell_probability(2.0)), ([0.0, 3.0], (2, 0.0)));
    /// assert!(NumberScale::from_edges(vec![0.0, 1.5, 2.0]).unwrap().with_value_step(1.0).is_err());
    /// ```
    pub fn with_value_step(self, step: f64) -> Result<Self, Error> {
        let edges = self.edges().ok_or(error!(InvalidCombination {
            reason: "a \"step\" is only for a \"number\" with bins, not for \"levels\"",
        }))?;
        let widths = edges.windows(2).map(|pair| pair[1] - pair[0]);
        let narrowest = widths.fold(f64::INFINITY, f64::min);
        // The tolerance allows a step as wide as a bin despite rounding.
        let (name, min, max) = (
            "step",
            f64::MIN_POSITIVE,
            narrowest * (1.0 + STEP_RELATIVE_TOLERANCE),
        );
        ParameterRange { name, min, max }.check_in_range(step)?;
        let off = |edge: &f64| {
            let steps = (edge - edges[0]) / step;
            libm::fabs(steps - libm::rint(steps)) > STEP_RELATIVE_TOLERANCE * steps.max(1.0)
        };
        if edges.iter().any(off) {
            return Err(error!(InvalidCombination {
                reason: "with a \"step\", \"edges\" must be midway between possible numbers: \
                         their distances are multiples of the step",
            }));
        }
        Ok(Self { step, ..self })
    }

    /// Adds what a file states about the numbers.
    ///
    /// # Errors
    /// The errors of [`NumberScale::with_unit`], [`NumberScale::with_value_step`] and
    /// [`NumberScale::into_optional`].
    pub(crate) fn with_details(
        self,
        unit: Option<String>,
        step: Option<f64>,
        optional: bool,
    ) -> Result<Self, Error> {
        let mut scale = self.with_unit(unit)?;
        if let Some(step) = step {
            scale = scale.with_value_step(step)?;
        }
        if optional {
            scale = scale.into_optional()?;
        }
        Ok(scale)
    }

    /// Allows a person to have no number, which the last cell then stands for.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] for levels.
    ///
    /// # Examples
    /// ```
    /// use hushbin::task::NumberScale;
    ///
    /// let delay = NumberScale::from_edges(vec![0.0, 200.0, 500.0, 2000.0]).unwrap().into_optional().unwrap();
    /// assert_eq!((delay.level_or_bin_count(), delay.cell_count()), (3, 4));
    /// ```
    pub fn into_optional(self) -> Result<Self, Error> {
        if self.edges().is_none() {
            return Err(error!(InvalidCombination {
                reason: OPTIONAL_WITHOUT_BINS_ERROR,
            }));
        }
        Ok(Self {
            optional: true,
            ..self
        })
    }

    /// Returns the minimum and the maximum of the numbers that are not clipped.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        // With a step, the outer edges are half a step outside the possible numbers.
        let ([first, last], beyond) = (self.end_values(), 0.5 * self.step);
        [first + beyond, last - beyond]
    }

    /// Returns the distance between possible numbers, or 0 if any number is possible.
    #[must_use]
    pub const fn value_step(&self) -> f64 {
        self.step
    }

    /// Returns the unit, if there is one.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// Returns the edges of bins, or `None` for levels.
    #[must_use]
    pub fn edges(&self) -> Option<&[f64]> {
        match &self.cells {
            ScaleCells::Levels { .. } => None,
            ScaleCells::BinEdges(edges) => Some(edges),
        }
    }

    /// Returns the number that a level represents, or `None` for bins.
    #[must_use]
    pub fn level_value(&self, cell: u32) -> Option<f64> {
        match &self.cells {
            ScaleCells::Levels { min, max, count } => {
                let part = f64::from(cell) / f64::from(count - 1);
                Some(min + (max - min) * part)
            }
            ScaleCells::BinEdges(_) => None,
        }
    }
}

/// Error message for an optional number without bins.
pub(crate) const OPTIONAL_WITHOUT_BINS_ERROR: &str =
    "an \"optional\" number needs bins: use \"want\" \"quantiles\" or \"histogram\"";

/// Relative tolerance of comparisons. A step such as 0.1 has no exact binary value.
const STEP_RELATIVE_TOLERANCE: f64 = 1e-9;
