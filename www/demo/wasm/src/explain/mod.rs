//! One report, explained: which of its bytes mean what, where answers fall under
//! its seed, how likely it was, and what it tells an observer or an audit.
//!
//! Every number here is the core's: its hashes place elements, its thresholds
//! weigh them. For small closed tasks, as pages show them. Each mechanism has a
//! file of its own, which answers to `contract`.

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
