//! Texts that many people have, found without a list of them.
//!
//! Every report tells of one prefix of its person's text, whose length its seed drew
//! ([`Prefixes`](hushbin::task::Prefixes)): an independent hash of the prefix names a bucket, which
//! is reported with up to exp(ε) times the probability of another. [`Reports`] of one length are a
//! group of people drawn at random. A [`Search`] begins with all prefixes of the least length over
//! an alphabet, keeps those that its group hits often enough, extends them to the next length, and
//! so on (Bassily, Nissim, Stemmer, Thakurta, "Practical Locally Private Heavy Hitters", 2017; T.
//! Wang, Li, Jha, "Locally Differentially Private Heavy Hitter Identification", 2018).
//!
//! # What is promised
//!
//! Which candidates a length has depends on the reports of lesser lengths alone, so that for each
//! of them the tail of the binomial law is what it would be for a text that was named before any
//! report came in: n people without it hit its bucket Binomial(n, 1/t) times. A text that nobody
//! has is therefore found with a probability of at most (1 − confidence)/2 in all (Bonferroni),
//! whoever has what. With the confidence all intervals hold the true shares among the many that
//! people are drawn from. Where people are given, groups are drawn from them: hits spread less than
//! the binomial law of the same mean then (Hoeffding 1956 and 1963), so that intervals by Clopper
//! and Pearson stay on the safe side for any text that is a candidate whatever the reports of
//! lesser lengths are, as all are that many people have.
//!
//! Between lengths a prefix goes on when its tail is below `SPURIOUS` over the number
//! of candidates. That costs hashing and no promise.
//!
//! A text that is no longer than a prefix is told of whole from there on: all reports of
//! that length and of greater ones count for it.

mod candidates;
mod detectable;
mod groups;
mod search;
mod thresholds;

pub use detectable::{Detectable, PROBABILITY};
pub use groups::Reports;
pub use search::{DEFAULT_ALPHABET, Found, Group, Options, Search, SearchError, Text};
