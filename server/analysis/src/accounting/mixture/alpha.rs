//! Mixture parameter α, and the other properties of a randomizer that accounting uses.

use hushbin::Error;
use hushbin::bounds::EPSILON;
use hushbin::choose::mixture_alpha;

/// Mixture from which every report of an ε-LDP randomizer is drawn, with parameter α.
///
/// For two inputs, a report points to the one with probability e·α, to the other with α, and to
/// neither otherwise. Any other person's report hides it with probability 2α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// Local ε of one report.
    pub(in crate::accounting) epsilon: f64,
    /// Mixture parameter α.
    pub(in crate::accounting) alpha: f64,
    /// Value 1 − α − e·α, computed without cancellation.
    pub(in crate::accounting) rest: f64,
    /// Weight v of the [blanket](super::super::privacy_blanket).
    pub(in crate::accounting) weight: f64,
    /// Favoured set; `None` if unknown, as for any ε-LDP randomizer.
    pub(in crate::accounting) favoured: Option<Favoured>,
    /// True if elements are hashed independently, so that an ideal hash gives a smaller ε_c.
    pub(in crate::accounting) independent: bool,
    /// Value of [`Mixture::attains_reduction`].
    pub(in crate::accounting) attains_reduction: bool,
}

/// Favoured set of a report: c of t buckets, sides or corners.
///
/// Given its seed, the report weighs these e and the rest 1, or it is drawn from a mixture of such
/// reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::accounting) struct Favoured {
    /// Number c of favoured buckets.
    pub(in crate::accounting) count: f64,
    /// Number t − c of buckets that are not favoured.
    pub(in crate::accounting) others: f64,
}

impl Favoured {
    /// Returns the number t of buckets.
    pub(in crate::accounting) fn buckets(&self) -> f64 {
        self.count + self.others
    }

    /// Returns Ω, the sum of the weights at local ε.
    pub(in crate::accounting) fn omega(&self, epsilon: f64) -> f64 {
        self.count * epsilon.exp() + self.others
    }
}

impl Mixture {
    /// Returns the mixture of any ε-LDP randomizer: α = 1/(e + 1), by the corollary in
    /// `privacy_blanket`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when ε is outside [`EPSILON`].
    pub fn generic(epsilon: f64) -> Result<Self, Error> {
        // The weights are those of two answers, though nothing states that there are two.
        Ok(Self {
            favoured: None,
            ..Self::weighted(epsilon, 1.0, 1.0)?
        })
    }

    /// Returns the mixture of `count` buckets with weight e and `others` with weight 1: α = min(c,
    /// t − c)/Ω.
    pub(in crate::accounting) fn weighted(
        epsilon: f64,
        count: f64,
        others: f64,
    ) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        let e = epsilon.exp();
        let favoured = Favoured { count, others };
        Ok(Self {
            epsilon,
            alpha: mixture_alpha(count, others, e),
            // Equals (Ω − min(c, t − c)·(e + 1))/Ω.
            rest: (others - count).max((count - others) * e) / favoured.omega(epsilon),
            weight: if count > others { e } else { 1.0 },
            favoured: Some(favoured),
            independent: false,
            attains_reduction: false,
        })
    }

    /// Returns [`Mixture::generic`] with the fraction `part` of its α. Every informative report is
    /// replaced by "neither" with probability 1 − `part`.
    pub(in crate::accounting) fn thinned(&self, part: f64) -> Self {
        Self {
            epsilon: self.epsilon,
            alpha: part * self.alpha,
            rest: 1.0 - part * (1.0 - self.rest),
            weight: 1.0,
            favoured: None,
            independent: false,
            attains_reduction: false,
        }
    }

    /// Returns the mixture under an ideal hash: every element's bucket is uniform and independent
    /// of all others', under every hash function.
    ///
    /// This is an assumption about the hash, which the proven bound does not need. Favoured sets
    /// then overlap in at least c²/t buckets on average, see `privacy_blanket`.
    ///
    /// `None` unless elements are hashed independently to buckets, and the c heaviest buckets are
    /// favoured. The slots of a balanced hash avoid each other. Opposite answers favour opposite
    /// sides of CoCo's pairs, under any hash.
    #[must_use]
    pub(crate) fn under_ideal_hash(&self) -> Option<Self> {
        let favoured = self.favoured.filter(|_| self.independent)?;
        let (c, t) = (favoured.count, favoured.buckets());
        let (omega, e) = (favoured.omega(self.epsilon), self.epsilon.exp());
        Some(Self {
            alpha: c * (t - c) / t / omega,
            rest: ((t - c) * (t - c) + e * c * c) / t / omega,
            weight: e,
            favoured: None,
            independent: false,
            ..*self
        })
    }

    /// Returns the local ε of one report, in nats.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Returns the mixture parameter α, from 0 to 1/(e + 1).
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns P(neither) = 1 − α − e·α.
    #[must_use]
    pub const fn rest(&self) -> f64 {
        self.rest
    }

    /// Returns whether some batch of these reports is known to attain P1's Theorem 1, or to have a
    /// larger loss.
    ///
    /// No ε_c below
    /// [`Account::reduction_lower_epsilon`](super::super::Account::reduction_lower_epsilon) can
    /// then be promised. See [`Mixture::for_mechanism`].
    #[must_use]
    pub const fn attains_reduction(&self) -> bool {
        self.attains_reduction
    }

    /// Returns the numbers c and t − c of buckets that a report favours, and does not favour.
    /// `None` for [`Mixture::generic`].
    #[must_use]
    pub fn favoured(&self) -> Option<[f64; 2]> {
        self.favoured.map(|own| [own.count, own.others])
    }
}
