//! How many vectors of signs agree with one in at least κ places.

use hushbin::Error;
use hushbin::bounds::Bound;

use super::input::ATTRIBUTES;
use crate::competitors::budget::Budget;
use crate::competitors::favoured::Favoured;

/// Numbers of vectors in {−1, 1}^d by how many places of one they agree with, for every
/// threshold κ. As doubles, of which those up to 2⁵³ are exact.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    attributes: u32,
    /// C(d, a), a from 0 to d.
    ways: Vec<f64>,
    /// Σ C(d, b) over b ≥ a, a from 0 to d + 1.
    at_least: Vec<f64>,
}

impl Counts {
    pub(crate) fn new(attributes: u32) -> Result<Self, Error> {
        ATTRIBUTES.check(f64::from(attributes))?;
        let mut ways = vec![1.0];
        for a in 0..attributes {
            let next = ways[a as usize] * f64::from(attributes - a) / f64::from(a + 1);
            ways.push(next);
        }
        let mut at_least = vec![0.0];
        for own in ways.iter().rev() {
            at_least.push(own + at_least[at_least.len() - 1]);
        }
        at_least.reverse();
        Ok(Self {
            attributes,
            ways,
            at_least,
        })
    }

    /// N₊, N₋ and O of a threshold κ in 1 to d.
    ///
    /// Of two corners' favoured sets those differ most that belong to opposite ones, where a vector
    /// that agrees in a places with the one agrees in d − a with the other.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where κ is.
    pub(crate) fn favoured(&self, threshold: u32) -> Result<Favoured, Error> {
        Bound {
            name: "threshold",
            min: 1.0,
            max: f64::from(self.attributes),
        }
        .check(f64::from(threshold))?;
        let opposite = threshold.max(self.attributes - threshold + 1);
        Ok(Favoured {
            inside: self.at_least[threshold as usize],
            // As many as agree in more than d − κ places, from the other end.
            outside: self.at_least[(self.attributes - threshold + 1) as usize],
            against: self.at_least[opposite as usize],
            roundings: self.roundings(),
        })
    }

    /// Of N₊, N₋ and O: sums of up to d binomials, each of which is made in d steps of
    /// two at most. Up to d = 50 no product on the way is above 2⁵³.
    const fn roundings(&self) -> u32 {
        if self.attributes <= 50 {
            0
        } else {
            9 * self.attributes
        }
    }

    /// C(d − 1, κ − 1): of the favoured vectors so many more have a place's own sign
    /// than have the other, Σ C(d − 1, a − 1) − C(d − 1, a) over a ≥ κ. Of the others as
    /// many more have the other.
    pub(crate) fn more(&self, threshold: u32) -> f64 {
        f64::from(threshold) / f64::from(self.attributes) * self.ways[threshold as usize]
    }

    /// B = 1/[(α/N₊ − (1 − α)/N₋)·C(d − 1, κ − 1)]: on average a reported sign is 1/B of the value.
    pub(crate) fn scale(&self, threshold: u32, sets: &Favoured, inside: f64, outside: f64) -> f64 {
        let more = self.more(threshold);
        let gap = inside * (more / sets.inside) - outside * (more / sets.outside);
        1.0 / gap
    }

    /// B with the α of a budget.
    ///
    /// # Errors
    /// As [`Counts::favoured`].
    pub(crate) fn scale_at(&self, threshold: u32, budget: &Budget) -> Result<f64, Error> {
        let sets = self.favoured(threshold)?;
        let (inside, outside) = (sets.probability(budget), sets.complement(budget));
        Ok(self.scale(threshold, &sets, inside, outside))
    }

    /// The threshold of least B under a budget, and that B.
    pub(crate) fn best(&self, budget: &Budget) -> (u32, f64) {
        let scale = |threshold| {
            let scale = self.scale_at(threshold, budget);
            (threshold, scale.expect("1 to d are in range"))
        };
        (1..=self.attributes)
            .map(scale)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there is at least one attribute")
    }
}
