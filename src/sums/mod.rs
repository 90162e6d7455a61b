//! Sums in the shuffle model. People trust a shuffler, and the error falls to a hundredth of the
//! error under a local ε.
//!
//! A person sends each coordinate, from −1 to 1, as messages "up" or "down", one message for each
//! level. A few random messages of either kind are added. After shuffling, the messages of all
//! people contain no more information than the counts of "up" and of "down". The noise of many
//! people in these counts hides each person. The difference between the counts of "up" and "down"
//! is unbiased for the sum.
//!
//! There is no local ε: anyone who links messages to a person reads the answer. [`SumTask`] is
//! therefore a separate type. It is not accepted in place of a [`Task`](crate::Task), which has a
//! local ε.
//!
//! [`CountedQuestions`] are counted in the same way: a person sends one message for each chosen
//! option, and a [`NoiseLottery`] adds messages about random options.
//!
//! Source: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the
//! Shuffle Model: Optimal Rates Require Many Messages" (2024). [`KashinFrame`] spreads vectors as
//! in that paper; unit messages with binomial noise, and
//! the lottery, are hushbin's own.

#[cfg(feature = "collector")]
mod collected;
mod counted_questions;
mod kashin_frame;
mod messages;
mod randomizer;
mod summed_quantity;
mod task;

#[cfg(feature = "collector")]
pub use collected::{CellGroup, SumTaskDraft};
pub use counted_questions::{CountedKind, CountedQuestions};
pub use kashin_frame::KashinFrame;
pub use messages::{Message, MessageParameters, NoiseLottery, UnitStepParameters};
pub use randomizer::SumRandomizer;
pub use summed_quantity::{BoundedVector, CodingLoss, SummedQuantity};
pub use task::{SumTask, SumTaskFields};
