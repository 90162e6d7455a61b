//! The grid of least standard error for a central ε.

use hushbin::bounds::{ATTRIBUTES, EPSILON, PEOPLE};
use hushbin::choose::grid::Draft;
use hushbin::domain::Domain;
use hushbin::mechanism::grid::Grid;

use crate::accounting::{Mixture, meets_central_epsilon};
use crate::numeric::digits::round_down;
use crate::numeric::roots::{geometric, try_bisect};
use crate::plan::error::PlanError;
use crate::plan::survey::LOCAL_EPSILON;

/// Goal of a grid whose reports are shuffled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GridGoal {
    /// d, the number of numbers that everybody has.
    pub(super) attributes: u32,
    /// n, how many people report, once each.
    pub(super) people: u64,
    /// The part of them whose reports hide the others.
    pub(super) honest_fraction: f64,
    /// Central δ.
    pub(super) delta: f64,
    /// Central ε.
    pub(super) central_epsilon: f64,
    /// The greatest local ε: what is left of the promise to whoever links a report to its
    /// sender. By default [`LOCAL_EPSILON`].
    pub(super) most_epsilon: f64,
    /// Parameters k and r, as far as they are given.
    pub(super) draft: Draft,
}

impl GridGoal {
    /// Makes the goal for numbers of honest people, with k and r left open.
    #[must_use]
    pub(super) fn new(attributes: u32, people: u64, central_epsilon: f64, delta: f64) -> Self {
        Self {
            attributes,
            people,
            honest_fraction: 1.0,
            delta,
            central_epsilon,
            most_epsilon: LOCAL_EPSILON,
            draft: Draft::default(),
        }
    }
}

/// Grid with its local ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GridChoice {
    /// Grid with k and r.
    pub(super) grid: Grid,
    /// Local ε, to four digits.
    pub(super) epsilon: f64,
    /// Standard error of each mean, from −1 to 1, at the worst over people's values: that of
    /// the noise, rounding included.
    pub(super) standard_error: f64,
}

/// The grid of least standard error that keeps to a central ε, at the largest local ε at
/// which it does; `None` where none does.
///
/// Cells hide a report as one favoured of M: with more of them a larger local ε is hidden
/// as well, but less is told.
///
/// # Errors
/// [`PlanError`] where a number is out of its range.
pub(super) fn grid(goal: &GridGoal) -> Result<Option<GridChoice>, PlanError> {
    ATTRIBUTES.check(f64::from(goal.attributes))?;
    PEOPLE.check(goal.people as f64)?;
    EPSILON.check(goal.most_epsilon)?;
    let mut search = Search {
        goal,
        domain: Domain::dense(goal.attributes),
        best: None,
    };
    let mut candidates: Vec<Grid> = goal.draft.candidates(goal.attributes).collect();
    candidates.sort_by_key(|grid| (grid.drawn(), grid.steps()));
    for same in candidates.chunk_by(|a, b| a.drawn() == b.drawn()) {
        search.among(same)?;
    }
    Ok(search.best.map(|(variance, grid, epsilon)| GridChoice {
        grid,
        epsilon,
        standard_error: (variance / goal.people as f64).sqrt(),
    }))
}

/// A search by branch and bound.
struct Search<'a> {
    goal: &'a GridGoal,
    domain: Domain,
    /// Variance, and what has it.
    best: Option<(f64, Grid, f64)>,
}

impl Search<'_> {
    /// Grids of one k, by increasing r.
    fn among(&mut self, grids: &[Grid]) -> Result<(), PlanError> {
        let (Some(first), Some(last)) = (grids.first(), grids.last()) else {
            return Ok(());
        };
        self.tried(first)?;
        if let (Some(most), [_, inner @ .., _]) = (self.tried(last)?, grids) {
            self.between(inner, most)?;
        }
        Ok(())
    }

    /// Grids none of which hides as large a local ε as `most`.
    ///
    /// With more cells reports hide better at the same local ε, of which the variance falls:
    /// where it is no less than the best at `most`, none of them is better.
    fn between(&mut self, grids: &[Grid], most: f64) -> Result<(), PlanError> {
        let least = grids.iter().map(|grid| self.variance(grid, most));
        let least = least.fold(f64::INFINITY, f64::min);
        if self.best.is_some_and(|(best, ..)| least >= best) {
            return Ok(());
        }
        let (below, rest) = grids.split_at(grids.len() / 2);
        let Some((middle, above)) = rest.split_first() else {
            return Ok(());
        };
        if let Some(epsilon) = self.tried(middle)? {
            self.between(below, epsilon)?;
        }
        self.between(above, most)
    }

    /// The largest local ε at which a grid hides well enough, which is held against the best.
    fn tried(&mut self, grid: &Grid) -> Result<Option<f64>, PlanError> {
        let found = self.largest(grid)?;
        if let Some(epsilon) = found {
            let epsilon = round_down(epsilon).max(EPSILON.min);
            let variance = self.variance(grid, epsilon);
            if self.best.is_none_or(|(best, ..)| variance < best) {
                self.best = Some((variance, *grid, epsilon));
            }
        }
        Ok(found)
    }

    fn largest(&self, grid: &Grid) -> Result<Option<f64>, PlanError> {
        let goal = self.goal;
        let hides = |epsilon: f64| -> Result<bool, PlanError> {
            let mixture = Mixture::grid(grid, epsilon)?;
            Ok(meets_central_epsilon(
                &mixture,
                goal.people,
                goal.honest_fraction,
                goal.delta,
                goal.central_epsilon,
            )?)
        };
        if hides(goal.most_epsilon)? {
            return Ok(Some(goal.most_epsilon));
        }
        if !hides(EPSILON.min)? {
            return Ok(None);
        }
        // Narrower than what it is rounded down to.
        let (found, _) = try_bisect(EPSILON.min, goal.most_epsilon, geometric(1e-6), hides)?;
        Ok(Some(found))
    }

    fn variance(&self, grid: &Grid, epsilon: f64) -> f64 {
        grid.rates(&self.domain, epsilon).worst_variance()
    }
}

#[cfg(test)]
mod tests;
