//! Explanation of one report: the meaning of its bytes, the positions of answers under its seed,
//! its likelihood, and the conclusions of an observer or an audit.
//!
//! Every number comes from the crate `hushbin`: its hash functions place elements, and its sampling
//! thresholds determine probabilities. Only small tasks without open items are explained. Each
//! mechanism has its own file, which implements `explain_mechanism`.

mod answer_placement;
mod audit;
mod belief;
mod error;
mod explain_mechanism;
mod explanation;
mod ratings_explainer;
mod upload;

macro_rules! declare_modules {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+
    };
}

hushbin::mechanisms!(declare_modules);

pub use answer_placement::{
    AnswerBin, AnswerPlacement, AttributeAtoms, Outcome, Pair, SignedAnswer, SignedBinAnswer,
};
pub use audit::{Audit, HitCount, MeasuredBound, ScoredEvent, Side};
pub use belief::{Belief, posterior_probability};
pub use error::ExplainError;
pub use explain_mechanism::Reported;
pub use explanation::{CodedAnswerPart, Explanation, Meaning, NamedQuestionExplainer};
pub use ratings_explainer::{EpsilonScope, Explainer};
pub use upload::{DissectedUpload, UploadField, UploadFieldName};
