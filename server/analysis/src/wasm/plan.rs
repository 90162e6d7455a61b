//! The planner.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, given, taken};
use crate::plan::Survey;

/// Answers a [`Survey`] with a [`Plan`](crate::plan::Plan).
///
/// # Errors
/// A [`Refusal`].
#[wasm_bindgen(unchecked_return_type = "Plan")]
pub fn plan(
    #[wasm_bindgen(unchecked_param_type = "Survey")] survey: JsValue,
) -> Result<JsValue, JsValue> {
    let plan = || -> Result<JsValue, Refusal> {
        let survey: Survey = taken(survey)?;
        Ok(given(&crate::plan::plan(&survey)?))
    };
    Ok(plan()?)
}
