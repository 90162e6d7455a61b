//! The parameters of hash-bin, and how far neighbours' bins are apart.

use super::level::Level;
use crate::bounds;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::{Hash, Hashing};
use crate::sample::ExpLowerBound;

/// The parameters of hash-bin.
///
/// ```
/// use hushbin::hash::Hashing;
/// use hushbin::mechanism::hash_bin::{GRID, HashBin, Level};
///
/// let hash_bin = HashBin::new(Level::Event, Hashing::Balanced, 4, GRID).unwrap();
/// assert_eq!((hash_bin.bins(), hash_bin.grid()), (4, 1024));
/// // At level `user` there is one bin.
/// let user: Result<HashBin, _> = serde_json::from_str(
///     r#"{ "level": "user", "clip": 2.0, "noise": "laplace", "hashing": "balanced", "bins": 4, "grid": 1024 }"#,
/// );
/// assert!(user.is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HashBin {
    level: Level,
    hashing: Hashing,
    bins: u32,
    /// log₂ Γ.
    grid_bits: u32,
}

impl HashBin {
    /// Parameters within their ranges.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when a number is outside [`bounds::BINS`],
    /// [`bounds::GRID`], [`bounds::DISTANCE`], [`bounds::DELTA`] or
    /// [`bounds::CLIP`]; [`Error::Combination`] when Γ is no power of two, η no
    /// multiple of 1/Γ, b is not 1 at user level, or the hashing is not for bins. Whether the parameters suit
    /// a domain is checked by [`Task::new`](crate::Task::new).
    pub fn new(level: Level, hashing: Hashing, bins: u32, grid: u32) -> Result<Self, Error> {
        let combination = |reason| Err(error!(Combination { reason }));
        hashing.check_paddings()?;
        bounds::BINS.check(f64::from(bins))?;
        bounds::GRID.check(f64::from(grid))?;
        if !grid.is_power_of_two() {
            return combination("\"grid\" is to be a power of two");
        }
        match level {
            Level::Event => {}
            Level::Neighbouring { distance, delta } => {
                bounds::DISTANCE.check(distance)?;
                if let Some(delta) = delta {
                    bounds::DELTA.check(delta)?;
                }
            }
            Level::User { clip, .. } => {
                bounds::CLIP.check(clip)?;
                let steps = clip * f64::from(grid);
                if steps < 1.0 || libm::trunc(steps) != steps {
                    return combination("\"clip\" is to be a multiple of 1 / \"grid\"");
                }
                if bins != 1 {
                    return combination("level \"user\" takes one of \"bins\": its sum is clipped");
                }
            }
        }
        Ok(Self {
            level,
            hashing,
            bins,
            grid_bits: grid.trailing_zeros(),
        })
    }

    /// What a report protects.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// How items are hashed to bins.
    #[must_use]
    pub const fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// b, the number of bins.
    #[must_use]
    pub const fn bins(&self) -> u32 {
        self.bins
    }

    /// Γ: bins hold multiples of 1/Γ.
    #[must_use]
    pub const fn grid(&self) -> u32 {
        1 << self.grid_bits
    }

    pub(crate) fn hash(&self, domain: &Domain) -> Hash {
        Hash::new(self.hashing, domain.items(), self.bins)
    }

    /// η in steps of the grid, at user level.
    pub(super) fn clip_steps(&self) -> Option<u32> {
        // A whole number of at most 2¹⁰·2¹⁶.
        self.level
            .clip()
            .map(|clip| (clip * f64::from(self.grid())) as u32)
    }

    /// Δ: how far the bins of two neighbours are apart at most, summed over
    /// bins, in steps of the grid.
    ///
    /// Rounding is coupled: bins that are x steps apart come out at most ⌈x⌉ apart. With δ
    /// the distance is bounded by Hoeffding's inequality, but for a probability of δ, where
    /// that is below L. The book derives both, in `math/hash-bin`.
    #[must_use]
    pub fn sensitivity(&self) -> u64 {
        let grid = f64::from(self.grid());
        match self.level {
            Level::Event => 2 * u64::from(self.grid()),
            Level::Neighbouring { distance, .. } => {
                let apart = self.concentrated().unwrap_or(distance);
                libm::ceil(apart * grid) as u64 + u64::from(self.bins)
            }
            Level::User { .. } => 2 * u64::from(self.clip_steps().unwrap_or(0)),
        }
    }

    /// The bound that holds but with probability δ, where it is below L; rounded
    /// up, and a few units in the last place more for what square roots err.
    fn concentrated(&self) -> Option<f64> {
        let Level::Neighbouring {
            distance,
            delta: Some(delta),
        } = self.level
        else {
            return None;
        };
        let bins = f64::from(self.bins);
        let root = libm::sqrt(libm::sqrt(2.0 * bins / delta));
        let log = 4.0 * log_upper_bound(root * (1.0 + 4.0 * f64::EPSILON));
        let bound = 2.0 * libm::sqrt(bins * distance * log);
        Some(bound * (1.0 + 4.0 * f64::EPSILON)).filter(|bound| *bound < distance)
    }

    /// The δ that the guarantee really has: 0 where the noise covers L anyway.
    #[must_use]
    pub fn realised_delta(&self) -> f64 {
        match self.concentrated() {
            Some(_) => self.level.delta().unwrap_or(0.0),
            None => 0.0,
        }
    }
}

/// A number not below ln(`value`), within 2⁻²⁰ of it: its exponential's lower
/// bound is at least `value`, which is at most exp(15).
fn log_upper_bound(value: f64) -> f64 {
    let (mut bound, mut step) = (16.0, 8.0);
    while step > 1.0 / f64::from(1 << 20) {
        if ExpLowerBound::new(bound - step).to_f64() >= value {
            bound -= step;
        }
        step /= 2.0;
    }
    bound
}
