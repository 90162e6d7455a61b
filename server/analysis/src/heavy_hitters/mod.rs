//! Heavy hitters: texts that many people have, found without a list of candidates.
//!
//! Every report reveals one prefix of the person's text. The report's seed draws the length of the
//! prefix ([`Prefixes`](hushbin::task::Prefixes)). An independent hash maps the prefix to a bucket,
//! and this bucket is reported with up to exp(ε) times the probability of another.
//!
//! The [`Reports`] of one length form a group of people drawn at random. A [`Search`] starts with
//! all prefixes of the smallest length over an alphabet. It keeps those that the group hits often
//! enough, extends them to the next length, and repeats.
//!
//! Sources: Bassily, Nissim, Stemmer, Thakurta, "Practical Locally Private Heavy Hitters", 2017; T.
//! Wang, Li, Jha, "Locally Differentially Private Heavy Hitter Identification", 2018.
//!
//! # Guarantees
//!
//! The candidates of a length depend only on the reports of shorter lengths. So each candidate has
//! the binomial tail of a text that was named before any report arrived. That is, n people without
//! the text hit its bucket Binomial(n, 1/t) times. By Bonferroni, the probability of finding any
//! text that no person has is at most (1 − confidence)/2 in total. This is true for every
//! population.
//!
//! With the stated confidence, all intervals contain the true shares in the population that people
//! are sampled from. For a fixed set of people, the groups are drawn from that set. The number of
//! hits then varies less than the binomial distribution of the same mean (Hoeffding 1956 and 1963).
//! So Clopper–Pearson intervals stay conservative for every text that is a candidate regardless of
//! the reports of shorter lengths. All texts that many people have are of this kind.
//!
//! Between lengths, a prefix continues if its tail is below `SPURIOUS` divided by the number of
//! candidates. This threshold affects the number of hashes and no guarantee.
//!
//! A text of at most the length of a prefix is revealed in full. All reports of that length and of
//! greater lengths count for it.

mod candidates;
mod detectable;
mod groups;
mod search;
mod thresholds;

pub use detectable::{Detectable, PROBABILITY};
pub use groups::Reports;
pub use search::{DEFAULT_ALPHABET, Found, Group, Options, Search, SearchError, Text};
