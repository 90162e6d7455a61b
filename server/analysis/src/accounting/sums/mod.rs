//! Accounting of sums of unit messages, which noise messages of the same kind hide.
//!
//! A person rounds each of D coordinates to a whole number x from −L to L, and sends |x| messages
//! (coordinate, sign of x). For every coordinate and either sign the person also sends a noise
//! message with probability q, w times. The analyser sees only the number of messages of each
//! coordinate and sign. The noise of n_h honest people is Binomial(w·n_h, q) on every count,
//! independently.
//!
//! A change of one coordinate moves either count by at most L. Binomial distributions are
//! log-concave. So thresholds are the best tests of a moved count, and a smaller move is never
//! easier to detect. The worst person turns every coordinate from +L to −L. That loss is bounded
//! from both sides here, with every rounding counted. An observer who links messages to people
//! learns the values: there is no local ε.
//!
//! | module | contents |
//! |---|---|
//! | `bounds` | proven bounds on a number |
//! | `noise` | a person, and the noise on the counts |
//! | `counts` | both counts of one coordinate, by exact sums |
//! | `profile` | all coordinates, composed: δ and ε of a noise |
//! | `senders` | a batch of people, and its account |
//! | `truncation` | truncated noise, so that an upload has a fixed size |
//! | `calibration` | least noise, fewest trials, Gaussian limit |
//!
//! Sources: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the
//! Shuffle Model: Optimal Rates Require Many Messages", for the messages, used here without tuples;
//! Doroshenko, Ghazi, Kamath, Kumar, Manurangsi as in composition. That binomial noise of the
//! messages' kind suffices is new.

mod bounds;
mod calibration;
mod counts;
mod noise;
mod profile;
mod senders;
#[cfg(test)]
mod tests;
mod truncation;

pub use bounds::Bounds;
pub(crate) use calibration::{calibrate, gaussian_noise, least_repeats};
#[cfg(test)]
use noise::UnitNoise;
pub(crate) use senders::{NoiseMessages, Senders};
