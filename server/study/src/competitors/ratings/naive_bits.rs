//! Naive perturbation: a report has one random bit for every coordinate.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Oracle, Setting};
use super::slots::{at_most, fair_signs, sign};
use crate::competitors::numbers::TwoPoints;

/// Naive perturbation (P3, Table 1): a report covers each of the d coordinates by [`TwoPoints`]. A
/// missing entry is 0.
///
/// ```
/// use hushbin_study::competitors::ratings::{NaiveBits, Oracle, Setting};
///
/// let setting = Setting { items: 100, sparsity: 6, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let [event, user] = [NaiveBits::event(&setting)?, NaiveBits::user(&setting)?];
/// assert!((event.moments().mean()[1] - 4.683).abs() < 1e-3);
/// assert!((user.moments().mean()[1] - 144.667).abs() < 1e-3);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NaiveBits {
    items: u32,
    points: TwoPoints,
    /// Maximum number k of entries at user level. If an input has more, k random ones are kept.
    /// `None` at event level.
    entries: Option<u32>,
}

impl NaiveBits {
    /// Returns the mechanism at event level, with each bit at ε. Inputs may have any number of
    /// entries.
    ///
    /// # Errors
    /// Same errors as [`Setting::budget`].
    pub fn event(setting: &Setting) -> Result<Self, Error> {
        Ok(Self {
            items: setting.items,
            points: TwoPoints::new(&setting.pure()?),
            entries: None,
        })
    }

    /// Returns the mechanism at user level, with each bit at ε₀ = ε/k, where k = s.
    ///
    /// Two inputs of k entries differ in up to 2k coordinates. With e₀ = exp(ε₀), a change of a
    /// coordinate from 0 to ±1 has a privacy loss of at most ln(2e₀/(e₀ + 1)). A change from ±1 to
    /// 0 has at most ln((e₀ + 1)/2). The sum of the two is ε₀, so k changes of each kind have a
    /// loss of ε. Changing k coordinates from −1 to 1 also has a loss of ε.
    ///
    /// # Errors
    /// Same errors as [`Setting::budget`].
    pub fn user(setting: &Setting) -> Result<Self, Error> {
        let budget = setting.pure()?.part(f64::from(setting.sparsity));
        Ok(Self {
            items: setting.items,
            points: TwoPoints::new(&budget),
            entries: Some(setting.sparsity),
        })
    }

    /// Mechanism that reports the value of one coordinate.
    #[must_use]
    pub const fn points(&self) -> &TwoPoints {
        &self.points
    }
}

impl Oracle for NaiveBits {
    fn loss(&self) -> f64 {
        f64::from(self.entries.unwrap_or(1)) * self.points.loss()
    }

    fn bits(&self) -> f64 {
        self.items.into()
    }

    fn linear(&self) -> Linear {
        Linear::of_means(self.points.scale())
    }

    fn moments(&self) -> Moments {
        Moments::of_means([self.points.scale().powi(2); 2])
    }

    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let kept = at_most(entries, self.entries, rng);
        heard.reports += 1;
        for (item, sum) in (0..).zip(&mut heard.signs) {
            let own = kept.iter().find(|entry| entry.item == item);
            let value = own.map_or(0.0, |entry| entry.value);
            *sum += sign(self.points.respond(value, rng));
        }
    }

    fn hear_all(&self, people: &[&[Entry]], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let mut others = vec![people.len() as u64; self.items as usize];
        for entries in people {
            for entry in at_most(entries, self.entries, rng) {
                others[entry.item as usize] -= 1;
                heard.signs[entry.item as usize] += sign(self.points.respond(entry.value, rng));
            }
        }
        heard.reports += people.len() as u64;
        for (sum, &others) in heard.signs.iter_mut().zip(&others) {
            // Bits are independent. A person without this item sends either sign with probability
            // 1/2, so only the number of such people matters.
            *sum += fair_signs(others, rng);
        }
    }
}
