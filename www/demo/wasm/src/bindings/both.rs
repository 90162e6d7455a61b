//! Bindings of the simulation of both ways.

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use hushbin_analysis::estimate::CONFIDENCE;
use rand_core::SeedableRng;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, from_js, to_js};
use crate::both::BothWays;

/// Simulated crowd that answers in both ways.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Both {
    inner: BothWays,
    rng: ChaCha20Rng,
}

#[wasm_bindgen]
impl Both {
    /// Creates an empty crowd for a complete task of numbers. `seed` has 32 bytes. It need not be
    /// secret, because all people are invented.
    ///
    /// # Errors
    /// A [`Refusal`] if the task is invalid or has no numbers, or the seed has another length.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "SumTaskFile")] task: JsValue,
        seed: &[u8],
    ) -> Result<Self, JsValue> {
        let both = || -> Result<Self, Refusal> {
            let task: SumTask = from_js(task)?;
            let seed = seed
                .try_into()
                .map_err(|error| Refusal::new("value", &error))?;
            Ok(Self {
                inner: BothWays::new(&task)?,
                rng: ChaCha20Rng::from_seed(seed),
            })
        };
        Ok(both()?)
    }

    /// Returns the privacy promises of both ways.
    #[wasm_bindgen(getter, unchecked_return_type = "BothPromises")]
    #[must_use]
    pub fn promises(&self) -> JsValue {
        to_js(&self.inner.promises())
    }

    /// Adds people, whose answers are back to back.
    ///
    /// # Errors
    /// A [`Refusal`] if an answer is invalid or incomplete.
    pub fn add(&mut self, answers: &[f64]) -> Result<(), JsValue> {
        let added = self.inner.add(answers, &mut self.rng);
        Ok(added.map_err(Refusal::from)?)
    }

    /// Returns the report and the messages that one person would send.
    ///
    /// # Errors
    /// A [`Refusal`] if the answer is invalid.
    #[wasm_bindgen(unchecked_return_type = "BothSent")]
    pub fn sent(&mut self, answer: &[f64]) -> Result<JsValue, JsValue> {
        let sent = self.inner.sent(answer, &mut self.rng);
        Ok(to_js(&sent.map_err(Refusal::from)?))
    }

    /// Estimates the means of the people added so far.
    ///
    /// # Errors
    /// A [`Refusal`] if the confidence is out of range.
    #[wasm_bindgen(unchecked_return_type = "BothEstimates")]
    pub fn estimates(&self, confidence: f64) -> Result<JsValue, JsValue> {
        CONFIDENCE.check(confidence).map_err(Refusal::from)?;
        Ok(to_js(&self.inner.estimates(confidence)))
    }
}
