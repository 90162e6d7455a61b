//! The planner.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Refusal, given, taken};
use crate::plan::{self, Question, Survey};

/// Answers a [`Question`] with a [`plan::Answer`].
///
/// # Errors
/// A [`Refusal`].
#[wasm_bindgen(unchecked_return_type = "Answer")]
pub fn plan(
    #[wasm_bindgen(unchecked_param_type = "Question")] question: JsValue,
) -> Result<JsValue, JsValue> {
    let answer = || -> Result<JsValue, Refusal> {
        let question: Question = taken(question)?;
        Ok(given(&plan::plan(&question)?))
    };
    Ok(answer()?)
}

/// Answers a [`Survey`] with a [`plan::SurveyAnswer`].
///
/// # Errors
/// A [`Refusal`].
#[wasm_bindgen(unchecked_return_type = "SurveyAnswer")]
pub fn survey(
    #[wasm_bindgen(unchecked_param_type = "Survey")] survey: JsValue,
) -> Result<JsValue, JsValue> {
    let answer = || -> Result<JsValue, Refusal> {
        let survey: Survey = taken(survey)?;
        Ok(given(&plan::survey(&survey)?))
    };
    Ok(answer()?)
}
