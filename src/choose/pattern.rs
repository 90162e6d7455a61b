//! Choice of the pattern that minimises the variance of the estimated shares of people below each
//! edge.
//!
//! The patterns in `patterns.txt` were found by simulated annealing. Each line contains the number
//! of cells, the number of outputs, and the favoured outputs. A pattern can also be used for fewer
//! cells.

use alloc::vec::Vec;

use serde::Deserialize;

use super::budget::{BUDGET_EXCEEDED_ERROR, PrivacyBudget};
use super::contract::ChooseParameters;
use super::draft_agreement::check_equal_if_stated;
use super::population::Population;
use super::predict::{PredictErrors, PredictedErrors, PredictedSquaredError};
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::pattern::{Pattern, PatternEstimator, Report, triangular_cdf};

/// [`Pattern`] whose parameters are either both unset or both stated.
///
/// ```
/// use hushbin::choose::pattern::ParametersDraft;
///
/// let draft: ParametersDraft = serde_json::from_str(r#"{ "outputs": 7, "favoured": [0, 1, 3] }"#).unwrap();
/// assert_ne!(draft, ParametersDraft::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersDraft {
    /// Number of outputs L.
    outputs: Option<u32>,
    /// Favoured outputs S.
    favoured: Option<Vec<u32>>,
}

/// Maximum number of cells for which a pattern is known.
pub(super) const MAX_PATTERN_CELLS: u32 = 128;

const KNOWN_PATTERNS_TEXT: &str = include_str!("patterns.txt");

impl ParametersDraft {
    /// Returns the stated pattern, checked for a domain, or `None` if no pattern is stated.
    fn stated_pattern(&self, domain: &Domain) -> Result<Option<Pattern>, Error> {
        match (self.outputs, &self.favoured) {
            (None, None) => Ok(None),
            (Some(outputs), Some(favoured)) => {
                let own = Pattern::new(outputs, favoured.as_slice())?;
                own.check_suits_domain(domain).map(|()| Some(own))
            }
            _ => Err(Error::InvalidCombination {
                reason: "a \"pattern\" needs both \"outputs\" and \"favoured\", or neither",
            }),
        }
    }
}

impl PredictErrors for Pattern {
    /// Returns the variance of the estimated share of people in a cell, averaged over all cells.
    /// People are assumed to be spread evenly over the cells.
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        let cells = domain.element_count().unwrap_or(0);
        let rates = self.share_estimator(cells, epsilon);
        let of_cell =
            |cell| rates.variance_for_even_cells(&rates.range_indicator_weights(cell..cell + 1));
        let sum: f64 = (0..rates.cell_count()).map(of_cell).sum();
        let variance = sum / f64::from(cells) / population.people_count();
        PredictedErrors {
            mean_error: None,
            frequency_error: Some(PredictedSquaredError {
                variance,
                rare_item_variance: variance,
                ..PredictedSquaredError::default()
            }),
            nonmissing_error: None,
        }
    }
}

impl ChooseParameters for Pattern {
    type ParametersDraft = ParametersDraft;

    fn check_draft(draft: &ParametersDraft, domain: &Domain) -> Result<(), Error> {
        draft.stated_pattern(domain).map(drop)
    }

    fn best_candidate(
        search: &ParameterSearch<'_>,
        draft: &ParametersDraft,
    ) -> Result<Candidate, Error> {
        search.best_over_sparsities(|domain, budget| Self::choose_parameters(domain, budget, draft))
    }

    fn check_agrees_with(&self, draft: &ParametersDraft) -> Result<(), Error> {
        check_equal_if_stated("outputs", &draft.outputs, self.output_count())?;
        check_equal_if_stated(
            "favoured",
            &draft.favoured,
            self.favoured_outputs().to_vec(),
        )
    }

    fn report_with_longest_encoding(&self, _: &Domain, _: f64) -> Report {
        Report::with_longest_encoding(self.output_count())
    }
}

impl Pattern {
    /// Returns the stated pattern. If none is stated, returns the best pattern among the known
    /// patterns and the pattern with a single favoured output. Only patterns that stay within the
    /// budget are returned.
    ///
    /// The best pattern has the least V^¼·W^¾. V is the mean variance of the shares of people below
    /// each edge. W is the mean variance of the same shares, smoothed over an eighth of the cells
    /// on each side of the edge.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if a stated pattern is invalid, the domain
    /// has more than 128 cells, or no pattern stays within the budget.
    ///
    /// ```
    /// use hushbin::choose::pattern::ParametersDraft;
    /// use hushbin::domain::Domain;
    /// use hushbin::mechanism::pattern::Pattern;
    ///
    /// let pattern = Pattern::choose_parameters(&Domain::with_exact_entry_count(64, 1), 1.0, &ParametersDraft::default()).unwrap();
    /// assert_eq!((pattern.output_count(), pattern.favoured_outputs().len()), (80, 16));
    /// ```
    pub fn choose_parameters(
        domain: &Domain,
        budget: impl Into<PrivacyBudget>,
        draft: &ParametersDraft,
    ) -> Result<Self, Error> {
        let said = draft.stated_pattern(domain)?;
        let cells = domain.element_count().unwrap_or(0);
        let budget: PrivacyBudget = budget.into();
        let limit = budget.with_precomputed_exp();
        let allowed = |own: &Self| {
            let favoured = own.favoured_outputs().len() as u32;
            limit.allows_favoured_other_counts(
                f64::from(favoured),
                f64::from(own.output_count() - favoured),
            )
        };
        let candidates = match said {
            Some(own) => alloc::vec![own],
            None => known_patterns(cells)?,
        };
        let scored = candidates.into_iter().filter(allowed).map(|own| {
            let score = log_pattern_error(&own.share_estimator(cells, budget.epsilon));
            (score, own)
        });
        let best = scored.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, own)| own).ok_or(BUDGET_EXCEEDED_ERROR)
    }
}

/// Returns the pattern with a single favoured output, followed by known patterns from the file.
/// These are all patterns for the smallest number of cells in the file that is at least `cells`.
fn known_patterns(cells: u32) -> Result<Vec<Pattern>, Error> {
    if cells > MAX_PATTERN_CELLS {
        return Err(Error::InvalidCombination {
            reason: "quantiles take at most 128 bins: more bins do not make them more exact",
        });
    }
    // The file is compiled in and contains only numbers, so the 0 is never used.
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let lines = KNOWN_PATTERNS_TEXT
        .lines()
        .filter_map(|line| line.split_once(": "));
    let sizes = lines.filter_map(|(sizes, own)| Some((sizes.split_once(' ')?, own)));
    let all: Vec<_> = sizes
        .map(|((k, l), own)| (number(k), number(l), own))
        .collect();
    let enough = all
        .iter()
        .map(|own| own.0)
        .filter(|own| *own >= cells)
        .min();
    let mut patterns = alloc::vec![Pattern::new(cells, [0])?];
    for (_, outputs, favoured) in all.iter().filter(|own| Some(own.0) == enough) {
        let runs = favoured.split(' ').flat_map(|run| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            number(first)..=number(last)
        });
        patterns.push(Pattern::new(*outputs, runs.collect::<Vec<u32>>())?);
    }
    Ok(patterns)
}

/// Returns the logarithm of V^¼·W^¾ up to a constant, see [`Pattern::choose_parameters`].
fn log_pattern_error(rates: &PatternEstimator) -> f64 {
    let cells = rates.cell_count();
    let eighth = cells as f64 / 8.0;
    // Sums over edges instead of means: the factor is the same for all patterns.
    let mut sums = [0.0; 2];
    for edge in 1..cells {
        let smooth = |cell| triangular_cdf((edge as f64 - cell as f64 - 0.5) / eighth);
        let weights = [
            rates.range_indicator_weights(0..edge),
            (0..cells).map(smooth).collect(),
        ];
        for (sum, weights) in sums.iter_mut().zip(&weights) {
            *sum += rates.variance_for_even_cells(weights);
        }
    }
    let [sharp, smooth] = sums.map(libm::log);
    0.25 * sharp + 0.75 * smooth
}
