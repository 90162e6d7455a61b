//! The mixture of a mechanism, and its α: how much of every report looks as if it
//! might be anybody's.

use hushbin::bounds::{EPSILON, SPARSITY};
use hushbin::choose::alpha;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin::mechanism::hash_bin::{HashBin, Level};
use hushbin::{Error, Mechanism, Task, mechanism};

/// The reason why a batch cannot be accounted for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// A parameter is out of its range, or does not go with another.
    #[error(transparent)]
    Parameter(#[from] Error),
    /// Other people's reports need not hide a person where ε is about
    /// neighbours only: they may be further away.
    #[error(
        "hash-bin is accounted for at level \"user\" only: below it ε is about neighbours, and \
         shuffling with people who are none is not known to hide anyone"
    )]
    Neighbours,
}

/// Mixture that every report of an ε-LDP randomizer is drawn from, with parameter
/// α: of the reports of two inputs a part e·α tells the one, α the other, and the
/// rest neither; of anybody's report 2α hides them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    epsilon: f64,
    alpha: f64,
    /// 1 − α − e·α without the cancellation.
    rest: f64,
    favoured: Option<Favoured>,
}

/// The favoured set of a report, c of t buckets or sides: given its seed they weigh
/// e and the others 1, or it is drawn from a mixture of such reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Favoured {
    /// c.
    pub(super) count: u32,
    /// t.
    pub(super) buckets: u32,
}

impl Favoured {
    /// Ω, the sum of the weights at local budget ε.
    pub(super) fn omega(&self, epsilon: f64) -> f64 {
        let (c, t) = (f64::from(self.count), f64::from(self.buckets));
        c * epsilon.exp() + (t - c)
    }
}

/// A mechanism whose batches can be accounted for.
pub(crate) trait Accounted {
    /// The reports of people with at most `sparsity` entries at local ε.
    ///
    /// # Errors
    /// [`AccountError`].
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError>;
}

impl Accounted for Collision {
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::collision(self, sparsity, epsilon)?)
    }
}

impl Accounted for Coco {
    fn mixture(&self, sparsity: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        Ok(Mixture::coco(self, sparsity, epsilon)?)
    }
}

impl Accounted for HashBin {
    fn mixture(&self, _: u32, epsilon: f64) -> Result<Mixture, AccountError> {
        match self.level() {
            Level::User { .. } => Ok(Mixture::generic(epsilon)?),
            Level::Event | Level::Neighbouring { .. } => Err(AccountError::Neighbours),
        }
    }
}

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        fn mixture_of(
            mechanism: &Mechanism,
            sparsity: u32,
            epsilon: f64,
        ) -> Result<Mixture, AccountError> {
            match mechanism {
                $(Mechanism::$Name(own) => {
                    <mechanism::$module::$Name>::mixture(own, sparsity, epsilon)
                })+
            }
        }
    };
}

hushbin::mechanisms!(register);

impl Mixture {
    /// The mixture of a task's reports.
    ///
    /// # Errors
    /// [`AccountError::Neighbours`] for hash-bin below user level.
    pub fn for_task(task: &Task) -> Result<Self, AccountError> {
        Self::for_mechanism(task.mechanism(), task.sparsity(), task.epsilon())
    }

    /// The mixture of a task's mechanism as it is, at any local ε.
    ///
    /// It is the α of the real weights at the ε asked for. What is sampled are
    /// integer thresholds with an effective ε that is no greater. For
    /// `heaviest`, `overwrite` and `strongest` such a report is one of the real
    /// weights, replaced now and then by a uniform bucket or side whatever the
    /// input was: post-processing, so the batch is no less private. Under
    /// `occupied` each number of occupied buckets rounds by itself, which moves
    /// the total variation α(e − 1) by up to 2⁻⁶³; that is added. Hash-bin at
    /// user level is any ε-LDP randomizer.
    ///
    /// # Errors
    /// As [`Mixture::for_task`], and those of [`Mixture::collision`],
    /// [`Mixture::coco`] and [`Mixture::generic`].
    pub fn for_mechanism(
        mechanism: &Mechanism,
        sparsity: u32,
        epsilon: f64,
    ) -> Result<Self, AccountError> {
        mixture_of(mechanism, sparsity, epsilon)
    }

    /// The mixture of any ε-LDP randomizer: α = 1/(e + 1) (Feldman, McMillan, Talwar
    /// 2023).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when ε is outside [`EPSILON`].
    pub fn generic(epsilon: f64) -> Result<Self, Error> {
        // As of two answers, though nothing says that there are two.
        Ok(Self {
            favoured: None,
            ..Self::weighted(epsilon, 1, 2)?
        })
    }

    /// The mixture of Collision; only rule `occupied` asks for the sparsity.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], or [`Error::Combination`] when rule `occupied`
    /// has no more buckets than `sparsity`.
    pub fn collision(collision: &Collision, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        let t = collision.buckets();
        match collision.rule() {
            collision::Rule::Heaviest { favoured } => Self::weighted(epsilon, favoured, t),
            collision::Rule::Occupied => {
                SPARSITY.check(f64::from(sparsity))?;
                if t <= sparsity {
                    return Err(Error::Combination {
                        reason: "rule \"occupied\" needs more buckets t than the sparsity s",
                    });
                }
                let of_s = Self::weighted(epsilon, sparsity, t)?;
                let slack = 0.5_f64.powi(63) / epsilon.exp_m1();
                Ok(Self {
                    alpha: (of_s.alpha + slack).min(1.0 / (epsilon.exp() + 1.0)),
                    rest: (of_s.rest - slack * (epsilon.exp() + 1.0)).max(0.0),
                    ..of_s
                })
            }
        }
    }

    /// The mixture of CoCo; only rule `overwrite` asks for the sparsity.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], or [`Error::Combination`] when rule `overwrite`
    /// has fewer than 2s + 2 sides.
    pub fn coco(coco: &Coco, sparsity: u32, epsilon: f64) -> Result<Self, Error> {
        match coco.rule() {
            coco::Rule::Strongest { favoured } => Self::weighted(epsilon, favoured, coco.buckets()),
            coco::Rule::Overwrite => {
                SPARSITY.check(f64::from(sparsity))?;
                if coco.buckets() < 2 * sparsity + 2 {
                    return Err(Error::Combination {
                        reason: "rule \"overwrite\" needs at least 2s + 2 buckets t",
                    });
                }
                // Of s pairs one side each is favoured, and s sides are not.
                Self::weighted(epsilon, sparsity, coco.buckets())
            }
        }
    }

    /// c of t buckets weigh e, the others 1: α = min(c, t − c)/Ω.
    fn weighted(epsilon: f64, c: u32, t: u32) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        let e = epsilon.exp();
        let alpha = alpha(c, t, e);
        let favoured = Favoured {
            count: c,
            buckets: t,
        };
        let (c, t) = (f64::from(c), f64::from(t));
        Ok(Self {
            epsilon,
            alpha,
            // (Ω − min(c, t − c)·(e + 1))/Ω.
            rest: (t - 2.0 * c).max((2.0 * c - t) * e) / favoured.omega(epsilon),
            favoured: Some(favoured),
        })
    }

    /// [`Mixture::generic`] with a part `part` of its α: of every report that
    /// tells something, 1 − `part` is replaced by "neither".
    pub(super) fn thinned(&self, part: f64) -> Self {
        Self {
            epsilon: self.epsilon,
            alpha: part * self.alpha,
            rest: 1.0 - part * (1.0 - self.rest),
            favoured: None,
        }
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

    /// What the reports favour; none for any randomizer.
    pub(super) const fn favoured(&self) -> Option<Favoured> {
        self.favoured
    }
}
