//! Collision: frequencies of items with signs.
//!
//! A report is a seed and one of t buckets. The seed hashes the s elements of
//! an input to buckets; a rule picks a set C of them; a bucket in C is reported
//! with up to exp(ε) times the probability of one outside. Each report
//! therefore "hits" the elements that its bucket holds, those of the input a
//! little more often than others.
//!
//! Source: Wang et al., "Differentially Private Numerical Vector Analyses in
//! the Local and Shuffle Model", Definition 5 (rule `occupied`, independent
//! hash). The rule `heaviest` and the balanced hash are hushbin's own.

mod randomize;
#[cfg(feature = "analysis")]
mod rates;
mod rule;
mod support;
mod thresholds;

pub use super::subset::BucketReport as Report;
pub use randomize::Randomizer;
#[cfg(feature = "analysis")]
pub use rates::Rates;
pub use rule::{Collision, Rule, RuleName};
pub use support::Support;
pub use thresholds::Thresholds;

use super::contract::Parameters;
use crate::codec::Cursor;
use crate::domain::Domain;
use crate::error::Error;
use crate::fingerprint::{Canonical, CanonicalReader};

impl Parameters for Collision {
    const NAME: &'static str = "collision";
    type Report = Report;
    type Randomizer = Randomizer;

    fn check(&self, domain: &Domain) -> Result<(), Error> {
        self.check_domain(domain)
    }

    fn write_canonical(&self, canonical: &mut Canonical) {
        self.write(canonical);
    }

    fn read_canonical(reader: &mut CanonicalReader<'_>) -> Option<Result<Self, Error>> {
        Self::read(reader)
    }

    fn effective_epsilon(&self, domain: &Domain, epsilon: f64) -> f64 {
        self.thresholds(domain.sparsity(), epsilon)
            .effective_epsilon()
    }

    fn randomizer(&self, domain: &Domain, epsilon: f64) -> Randomizer {
        Randomizer::new(self, domain, epsilon)
    }

    fn decoder(&self, _: &Domain, _: f64) -> impl Fn(&mut Cursor<'_>) -> Result<Report, Error> {
        let buckets = self.buckets();
        move |cursor| Report::decode(cursor, buckets)
    }
}
