//! Parameters of the window mechanism, and the rounding of numbers to its levels.

use alloc::vec::Vec;

use crate::bounds;
use crate::error::{Error, error};
use crate::mechanism::subset::Thresholds;

/// Parameters of the window mechanism: the number m of drawn attributes, the number t of atoms, the
/// number k of favoured atoms, and the values of the atoms.
///
/// ```
/// use hushbin::mechanism::window::Window;
///
/// // Five atoms with the values −3, −2, 0, 2, 3; two neighbours are favoured.
/// let window = Window::new(1, 5, 2, [2, 3])?;
/// assert_eq!((window.atom_combination_count(), window.favoured_cell_count()), (5, 2));
/// assert_eq!((window.level_count(), window.favoured_atom_value_sum(0), window.favoured_atom_value_sum(3)), (4, -5, 5));
/// assert!(Window::new(1, 5, 3, [2, 3]).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    drawn_attribute_count: u32,
    atoms_per_attribute: u32,
    favoured_atom_count: u32,
    /// Values of the atoms of the upper half, ascending.
    pub(super) upper_half_atom_values: Vec<u32>,
}

impl Window {
    /// Maximum number of cells. It is bounded because privacy accounting and audits list all cells.
    pub const MAX_CELL_COUNT: u32 = 4096;

    /// Checks the ranges and creates the parameters. There are t = `atoms` atoms. `values` has the
    /// values of the upper half, ⌊t/2⌋ atoms, in ascending order. The lower half has the negated
    /// values, and a middle atom has the value 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for `drawn` outside [`bounds::DRAWN_ATTRIBUTE_COUNT_RANGE`], t = `atoms` outside
    /// [`bounds::ATOM_COUNT_RANGE`], `favoured` not from 1 to t/2, or a greatest value outside
    /// [`bounds::MAX_ATOM_VALUE_RANGE`]. [`Error::InvalidCombination`] for more cells than [`Window::MAX_CELL_COUNT`],
    /// or unless there are ⌊t/2⌋ values in ascending order.
    /// [`Task::from_questions`](crate::Task::from_questions) checks that the parameters suit a domain.
    pub fn new(
        drawn: u32,
        atoms: u32,
        favoured: u32,
        values: impl Into<Vec<u32>>,
    ) -> Result<Self, Error> {
        bounds::DRAWN_ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(drawn))?;
        bounds::ATOM_COUNT_RANGE.check_in_range(f64::from(atoms))?;
        bounds::FAVOURED_BUCKET_COUNT_RANGE
            .with_max(f64::from(atoms / 2))
            .check_in_range(f64::from(favoured))?;
        // Saturated, because an overflow is above the limit too.
        if atoms.saturating_pow(drawn) > Self::MAX_CELL_COUNT {
            return Err(error!(InvalidCombination {
                reason: "a \"window\" has at most 4096 cells: reduce \"drawn\" or \"atoms\"",
            }));
        }
        let values = values.into();
        let mut last = 0;
        let mut ascending = values.len() == (atoms / 2) as usize;
        for value in &values {
            ascending &= *value >= last;
            last = *value;
        }
        bounds::MAX_ATOM_VALUE_RANGE.check_in_range(f64::from(last))?;
        if !ascending {
            return Err(error!(InvalidCombination {
                reason: "\"values\" must ascend, half as many as \"atoms\"",
            }));
        }
        Ok(Self {
            drawn_attribute_count: drawn,
            atoms_per_attribute: atoms,
            favoured_atom_count: favoured,
            upper_half_atom_values: values,
        })
    }

    /// Number m of attributes that a report reveals.
    #[must_use]
    pub const fn drawn_attribute_count(&self) -> u32 {
        self.drawn_attribute_count
    }

    /// Number t of atoms of each attribute.
    #[must_use]
    pub const fn atoms_per_attribute(&self) -> u32 {
        self.atoms_per_attribute
    }

    /// Number k of atoms that a level favours.
    #[must_use]
    pub const fn favoured_atom_count(&self) -> u32 {
        self.favoured_atom_count
    }

    /// Number of cells: tᵐ for m drawn attributes with t atoms each.
    #[must_use]
    pub const fn atom_combination_count(&self) -> u32 {
        self.atoms_per_attribute().pow(self.drawn_attribute_count)
    }

    /// Number of favoured cells: kᵐ for m drawn attributes, if a level favours k atoms.
    #[must_use]
    pub const fn favoured_cell_count(&self) -> u32 {
        self.favoured_atom_count.pow(self.drawn_attribute_count)
    }

    /// Computes the threshold for drawing a favoured cell, at local ε.
    #[must_use]
    pub fn thresholds(&self, epsilon: f64) -> Thresholds {
        Thresholds::for_fixed_favoured_count(
            epsilon,
            self.favoured_cell_count(),
            self.atom_combination_count(),
        )
    }

    /// Value of `atom`, which is an index below the number of atoms.
    #[must_use]
    // One copy in the module that pages download.
    #[inline(never)]
    pub fn atom_value(&self, atom: u32) -> i32 {
        let half = self.atoms_per_attribute / 2;
        let mirrored = atom.min(self.atoms_per_attribute - 1 - atom);
        // A middle atom has no place in the list; its value is 0.
        let place = half.wrapping_sub(mirrored + 1) as usize;
        let value = self
            .upper_half_atom_values
            .get(place)
            .map_or(0, |value| *value as i32);
        if atom < half { -value } else { value }
    }

    /// Returns the level at or below a number from −1 to 1, and the probability of rounding up to
    /// the next level. The probability is in units of 2⁻⁶⁴.
    ///
    /// The number is first rounded towards 0 to a multiple of 2⁻⁵³. Then the probability is rounded
    /// down, by less than 2⁻⁶⁴.
    pub(super) fn level_and_round_up_probability(&self, number: f64) -> (u32, u64) {
        const FRACTION_BITS: u32 = 53;
        let (k, last) = (
            self.favoured_atom_count,
            self.atoms_per_attribute - self.favoured_atom_count,
        );
        let top: i32 = (last..self.atoms_per_attribute)
            .map(|atom| self.atom_value(atom))
            .sum();
        let number = (number * (1_u64 << FRACTION_BITS) as f64) as i64;
        let place = i128::from(number) * i128::from(top);
        let (whole, part) = (
            (place >> FRACTION_BITS) as i32,
            place as u64 & ((1 << FRACTION_BITS) - 1),
        );
        let rise = |level: u32| self.atom_value(level + k) - self.atom_value(level);
        let (mut sum, mut level, mut stands) = (-top, 0, -top);
        // All levels are compared, for every number, so that the time does not depend on it.
        for next in 1..=last {
            sum += rise(next - 1);
            if sum <= whole {
                (level, stands) = (next, sum);
            }
        }
        if level == last {
            return (last, 0);
        }
        // A step is the difference of two values, so it is below 2¹¹ and the shifts below fit 64
        // bits.
        let (beyond, step) = (
            ((whole - stands) as u64) << FRACTION_BITS | part,
            rise(level) as u64,
        );
        (
            level,
            ((beyond / step) << 11) + ((beyond % step) << 11) / step,
        )
    }
}
