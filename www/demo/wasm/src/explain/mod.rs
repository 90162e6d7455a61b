//! Explanation of one report: the meaning of its bytes, the place of answers under its seed, its
//! likelihood, and what an observer or an audit learns from it.
//!
//! Every number comes from the core: its hashes place elements, and its thresholds weigh them. Only
//! small closed tasks are explained, as on the pages. Each mechanism has its own file, which
//! implements `contract`.

mod audit;
mod belief;
mod contract;
mod error;
mod explainer;
mod placement;
mod told;
mod upload;

macro_rules! register {
    ($($module:ident: $Name:ident,)+) => {
        $(mod $module;)+
    };
}

hushbin::mechanisms!(register);

pub use audit::{Audit, Hits, Measured, ScoredEvent, Side};
pub use belief::{Belief, posterior};
pub use contract::Reported;
pub use error::ExplainError;
pub use explainer::{Covers, Explainer};
pub use placement::{Answered, AttributeAtoms, Bin, Counted, Outcome, Pair, Placement};
pub use told::{AnswerExplainer, Coded, Meaning, Told};
pub use upload::{Dissected, Part, PartName};
