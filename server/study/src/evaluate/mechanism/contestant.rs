//! Mechanisms of an experiment on rated items: ours and the papers' as tasks, all others as
//! oracles, and what comes of their reports.

use crate::competitors::ratings::{Heard, ORACLES, Oracle, Setting};
use hushbin::choose::Population;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{Estimand, Point, Refusal, Totals, points, shrink};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::evaluate::measure::experiment::StudyError;

/// What is asked of a crowd.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// n.
    pub(crate) people: u64,
    /// d.
    pub(crate) items: u32,
    /// s.
    pub(crate) sparsity: u32,
    /// ε of one report.
    pub(crate) epsilon: f64,
    /// δ of one report, for those that need one.
    pub(crate) delta: f64,
    /// L, where ε is about inputs within L of each other; else 0.
    pub(crate) distance: f64,
    /// Whether values are −1 or 1 and nothing between.
    pub(crate) signs: bool,
}

/// Reports whose length is averaged, where it varies.
const REPORTS_MEASURED: u32 = 64;

/// A mechanism with its parameters.
pub(crate) struct Contestant {
    /// As figures name it.
    pub(crate) name: String,
    way: Way,
}

enum Way {
    Task(Box<Task>),
    Oracle(Box<dyn Oracle>),
}

/// A mechanism that hears reports.
pub(crate) struct Listener<'a> {
    contestant: &'a Contestant,
    heard: Sums,
}

enum Sums {
    Task(Box<(Randomizer, Totals)>),
    Oracle(Heard),
}

/// Estimates of all items, as far as there are any.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Estimates {
    pub(crate) means: Vec<f64>,
    /// Of either sign; `None` where they are not estimated.
    pub(crate) frequencies: Option<[Vec<f64>; 2]>,
    /// Of each mean.
    standard_errors: Vec<f64>,
}

/// Expected squared error of one report, averaged over items, of people with s entries of ±1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Predicted {
    /// `None` of what is biased: how far depends on means, and does not fall with people.
    pub(crate) mean: Option<f64>,
    /// Averaged over items with either sign.
    pub(crate) frequency: Option<f64>,
}

impl Contestant {
    /// The task that a draft of a mechanism comes to.
    ///
    /// # Errors
    /// [`StudyError::Draft`] where it is refused.
    pub(crate) fn task(name: &str, asked: &Asked, mechanism: &Value) -> Result<Self, StudyError> {
        let draft = json!({
            "id": "study", "items": asked.items, "sparsity": asked.sparsity,
            "epsilon": asked.epsilon, "people": asked.people,
            "value": if asked.signs { "sign" } else { "real" },
            "mechanism": mechanism,
        });
        let draft: TaskDraft =
            serde_json::from_value(draft).map_err(|error| StudyError::draft(name, &error))?;
        let task = draft
            .resolve()
            .map_err(|error| StudyError::draft(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            way: Way::Task(Box::new(task)),
        })
    }

    /// The oracle of a name.
    ///
    /// # Errors
    /// [`StudyError::Draft`] where there is none; [`StudyError::Refused`] where it does not
    /// take what is asked.
    pub(crate) fn oracle(name: &str, asked: &Asked) -> Result<Self, StudyError> {
        let mut named = ORACLES.iter().filter(|named| named.name == name);
        let named = named
            .next()
            .ok_or_else(|| StudyError::draft(name, &"there is no such mechanism"))?;
        let setting = Setting {
            items: asked.items,
            sparsity: asked.sparsity,
            epsilon: asked.epsilon,
            delta: asked.delta,
            distance: asked.distance,
        };
        Ok(Self {
            name: name.to_owned(),
            way: Way::Oracle((named.build)(&setting)?),
        })
    }

    /// It, without reports yet.
    pub(crate) fn listen(&self, items: u32) -> Listener<'_> {
        Listener {
            contestant: self,
            heard: match &self.way {
                Way::Task(task) => Sums::Task(Box::new((Randomizer::new(task), Totals::new(task)))),
                Way::Oracle(_) => Sums::Oracle(Heard::new(items)),
            },
        }
    }

    /// What error to expect.
    pub(crate) fn predicted(&self, asked: &Asked) -> Predicted {
        let (d, s) = (f64::from(asked.items), f64::from(asked.sparsity));
        match &self.way {
            Way::Task(task) => {
                let question = &task.questions()[0];
                let people = asked.people as f64;
                let population = Population::even(people, asked.sparsity);
                let mechanism = question.mechanism();
                let errors = mechanism.predict(&question.domain(), task.epsilon(), &population);
                let unbiased = errors.mean.filter(|error| error.squared_bias == 0.0);
                Predicted {
                    mean: unbiased.map(|error| error.variance * people),
                    frequency: errors.frequency.map(|error| error.variance * people),
                }
            }
            Way::Oracle(oracle) => {
                let moments = oracle.moments();
                let [own, other] = moments.mean();
                let frequency = moments.frequency().map(|[own, opposite, none]| {
                    (s * (own + opposite) + 2.0 * (d - s) * none) / (2.0 * d)
                });
                Predicted {
                    mean: Some((s * own + (d - s) * other) / d),
                    frequency,
                }
            }
        }
    }

    /// Length of a report of this person, in bytes; of a task averaged over some.
    ///
    /// # Errors
    /// [`StudyError::Refused`] where the person has what is not asked.
    pub(crate) fn bytes(&self, entries: &[Entry]) -> Result<f64, StudyError> {
        let task = match &self.way {
            Way::Task(task) => task,
            Way::Oracle(oracle) => return Ok((oracle.bits() / 8.0).ceil()),
        };
        let (mut randomizer, mut bytes) = (Randomizer::new(task), Vec::new());
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..REPORTS_MEASURED {
            randomizer.randomize_encoded(&[entries], &mut rng, &mut bytes)?;
        }
        Ok(bytes.len() as f64 / f64::from(REPORTS_MEASURED))
    }
}

impl Listener<'_> {
    /// Reports of these people.
    ///
    /// # Errors
    /// [`StudyError::Refused`] where one has what is not asked.
    pub(crate) fn hear(
        &mut self,
        people: &[&[Entry]],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), StudyError> {
        match (&self.contestant.way, &mut self.heard) {
            (Way::Oracle(oracle), Sums::Oracle(heard)) => oracle.hear_all(people, heard, rng),
            (_, Sums::Task(both)) => {
                let (randomizer, totals) = &mut **both;
                for entries in people {
                    totals.fold(&randomizer.randomize(entries, rng)?.report);
                }
            }
            _ => unreachable!("sums are of the contestant"),
        }
        Ok(())
    }

    /// Reports of these people, each drawn and added by itself, as those who collect do.
    ///
    /// # Errors
    /// As [`Listener::hear`].
    pub(crate) fn hear_each(
        &mut self,
        people: &[&[Entry]],
        rng: &mut ChaCha8Rng,
    ) -> Result<(), StudyError> {
        if let (Way::Oracle(oracle), Sums::Oracle(heard)) = (&self.contestant.way, &mut self.heard)
        {
            for entries in people {
                oracle.hear(entries, heard, rng);
            }
            return Ok(());
        }
        self.hear(people, rng)
    }

    /// What the reports come to.
    pub(crate) fn estimates(&self) -> Estimates {
        match (&self.contestant.way, &self.heard) {
            (Way::Oracle(oracle), Sums::Oracle(heard)) => {
                let linear = oracle.linear();
                let means = linear.means(heard);
                // Of an item that few have; of others it is of the same order.
                let variance = oracle.moments().mean()[1] / heard.reports as f64;
                Estimates {
                    standard_errors: vec![variance.sqrt(); means.len()],
                    means,
                    frequencies: linear.frequencies(heard),
                }
            }
            (Way::Task(task), Sums::Task(both)) => of_task(task, &both.1),
            _ => unreachable!("sums are of the contestant"),
        }
    }
}

fn of_task(task: &Task, totals: &Totals) -> Estimates {
    let items = task.questions()[0].items().count().unwrap_or(0);
    let all: Vec<u64> = (0..u64::from(items)).collect();
    let points = points(task, totals, &all);
    let of = |estimand| -> Option<Vec<f64>> {
        let each = points.iter().map(|own| own.get(estimand));
        each.map(|point| point.map(|point| point.estimate))
            .collect()
    };
    let means = points.iter().filter_map(|own| own.mean);
    let signs = [Estimand::Plus, Estimand::Minus].map(of);
    Estimates {
        means: of(Estimand::Mean).unwrap_or_default(),
        frequencies: match signs {
            [Some(plus), Some(minus)] => Some([plus, minus]),
            _ => None,
        },
        standard_errors: means.map(|own| own.standard_error).collect(),
    }
}

impl Estimates {
    /// Means shrunken as their noise advises (empirical Bayes): what to expect of each given
    /// all of them; where that is refused, what it is refused for.
    pub(crate) fn shrunken(&self) -> Vec<f64> {
        let both = self.means.iter().zip(&self.standard_errors);
        let item = |(&estimate, &standard_error): (&f64, &f64)| {
            let point = Point {
                estimate,
                standard_error,
            };
            (point, standard_error)
        };
        match shrink(&both.map(item).collect::<Vec<_>>()) {
            Ok((shrunken, _)) => shrunken.iter().map(|item| item.estimate).collect(),
            Err(Refusal::NoBetterThanZero) => vec![0.0; self.means.len()],
            Err(Refusal::WorseThanRaw | Refusal::FewItems) => self.means.clone(),
        }
    }
}
