//! Bindings for web pages: the planner behind JSON.
//!
//! A module of its own, apart from the one that randomises: whoever plans a
//! task downloads it, whoever reports does not. Bad questions are refused and
//! never trap.

use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::plan::{self, PlanError, Question};

/// Why a question has no answer.
#[derive(Debug, Serialize)]
struct Refusal {
    /// [`PlanError::code`], or `"question"` of what is no question.
    code: &'static str,
    /// The field that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    message: String,
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self {
            code: "question",
            field: None,
            message: error.to_string(),
        }
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Self {
            code: error.code(),
            field: error.field(),
            message: error.to_string(),
        }
    }
}

/// Answers a [`Question`] with a [`plan::Answer`], both in JSON.
///
/// # Errors
/// Why there is no answer, as JSON with the fields `code`, `field` where it is
/// about one, and `message`.
#[wasm_bindgen]
pub fn plan(question: &str) -> Result<String, String> {
    answer(question)
        .map_err(|refusal| serde_json::to_string(&refusal).expect("three strings are JSON"))
}

fn answer(question: &str) -> Result<String, Refusal> {
    let question: Question = serde_json::from_str(question)?;
    Ok(serde_json::to_string(&plan::plan(&question)?)?)
}
