//! All entries, each by what tells of one.

use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::one_sparse::OneSparse;
use super::oracle::{Moments, Oracle, Presence, Setting};
use super::slots::all;

/// k-fold repetition (P3 §2.1): all of s slots answer, each at ε. It protects one entry, ε of
/// two inputs that differ in one, and only where **slots are in random order**: then what
/// differs is one slot. In the order of the items an entry that is added moves all behind it.
///
/// More than s entries are not sampled down, which would not protect an entry either: all
/// answer, and how many answers there are tells how many entries.
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
    /// The repetition for this setting.
    ///
    /// # Errors
    /// As [`OneSparse::new`].
    pub fn new(setting: &Setting) -> Result<Self, Error> {
        Ok(Self {
            sparsity: setting.sparsity,
            one: T::new(setting)?,
        })
    }

    /// What answers.
    #[must_use]
    pub const fn one(&self) -> &T {
        &self.one
    }

    /// Of answers beyond s: what they say of presence on average is not counted.
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

    /// One answer about the item, if it is there, and k − 1 or k that are not, on average 0.
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

    /// Answers are added up, so that their order, which is random, need not be drawn.
    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        heard.reports += 1;
        let mut answers = 0;
        for slot in all(entries, self.sparsity) {
            self.one.tell(slot, heard, rng);
            answers += 1;
        }
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
