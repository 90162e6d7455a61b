//! The best parameters of the grid: least variance of a mean, at the worst over values.

use alloc::vec::Vec;

use serde::Deserialize;

use super::budget::{Budget, HIDES_TOO_LITTLE};
use super::contract::Choose;
use super::differs::same_if_said;
use super::population::Population;
use super::predict::{Predict, Predicted, SquaredError};
use super::search::{Candidate, Search};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::mechanism::contract::Parameters;
use crate::mechanism::grid::{Grid, Report};
use crate::mechanism::hash_bin::LevelName;

/// [`Grid`] with parameters left open.
///
/// ```
/// use hushbin::choose::grid::Draft;
///
/// let draft: Draft = serde_json::from_str(r#"{ "drawn": 2 }"#).unwrap();
/// assert_eq!((draft.drawn, draft.steps), (Some(2), None));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// k.
    pub drawn: Option<u32>,
    /// r.
    pub steps: Option<u32>,
}

impl Draft {
    /// All parameters that agree with it, of so many attributes; those that are out of
    /// range are left out.
    ///
    /// ```
    /// use hushbin::choose::grid::Draft;
    ///
    /// let all = Draft { drawn: None, steps: Some(15) }.candidates(5);
    /// // 16³ cells are as many as there may be.
    /// assert!(all.map(|grid| grid.drawn()).eq(1..=3));
    /// ```
    pub fn candidates(self, attributes: u32) -> impl Iterator<Item = Grid> {
        // Of more attributes there are too many cells.
        let most = attributes.min(Grid::MOST_CELLS.ilog2());
        let drawn = self.drawn.map_or(1..=most, |k| k..=k);
        let both = drawn.flat_map(move |k| {
            let steps = self.steps.map_or(1..=bounds::STEPS.max as u32, |r| r..=r);
            steps.map_while(move |r| Grid::new(k, r).ok())
        });
        both.filter(move |grid| grid.drawn() <= attributes)
    }
}

impl Predict for Grid {
    /// Everybody has all attributes, at 1 or −1 here; what is called rare is whichever value
    /// has the greatest variance.
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        let rates = self.rates(domain, epsilon);
        Predicted {
            mean: Some(SquaredError {
                variance: rates.variance(1.0) / population.people(),
                rare_variance: rates.worst_variance() / population.people(),
                squared_bias: 0.0,
            }),
            frequency: None,
            nonmissing: None,
        }
    }
}

impl Choose for Grid {
    type Draft = Draft;

    fn check_draft(draft: &Draft, domain: &Domain) -> Result<(), Error> {
        let own = Self::new(draft.drawn.unwrap_or(1), draft.steps.unwrap_or(1))?;
        Parameters::check(&own, domain)
    }

    fn best(search: &Search<'_>, draft: &Draft) -> Result<Candidate, Error> {
        search.best(|domain, budget| Self::choose(domain, budget, draft))
    }

    /// What is compared is the error of the objective, which is of people at the ends, so
    /// the parameters offered are those that are best there; with one step they are those of
    /// a cube, which offers itself.
    fn offers(search: &Search<'_>, _: LevelName) -> Result<Vec<Candidate>, Error> {
        if !search.domain.is_dense() {
            return Ok(Vec::new());
        }
        let at_ends =
            |domain: &Domain, budget| Self::least(domain, budget, &Draft::default(), Aim::Ends);
        let is_cube = |candidate: &Candidate| match &candidate.mechanism {
            Mechanism::Grid(grid) => grid.steps() == 1,
            _ => false,
        };
        let keeps_to_it =
            |candidate: &Candidate| candidate.error.is_finite() && !is_cube(candidate);
        match search.best(at_ends) {
            Err(error) if error == HIDES_TOO_LITTLE => Ok(Vec::new()),
            best => Ok(alloc::vec![best?].into_iter().filter(keeps_to_it).collect()),
        }
    }

    fn agrees_with(&self, draft: &Draft) -> Result<(), Error> {
        same_if_said("drawn", draft.drawn.as_ref(), Some(&self.drawn()))?;
        same_if_said("steps", draft.steps.as_ref(), Some(&self.steps()))
    }

    fn longest_report(&self, _: &Domain, _: f64) -> Report {
        Report {
            seed: u64::MAX,
            bucket: self.cells() - 1,
        }
    }
}

/// Whose variance is to be least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Of whichever value has the greatest.
    Worst,
    /// Of people at −1 and 1.
    Ends,
}

impl Grid {
    /// The parameters that keep to the budget and agree with a draft of which the variance
    /// is least, at the worst over values.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree with
    /// what is said, or none of them keep to the budget.
    ///
    /// ```
    /// use hushbin::choose::grid::Draft;
    /// use hushbin::domain::Domain;
    /// use hushbin::mechanism::grid::Grid;
    ///
    /// let of = |epsilon| Grid::choose(&Domain::dense(1), epsilon, &Draft::default()).unwrap();
    /// assert_eq!([1.0, 4.0, 7.77].map(|epsilon| of(epsilon).steps()), [1, 4, 15]);
    /// ```
    pub fn choose(
        domain: &Domain,
        budget: impl Into<Budget>,
        draft: &Draft,
    ) -> Result<Self, Error> {
        Self::least(domain, budget.into(), draft, Aim::Worst)
    }

    fn least(domain: &Domain, budget: Budget, draft: &Draft, aim: Aim) -> Result<Self, Error> {
        Self::check_draft(draft, domain)?;
        let limit = budget.limit();
        let mut best = None;
        for grid in draft.candidates(domain.items().unwrap_or(0)) {
            if !limit.allows_sets(1.0, f64::from(grid.cells() - 1)) {
                continue;
            }
            let rates = grid.rates(domain, budget.epsilon);
            let variance = match aim {
                Aim::Worst => rates.worst_variance(),
                Aim::Ends => rates.variance(1.0),
            };
            if best.is_none_or(|(least, _)| variance < least) {
                best = Some((variance, grid));
            }
        }
        // A draft that was checked is agreed with by some.
        best.map(|(_, grid)| grid).ok_or(HIDES_TOO_LITTLE)
    }
}
