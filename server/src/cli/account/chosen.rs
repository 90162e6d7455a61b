//! A mechanism named by options instead of a task.

use clap::ValueEnum;
use hushbin::hash::Hashing;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};

use crate::cli::Error;
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
    s: Option<u32>,
    /// Number of buckets, or of sides.
    #[arg(long, value_name = "T")]
    t: Option<u32>,
    /// Number of favoured buckets or sides; of rules heaviest and strongest.
    #[arg(long, value_name = "C")]
    c: Option<u32>,
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
        use MechanismName::{Coco as NameOfCoco, Collision as NameOfCollision, Generic};
        Ok(match (self.mechanism, self.rule) {
            (Some(Generic), None) => {
                for (value, name) in [(self.s, "s"), (self.t, "t"), (self.c, "c")] {
                    refuse(value, name, "mechanism generic")?;
                }
                Mixture::generic(epsilon)?
            }
            (Some(NameOfCollision), Some(rule @ (Rule::Occupied | Rule::Heaviest))) => {
                let Parameters { s, t, favoured } = self.parameters(rule)?;
                let rule = favoured.map_or(collision::Rule::Occupied, |favoured| {
                    collision::Rule::Heaviest { favoured }
                });
                Mixture::collision(&Collision::new(rule, HASHING, t)?, s, epsilon)?
            }
            (Some(NameOfCoco), Some(rule @ (Rule::Overwrite | Rule::Strongest))) => {
                let Parameters { s, t, favoured } = self.parameters(rule)?;
                let rule = favoured.map_or(coco::Rule::Overwrite, |favoured| {
                    coco::Rule::Strongest { favoured }
                });
                Mixture::coco(&Coco::new(rule, HASHING, t)?, s, epsilon)?
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
                refuse(self.c, "c", &format!("rule {}", rule.name()))?;
                Parameters {
                    s: need(self.s, "s")?,
                    t: need(self.t, "t")?,
                    favoured: None,
                }
            }
            Rule::Heaviest | Rule::Strongest => Parameters {
                favoured: Some(need(self.c, "c")?),
                s: self.s.unwrap_or(1),
                t: need(self.t, "t")?,
            },
        })
    }
}

/// Parameters of a mechanism of buckets, as its rule takes them.
struct Parameters {
    s: u32,
    t: u32,
    favoured: Option<u32>,
}

fn refuse(value: Option<u32>, name: &str, chosen: &str) -> Result<(), String> {
    match value {
        Some(_) => Err(format!("{chosen} takes no --{name}")),
        None => Ok(()),
    }
}

/// α does not depend on it.
const HASHING: Hashing = Hashing::Independent;
