//! Asking one of several questions, against asking all of them together.

use super::collision::Draft;
use crate::bounds;
use crate::domain::Domain;
use crate::mechanism::Mechanism;
use crate::mechanism::collision::{Collision, Rates};
use crate::task::{Kind, Question, Task};

/// What answers to several questions would be worth if each report told of all of them,
/// as one input of Collision over all their items.
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
///     "id": "settings", "epsilon": 1.0, "questions": [
///         { "name": "theme", "kind": "choice", "options": 5 },
///         { "name": "beta", "kind": "flag" }
///     ]
/// }"#).unwrap();
/// let compared = together(&draft.resolve().unwrap()).unwrap();
/// assert!(compared.drawn < compared.together);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Together {
    /// Where each report answers one, as in the task.
    pub drawn: f64,
    /// Where each report answers all, with the best parameters.
    pub together: f64,
}

/// Compares; `None` unless the task asks several questions, all closed and by Collision,
/// about what is there or not.
#[must_use]
pub fn together(task: &Task) -> Option<Together> {
    let questions = task.questions();
    let (mut drawn, mut sparsity, mut paddings, mut items) = (0.0, 0, 0, 0);
    for (index, question) in questions.iter().enumerate() {
        let (own, rates) = answers(question)?;
        let (domain, share) = (question.domain(), task.share(index));
        let given = f64::from(domain.sparsity());
        let spread = given * (1.0 - given / f64::from(own));
        let noise = variance(&rates, given, own);
        drawn += noise / share + spread * (1.0 / share - 1.0);
        sparsity += domain.sparsity();
        items += own;
        paddings += if domain.is_padded() {
            domain.sparsity()
        } else {
            0
        };
    }
    let fits = bounds::SPARSITY.holds(f64::from(sparsity)) && sparsity < items + paddings;
    if questions.len() < 2 || !fits {
        return None;
    }
    let (domain, epsilon) = (Domain::exact(items + paddings, sparsity), task.epsilon());
    let all = Collision::choose(&domain, epsilon, &Draft::default()).ok()?;
    Some(Together {
        drawn,
        together: variance(&all.rates(&domain, epsilon), sparsity.into(), items),
    })
}

/// Of one report's estimates of all answers, of which so many are given.
fn variance(rates: &Rates, given: f64, answers: u32) -> f64 {
    given * rates.frequency_variance(true)
        + (f64::from(answers) - given) * rates.frequency_variance(false)
}

/// The number of answers to a question about what is there or not, and its rates.
fn answers(question: &Question) -> Option<(u32, Rates)> {
    let domain = question.domain();
    if matches!(question.kind(), Kind::Number(scale) if scale.tree().is_some()) {
        return None;
    }
    match question.mechanism() {
        Mechanism::Collision(own) if !domain.is_rated() => {
            Some((domain.items()?, own.rates(&domain, question.epsilon())))
        }
        _ => None,
    }
}
