//! Table row of hushbin: the mechanism that it chooses for the question by default.

use hushbin::choose::{self, KindDraft, MechanismDraft, QuestionDraft};
use hushbin::domain::Domain;
use hushbin::mechanism::window::{self, Window};
use hushbin::{Error, Items, Mechanism};

use super::question::ComparedQuestion;
use super::variance::{EstimateVariance, MechanismRow};
use crate::competitors::budget::Budget;
use crate::competitors::choice::SupportProbabilities;
use crate::competitors::numbers::ATTRIBUTE_COUNT_RANGE;

/// Returns the row of hushbin at the budget's ε. The budget's δ is ignored.
///
/// # Errors
/// [`Error::OutOfRange`] if k or d is out of range.
pub(super) fn hushbin_row(
    question: ComparedQuestion,
    budget: &Budget,
) -> Result<MechanismRow, Error> {
    let epsilon = budget.epsilon();
    let (parameters, variance) = match question {
        ComparedQuestion::Choice { options } => choice_parameters_and_variance(options, epsilon)?,
        ComparedQuestion::Number => numbers_parameters_and_variance(1, epsilon)?,
        ComparedQuestion::Numbers { attributes } => {
            numbers_parameters_and_variance(attributes, epsilon)?
        }
    };
    Ok(MechanismRow {
        mechanism: match question {
            ComparedQuestion::Choice { .. } => "hushbin choice",
            ComparedQuestion::Number | ComparedQuestion::Numbers { .. } => "hushbin window",
        },
        parameters,
        variance: Ok(variance),
    })
}

fn choice_parameters_and_variance(
    options: u32,
    epsilon: f64,
) -> Result<(String, EstimateVariance), Error> {
    let draft = QuestionDraft {
        name: "compared".to_owned(),
        kind: KindDraft::Choice(Items::Count(options)),
        sparsity: Some(1),
        people_count_by_entry_count: None,
        mean_item_overlap: None,
        sampling_weight: None,
        mechanism: MechanismDraft::default(),
    };
    let question = draft.resolve_question(epsilon, None, None)?;
    let Mechanism::Collision(collision) = *question.mechanism() else {
        unreachable!("it is the default of drafts")
    };
    let rates = collision.hit_probabilities(&question.domain(), epsilon);
    let rates = SupportProbabilities {
        own_answer_probability: rates.p_true,
        other_answer_probability: rates.p_false,
    };
    let favoured = collision.favoured_count().unwrap_or(1);
    let parameters = format!("t {}, c {favoured}", collision.buckets_per_hash());
    Ok((
        parameters,
        EstimateVariance::from_support_probabilities(&rates, options),
    ))
}

fn numbers_parameters_and_variance(
    attributes: u32,
    epsilon: f64,
) -> Result<(String, EstimateVariance), Error> {
    ATTRIBUTE_COUNT_RANGE.check_in_range(f64::from(attributes))?;
    let domain = Domain::of_dense_inputs(attributes);
    let window = Window::choose_parameters(
        &domain,
        epsilon,
        &choose::window::ParametersDraft::default(),
    )?;
    let (drawn, t, k) = (
        window.drawn_attribute_count(),
        window.atoms_per_attribute(),
        window.favoured_atom_count(),
    );
    let parameters = format!("m {drawn}, t {t}, k {k}");
    Ok((
        parameters,
        window_variance(&window.estimate_scale_and_variance(&domain, epsilon)),
    ))
}

fn window_variance(rates: &window::EstimateScaleAndVariance) -> EstimateVariance {
    EstimateVariance {
        worst: rates.max_variance(),
        average: rates.uniform_average_variance(),
    }
}
