//! Mixtures: a mechanism's report distribution written as a mixture. Its parameter α measures how
//! often a report depends on the input.

pub(super) mod alpha;
pub(super) mod contract;
mod direct_encoding;

pub(crate) use alpha::ReportMixture;
pub(crate) use contract::AccountingError;

use hushbin::domain::Domain;
use hushbin::{Mechanism, Question, Task};

use contract::AccountedMechanism;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+

        fn as_accounted_mechanism(mechanism: &Mechanism) -> &dyn AccountedMechanism {
            match mechanism {
                $(Mechanism::$Name(own) => own,)+
            }
        }
    };
}

hushbin::mechanisms!(register);

impl ReportMixture {
    /// Returns the mixture of reports to a task.
    ///
    /// If a task asks several questions, the public seed of a report determines the question. Every
    /// person could have made any report of the batch, just as with a single question. If the
    /// mixtures of the questions differ, the [generic](ReportMixture::for_any_randomizer) mixture is
    /// returned. It is valid for every ε-LDP randomizer and has the largest privacy loss.
    ///
    /// # Errors
    /// [`AccountingError::NotAtUserLevel`] if a question uses hash-bin and ε does not hold at user
    /// level.
    pub fn for_task(task: &Task) -> Result<Self, AccountingError> {
        Self::for_task_at_epsilon(task, task.epsilon())
    }

    /// Returns the mixture that reports to a task would have if local ε were `epsilon`. The
    /// mechanisms' other parameters do not change.
    ///
    /// # Errors
    /// The errors of [`ReportMixture::for_task`] and [`ReportMixture::for_mechanism`].
    pub fn for_task_at_epsilon(task: &Task, epsilon: f64) -> Result<Self, AccountingError> {
        let mixture = |question: &Question| {
            Self::for_mechanism(question.mechanism(), &question.domain(), epsilon)
        };
        let first = mixture(&task.questions()[0])?;
        for question in &task.questions()[1..] {
            if mixture(question)? != first {
                return Ok(Self::for_any_randomizer(epsilon)?);
            }
        }
        Ok(Self {
            attains_reduction: first.attains_reduction && task.only_question().is_some(),
            ..first
        })
    }

    /// Returns the mixture of a mechanism's reports over a domain, at local ε. The mechanism's
    /// parameters do not change with ε.
    ///
    /// Its α is that of the exact real-valued weights at this ε. The sampler uses thresholds
    /// rounded to integers, whose effective ε is no larger. For `heaviest`, `overwrite`,
    /// `strongest`, the window mechanism and the pattern, a sampled report is equivalent to a
    /// report with the exact weights that is sometimes replaced by a uniform bucket, side or cell.
    /// The replacement does not depend on the input. So it is post-processing, and the batch is at
    /// least as private. Under `occupied`, the threshold is rounded separately for each number of
    /// occupied buckets. This changes the total variation α(e − 1) by up to 2⁻⁶³, which is added.
    /// Hash-bin at user level is treated as an arbitrary ε-LDP randomizer.
    ///
    /// Two cases are known to attain the reduction, up to the rounding of thresholds. One is direct
    /// encoding: every element has its own bucket, and the number of favoured buckets is the number
    /// of entries. The other is the window mechanism whose cells favour only themselves, if three
    /// inputs become different cells for every draw of attributes.
    ///
    /// # Errors
    /// The errors of [`ReportMixture::for_task`], [`ReportMixture::for_collision`], [`ReportMixture::for_coco`],
    /// [`ReportMixture::for_window`] and [`ReportMixture::for_any_randomizer`].
    pub fn for_mechanism(
        mechanism: &Mechanism,
        domain: &Domain,
        epsilon: f64,
    ) -> Result<Self, AccountingError> {
        let own = as_accounted_mechanism(mechanism);
        Ok(Self {
            attains_reduction: own.attains_reduction(domain),
            ..own.report_mixture(domain.sparsity(), epsilon)?
        })
    }
}
