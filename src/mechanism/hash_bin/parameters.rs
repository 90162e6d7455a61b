//! Parameters of hash-bin, and the sensitivity of its bins.

use super::privacy_level::PrivacyLevel;
use crate::bounds;
use crate::domain::Domain;
use crate::error::{Error, error};
use crate::hash::{ElementHash, HashFamily};
use crate::sample::ExpLowerBound;

/// Parameters of hash-bin.
///
/// ```
/// use hushbin::hash::HashFamily;
/// use hushbin::mechanism::hash_bin::{DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel};
///
/// let hash_bin = HashBin::new(PrivacyLevel::Event, HashFamily::Balanced, 4, DEFAULT_GRID_STEPS_PER_UNIT).unwrap();
/// assert_eq!((hash_bin.bin_count(), hash_bin.grid_steps()), (4, 1024));
/// // At level `user` there is one bin.
/// let user: Result<HashBin, _> = serde_json::from_str(
///     r#"{ "level": "user", "clip": 2.0, "noise": "laplace", "hashing": "balanced", "bins": 4, "grid": 1024 }"#,
/// );
/// assert!(user.is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HashBin {
    privacy_level: PrivacyLevel,
    hash_family: HashFamily,
    bin_count: u32,
    /// Binary logarithm of the grid, log₂ Γ.
    log2_grid_steps: u32,
}

impl HashBin {
    /// Checks the ranges and creates the parameters.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a number outside [`bounds::HASH_BIN_COUNT_RANGE`], [`bounds::GRID_STEPS_PER_UNIT_RANGE`],
    /// [`bounds::NEIGHBOUR_DISTANCE_RANGE`], [`bounds::DELTA_RANGE`] or [`bounds::CLIPPING_BOUND_RANGE`]. [`Error::InvalidCombination`] in these
    /// cases:
    ///
    /// - the grid Γ is not a power of two, or the clipping bound η is not a multiple of 1/Γ;
    /// - there are several bins at user level;
    /// - the hash family is [`HashFamily::BalancedItems`].
    ///
    /// [`Task::new`](crate::Task::new) checks that the parameters suit a domain.
    pub fn new(
        level: PrivacyLevel,
        hashing: HashFamily,
        bins: u32,
        grid: u32,
    ) -> Result<Self, Error> {
        let combination = |reason| Err(error!(InvalidCombination { reason }));
        hashing.check_uses_paddings()?;
        bounds::HASH_BIN_COUNT_RANGE.check_in_range(f64::from(bins))?;
        bounds::GRID_STEPS_PER_UNIT_RANGE.check_in_range(f64::from(grid))?;
        if !grid.is_power_of_two() {
            return combination("\"grid\" must be a power of two");
        }
        match level {
            PrivacyLevel::Event => {}
            PrivacyLevel::Neighbouring { distance, delta } => {
                bounds::NEIGHBOUR_DISTANCE_RANGE.check_in_range(distance)?;
                if let Some(delta) = delta {
                    bounds::DELTA_RANGE.check_in_range(delta)?;
                }
            }
            PrivacyLevel::User { clip, .. } => {
                bounds::CLIPPING_BOUND_RANGE.check_in_range(clip)?;
                let steps = clip * f64::from(grid);
                if steps < 1.0 || libm::trunc(steps) != steps {
                    return combination("\"clip\" must be a multiple of 1 / \"grid\"");
                }
                if bins != 1 {
                    return combination("level \"user\" needs \"bins\" 1: its sum is clipped");
                }
            }
        }
        Ok(Self {
            privacy_level: level,
            hash_family: hashing,
            bin_count: bins,
            log2_grid_steps: grid.trailing_zeros(),
        })
    }

    /// Privacy level of a report.
    #[must_use]
    pub const fn privacy_level(&self) -> PrivacyLevel {
        self.privacy_level
    }

    /// Family of the hash functions that map items to bins.
    #[must_use]
    pub const fn hash_family(&self) -> HashFamily {
        self.hash_family
    }

    /// Number b of bins.
    #[must_use]
    pub const fn bin_count(&self) -> u32 {
        self.bin_count
    }

    /// Number Γ of grid steps per unit: bins are multiples of 1/Γ.
    #[must_use]
    pub const fn grid_steps(&self) -> u32 {
        1 << self.log2_grid_steps
    }

    pub(crate) fn element_hash(&self, domain: &Domain) -> ElementHash {
        ElementHash::new(self.hash_family, domain.item_count(), self.bin_count)
    }

    /// Clipping bound η at user level, in steps of the grid. `None` at other levels.
    pub(super) fn clipping_bound_steps(&self) -> Option<u32> {
        // The product is a whole number of at most 2¹⁰·2¹⁶.
        self.privacy_level
            .clipping_bound()
            .map(|clip| (clip * f64::from(self.grid_steps())) as u32)
    }

    /// Sensitivity Δ: the maximum ℓ₁ distance between the bins of two neighbouring inputs, in steps
    /// of the grid.
    ///
    /// If the level has a δ, Hoeffding's inequality gives a bound on the distance, which fails with
    /// probability at most δ. This bound is used if it is below the distance L of the level. The
    /// book derives the bound and the rounding term in `math/hash-bin`.
    #[must_use]
    pub fn sensitivity(&self) -> u64 {
        let grid = f64::from(self.grid_steps());
        match self.privacy_level {
            // One value in [−1, 1] changes by at most 2, in one bin.
            PrivacyLevel::Event => 2 * u64::from(self.grid_steps()),
            PrivacyLevel::Neighbouring { distance, .. } => {
                let apart = self.hoeffding_distance_bound().unwrap_or(distance);
                // Rounding is coupled: bins that are x steps apart are at most ⌈x⌉ apart
                // afterwards. This adds at most one step for each bin.
                libm::ceil(apart * grid) as u64 + u64::from(self.bin_count)
            }
            PrivacyLevel::User { .. } => 2 * u64::from(self.clipping_bound_steps().unwrap_or(0)),
        }
    }

    /// Bound 2√(b·L·ln(2b/δ)) on the distance between the bins of two neighbours. The bound fails
    /// with probability at most δ. Here b is the number of bins, and L is the maximum distance
    /// between the inputs. `None` if the level has no δ, or if the bound is not below L.
    fn hoeffding_distance_bound(&self) -> Option<f64> {
        let PrivacyLevel::Neighbouring {
            distance,
            delta: Some(delta),
        } = self.privacy_level
        else {
            return None;
        };
        let bins = f64::from(self.bin_count);
        // ln(x) is computed as 4·ln(⁴√x), because `log_upper_bound` takes arguments up to exp(15).
        let root = libm::sqrt(libm::sqrt(2.0 * bins / delta));
        let log = 4.0 * log_upper_bound(root * (1.0 + 4.0 * f64::EPSILON));
        // Rounded up by a few units in the last place, for the errors of the square roots.
        let bound = 2.0 * libm::sqrt(bins * distance * log);
        Some(bound * (1.0 + 4.0 * f64::EPSILON)).filter(|bound| *bound < distance)
    }

    /// Realised δ of the guarantee. It is 0 if the noise is scaled to the distance L itself, which
    /// neighbours never exceed.
    #[must_use]
    pub fn realised_delta(&self) -> f64 {
        match self.hoeffding_distance_bound() {
            Some(_) => self.privacy_level.delta().unwrap_or(0.0),
            None => 0.0,
        }
    }
}

/// Computes an upper bound of ln(`value`), at most 2⁻²⁰ above the logarithm. `value` is at most
/// exp(15).
fn log_upper_bound(value: f64) -> f64 {
    let (mut bound, mut step) = (16.0, 8.0);
    while step > 1.0 / f64::from(1 << 20) {
        // If even a lower bound of exp(bound − step) is at least `value`, then bound − step is an
        // upper bound of the logarithm.
        if ExpLowerBound::new(bound - step).to_f64() >= value {
            bound -= step;
        }
        step /= 2.0;
    }
    bound
}
