//! Heavy hitters: search for texts that many people have, without a list of texts to look for.
//!
//! Every report reveals one prefix of the person's text, in randomised form. The report's seed
//! determines the length of the prefix ([`PrefixLengths`](hushbin::task::PrefixLengths)). The
//! independent hash maps the prefix to one of t buckets. This bucket is reported with up to exp(ε)
//! times the probability of any other bucket. A report *hits* a prefix if the prefix is hashed to
//! the reported bucket.
//!
//! The [`TextReports`] of one length form a group that is drawn at random from all people. A
//! [`TextSearch`] starts with all prefixes of the smallest length over an alphabet. These are its
//! first candidates. It keeps the candidates that enough reports of the group hit, extends them to
//! the next length, and repeats.
//!
//! Sources: Bassily, Nissim, Stemmer, Thakurta, "Practical Locally Private Heavy Hitters", 2017; T.
//! Wang, Li, Jha, "Locally Differentially Private Heavy Hitter Identification", 2018.
//!
//! # Guarantees
//!
//! The candidates of a length depend only on the reports of shorter lengths. So the reports of this
//! length hit each candidate as if the candidate had been named before any report arrived. In
//! particular, the number of hits by n people without the text is distributed as Binomial(n, 1/t).
//! By the Bonferroni correction, the probability of finding any text that no person has is at most
//! (1 − confidence)/2 in total. This is true for every population.
//!
//! With the stated confidence, all intervals contain the true shares in the population from which
//! people are sampled. If instead the people are a fixed set, the groups are drawn from that set.
//! The number of hits then varies less than a binomial variable with the same mean (Hoeffding 1956
//! and 1963). So Clopper–Pearson intervals stay conservative for every text that is a candidate
//! regardless of the reports of shorter lengths. In practice these are all texts that many people
//! have.
//!
//! A prefix is extended to the next length if its number of hits would be improbable without people
//! who have it. The threshold for that probability is `MAX_FALSE_PREFIXES` divided by the number of
//! candidates. It affects the number of hashes to compute, but none of the guarantees.
//!
//! If a text is no longer than a report's prefix length, the report reveals the whole text. So a
//! text is estimated from the reports of all lengths that are at least its own.

mod candidates;
mod detectable_share;
mod prefix_length_groups;
mod search;
mod thresholds;

pub use detectable_share::{DEFAULT_FIND_PROBABILITY, DetectableShare};
pub use prefix_length_groups::TextReports;
pub use search::{
    DEFAULT_ALPHABET, FoundText, SearchError, SearchOptions, SearchResult, SearchStepCounts,
    TextSearch,
};
