//! Asking one of several questions, against asking all of them together.

use alloc::vec::Vec;

use super::collision::Draft;
use super::objective::{Goal, Objective};
use super::predict::SquaredError;
use super::search::Candidate;
use super::subset;
use crate::bounds;
use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::collision::{Collision, Rates};
use crate::task::{Kind, Part, Question, Task, Together};

/// What answers to several questions would be worth if they were asked as one, of kind `together`.
///
/// Variances of one report's estimates of the shares of all answers to all questions, in
/// sum, of people with as many as are reported, evenly spread. Of a question that is drawn
/// with probability w a part w of all people tell: a variance V becomes V/w, and which of
/// them tell adds f(1 − f)·(1/w − 1) for an answer that a share f give.
///
/// ```
/// use hushbin::choose::together;
///
/// let draft: hushbin::TaskDraft = serde_json::from_str(r#"{
///     "id": "settings", "epsilon": 4.0, "questions": [
///         { "name": "dark", "kind": "flag" },
///         { "name": "beta", "kind": "flag" }
///     ]
/// }"#).unwrap();
/// let compared = together(&draft.resolve().unwrap()).unwrap();
/// assert!(compared.together < 0.5 * compared.drawn);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Where each report answers one, as in the task.
    pub drawn: f64,
    /// Where each report answers all, with the best parameters.
    pub together: f64,
}

/// Compares; `None` unless the task asks several questions, all by Collision, that can be
/// asked together: choices and flags.
#[must_use]
pub fn together(task: &Task) -> Option<Comparison> {
    let questions = task.questions();
    let mut drawn = 0.0;
    let mut parts = Vec::new();
    for (index, question) in questions.iter().enumerate() {
        let part = part(question)?;
        let (options, share) = (part.cells(), task.share(index));
        let noise = one_of(&rates(question)?, options);
        let spread = 1.0 - 1.0 / f64::from(options);
        drawn += noise / share + spread * (1.0 / share - 1.0);
        parts.push(part);
    }
    let all = Together::new(parts);
    let (count, cells) = (all.parts().len() as u32, all.cells());
    if !bounds::PARTS.holds(f64::from(count)) || !bounds::OPTIONS.holds(f64::from(cells)) {
        return None;
    }
    let (domain, epsilon) = (Domain::exact(cells, count), task.epsilon());
    let goal = Goal {
        objective: Objective::FREQUENCY,
        parts: all.parts(),
    };
    let budget = epsilon.into();
    let collision: Collision = subset::choose(&domain, budget, &Draft::default(), &goal).ok()?;
    Some(Comparison {
        drawn,
        together: variance(&all, &collision.rates(&domain, epsilon)),
    })
}

/// Replaces what is predicted of a question's mechanism by the error of what is estimated
/// of its options, of people who give any of a part as often.
pub(super) fn predict(all: &Together, epsilon: f64, people: f64, picked: &mut Candidate) {
    let (count, cells) = (all.parts().len() as u32, all.cells());
    let Mechanism::Collision(collision) = &picked.mechanism else {
        return;
    };
    let rates = collision.rates(&Domain::exact(cells, count), epsilon);
    let rare = |part: &Part| rates.option_variance(part.cells(), false);
    let error = SquaredError {
        variance: variance(all, &rates) / f64::from(cells) / people,
        rare_variance: all.parts().iter().map(rare).fold(0.0, f64::max) / people,
        ..SquaredError::default()
    };
    picked.predicted.frequency = Some(error);
    picked.error = error.total();
}

/// Of one report's estimates of all options.
fn variance(all: &Together, rates: &Rates) -> f64 {
    let parts = all.parts().iter();
    parts.map(|part| rates.options_variance(part.cells())).sum()
}

/// Of one report's estimates of so many options of a question that is drawn.
fn one_of(rates: &Rates, options: u32) -> f64 {
    rates.frequency_variance(true) + f64::from(options - 1) * rates.frequency_variance(false)
}

/// What a question would be as a part.
fn part(question: &Question) -> Option<Part> {
    match question.kind() {
        Kind::Choice => Some(Part::choice(question.name(), question.items().clone())),
        Kind::Flag => Some(Part::flag(question.name())),
        _ => None,
    }
}

fn rates(question: &Question) -> Option<Rates> {
    match question.mechanism() {
        Mechanism::Collision(own) => Some(own.rates(&question.domain(), question.epsilon())),
        _ => None,
    }
}
