//! PCKV-UE: a report has a sign or nothing for every item.

use hushbin::sample::Threshold;
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rates::PckvRates;
use crate::competitors::favoured::rounded_down;
use crate::competitors::numbers::rounds_up;
use crate::competitors::ratings::heard::{Heard, Linear};
use crate::competitors::ratings::oracle::{Moments, Oracle, Setting};
use crate::competitors::ratings::slots::{Slot, binomial, coin, drawn, fair_signs, sign};

/// PCKV-UE over d items and s dummies. The drawn one is reported with probability a = 1/2, with its
/// own sign with probability p = e/(e + 1). Each other one is reported with probability
/// b = 2/(e + 3), with a fair sign.
///
/// Privacy: compare the entry of the drawn item with its distribution if a different item is drawn.
/// Its likelihood ratio is ap/(b/2) for the own sign, a(1 − p)/(b/2) for the opposite sign, and
/// (1 − a)/(1 − b) for no report. The first is e times either of the last two. A report's
/// probability is proportional to the average ratio of the slots. So the loss is ε, and an input of
/// only dummies attains it.
///
/// ```
/// use hushbin_study::competitors::ratings::{Oracle, PckvUe, Setting};
///
/// let setting = Setting { items: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let ue = PckvUe::new(&setting)?;
/// assert!(ue.loss() <= 1.0 && ue.loss() > 1.0 - 1e-12);
/// assert_eq!(ue.bits(), 208.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PckvUe {
    items: u32,
    sparsity: u32,
    /// Threshold of 1 − b, rounded down. So b is rounded up, and reports of other items hide more.
    silent: Threshold,
    /// Threshold of p, rounded down.
    sign: Threshold,
}

/// Threshold of a = 1/2, exact.
const TOLD: Threshold = Threshold(1 << 63);

impl PckvUe {
    /// Returns PCKV-UE for a setting.
    ///
    /// # Errors
    /// Same errors as [`Setting::budget`].
    pub fn new(setting: &Setting) -> Result<Self, Error> {
        let e = setting.pure()?.e();
        Ok(Self {
            items: setting.items,
            sparsity: setting.sparsity,
            // 1 − b = (e + 1)/(e + 3).
            silent: rounded_down((e + 1.0) / (e + 3.0), 0),
            sign: rounded_down(e / (e + 1.0), 0),
        })
    }

    /// Probabilities a, b and p of the realised thresholds.
    #[must_use]
    pub fn rates(&self) -> PckvRates {
        PckvRates {
            a: TOLD.probability(),
            b: self.silent.complement(),
            p: self.sign.probability(),
            lean: self.sign.probability() - self.sign.complement(),
        }
    }

    /// Draws and adds the report of the drawn item, if the drawn slot is an entry.
    fn tell(&self, entry: &Entry, heard: &mut Heard, rng: &mut dyn CryptoRng) {
        if TOLD.sample(rng) {
            let up = rounds_up(entry.value, rng) == self.sign.sample(rng);
            heard.presence[entry.item as usize] += 1.0;
            heard.signs[entry.item as usize] += sign(up);
        }
    }
}

impl Oracle for PckvUe {
    fn loss(&self) -> f64 {
        let PckvRates { a, b, p, .. } = self.rates();
        let told = [p, self.sign.complement()].map(|sign| 2.0 * a * sign / b);
        let silent = (1.0 - a) / self.silent.probability();
        let weights = [told[0], told[1], silent];
        let most = weights.into_iter().fold(0.0, f64::max);
        let least = weights.into_iter().fold(f64::INFINITY, f64::min);
        (most / least).ln()
    }

    fn bits(&self) -> f64 {
        2.0 * f64::from(self.items + self.sparsity)
    }

    fn linear(&self) -> Linear {
        self.rates().linear(self.sparsity)
    }

    fn moments(&self) -> Moments {
        self.rates().moments(self.sparsity)
    }

    /// Reports of dummies are independent and are not counted, so they are not drawn.
    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let slot = drawn(entries, self.sparsity, rng);
        heard.reports += 1;
        for item in 0..self.items as usize {
            match slot {
                Slot::Entry(entry) if entry.item == item as u64 => self.tell(entry, heard, rng),
                _ if self.silent.sample(rng) => {}
                _ => {
                    heard.presence[item] += 1.0;
                    heard.signs[item] += sign(coin(rng));
                }
            }
        }
    }

    fn hear_all(&self, people: &[&[Entry]], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let mut others = vec![people.len() as u64; self.items as usize];
        for entries in people {
            if let Slot::Entry(entry) = drawn(entries, self.sparsity, rng) {
                others[entry.item as usize] -= 1;
                self.tell(entry, heard, rng);
            }
        }
        heard.reports += people.len() as u64;
        let b = self.silent.complement();
        for (item, &others) in others.iter().enumerate() {
            // Given the drawn slots, reports of an item are independent of everything else. Of the
            // people who drew a different slot, a binomial number report the item, with probability
            // b. A binomial number of their fair signs are +. So it does not matter which people
            // these are.
            let told = binomial(others, b, rng);
            heard.presence[item] += told as f64;
            heard.signs[item] += fair_signs(told, rng);
        }
    }
}
