//! Conversion of values between Rust and JavaScript.

use hushbin_analysis::plan::PlanError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_wasm_bindgen::Serializer;
use tsify::Tsify;
use wasm_bindgen::JsValue;

/// Reason why a request has no answer, thrown as a JavaScript value.
#[derive(Debug, Serialize, Tsify)]
pub struct Refusal {
    /// Code of the error, stable across releases. It is `"value"` for a value of the wrong type.
    pub(super) code: &'static str,
    /// Name of the invalid field, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(optional)]
    pub(super) field: Option<&'static str>,
    /// Name of the invalid question, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(optional)]
    pub(super) question: Option<String>,
    /// Message for people.
    pub(super) message: String,
}

impl Refusal {
    /// Creates a refusal that names neither a field nor a question.
    pub fn new(code: &'static str, error: &impl ToString) -> Self {
        Self {
            code,
            field: None,
            question: None,
            message: error.to_string(),
        }
    }

    /// Creates a refusal because of a value of the wrong type.
    pub(super) fn wrong_value_type(error: &impl ToString) -> Self {
        Self::new("value", error)
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Self {
            code: error.code(),
            field: error.out_of_range_field_name(),
            question: error.question_name().map(str::to_owned),
            message: error.to_string(),
        }
    }
}

impl From<Refusal> for JsValue {
    fn from(refusal: Refusal) -> Self {
        to_js(&refusal)
    }
}

/// Converts a JavaScript value to a Rust value.
///
/// # Errors
/// A [`Refusal`] if the value is not of type `T`.
pub(super) fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, Refusal> {
    // By way of JSON, because a direct read requests known fields only and ignores unknown ones.
    let value: serde_json::Value =
        serde_wasm_bindgen::from_value(value).map_err(|error| Refusal::wrong_value_type(&error))?;
    serde_json::from_value(value).map_err(|error| Refusal::wrong_value_type(&error))
}

/// Converts a Rust value to a JavaScript value with the structure of its JSON. `None` becomes null.
///
/// # Panics
/// If the value does not consist of numbers, strings, lists and objects.
pub(super) fn to_js(value: &impl Serialize) -> JsValue {
    let serializer = Serializer::json_compatible();
    let object = value.serialize(&serializer);
    object.expect("numbers, strings and their lists and objects are values of JavaScript")
}
