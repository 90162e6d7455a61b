//! k-fold repetition: a report has the answer of a one-sparse oracle about each entry.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::one_sparse::OneSparse;
use super::oracle::{Moments, Oracle, Presence, Setting};
use super::slots::all;

/// k-fold repetition (P3 §2.1): entries are padded with dummies to s slots. A report has one answer
/// at ε about each slot.
///
/// Privacy is at event level: only two inputs that differ in one entry are ε-indistinguishable.
/// This requires **slots in random order**, so that only one slot differs. If slots were in the
/// order of items, an added entry would shift all later ones.
///
/// If there are more than s entries, the report has an answer about each of them. Keeping only s
/// random ones would break privacy at event level. The number of answers then reveals the number of
/// entries.
///
/// ```
/// use hushbin_study::competitors::ratings::{KFold, Oracle, Setting, SignedBit};
///
/// let setting = Setting { items: 100, sparsity: 6, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let bits = KFold::<SignedBit>::new(&setting)?;
/// assert!((bits.moments().mean()[1] - 6.0 * bits.one().points().variance(0.0)).abs() < 1e-9);
/// assert_eq!(bits.bits(), 390.0);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KFold<T> {
    sparsity: u32,
    one: T,
}

impl<T: OneSparse> KFold<T> {
    /// Creates the mechanism for the question and the privacy of a setting.
    ///
    /// # Errors
    /// Same errors as [`OneSparse::new`].
    pub fn new(setting: &Setting) -> Result<Self, Error> {
        Ok(Self {
            sparsity: setting.sparsity,
            one: T::new(setting)?,
        })
    }

    /// Oracle that draws the answer about one slot.
    #[must_use]
    pub const fn one(&self) -> &T {
        &self.one
    }

    /// Subtracts the expected contribution of the `surplus` answers beyond s from the presence
    /// sums. The offset of [`linear`](Oracle::linear) covers only s answers.
    fn balance(&self, surplus: u64, heard: &mut Heard) {
        if let (true, Some([_, offset])) = (surplus > 0, self.one.linear().presence) {
            for sum in &mut heard.presence {
                *sum -= surplus as f64 * offset;
            }
        }
    }
}

impl<T: OneSparse> Oracle for KFold<T> {
    fn loss(&self) -> f64 {
        self.one.loss()
    }

    fn bits(&self) -> f64 {
        f64::from(self.sparsity) * self.one.bits()
    }

    fn linear(&self) -> Linear {
        let (k, one) = (f64::from(self.sparsity), self.one.linear());
        Linear {
            mean: one.mean,
            presence: one.presence.map(|[scale, offset]| [scale, k * offset]),
        }
    }

    /// Moments of the sum of s answers. If the person has the item, one answer is about it,
    /// otherwise none. The estimates from the remaining answers have mean 0.
    fn moments(&self) -> Moments {
        let (k, one) = (f64::from(self.sparsity), self.one.moments());
        let sum = |[own, other]: [f64; 2]| [own + (k - 1.0) * other, k * other];
        let presence = |one: Presence| Presence {
            variance: sum(one.variance),
            ..one
        };
        Moments {
            mean_square: sum(one.mean_square),
            presence: one.presence.map(presence),
        }
    }

    /// The sums do not depend on the order of the slots, so the random order is not drawn.
    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        heard.reports += 1;
        let mut answers = 0;
        for slot in all(entries, self.sparsity) {
            self.one.tell(slot, heard, rng);
            answers += 1;
        }
        // Inputs are padded to s, so there are never fewer answers.
        self.balance(answers - u64::from(self.sparsity), heard);
    }

    fn hear_all(&self, people: &[&[Entry]], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let mut own = vec![0; self.one.elements()];
        let mut answers = 0;
        for entries in people {
            for slot in all(entries, self.sparsity) {
                self.one.tell_own(slot, heard, &mut own, rng);
                answers += 1;
            }
        }
        let people = people.len() as u64;
        heard.reports += people;
        self.one.tell_others(answers, &own, heard, rng);
        self.balance(answers - people * u64::from(self.sparsity), heard);
    }
}
