//! Sums in the shuffle model: where people trust a shuffler, with a hundredth of the error.
//!
//! A person tells each coordinate, from −1 to 1, by as many messages "up" or "down" as it has
//! levels, and sends a few of either at random besides. Shuffled, the messages of all are
//! nothing but counts, in which the noise of many hides each person; the difference of up and
//! down is unbiased for the sum. There is no local ε: whoever links messages to a person
//! reads the answer. [`SumTask`] is therefore a type of its own, and nothing that takes a
//! [`Task`](crate::Task), and speaks of local ε, takes one.
//!
//! Source: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the
//! Shuffle Model: Optimal Rates Require Many Messages" (2024), whose vectors are spread by
//! [`Frame`]; unit messages with binomial noise are hushbin's own.

#[cfg(feature = "collector")]
mod collected;
mod frame;
mod measure;
mod messages;
mod randomizer;
mod task;

#[cfg(feature = "collector")]
pub use collected::SumDraft;
pub use frame::Frame;
pub use measure::{Ball, Lost, Measure};
pub use messages::{Message, Messages};
pub use randomizer::SumRandomizer;
pub use task::{SumParts, SumTask};
