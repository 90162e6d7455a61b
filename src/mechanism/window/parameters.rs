//! The parameters of the window, and where its levels stand.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::{Error, error};
use crate::mechanism::subset::Thresholds;

/// The parameters of the window: m numbers drawn, t atoms, k of them favoured, and the
/// atoms' values.
///
/// ```
/// use hushbin::mechanism::window::Window;
///
/// // Five atoms with the values −3, −2, 0, 2, 3; two neighbours are favoured.
/// let window = Window::new(1, 5, 2, [2, 3])?;
/// assert_eq!((window.cells(), window.favoured_cells()), (5, 2));
/// assert_eq!((window.levels(), window.sum(0), window.sum(3)), (4, -5, 5));
/// assert!(Window::new(1, 5, 3, [2, 3]).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    drawn: u32,
    atoms: u32,
    favoured: u32,
    /// Of the atoms of the upper half, ascending.
    pub(super) values: Vec<u32>,
}

impl Window {
    /// The greatest number of cells: accounting and audits list all of them.
    pub const MOST_CELLS: u32 = 4096;

    /// Parameters within their ranges; `values` are those of the ⌊t/2⌋ atoms of the upper
    /// half, ascending. The lower half has their negatives, and a middle atom has 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when m is outside [`bounds::DRAWN`], t outside [`bounds::ATOMS`],
    /// k not from 1 to t/2, or the greatest value outside [`bounds::ATOM_VALUE`];
    /// [`Error::Combination`] when there are more cells than [`Window::MOST_CELLS`], or
    /// values are not ⌊t/2⌋, do not ascend or are all 0. Whether the parameters suit a
    /// domain is checked by [`Task::of_questions`](crate::Task::of_questions).
    pub fn new(
        drawn: u32,
        atoms: u32,
        favoured: u32,
        values: impl Into<Vec<u32>>,
    ) -> Result<Self, Error> {
        bounds::DRAWN.check(f64::from(drawn))?;
        bounds::ATOMS.check(f64::from(atoms))?;
        bounds::FAVOURED
            .at_most(f64::from(atoms / 2))
            .check(f64::from(favoured))?;
        if atoms.saturating_pow(drawn) > Self::MOST_CELLS {
            return Err(error!(Combination {
                reason: "a window has at most 4096 cells: fewer \"drawn\", or fewer \"atoms\"",
            }));
        }
        let values = values.into();
        let mut last = 0;
        let mut ascending = values.len() == (atoms / 2) as usize;
        for value in &values {
            ascending &= *value >= last;
            last = *value;
        }
        bounds::ATOM_VALUE.check(f64::from(last))?;
        if !ascending {
            return Err(error!(Combination {
                reason: "\"values\" ascend and are half as many as \"atoms\"",
            }));
        }
        Ok(Self {
            drawn,
            atoms,
            favoured,
            values,
        })
    }

    /// m, how many numbers a report tells of.
    #[must_use]
    pub const fn drawn(&self) -> u32 {
        self.drawn
    }

    /// t, how many atoms each number has.
    #[must_use]
    pub const fn atoms(&self) -> u32 {
        self.atoms
    }

    /// k, how many atoms a level favours.
    #[must_use]
    pub const fn favoured(&self) -> u32 {
        self.favoured
    }

    /// tᵐ, how many cells there are.
    #[must_use]
    pub const fn cells(&self) -> u32 {
        self.atoms().pow(self.drawn)
    }

    /// kᵐ, how many cells are favoured.
    #[must_use]
    pub const fn favoured_cells(&self) -> u32 {
        self.favoured.pow(self.drawn)
    }

    /// The threshold sampled at local budget ε.
    #[must_use]
    pub fn thresholds(&self, epsilon: f64) -> Thresholds {
        Thresholds::of_sets(epsilon, self.favoured_cells(), self.cells())
    }

    /// Y, the value of an atom below t.
    #[must_use]
    // Once in the module that pages download.
    #[inline(never)]
    pub fn value(&self, atom: u32) -> i32 {
        let half = self.atoms / 2;
        let mirrored = atom.min(self.atoms - 1 - atom);
        // There is none for a middle atom.
        let place = half.wrapping_sub(mirrored + 1) as usize;
        let value = self.values.get(place).map_or(0, |value| *value as i32);
        if atom < half { -value } else { value }
    }

    /// The level at or below a number from −1 to 1, and the probability, in units of 2⁻⁶⁴,
    /// with which the number becomes the next level.
    ///
    /// Exact but for rounding the number to a multiple of 2⁻⁵³, which numbers of a task are,
    /// and the probability, each down by less than a unit. All levels are looked at, whatever
    /// the number is.
    pub(super) fn beside(&self, number: f64) -> (u32, u64) {
        const BITS: u32 = 53;
        let (k, last) = (self.favoured, self.atoms - self.favoured);
        let top: i32 = (last..self.atoms).map(|atom| self.value(atom)).sum();
        let number = (number * (1_u64 << BITS) as f64) as i64;
        let place = i128::from(number) * i128::from(top);
        let (whole, part) = ((place >> BITS) as i32, place as u64 & ((1 << BITS) - 1));
        let rise = |level: u32| self.value(level + k) - self.value(level);
        let (mut sum, mut level, mut stands) = (-top, 0, -top);
        for next in 1..=last {
            sum += rise(next - 1);
            if sum <= whole {
                (level, stands) = (next, sum);
            }
        }
        if level == last {
            return (last, 0);
        }
        // Between two levels lie two values at most, which is below 2¹¹.
        let (beyond, step) = (((whole - stands) as u64) << BITS | part, rise(level) as u64);
        (
            level,
            ((beyond / step) << 11) + ((beyond % step) << 11) / step,
        )
    }
}
