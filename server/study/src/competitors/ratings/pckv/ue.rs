//! PCKV-UE: a sign or none for every item.

use hushbin::sample::Threshold;
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::rates::PckvRates;
use crate::competitors::favoured::rounded_down;
use crate::competitors::numbers::rounds_up;
use crate::competitors::ratings::heard::{Heard, Linear};
use crate::competitors::ratings::oracle::{Moments, Oracle, Setting};
use crate::competitors::ratings::slots::{Slot, binomial, coin, drawn, fair_signs, sign};

/// PCKV-UE: over d items and s dummies, the drawn one is told with a = 1/2, with its own sign
/// with p = e/(e + 1); each other is told with b = 2/(e + 3), with a fair sign.
///
/// Beside what it would be if it were another item's, the drawn item's entry has the weight
/// ap/(b/2), a(1 − p)/(b/2) or (1 − a)/(1 − b), as it is told with the own sign, the other or
/// not: the first is e times either of the last two. A report's probability is the average
/// weight of the slots, so the loss is ε, which an input of dummies alone attains.
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
    /// 1 − b, rounded down: so b is rounded up, and what is told of others hides more.
    silent: Threshold,
    sign: Threshold,
}

/// a.
const TOLD: Threshold = Threshold(1 << 63);

impl PckvUe {
    /// PCKV-UE for this setting.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub fn new(setting: &Setting) -> Result<Self, Error> {
        let e = setting.pure()?.e();
        Ok(Self {
            items: setting.items,
            sparsity: setting.sparsity,
            silent: rounded_down((e + 1.0) / (e + 3.0), 0),
            sign: rounded_down(e / (e + 1.0), 0),
        })
    }

    /// a, b and p.
    #[must_use]
    pub fn rates(&self) -> PckvRates {
        PckvRates {
            a: TOLD.probability(),
            b: self.silent.complement(),
            p: self.sign.probability(),
            lean: self.sign.probability() - self.sign.complement(),
        }
    }

    /// Tells of the item that was drawn, of an entry.
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

    /// What is told of dummies, independently, nobody counts: it is not drawn.
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

    /// Given the drawn slots, what a report tells of an item is independent of all else. Of
    /// the people who did not draw an item a binomial number tell it, with b, and of their
    /// fair signs a binomial number are +: given these, it is the same whose they are.
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
            let told = binomial(others, b, rng);
            heard.presence[item] += told as f64;
            heard.signs[item] += fair_signs(told, rng);
        }
    }
}
