//! A bit for every coordinate.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Oracle, Setting};
use super::slots::{at_most, fair_signs, sign};
use crate::competitors::numbers::TwoPoints;

/// Naive perturbation (P3, Table 1): every coordinate of all d, 0 where there is no entry, by
/// [`TwoPoints`].
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
    /// k, at user level: of more entries as many are drawn.
    entries: Option<u32>,
}

impl NaiveBits {
    /// At event level: each bit at ε. Inputs may have any number of entries.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub fn event(setting: &Setting) -> Result<Self, Error> {
        Ok(Self {
            items: setting.items,
            points: TwoPoints::new(&setting.pure()?),
            entries: None,
        })
    }

    /// At user level: each bit at ε₀ = ε/k, k = s.
    ///
    /// Inputs of k entries each differ in up to 2k coordinates. But from 0 to an end costs
    /// ln(2e₀/(e₀ + 1)) at most and from an end to 0 ln((e₀ + 1)/2), together ε₀; so k of
    /// both cost ε, as k coordinates do that go from one end to the other.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub fn user(setting: &Setting) -> Result<Self, Error> {
        let budget = setting.pure()?.part(f64::from(setting.sparsity));
        Ok(Self {
            items: setting.items,
            points: TwoPoints::new(&budget),
            entries: Some(setting.sparsity),
        })
    }

    /// The response to a coordinate.
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

    /// Bits are independent. Those of people without an entry are fair, and so many fair
    /// signs add up to the same whosever they are.
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
            *sum += fair_signs(others, rng);
        }
    }
}
