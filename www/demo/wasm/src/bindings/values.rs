//! Values as they cross between Rust and JavaScript.

use hushbin_analysis::plan::PlanError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use tsify::Tsify;
use wasm_bindgen::JsValue;

/// Why there is no answer, as it is thrown.
#[derive(Debug, Serialize, Tsify)]
pub struct Refusal {
    /// Stable across releases; `"value"` for a value of another type.
    pub(super) code: &'static str,
    /// The field that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(optional)]
    pub(super) field: Option<&'static str>,
    /// The name of the question that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(optional)]
    pub(super) question: Option<String>,
    pub(super) message: String,
}

impl Refusal {
    /// Creates a refusal that is about no field and no question.
    pub fn new(code: &'static str, error: &impl ToString) -> Self {
        Self {
            code,
            field: None,
            question: None,
            message: error.to_string(),
        }
    }

    /// Of a value that is none of its type.
    pub(super) fn no_value(error: &impl ToString) -> Self {
        Self::new("value", error)
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Self {
            code: error.code(),
            field: error.field(),
            question: error.question().map(str::to_owned),
            message: error.to_string(),
        }
    }
}

impl From<Refusal> for JsValue {
    fn from(refusal: Refusal) -> Self {
        given(&refusal)
    }
}

/// Reads a value from JavaScript by way of JSON, so that unknown fields are refused. Read
/// directly, an object is only asked for the fields that are known.
///
/// # Errors
/// A [`Refusal`] for a value of another type.
pub(super) fn taken<T: DeserializeOwned>(value: JsValue) -> Result<T, Refusal> {
    let value: serde_json::Value =
        serde_wasm_bindgen::from_value(value).map_err(|error| Refusal::no_value(&error))?;
    serde_json::from_value(value).map_err(|error| Refusal::no_value(&error))
}

/// Converts a value for JavaScript as in JSON, with null where there is none.
///
/// # Panics
/// If the value is not one of numbers, strings, lists and objects.
pub(super) fn given(value: &impl Serialize) -> JsValue {
    let serializer = Serializer::json_compatible();
    let object = value.serialize(&serializer);
    object.expect("numbers, strings and their lists and objects are values of JavaScript")
}
