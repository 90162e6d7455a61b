//! Bindings of the planner.

use hushbin_analysis::plan::{self, Survey};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, from_js, to_js};

/// Returns the [`Plan`](plan::Plan) for a [`Survey`].
///
/// # Errors
/// A [`Refusal`] if the survey is invalid or has no plan.
#[wasm_bindgen(unchecked_return_type = "Plan")]
pub fn plan(
    #[wasm_bindgen(unchecked_param_type = "Survey")] survey: JsValue,
) -> Result<JsValue, JsValue> {
    let answer = || -> Result<JsValue, Refusal> {
        let survey: Survey = from_js(survey)?;
        Ok(to_js(&plan::plan_survey(&survey)?))
    };
    Ok(answer()?)
}
