//! Mixture of a mechanism and its α, which measures how often a report could be anyone's.

pub(super) mod alpha;
pub(super) mod contract;
mod direct;

pub(crate) use alpha::Mixture;
pub(crate) use contract::AccountError;

use hushbin::domain::Domain;
use hushbin::{Mechanism, Question, Task};

use contract::Accounted;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        fn accounted(mechanism: &Mechanism) -> &dyn Accounted {
            match mechanism {
                $(Mechanism::$Name(own) => own,)+
            }
        }
    };
}

hushbin::mechanisms!(register);

impl Mixture {
    /// Returns the mixture of a task's reports.
    ///
    /// If a public seed draws one of several questions, every person could have made any report of
    /// the batch, as with the seeds of one question. If the questions' mixtures differ, they are
    /// treated as one [generic](Mixture::generic) randomizer. That covers every ε-LDP randomizer
    /// and has the largest loss.
    ///
    /// # Errors
    /// [`AccountError::Neighbours`] for hash-bin below user level.
    pub fn for_task(task: &Task) -> Result<Self, AccountError> {
        Self::for_task_at(task, task.epsilon())
    }

    /// Returns the mixture of a task's reports at any local ε, with the mechanisms' parameters
    /// unchanged.
    ///
    /// # Errors
    /// As [`Mixture::for_task`], and those of [`Mixture::for_mechanism`].
    pub fn for_task_at(task: &Task, epsilon: f64) -> Result<Self, AccountError> {
        let mixture = |question: &Question| {
            Self::for_mechanism(question.mechanism(), &question.domain(), epsilon)
        };
        let first = mixture(&task.questions()[0])?;
        for question in &task.questions()[1..] {
            if mixture(question)? != first {
                return Ok(Self::generic(epsilon)?);
            }
        }
        Ok(Self {
            attains_reduction: first.attains_reduction && task.only_question().is_some(),
            ..first
        })
    }

    /// Returns the mixture of a mechanism and domain at any local ε, with the parameters unchanged.
    ///
    /// Its α is that of the real weights at the given ε. The sampler uses integer thresholds, whose
    /// effective ε is no greater. For `heaviest`, `overwrite`, `strongest`, the window and the
    /// pattern, a sampled report is a report of the real weights, sometimes replaced by a uniform
    /// bucket, side or cell. The replacement does not depend on the input. It is post-processing,
    /// so the batch is no less private. Under `occupied` each number of occupied buckets rounds
    /// separately. This moves the total variation α(e − 1) by up to 2⁻⁶³, which is added. Hash-bin
    /// at user level is treated as any ε-LDP randomizer.
    ///
    /// Two cases attain the reduction, up to the rounding of thresholds. One is direct encoding:
    /// every element has its own bucket, and the number of favoured buckets is that of entries. The
    /// other is the window whose cells favour only themselves, if three inputs differ for every
    /// draw. For all other cases this is not known.
    ///
    /// # Errors
    /// As [`Mixture::for_task`], and those of [`Mixture::collision`], [`Mixture::coco`],
    /// [`Mixture::window`] and [`Mixture::generic`].
    pub fn for_mechanism(
        mechanism: &Mechanism,
        domain: &Domain,
        epsilon: f64,
    ) -> Result<Self, AccountError> {
        let own = accounted(mechanism);
        Ok(Self {
            attains_reduction: own.attains_reduction(domain),
            ..own.mixture(domain.sparsity(), epsilon)?
        })
    }
}
