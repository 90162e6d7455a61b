//! Histograms from shuffled messages by other protocols than hushbin's lottery, for comparison.
//!
//! Each person chooses one of k options, and the analyser counts the messages about each of K
//! cells. K is k, and 2 for a flag, whose cells are "yes" and "no". Neighbouring inputs differ in
//! the choice of one person, and (ε, δ) is central.
//!
//! | protocol | here |
//! |---|---|
//! | one noise coin for each cell, a cap on the noise of one person | [`CappedCoins`] |
//! | noise messages of the shuffler itself | [`ShufflerDummies`] |
//! | one message, generalised randomised response | [`grid_cell_reports`](super::sums::grid_cell_reports) |

mod coins;
mod dummies;

pub use coins::CappedCoins;
pub use dummies::ShufflerDummies;
