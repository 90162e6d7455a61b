//! Table row of hushbin: the mechanism that it chooses for the question by default.

use hushbin::choose::{self, KindDraft, MechanismDraft, QuestionDraft};
use hushbin::domain::Domain;
use hushbin::mechanism::window::{self, Window};
use hushbin::{Error, Items, Mechanism};

use super::asked::Asked;
use super::variance::{Line, Variance};
use crate::competitors::budget::Budget;
use crate::competitors::choice::Rates;
use crate::competitors::numbers::ATTRIBUTES;

/// Returns the row of hushbin at the budget's ε. The budget's δ is ignored.
///
/// # Errors
/// [`Error::OutOfRange`] if k or d is out of range.
pub(super) fn line(asked: Asked, budget: &Budget) -> Result<Line, Error> {
    let epsilon = budget.epsilon();
    let (parameters, variance) = match asked {
        Asked::Choice { options } => choice(options, epsilon)?,
        Asked::Number => numbers(1, epsilon)?,
        Asked::Numbers { attributes } => numbers(attributes, epsilon)?,
    };
    Ok(Line {
        mechanism: match asked {
            Asked::Choice { .. } => "hushbin choice",
            Asked::Number | Asked::Numbers { .. } => "hushbin window",
        },
        parameters,
        variance: Ok(variance),
    })
}

fn choice(options: u32, epsilon: f64) -> Result<(String, Variance), Error> {
    let draft = QuestionDraft {
        name: "compared".to_owned(),
        kind: KindDraft::Choice(Items::Count(options)),
        sparsity: Some(1),
        entries: None,
        overlap: None,
        weight: None,
        mechanism: MechanismDraft::default(),
    };
    let question = draft.resolve(epsilon, None)?;
    let Mechanism::Collision(collision) = *question.mechanism() else {
        unreachable!("it is the default of drafts")
    };
    let rates = collision.rates(&question.domain(), epsilon);
    let rates = Rates {
        p: rates.p_true,
        q: rates.p_false,
    };
    let favoured = collision.favoured().unwrap_or(1);
    let parameters = format!("t {}, c {favoured}", collision.buckets());
    Ok((parameters, Variance::of_shares(&rates, options)))
}

fn numbers(attributes: u32, epsilon: f64) -> Result<(String, Variance), Error> {
    ATTRIBUTES.check(f64::from(attributes))?;
    let domain = Domain::dense(attributes);
    let window = Window::choose(&domain, epsilon, &choose::window::Draft::default())?;
    let (drawn, t, k) = (window.drawn(), window.atoms(), window.favoured());
    let parameters = format!("m {drawn}, t {t}, k {k}");
    Ok((parameters, of_window(&window.rates(&domain, epsilon))))
}

fn of_window(rates: &window::Rates) -> Variance {
    Variance {
        worst: rates.worst_variance(),
        average: rates.average_variance(),
    }
}
