//! The best parameters of the cube: least variance of a mean.

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
use crate::mechanism::contract::Parameters;
use crate::mechanism::cube::{Cube, Report};
use crate::mechanism::hash_bin::LevelName;

/// [`Cube`] with parameters left open.
///
/// ```
/// use hushbin::choose::cube::Draft;
///
/// let draft: Draft = serde_json::from_str(r#"{ "drawn": 4 }"#).unwrap();
/// assert_eq!((draft.drawn, draft.agreements), (Some(4), None));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// k.
    pub drawn: Option<u32>,
    /// κ.
    pub agreements: Option<u32>,
}

impl Draft {
    /// All parameters that agree with it, of so many attributes; those that are out of
    /// range are left out.
    fn candidates(self, attributes: u32) -> impl Iterator<Item = Cube> {
        let most = attributes.min(bounds::DRAWN.max as u32);
        let drawn = self.drawn.map_or(1..=most, |k| k..=k);
        let both = drawn.flat_map(move |k| {
            let agreements = self.agreements.map_or(1..=k, |own| own..=own);
            agreements.map(move |agreements| (k, agreements))
        });
        both.filter_map(|(k, agreements)| Cube::new(k, agreements).ok())
    }
}

impl Predict for Cube {
    /// Everybody has all attributes, at 1 or −1 here; one whose values are 0 is called
    /// rare.
    fn predict(&self, domain: &Domain, epsilon: f64, population: &Population) -> Predicted {
        let square = self.rates(domain, epsilon).mean_square();
        Predicted {
            mean: Some(SquaredError {
                variance: (square - 1.0) / population.people(),
                rare_variance: square / population.people(),
                squared_bias: 0.0,
            }),
            frequency: None,
            nonmissing: None,
        }
    }
}

impl Choose for Cube {
    type Draft = Draft;

    fn check_draft(draft: &Draft, domain: &Domain) -> Result<(), Error> {
        let drawn = draft.drawn.unwrap_or(1);
        let own = match draft.agreements {
            Some(agreements) if draft.drawn.is_some() => Self::new(drawn, agreements)?,
            Some(agreements) => {
                bounds::AGREEMENTS.check(f64::from(agreements))?;
                Self::new(1, 1)?
            }
            // Of one at least half of the corners are favoured.
            None => Self::new(drawn, drawn.div_ceil(2))?,
        };
        Parameters::check(&own, domain)
    }

    fn best(search: &Search<'_>, draft: &Draft) -> Result<Candidate, Error> {
        search.best(|domain, budget| Self::choose(domain, budget, draft))
    }

    fn offers(search: &Search<'_>, _: LevelName) -> Result<Vec<Candidate>, Error> {
        if !search.domain.is_dense() {
            return Ok(Vec::new());
        }
        let keeps_to_it = |candidate: &Candidate| candidate.error.is_finite();
        match Self::best(search, &Draft::default()) {
            Err(error) if error == HIDES_TOO_LITTLE => Ok(Vec::new()),
            best => Ok(alloc::vec![best?].into_iter().filter(keeps_to_it).collect()),
        }
    }

    fn agrees_with(&self, draft: &Draft) -> Result<(), Error> {
        same_if_said("drawn", draft.drawn.as_ref(), Some(&self.drawn()))?;
        let agreements = self.agreements();
        same_if_said("agreements", draft.agreements.as_ref(), Some(&agreements))
    }

    fn longest_report(&self, _: &Domain, _: f64) -> Report {
        Report {
            seed: u64::MAX,
            drawn: self.drawn(),
            signs: 0,
        }
    }
}

impl Cube {
    /// The parameters of least variance (d/k)·B² that keep to the budget and agree with
    /// a draft.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree with
    /// what is said, or none of them keep to the budget.
    pub fn choose(
        domain: &Domain,
        budget: impl Into<Budget>,
        draft: &Draft,
    ) -> Result<Self, Error> {
        let budget = budget.into();
        Self::check_draft(draft, domain)?;
        let attributes = domain.items().unwrap_or(0);
        let limit = budget.limit();
        let (mut best, mut there) = (None, false);
        for cube in draft.candidates(attributes) {
            there = true;
            if !limit.allows_sets(cube.favoured() as f64, cube.others() as f64) {
                continue;
            }
            let variance = cube.rates(domain, budget.epsilon).mean_square();
            if best.is_none_or(|(least, _)| variance < least) {
                best = Some((variance, cube));
            }
        }
        match best {
            Some((_, cube)) => Ok(cube),
            None if there => Err(HIDES_TOO_LITTLE),
            None => Err(Error::Combination {
                reason: "no number \"drawn\" goes with so many \"agreements\"",
            }),
        }
    }
}
