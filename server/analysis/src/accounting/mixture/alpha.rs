//! α, and what else accounting knows of a randomizer.

use hushbin::Error;
use hushbin::bounds::EPSILON;
use hushbin::choose::alpha;

/// Mixture that every report of an ε-LDP randomizer is drawn from, with parameter
/// α: of the reports of two inputs a part e·α tells the one, α the other, and the
/// rest neither; of anybody's report 2α hides them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    pub(in crate::accounting) epsilon: f64,
    pub(in crate::accounting) alpha: f64,
    /// 1 − α − e·α without the cancellation.
    pub(in crate::accounting) rest: f64,
    /// v of the [blanket](super::super::privacy_blanket).
    pub(in crate::accounting) weight: f64,
    pub(in crate::accounting) favoured: Option<Favoured>,
    /// Whether elements are hashed independently, so that an ideal hash says more.
    pub(in crate::accounting) independent: bool,
    /// As [`Mixture::attains_reduction`].
    pub(in crate::accounting) attains_reduction: bool,
}

/// The favoured set of a report, c of t buckets, sides or corners: given its seed they
/// weigh e and the others 1, or it is drawn from a mixture of such reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::accounting) struct Favoured {
    /// c.
    pub(in crate::accounting) count: f64,
    /// t − c.
    pub(in crate::accounting) others: f64,
}

impl Favoured {
    /// t.
    pub(in crate::accounting) fn buckets(&self) -> f64 {
        self.count + self.others
    }

    /// Ω, the sum of the weights at local budget ε.
    pub(in crate::accounting) fn omega(&self, epsilon: f64) -> f64 {
        self.count * epsilon.exp() + self.others
    }
}

impl Mixture {
    /// The mixture of any ε-LDP randomizer: α = 1/(e + 1), by the corollary in `privacy_blanket`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when ε is outside [`EPSILON`].
    pub fn generic(epsilon: f64) -> Result<Self, Error> {
        // As of two answers, though nothing says that there are two.
        Ok(Self {
            favoured: None,
            ..Self::weighted(epsilon, 1.0, 1.0)?
        })
    }

    /// c = `count` buckets weigh e, the `others` 1: α = min(c, t − c)/Ω.
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
            alpha: alpha(count, others, e),
            // (Ω − min(c, t − c)·(e + 1))/Ω.
            rest: (others - count).max((count - others) * e) / favoured.omega(epsilon),
            weight: if count > others { e } else { 1.0 },
            favoured: Some(favoured),
            independent: false,
            attains_reduction: false,
        })
    }

    /// [`Mixture::generic`] with a part `part` of its α: of every report that
    /// tells something, 1 − `part` is replaced by "neither".
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

    /// The same if every element's bucket under every hash function were uniform and independent of
    /// all others': an assumption about the hash, of which what is proven needs none. Favoured sets
    /// then overlap in c²/t buckets or more on average, see `privacy_blanket`. `None` unless
    /// elements are hashed independently to buckets of which the c heaviest are favoured: slots of
    /// a balanced hash keep out of each other's way, and opposite answers favour opposite sides of
    /// CoCo's pairs, whatever the hash.
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

    /// Local ε of one report, in nats.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Mixture parameter α, from 0 to 1/(e + 1).
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// P(neither) = 1 − α − e·α.
    #[must_use]
    pub const fn rest(&self) -> f64 {
        self.rest
    }

    /// Whether some batch of these reports is known to give away as much as P1's
    /// Theorem 1 says, or more: so that no ε_c below
    /// [`Account::reduction_lower_epsilon`](super::super::Account::reduction_lower_epsilon)
    /// can be promised. See [`Mixture::for_mechanism`].
    #[must_use]
    pub const fn attains_reduction(&self) -> bool {
        self.attains_reduction
    }

    /// Number of buckets that a report favours and number of the others: c and t − c.
    /// `None` for [`Mixture::generic`].
    #[must_use]
    pub fn favoured(&self) -> Option<[f64; 2]> {
        self.favoured.map(|own| [own.count, own.others])
    }
}
