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

impl Chosen {
    /// The mechanism of the options, at local budget ε.
    pub(super) fn mixture(&self, epsilon: f64) -> Result<Mixture, Error> {
        let need = |value: Option<u32>, name: &str, rule: &str| {
            value.ok_or_else(|| format!("rule {rule} needs --{name}, a whole number"))
        };
        let refuse = |value: Option<u32>, name: &str, of: &str| match value {
            Some(_) => Err(format!("{of} takes no --{name}")),
            None => Ok(()),
        };
        match (self.mechanism, self.rule) {
            (Some(MechanismName::Generic), None) => {
                for (value, name) in [(self.s, "s"), (self.t, "t"), (self.c, "c")] {
                    refuse(value, name, "mechanism generic")?;
                }
                Ok(Mixture::generic(epsilon)?)
            }
            (Some(MechanismName::Collision), Some(Rule::Occupied)) => {
                refuse(self.c, "c", "rule occupied")?;
                let (s, t) = (
                    need(self.s, "s", "occupied")?,
                    need(self.t, "t", "occupied")?,
                );
                let collision = Collision::new(collision::Rule::Occupied, HASHING, t)?;
                Ok(Mixture::collision(&collision, s, epsilon)?)
            }
            (Some(MechanismName::Collision), Some(Rule::Heaviest)) => {
                let favoured = need(self.c, "c", "heaviest")?;
                let t = need(self.t, "t", "heaviest")?;
                let rule = collision::Rule::Heaviest { favoured };
                let s = self.s.unwrap_or(1);
                Ok(Mixture::collision(
                    &Collision::new(rule, HASHING, t)?,
                    s,
                    epsilon,
                )?)
            }
            (Some(MechanismName::Coco), Some(Rule::Overwrite)) => {
                refuse(self.c, "c", "rule overwrite")?;
                let (s, t) = (
                    need(self.s, "s", "overwrite")?,
                    need(self.t, "t", "overwrite")?,
                );
                let coco = Coco::new(coco::Rule::Overwrite, HASHING, t)?;
                Ok(Mixture::coco(&coco, s, epsilon)?)
            }
            (Some(MechanismName::Coco), Some(Rule::Strongest)) => {
                let favoured = need(self.c, "c", "strongest")?;
                let t = need(self.t, "t", "strongest")?;
                let coco = Coco::new(coco::Rule::Strongest { favoured }, HASHING, t)?;
                Ok(Mixture::coco(&coco, self.s.unwrap_or(1), epsilon)?)
            }
            _ => Err(
                "--rule is occupied or heaviest for collision, overwrite or strongest for \
                      coco, and none for generic"
                    .into(),
            ),
        }
    }
}

/// α does not depend on it.
const HASHING: Hashing = Hashing::Independent;
