//! A mechanism named by options instead of a task.

use clap::ValueEnum;
use hushbin::hash::Hashing;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};

use crate::cli::output::Error;
use hushbin_analysis::accounting::Mixture;

/// Mechanism, rule and parameters.
#[derive(Debug, clap::Args)]
pub(super) struct Chosen {
    /// Mechanism, instead of a task.
    #[arg(long, required_unless_present = "task", conflicts_with = "task")]
    mechanism: Option<MechanismName>,
    /// Rule of the mechanism.
    #[arg(long)]
    rule: Option<Rule>,
    /// Sparsity; of rules occupied and overwrite.
    #[arg(long, value_name = "S")]
    sparsity: Option<u32>,
    /// Number of buckets, or of sides.
    #[arg(long, value_name = "T")]
    buckets: Option<u32>,
    /// Number of hash functions, each with as many buckets; of rules heaviest and
    /// strongest. By default 1.
    #[arg(long, value_name = "R")]
    hashes: Option<u32>,
    /// Number of favoured buckets or sides of all; of rules heaviest and strongest.
    #[arg(long, value_name = "C")]
    favoured: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MechanismName {
    Collision,
    Coco,
    /// Any randomizer that is ε-locally private for all inputs.
    Generic,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rule {
    Occupied,
    Heaviest,
    Overwrite,
    Strongest,
}

impl Rule {
    /// As on the command line.
    const fn name(self) -> &'static str {
        match self {
            Self::Occupied => "occupied",
            Self::Heaviest => "heaviest",
            Self::Overwrite => "overwrite",
            Self::Strongest => "strongest",
        }
    }
}

impl Chosen {
    /// The mechanism of the options, at local budget ε.
    pub(super) fn mixture(&self, epsilon: f64) -> Result<Mixture, Error> {
        use MechanismName as Name;
        Ok(match (self.mechanism, self.rule) {
            (Some(Name::Generic), None) => {
                for (value, name) in [
                    (self.sparsity, "sparsity"),
                    (self.buckets, "buckets"),
                    (self.favoured, "favoured"),
                    (self.hashes, "hashes"),
                ] {
                    refuse(value, name, "mechanism generic")?;
                }
                Mixture::generic(epsilon)?
            }
            (Some(Name::Collision), Some(rule @ (Rule::Occupied | Rule::Heaviest))) => {
                let Parameters {
                    sparsity,
                    buckets,
                    favoured,
                    hashes,
                } = self.parameters(rule)?;
                let rule = favoured.map_or(collision::Rule::Occupied, |favoured| {
                    collision::Rule::Heaviest { favoured }
                });
                let own = Collision::with_hashes(rule, HASHING, buckets, hashes)?;
                Mixture::collision(&own, sparsity, epsilon)?
            }
            (Some(Name::Coco), Some(rule @ (Rule::Overwrite | Rule::Strongest))) => {
                let Parameters {
                    sparsity,
                    buckets,
                    favoured,
                    hashes,
                } = self.parameters(rule)?;
                let rule = favoured.map_or(coco::Rule::Overwrite, |favoured| {
                    coco::Rule::Strongest { favoured }
                });
                let own = Coco::with_hashes(rule, HASHING, buckets, hashes)?;
                Mixture::coco(&own, sparsity, epsilon)?
            }
            _ => {
                return Err(
                    "--rule is occupied or heaviest for collision, overwrite or strongest for \
                     coco, and none for generic"
                        .into(),
                );
            }
        })
    }

    fn parameters(&self, rule: Rule) -> Result<Parameters, String> {
        let need = |value: Option<u32>, name: &str| {
            let rule = rule.name();
            value.ok_or_else(|| format!("rule {rule} needs --{name}, a whole number"))
        };
        Ok(match rule {
            Rule::Occupied | Rule::Overwrite => {
                for (value, name) in [(self.favoured, "favoured"), (self.hashes, "hashes")] {
                    refuse(value, name, &format!("rule {}", rule.name()))?;
                }
                Parameters {
                    sparsity: need(self.sparsity, "sparsity")?,
                    buckets: need(self.buckets, "buckets")?,
                    favoured: None,
                    hashes: 1,
                }
            }
            Rule::Heaviest | Rule::Strongest => Parameters {
                favoured: Some(need(self.favoured, "favoured")?),
                sparsity: self.sparsity.unwrap_or(1),
                buckets: need(self.buckets, "buckets")?,
                hashes: self.hashes.unwrap_or(1),
            },
        })
    }
}

/// Parameters of a mechanism of buckets, as its rule takes them.
struct Parameters {
    sparsity: u32,
    buckets: u32,
    favoured: Option<u32>,
    hashes: u32,
}

fn refuse(value: Option<u32>, name: &str, chosen: &str) -> Result<(), String> {
    match value {
        Some(_) => Err(format!("{chosen} takes no --{name}")),
        None => Ok(()),
    }
}

/// α does not depend on it.
const HASHING: Hashing = Hashing::Independent;
