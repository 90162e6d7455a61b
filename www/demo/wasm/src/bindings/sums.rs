//! Bindings of the planner for sum tasks, whose messages go through a shuffler.

use hushbin::sums::{BoundedVector, SumTaskDraft};
use hushbin::task::NumberLimits;
use hushbin::{Error, Items, bounds};
use hushbin_analysis::accounting::HONEST_FRACTION_RANGE;
use hushbin_analysis::plan::PlanError;
use hushbin_analysis::sums::{BATCH_MESSAGE_COUNT_RANGE, SumPlan, resolve_sum_draft};
use serde_json::Value;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, from_js, to_js};

/// TypeScript types of the file that describes a sum task.
#[wasm_bindgen(typescript_custom_section)]
const SUM_TASK_TYPESCRIPT_TYPES: &str = r#"
/** Question whose answers a shuffler counts. */
export type CountedQuestion = { readonly name: string } & (
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: number | readonly string[] }
  | {
      readonly kind: "set";
      readonly options: number | readonly string[];
      readonly sparsity: number;
    }
  | {
      readonly kind: "number";
      readonly min: number;
      readonly max: number;
      readonly bins: number;
      readonly unit?: string;
    }
);

export interface SumDraft {
  readonly id: string;
  readonly trust: "shuffler";
  readonly epsilon: number;
  readonly delta: number;
  readonly people: number;
  readonly honest_fraction?: number;
  readonly numbers?: readonly {
    readonly name: string;
    readonly min: number;
    readonly max: number;
    readonly unit?: string;
  }[];
  readonly vector?: {
    readonly items: number | readonly string[];
    readonly length: number;
    readonly seed?: string;
    readonly spread?: number;
  };
  readonly questions?: readonly CountedQuestion[];
  readonly messages?: SumMessages | LotteryMessages;
}
export interface SumMessages {
  readonly levels: number;
  readonly drawn: number;
  readonly trials: number;
  /** A whole number below 2^64, in decimal digits. */
  readonly threshold: string;
  readonly noise: number;
}
export interface LotteryMessages {
  readonly draws: number;
  /** A whole number of at most 2^64, in decimal digits. */
  readonly threshold: string;
  readonly equal?: boolean;
}
export interface SumTaskFile extends SumDraft {
  readonly messages: SumMessages | LotteryMessages;
}
"#;

/// Chooses the missing parameters of a draft and returns the [`SumPlan`].
///
/// # Errors
/// A [`Refusal`] if the draft is invalid or has no plan.
#[wasm_bindgen(js_name = planSums, unchecked_return_type = "SumPlan")]
pub fn plan_sums(
    #[wasm_bindgen(unchecked_param_type = "SumDraft")] draft: JsValue,
) -> Result<JsValue, JsValue> {
    let plan = || -> Result<JsValue, Refusal> {
        let file: Value = from_js(draft)?;
        check_sum_draft(&file)?;
        let draft: SumTaskDraft =
            serde_json::from_value(file).map_err(|error| Refusal::wrong_value_type(&error))?;
        Ok(to_js(&SumPlan::new(resolve_sum_draft(&draft)?)?))
    };
    Ok(plan()?)
}

/// Checks a draft for errors in a known field, so that the refusal can name the field. Errors of
/// [`resolve_sum_draft`] have only a message.
fn check_sum_draft(file: &Value) -> Result<(), Refusal> {
    let [people, honest] = ["people", "honest_fraction"].map(|name| file[name].as_f64());
    if let Some(people) = people {
        // Each person sends at least one message, so this also bounds the number of people.
        BATCH_MESSAGE_COUNT_RANGE
            .check_in_range(people)
            .map_err(field_refusal_converter("people"))?;
    }
    if let Some(honest) = honest {
        HONEST_FRACTION_RANGE.check_in_range(honest)?;
        if people.is_some_and(|people| honest * people < 2.0) {
            let reason = "at least 2 of the \"people\" must be honest";
            return Err(field_refusal_converter("people")(
                Error::InvalidCombination { reason },
            ));
        }
    }
    if let Some(numbers) = file["numbers"].as_array() {
        bounds::SUM_COORDINATE_COUNT_RANGE.check_in_range(numbers.len() as f64)?;
        for own in numbers {
            if let [Some(min), Some(max)] = ["min", "max"].map(|name| own[name].as_f64()) {
                NumberLimits::new(min, max, None).map_err(field_refusal_converter("max"))?;
            }
        }
    }
    if let Some(options) = file["questions"][0]["options"].as_f64() {
        bounds::OPTION_COUNT_RANGE.check_in_range(options)?;
    }
    let vector = &file["vector"];
    if let (Some(items), Some(length)) = (vector["items"].as_u64(), vector["length"].as_f64()) {
        let items = u32::try_from(items).unwrap_or(u32::MAX);
        bounds::SUM_DIMENSION_RANGE.check_in_range(items.into())?;
        BoundedVector::new(
            Items::Count(items),
            length,
            0,
            BoundedVector::DEFAULT_BOUND_FACTOR,
        )
        .map_err(field_refusal_converter("length"))?;
    }
    Ok(())
}

/// Returns a function that converts an error to a refusal about this field.
fn field_refusal_converter(field: &'static str) -> impl Fn(Error) -> Refusal {
    move |error| Refusal {
        field: Some(field),
        ..Refusal::from(error)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        PlanError::from(error).into()
    }
}
