//! Ours for d numbers of every person, for comparison: the sampled cube by its
//! variance.

use hushbin::Error;

use super::budget::Budget;
use super::numbers::{ATTRIBUTES, Counts};

/// k of d attributes, drawn uniformly, by Mechanism-1 over these with threshold κ and
/// the whole ε; the (k, κ) of least variance.
///
/// ```
/// use hushbin_analysis::competitors::SampledCube;
///
/// let cube = SampledCube::best(16, 2.0)?;
/// assert_eq!((cube.drawn, cube.threshold), (2, 2));
/// assert!((cube.square - 21.15).abs() < 0.01);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledCube {
    /// k.
    pub drawn: u32,
    /// κ.
    pub threshold: u32,
    /// (d/k)·B²: the variance of one report's estimate of an attribute whose value is x
    /// is this less x².
    pub square: f64,
}

impl SampledCube {
    /// The best for d attributes at ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where d is outside [`ATTRIBUTES`] or ε outside
    /// [`EPSILON`](hushbin::bounds::EPSILON).
    pub fn best(attributes: u32, epsilon: f64) -> Result<Self, Error> {
        ATTRIBUTES.check(f64::from(attributes))?;
        let budget = Budget::new(epsilon, 0.0)?;
        let mut best: Option<Self> = None;
        for drawn in 1..=attributes {
            let (threshold, scale) = Counts::new(drawn)?.best(&budget);
            let square = f64::from(attributes) / f64::from(drawn) * scale * scale;
            if best.is_none_or(|best| square < best.square) {
                best = Some(Self {
                    drawn,
                    threshold,
                    square,
                });
            }
        }
        Ok(best.expect("there is at least one attribute"))
    }
}
