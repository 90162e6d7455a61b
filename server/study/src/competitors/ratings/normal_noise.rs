//! Normal noise on every coordinate.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;
use rand_distr::{Distribution, StandardNormal};

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Oracle, Setting};
use super::slots::at_most;
use crate::competitors::budget::least_epsilon;
use crate::competitors::gaussian::Gaussian;

/// The [`Gaussian`] mechanism on all d coordinates, 0 where there is no entry (P3 §5), under
/// (ε, δ).
///
/// ```
/// use hushbin_study::competitors::ratings::{NormalNoise, Oracle, Setting};
///
/// let setting = Setting { items: 100, sparsity: 64, epsilon: 0.5, delta: 1e-5, distance: 1.0 };
/// let [best, coded] = [NormalNoise::user(&setting)?, NormalNoise::user_as_coded(&setting)?];
/// let times = coded.gaussian().sigma() / best.gaussian().sigma();
/// assert!((times - 1.38).abs() < 0.01);
/// // Noise for nothing.
/// assert!(coded.loss() < 0.36 && best.loss() > 0.5 - 1e-9);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalNoise {
    items: u32,
    gaussian: Gaussian,
    delta: f64,
    /// k, at user level: of more entries as many are drawn.
    entries: Option<u32>,
}

impl NormalNoise {
    /// At event level: Δ = 2, from one end to the other. Inputs may have any number of entries.
    ///
    /// # Errors
    /// As [`Setting::budget`]; [`Error::OutOfRange`] where δ is below 10⁻¹⁵.
    pub fn event(setting: &Setting) -> Result<Self, Error> {
        let gaussian = Gaussian::new(2.0, &setting.budget()?)?;
        Ok(Self::new(setting, None, gaussian))
    }

    /// At user level: Δ = 2√k, of k = s entries that go from one end to the other. Entries of
    /// 2k items that come and go move the vector by √(2k).
    ///
    /// # Errors
    /// As [`NormalNoise::event`].
    pub fn user(setting: &Setting) -> Result<Self, Error> {
        let gaussian = Gaussian::new(sensitivity(setting), &setting.budget()?)?;
        Ok(Self::new(setting, Some(setting.sparsity), gaussian))
    }

    /// Of inputs within L of each other. Inputs may have any number of entries.
    ///
    /// # Errors
    /// As [`NormalNoise::event`]; [`Error::OutOfRange`] where L is outside
    /// [`DISTANCE`](hushbin::bounds::DISTANCE).
    ///
    /// ```
    /// use hushbin_study::competitors::ratings::{NormalNoise, Setting};
    ///
    /// let setting =
    ///     |distance| Setting { items: 100, sparsity: 4, epsilon: 1.0, delta: 1e-5, distance };
    /// let sensitivity = |distance| {
    ///     NormalNoise::within(&setting(distance)).map(|noise| noise.gaussian().sensitivity())
    /// };
    /// // One entry moves, or one from end to end and another by the rest, or four so far.
    /// assert_eq!(sensitivity(1.5)?, 1.5);
    /// assert_eq!(sensitivity(3.0)?, 5.0_f64.sqrt());
    /// assert_eq!(sensitivity(8.0)?, 4.0);
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    pub fn within(setting: &Setting) -> Result<Self, Error> {
        let budget = setting.budget()?;
        let gaussian = Gaussian::new(sensitivity_within(setting.within()?), &budget)?;
        Ok(Self::new(setting, None, gaussian))
    }

    /// At user level with σ = Δ·√(2·ln(1.25/δ))/ε, as P3's code has it: more than is needed, and
    /// proven for ε below 1 only.
    ///
    /// # Errors
    /// As [`NormalNoise::event`].
    pub fn user_as_coded(setting: &Setting) -> Result<Self, Error> {
        let gaussian = Gaussian::classical(sensitivity(setting), &setting.budget()?)?;
        Ok(Self::new(setting, Some(setting.sparsity), gaussian))
    }

    const fn new(setting: &Setting, entries: Option<u32>, gaussian: Gaussian) -> Self {
        Self {
            items: setting.items,
            gaussian,
            delta: setting.delta,
            entries,
        }
    }

    /// The noise.
    #[must_use]
    pub const fn gaussian(&self) -> &Gaussian {
        &self.gaussian
    }

    /// Normal noise of so many reports on every coordinate.
    fn add(&self, reports: u64, heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let sigma = self.gaussian.sigma() * (reports as f64).sqrt();
        for sum in &mut heard.signs {
            let standard: f64 = StandardNormal.sample(rng);
            *sum += sigma * standard;
        }
        heard.reports += reports;
    }

    /// The entries themselves.
    fn sum(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        for entry in at_most(entries, self.entries, rng) {
            heard.signs[entry.item as usize] += entry.value;
        }
    }
}

/// 2√k.
fn sensitivity(setting: &Setting) -> f64 {
    2.0 * f64::from(setting.sparsity).sqrt()
}

/// Of vectors within L, whose coordinates move from −1 to 1 at most: √(4⌊L/2⌋ + r²), r being
/// what is left of L by 2.
///
/// Let two coordinates move by 0 < x ≤ y < 2. If x is t less and y is t more, the sum is the
/// same, and that of squares is 2t(y − x) + 2t² more. So where it is greatest, all but one
/// coordinate move by 0 or by 2: as many by 2 as go into L, and one by r. There are as many, L
/// being at most 2d. As each square is at most 2 times the move, and the moves are at most L,
/// that is at most √(L·min(L, 2)), and as much where L is up to 2 or even.
fn sensitivity_within(distance: f64) -> f64 {
    let rest = distance % 2.0;
    (2.0 * (distance - rest) + rest * rest).sqrt()
}

impl Oracle for NormalNoise {
    fn loss(&self) -> f64 {
        least_epsilon(self.delta, |epsilon| self.gaussian.delta_at(epsilon))
    }

    /// Four bytes a coordinate.
    fn bits(&self) -> f64 {
        32.0 * f64::from(self.items)
    }

    fn linear(&self) -> Linear {
        Linear::of_means(1.0)
    }

    fn moments(&self) -> Moments {
        let variance = self.gaussian.variance();
        Moments::of_means([variance + 1.0, variance])
    }

    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        self.sum(entries, heard, rng);
        self.add(1, heard, rng);
    }

    /// The noise of n reports adds up to normal noise of variance nσ².
    fn hear_all(&self, people: &[&[Entry]], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        for entries in people {
            self.sum(entries, heard, rng);
        }
        self.add(people.len() as u64, heard, rng);
    }
}
