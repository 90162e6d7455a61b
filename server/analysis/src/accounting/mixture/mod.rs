//! The mixture of a mechanism, and its α: how much of every report looks as if it
//! might be anybody's.

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
    /// The mixture of a task's reports.
    ///
    /// Whoever may be asked one of several questions, drawn by a public seed, could have
    /// made any report of the batch: as with the seeds of one question. Where questions
    /// differ in their mixtures they are taken for one [generic](Mixture::generic)
    /// randomizer, which holds for all that are ε-LDP and gives away the most.
    ///
    /// # Errors
    /// [`AccountError::Neighbours`] for hash-bin below user level.
    pub fn for_task(task: &Task) -> Result<Self, AccountError> {
        Self::for_task_at(task, task.epsilon())
    }

    /// The same with the mechanisms' parameters as they are, at any local ε.
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
            attains_reduction: first.attains_reduction && task.sole().is_some(),
            ..first
        })
    }

    /// The mixture of a task's mechanism and domain as they are, at any local ε.
    ///
    /// It is the α of the real weights at the ε asked for. What is sampled are integer thresholds
    /// with an effective ε that is no greater. For `heaviest`, `overwrite` and `strongest`, the
    /// window and the pattern, such a report is one of the real weights, replaced now and then by a
    /// uniform bucket, side or cell whatever the input was: post-processing, so the batch is no
    /// less private. Under `occupied` each number of occupied buckets rounds by itself, which moves
    /// the total variation α(e − 1) by up to 2⁻⁶³; that is added. Hash-bin at user level is any
    /// ε-LDP randomizer.
    ///
    /// Direct encoding, every element with a bucket of its own and as many favoured
    /// as there are entries, attains the reduction, but for the rounding of
    /// thresholds, and so does the window where a cell favours itself alone, if three inputs
    /// differ whatever is drawn; of nothing else is that known.
    ///
    /// # Errors
    /// As [`Mixture::for_task`], and those of [`Mixture::collision`],
    /// [`Mixture::coco`], [`Mixture::window`] and [`Mixture::generic`].
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
