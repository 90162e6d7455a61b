//! Planner of the command `npx hushbin init`, compiled to WebAssembly.
//!
//! A survey, a plan and a refusal pass as JSON texts.

use hushbin_analysis::plan::{Plan, PlanError, Survey, plan_survey};
use hushbin_analysis::promise::EpsilonSpending;
use hushbin_analysis::typescript::typescript_module;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

/// Plan of a survey, with the texts of the files that state its task.
#[derive(Debug, Serialize)]
struct PlannedTask {
    /// Local ε of the task.
    epsilon: f64,
    /// Number of people, who send one report each.
    people: u64,
    /// Largest half-width of a 95% confidence interval, over all questions.
    half_width: f64,
    /// ε of one report and of a year's reports, in words.
    spending: String,
    /// Text of the task file.
    task_file: String,
    /// Text of the task's TypeScript module.
    module: String,
}

/// Reason why a survey has no plan.
#[derive(Debug, Serialize)]
struct Refusal {
    /// Code of [`PlanError::code`], or `"value"` for a value of the wrong type.
    code: &'static str,
    /// Message for people.
    message: String,
}

impl Refusal {
    fn new(code: &'static str, error: &impl ToString) -> Self {
        let message = error.to_string();
        Self { code, message }
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Self {
        Self::new(error.code(), &error)
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::new("value", &error)
    }
}

impl TryFrom<Plan> for PlannedTask {
    type Error = Refusal;

    fn try_from(plan: Plan) -> Result<Self, Refusal> {
        let task = &plan.task;
        let half_widths = plan.questions.iter().map(|question| question.half_width);
        Ok(Self {
            epsilon: plan.epsilon,
            people: plan.people,
            half_width: half_widths.fold(0.0, f64::max),
            spending: EpsilonSpending::spending_for_task(task).statement,
            task_file: serde_json::to_string_pretty(task)? + "\n",
            module: typescript_module(
                task,
                "Task",
                &format!("the fingerprint is {}.", task.fingerprint()),
            )?,
        })
    }
}

/// Plans a survey, given as JSON. Returns the plan as JSON.
///
/// # Errors
/// The refusal as JSON, if the survey is invalid or has no plan.
#[wasm_bindgen]
pub fn plan(survey: &str) -> Result<String, String> {
    let plan = || -> Result<String, Refusal> {
        let survey: Survey = serde_json::from_str(survey)?;
        let planned = PlannedTask::try_from(plan_survey(&survey)?)?;
        Ok(serde_json::to_string(&planned)?)
    };
    plan().map_err(|refusal| {
        serde_json::to_string(&refusal).expect("two texts are an object of JSON")
    })
}

#[cfg(test)]
mod tests {
    use super::plan;

    #[test]
    fn a_plan_has_the_files_of_its_task() {
        let survey = r#"{ "id": "beta", "questions": [{ "name": "beta", "kind": "flag" }],
            "people": 10000, "wanted": { "beta": { "within": 0.02 } } }"#;
        let planned: serde_json::Value = serde_json::from_str(&plan(survey).unwrap()).unwrap();
        assert!(planned["half_width"].as_f64().unwrap() <= 0.02);
        let file: serde_json::Value =
            serde_json::from_str(planned["task_file"].as_str().unwrap()).unwrap();
        assert_eq!(file["epsilon"], planned["epsilon"]);
        assert!(planned["module"].as_str().unwrap().contains("id: \"beta\""));
    }

    #[test]
    fn refusals_have_the_codes_of_the_planner() {
        for (survey, code) in [
            ("{}", "value"),
            (r#"{ "questions": [] }"#, "underspecified"),
            (
                r#"{ "questions": [{ "name": "", "kind": "flag" }], "people": 1, "epsilon": 1 }"#,
                "parameter",
            ),
            (
                r#"{ "questions": [{ "name": "b", "kind": "flag" }],
                    "people": 10, "wanted": { "b": { "within": 0.0001 } } }"#,
                "out-of-reach",
            ),
        ] {
            let refusal = plan(survey).unwrap_err();
            assert!(
                refusal.contains(&format!("\"code\":\"{code}\"")),
                "{refusal}"
            );
        }
    }
}
