//! What hushbin does for the question, as its drafts choose it.

use hushbin::choose::{self, Asked as Draft, MechanismDraft, NumberDraft, QuestionDraft};
use hushbin::domain::Domain;
use hushbin::mechanism::collision::{Collision, Rates as Realised};
use hushbin::mechanism::window::{self, Window};
use hushbin::task::{Kind, Scale};
use hushbin::{Error, Items, Mechanism, Question};

use super::asked::Asked;
use super::variance::{Line, Variance};
use crate::competitors::budget::Budget;
use crate::competitors::choice::Rates;
use crate::competitors::numbers::ATTRIBUTES;

/// Ours at ε, whatever δ is.
///
/// # Errors
/// [`Error::OutOfRange`] where k or d is.
pub(super) fn line(asked: Asked, budget: &Budget) -> Result<Line, Error> {
    let epsilon = budget.epsilon();
    let (parameters, variance) = match asked {
        Asked::Choice { options } => choice(options, epsilon)?,
        Asked::Number => number(epsilon)?,
        Asked::Numbers { attributes } => {
            ATTRIBUTES.check(f64::from(attributes))?;
            let domain = Domain::dense(attributes);
            let window = Window::choose(&domain, epsilon, &choose::window::Draft::default())?;
            let (drawn, t, k) = (window.drawn(), window.atoms(), window.favoured());
            let parameters = format!("m {drawn}, t {t}, k {k}");
            (parameters, of_window(&window.rates(&domain, epsilon)))
        }
    };
    Ok(Line {
        mechanism: match asked {
            Asked::Choice { .. } => "hushbin choice",
            Asked::Number => "hushbin number",
            Asked::Numbers { .. } => "hushbin window",
        },
        parameters,
        variance: Ok(variance),
    })
}

fn choice(options: u32, epsilon: f64) -> Result<(String, Variance), Error> {
    let (_, collision, rates) = planned(Draft::Choice(Items::Count(options)), epsilon)?;
    let rates = Rates {
        p: rates.p_true,
        q: rates.p_false,
    };
    let parameters = format!("t {}", collision.buckets());
    Ok((parameters, Variance::of_shares(&rates, options)))
}

fn number(epsilon: f64) -> Result<(String, Variance), Error> {
    let draft = NumberDraft {
        min: Some(-1.0),
        max: Some(1.0),
        ..NumberDraft::default()
    };
    let (question, _, rates) = planned(Draft::Number(draft), epsilon)?;
    let Kind::Number(scale) = question.kind() else {
        unreachable!("a number was asked")
    };
    let parameters = format!("{} levels", scale.cells());
    Ok((parameters, of_levels(scale, &rates)))
}

fn of_window(rates: &window::Rates) -> Variance {
    Variance {
        worst: rates.worst_variance(),
        average: rates.average_variance(),
    }
}

/// A draft resolved; choices and numbers are asked by Collision.
fn planned(asked: Draft, epsilon: f64) -> Result<(Question, Collision, Realised), Error> {
    let draft = QuestionDraft {
        name: "compared".to_owned(),
        asked,
        sparsity: Some(1),
        entries: None,
        weight: None,
        mechanism: MechanismDraft::default(),
    };
    let question = draft.resolve(epsilon, None)?;
    let Mechanism::Collision(collision) = *question.mechanism() else {
        unreachable!("it is the default of drafts")
    };
    let rates = collision.rates(&question.domain(), epsilon);
    Ok((question, collision, rates))
}

/// Of a number on levels from −1 to 1, of which one is reported; they sum to 0.
///
/// The estimate of a number on level w has the second moment
/// S(w) = w²/(p − q) + q·Σ levels²/(p − q)²; between two levels it is linear, and from
/// it x² is taken: largest at an end or where the slope is 2x, and averaged exactly by
/// Simpson's rule.
fn of_levels(scale: &Scale, rates: &Realised) -> Variance {
    let gap = rates.gap();
    let levels: Vec<f64> = (0..scale.cells())
        .filter_map(|cell| scale.level(cell))
        .collect();
    let squares: f64 = levels.iter().map(|w| w * w).sum();
    let moment = |w: f64| w * w / gap + rates.p_false * squares / (gap * gap);
    let (mut worst, mut average) = (0.0_f64, 0.0);
    for ends in levels.windows(2) {
        let (low, step) = (ends[0], ends[1] - ends[0]);
        let slope = (moment(ends[1]) - moment(low)) / step;
        let variance = |x: f64| moment(low) + slope * (x - low) - x * x;
        let turn = (slope / 2.0).clamp(low, ends[1]);
        worst = worst.max(variance(turn));
        let middle = variance(low + step / 2.0);
        average += step / 2.0 * (variance(low) + 4.0 * middle + variance(ends[1])) / 6.0;
    }
    Variance { worst, average }
}
