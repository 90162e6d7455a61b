//! The parameters of the cube, and how many corners they favour.

use crate::bounds;
use crate::error::{Error, error};

/// The parameters of the cube: k, the number of attributes that a report is about, and
/// κ, in how many of them favoured corners agree with the input's.
///
/// ```
/// use hushbin::mechanism::cube::Cube;
///
/// let cube = Cube::new(3, 2)?;
/// assert_eq!((cube.drawn(), cube.agreements()), (3, 2));
/// // Of 8 corners those that differ in one coordinate at most.
/// assert_eq!((cube.favoured(), cube.others()), (4, 4));
/// assert!(Cube::new(3, 4).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cube {
    drawn: u32,
    agreements: u32,
}

/// Corners are drawn until one is favoured, or is not: of 2¹² one is at least, on either
/// side. In a page the longest take 0.3 ms a report, those that are best at ε = 4 some µs.
const TRIES_BITS: u32 = 12;

impl Cube {
    /// Parameters within their ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when k is outside [`bounds::DRAWN`], or κ not from 1 to k;
    /// [`Error::Combination`] when fewer than one of 2¹² corners are favoured, or are
    /// not, as happens from k = 13 on. Whether the parameters suit a domain is checked by
    /// [`Task::of_questions`](crate::Task::of_questions).
    pub fn new(drawn: u32, agreements: u32) -> Result<Self, Error> {
        bounds::DRAWN.check(f64::from(drawn))?;
        let most = f64::from(drawn);
        bounds::AGREEMENTS
            .at_most(most)
            .check(f64::from(agreements))?;
        let cube = Self { drawn, agreements };
        if cube.favoured().min(cube.others()) < 1 << drawn.saturating_sub(TRIES_BITS) {
            return Err(error!(Combination {
                reason: "with so many or so few \"agreements\" it takes too long to draw a corner",
            }));
        }
        Ok(cube)
    }

    /// k.
    #[must_use]
    pub const fn drawn(&self) -> u32 {
        self.drawn
    }

    /// κ.
    #[must_use]
    pub const fn agreements(&self) -> u32 {
        self.agreements
    }

    /// N₊ = Σ_{a ≥ κ} C(k, a), the number of favoured corners, from 1 to 2ᵏ − 1.
    #[must_use]
    pub fn favoured(&self) -> u64 {
        at_least(self.agreements, self.drawn)
    }

    /// N₋ = 2ᵏ − N₊, the number of others.
    #[must_use]
    pub fn others(&self) -> u64 {
        // One more than what is left of 2ᵏ − 1.
        self.mask() - self.favoured() + 1
    }

    /// 2ᵏ − 1: a bit for each coordinate.
    pub(super) const fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.drawn)
    }
}

/// Σ_{a ≥ κ} C(k, a), for κ from 1 on or k below 64: of two corners whose last
/// coordinate differs, one takes an agreement less of the others.
pub(super) fn at_least(agreements: u32, k: u32) -> u64 {
    // By κ; of no coordinates there is one corner.
    let mut sums = [0_u64; 65];
    sums[0] = 1;
    for _ in 0..k {
        for index in (1..=agreements as usize).rev() {
            sums[index] += sums[index - 1];
        }
        sums[0] = sums[0].wrapping_mul(2);
    }
    sums[agreements as usize]
}
