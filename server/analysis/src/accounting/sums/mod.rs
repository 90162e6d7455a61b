//! Accounting of sums of unit messages: what noise messages of the same kind hide.
//!
//! A person rounds each of D coordinates to a whole number x from −L to L and sends |x|
//! messages (coordinate, sign of x), and for every coordinate and either sign a noise
//! message with probability q, w times. The analyser sees nothing but how many messages
//! there are of each coordinate and sign: noise of n_h honest people is Binomial(w·n_h,
//! q) on every count, independent.
//!
//! Any change of a person's coordinate moves either count by L at most. Binomial laws are
//! log-concave, so that the best tests of a moved count are thresholds and a count that is moved
//! less is never told better: the worst that a person may do is to turn every coordinate from +L to
//! −L. What that tells is bounded from both sides here, every rounding counted. It hides nothing
//! from whoever sees whose message is whose: there is no local ε.
//!
//! | room | what is in it |
//! |---|---|
//! | `bounds` | what is proven from both sides |
//! | `noise` | a person, the noise on their counts |
//! | `counts` | both counts of one coordinate, by whole sums |
//! | `profile` | all coordinates, composed: δ and ε of a noise |
//! | `senders` | a batch of people, and its account |
//! | `truncation` | noise messages cut to as many as fit an upload |
//! | `calibration` | the least noise, the fewest trials, the Gaussian limit |
//!
//! Sources: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation
//! in the Shuffle Model: Optimal Rates Require Many Messages", whose messages these are
//! without their tuples; Doroshenko, Ghazi, Kamath, Kumar, Manurangsi as in
//! composition. That binomial noise of the messages' kind is enough is new.

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
