//! What every one of these mechanisms does.

use hushbin::bounds::{Bound, DISTANCE, ITEMS, SPARSITY};
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use crate::competitors::budget::Budget;

/// What is asked, and under which privacy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// d.
    pub items: u32,
    /// s: inputs with fewer entries are padded, with more sampled down.
    pub sparsity: u32,
    /// ε of one report.
    pub epsilon: f64,
    /// δ of one report, for those that need one.
    pub delta: f64,
    /// L, for those whose ε is about inputs within L of each other: how far their values are
    /// apart, in sum.
    pub distance: f64,
}

impl Setting {
    /// (ε, δ), where all but L, of which most make no use, is in range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where d is outside [`ITEMS`], s outside [`SPARSITY`] or above
    /// d, or ε or δ where [`Budget::new`] says.
    pub fn budget(&self) -> Result<Budget, Error> {
        ITEMS.check(f64::from(self.items))?;
        let most = SPARSITY.max.min(f64::from(self.items));
        Bound {
            max: most,
            ..SPARSITY
        }
        .check(f64::from(self.sparsity))?;
        Budget::new(self.epsilon, self.delta)
    }

    /// The same without δ, of which most make no use.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub(super) fn pure(&self) -> Result<Budget, Error> {
        Budget::new(self.budget()?.epsilon(), 0.0)
    }

    /// L, or 2d where that is less: no two inputs are farther apart.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where L is outside [`DISTANCE`].
    pub(super) fn within(&self) -> Result<f64, Error> {
        DISTANCE.check(self.distance)?;
        Ok(self.distance.min(2.0 * f64::from(self.items)))
    }
}

/// A mechanism for people who rate at most s of d items, from −1 to 1.
///
/// Entries are ascending by item, at most s of them where the oracle samples or pads. Where it
/// knows signs alone, a value v is rounded to 1 with probability (1 + v)/2, else to −1.
pub trait Oracle: Send + Sync {
    /// The least ε that a report satisfies (with δ, of those that have one), found by
    /// enumeration in the tests: not more than what was asked for, often less.
    fn loss(&self) -> f64;

    /// Length of a report, in bits.
    fn bits(&self) -> f64;

    /// How estimates follow from what is heard.
    fn linear(&self) -> Linear;

    /// What variances follow from.
    fn moments(&self) -> Moments;

    /// One person's report, drawn and added.
    ///
    /// # Panics
    /// If an entry's item is not below d, or `heard` is of fewer items.
    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng);

    /// Reports of many: the same distribution of sums, often in less time. Items that a report
    /// tells of independently of each other are drawn once for all people.
    fn hear_all(&self, people: &[&[Entry]], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        for entries in people {
            self.hear(entries, heard, rng);
        }
    }
}

/// Second moments of one report's estimate of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// E\[M²\] of who has the item, and of who has not.
    pub mean_square: [f64; 2],
    /// Of the non-missing frequency, where it is estimated.
    pub presence: Option<Presence>,
}

/// What there is of the non-missing frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Presence {
    /// Var F of who has the item, and of who has not.
    pub variance: [f64; 2],
    /// E\[F·M\] of who has it at 1.
    pub product: f64,
}

impl Moments {
    /// Of means alone, E\[M²\] of who has the item and of who has not.
    pub(super) const fn of_means(mean_square: [f64; 2]) -> Self {
        Self {
            mean_square,
            presence: None,
        }
    }

    /// Variance of the mean of who has the item at ±1, and of who has not.
    #[must_use]
    pub fn mean(&self) -> [f64; 2] {
        [self.mean_square[0] - 1.0, self.mean_square[1]]
    }

    /// Variance of the frequency of one sign, (F ± M)/2: of who has the item with it, who has
    /// it with the other, and who has it not.
    #[must_use]
    pub fn frequency(&self) -> Option<[f64; 3]> {
        let Presence { variance, product } = self.presence?;
        let of = |presence: f64, mean_square: f64, product: f64, truth: f64| {
            0.25 * (presence + mean_square + 2.0 * product) - truth * truth
        };
        let square = variance[0] + 1.0;
        Some([
            of(square, self.mean_square[0], product, 1.0),
            of(square, self.mean_square[0], -product, 0.0),
            of(variance[1], self.mean_square[1], 0.0, 0.0),
        ])
    }
}
