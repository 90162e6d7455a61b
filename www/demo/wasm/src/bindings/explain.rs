//! Bindings that explain reports.

use std::collections::BTreeMap;

use hushbin::domain::SignedItem;
use hushbin::{Entry, Task};
use serde::Deserialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, from_js, to_js};
use crate::explain::{self, ExplainError, SignedAnswer};

/// Explainer of the reports of one task with ratings.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Explainer(explain::Explainer);

/// Explainer of the reports of a task with named questions.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NamedQuestionExplainer(explain::NamedQuestionExplainer);

/// Entry of an answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryInput {
    item: u64,
    value: f64,
}

/// Audit of a randomizer, to which a page adds reports step by step.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Audit(explain::Audit);

/// Returns the posterior probability of a claim, computed from the prior probability `before` and
/// the likelihood ratio of the evidence.
#[wasm_bindgen]
#[must_use]
pub fn posterior(before: f64, ratio: f64) -> f64 {
    explain::posterior_probability(before, ratio)
}

#[wasm_bindgen]
impl Explainer {
    /// Creates the explainer of a task. `task` has the format in which the collector returns it.
    ///
    /// # Errors
    /// A [`Refusal`] if the task is invalid or cannot be explained.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "object")] task: JsValue,
    ) -> Result<Self, JsValue> {
        let task: Task = from_js(task)?;
        Ok(Self(explain::Explainer::new(&task).map_err(Refusal::from)?))
    }

    /// Returns the inputs that a report's ε protects: all answers together, or one entry.
    #[wasm_bindgen(getter = epsilonScope, unchecked_return_type = "EpsilonScope")]
    #[must_use]
    pub fn epsilon_scope(&self) -> JsValue {
        to_js(&self.0.epsilon_scope())
    }

    /// Returns the quantities that can be estimated for an item.
    #[wasm_bindgen(getter, unchecked_return_type = "Estimand[]")]
    #[must_use]
    pub fn estimands(&self) -> JsValue {
        to_js(&self.0.estimands())
    }

    /// Returns the scale of the noise on bins, or `None` if reports have no bins.
    #[wasm_bindgen(getter = noiseScale)]
    #[must_use]
    pub fn noise_scale(&self) -> Option<f64> {
        self.0.noise_scale()
    }

    /// Returns the two inputs whose reports an audit compares.
    #[wasm_bindgen(js_name = extremeInputs, unchecked_return_type = "[SignedAnswer[], SignedAnswer[]]")]
    #[must_use]
    pub fn extreme_inputs(&self) -> JsValue {
        let listed =
            |input: Vec<SignedItem>| input.iter().map(SignedAnswer::from).collect::<Vec<_>>();
        to_js(&self.0.extreme_inputs().map(listed))
    }

    /// Splits an upload of one report into its fields.
    ///
    /// # Errors
    /// A [`Refusal`] if the upload is not one report of the task.
    #[wasm_bindgen(unchecked_return_type = "DissectedUpload")]
    pub fn dissect(&self, upload: &[u8]) -> Result<JsValue, JsValue> {
        let dissected = self.0.dissect_upload(upload).map_err(Refusal::from)?;
        Ok(to_js(&dissected))
    }

    /// Returns the positions of the answers under the seed of an upload's report.
    ///
    /// # Errors
    /// A [`Refusal`] if the answers or the upload do not fit the task.
    #[wasm_bindgen(unchecked_return_type = "Placement")]
    pub fn place(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Record<string, 1 | -1>")] answers: JsValue,
        upload: &[u8],
    ) -> Result<JsValue, JsValue> {
        let placed = || -> Result<_, Refusal> {
            Ok(self.0.place(
                &self.signed_answers(answers)?,
                &self.0.decode_sole_report(upload)?,
            )?)
        };
        Ok(to_js(&placed()?))
    }

    /// Returns the belief of an observer who knows all answers except the one about `item`. Before
    /// seeing the report, the observer believes `claim` with probability `before`.
    ///
    /// # Errors
    /// A [`Refusal`] if the answers, the item or the upload do not fit the task.
    #[wasm_bindgen(unchecked_return_type = "Belief")]
    pub fn belief(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Record<string, 1 | -1>")] answers: JsValue,
        upload: &[u8],
        item: &str,
        #[wasm_bindgen(unchecked_param_type = "1 | -1 | 0")] claim: i8,
        before: f64,
    ) -> Result<JsValue, JsValue> {
        let belief = || -> Result<_, Refusal> {
            let (answers, item) = (self.signed_answers(answers)?, self.0.item_index(item)?);
            let report = self.0.decode_sole_report(upload)?;
            Ok(self
                .0
                .belief_in_claim(&answers, &report, item, claim, before)?)
        };
        Ok(to_js(&belief()?))
    }

    /// Starts an audit that compares reports of the two inputs of [`Explainer::extreme_inputs`].
    #[must_use]
    pub fn audit(&self) -> Audit {
        Audit(self.0.audit())
    }
}

#[wasm_bindgen]
impl NamedQuestionExplainer {
    /// Creates the explainer of a task. `task` has the format in which the collector returns it.
    ///
    /// # Errors
    /// A [`Refusal`] if the task is invalid or cannot be explained.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "object")] task: JsValue,
    ) -> Result<Self, JsValue> {
        let task: Task = from_js(task)?;
        let explainer = explain::NamedQuestionExplainer::new(&task).map_err(Refusal::from)?;
        Ok(Self(explainer))
    }

    /// Explains what an upload reveals about answers. `answers` has the entries of each question,
    /// in the task's order. An option is given as an entry with its index and the value 1. A number
    /// is given as the value of item 0.
    ///
    /// # Errors
    /// A [`Refusal`] if the answers or the upload do not fit the task.
    #[wasm_bindgen(unchecked_return_type = "Explanation")]
    pub fn explain(
        &self,
        #[wasm_bindgen(unchecked_param_type = "{ item: number; value: number }[][]")]
        answers: JsValue,
        upload: &[u8],
    ) -> Result<JsValue, JsValue> {
        let explanation = || -> Result<_, Refusal> {
            let given: Vec<Vec<EntryInput>> = from_js(answers)?;
            let entry = |&EntryInput { item, value }: &EntryInput| Entry { item, value };
            let answers: Vec<Vec<Entry>> = given
                .iter()
                .map(|answer| answer.iter().map(entry).collect())
                .collect();
            let answers: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
            Ok(self.0.explain(upload, &answers)?)
        };
        Ok(to_js(&explanation()?))
    }
}

impl Explainer {
    fn signed_answers(&self, answers: JsValue) -> Result<Vec<SignedItem>, Refusal> {
        let named: BTreeMap<String, i8> = from_js(answers)?;
        let named = named.iter().map(|(name, sign)| (name.as_str(), *sign));
        Ok(self.0.signed_answers(named)?)
    }
}

#[wasm_bindgen]
impl Audit {
    /// Computes the scores of `count` reports, which `packed` lists one after the other. `which` is
    /// 0 if they come from the first input, 1 for the second.
    ///
    /// # Errors
    /// A [`Refusal`] if the reports do not fit the task.
    pub fn add(&mut self, which: usize, count: u32, packed: &[u8]) -> Result<(), JsValue> {
        self.0
            .add_reports(which, count, packed)
            .map_err(Refusal::from)?;
        Ok(())
    }

    /// Returns the lower bound on ε, at this confidence, from all reports added so far.
    #[wasm_bindgen(unchecked_return_type = "MeasuredBound")]
    #[must_use]
    pub fn measured(&self, confidence: f64) -> JsValue {
        to_js(&self.0.measure_bound(confidence))
    }
}

impl From<ExplainError> for Refusal {
    fn from(error: ExplainError) -> Self {
        Self::new(error.code(), &error)
    }
}
