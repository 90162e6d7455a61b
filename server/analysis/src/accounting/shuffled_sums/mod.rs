//! Accounting for sums of unit messages: central privacy of vectors whose sum is computed from
//! shuffled messages.
//!
//! A person rounds each of D coordinates to an integer x from −L to L, and sends |x| messages
//! (coordinate, sign of x). For every coordinate and either sign, the person also makes w trials.
//! Each sends a noise message of that coordinate and sign with probability q. The analyser sees
//! only the number of messages of each coordinate and sign. The noise from n_h honest people is
//! Binomial(w·n_h, q) on every count, independently.
//!
//! A change of one coordinate changes either of its counts by at most L. Binomial distributions are
//! log-concave. So a threshold on a count is the best test of a change, and a smaller change is
//! never easier to detect. In the worst case, a person changes every coordinate from +L to −L. The
//! privacy loss of this change is bounded from both sides here, including all rounding errors. An
//! observer who can link messages to people learns the values, so there is no local ε.
//!
//! | module | contents |
//! |---|---|
//! | `bounds` | proven bounds on a number |
//! | `noise` | a person, and the noise on the counts |
//! | `count_distributions` | both counts of one coordinate, by exact sums |
//! | `profile` | all coordinates, composed: δ and ε of a noise |
//! | `senders` | a batch of people, and its account |
//! | `truncation` | truncated noise, so that an upload has a fixed size |
//! | `calibration` | least noise, fewest trials, Gaussian limit |
//! | `identifying_part` | parts of a composition that may identify the input |
//! | `lottery` | noise of histograms, drawn by a lottery over all cells |
//!
//! Sources: Asi, Feldman, Nelson, Nguyen, Talwar, Zhou, "Private Vector Mean Estimation in the
//! Shuffle Model: Optimal Rates Require Many Messages", for the messages, used here without tuples;
//! Doroshenko, Ghazi, Kamath, Kumar, Manurangsi as in composition. The use of binomial noise that
//! consists of the same messages is new.

mod bounds;
mod calibration;
mod count_distributions;
mod identifying_part;
mod lottery;
mod noise;
mod profile;
mod senders;
#[cfg(test)]
mod tests;
mod truncation;

pub use bounds::ProvenBounds;
pub(crate) use calibration::{
    calibrate_noise, required_gaussian_variance, senders_with_fewest_noise_trials,
};
pub use lottery::{
    CalibratedLottery, DRAW_COUNT_RANGE, LotteryBatch, LotteryNoise, calibrate_lottery,
};
#[cfg(test)]
use noise::UnitMessageNoise;
pub(crate) use senders::{NoiseParameters, SenderBatch};
