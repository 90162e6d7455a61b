//! Bindings of the simulation, in which people answer in two ways: local reports and messages.

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use hushbin_analysis::estimate::CONFIDENCE_RANGE;
use rand_core::SeedableRng;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, from_js, to_js};
use crate::local_vs_shuffle::BothWaysSimulation;

/// Simulated people who answer the same question in local reports and in messages.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Both {
    inner: BothWaysSimulation,
    rng: ChaCha20Rng,
}

#[wasm_bindgen]
impl Both {
    /// Creates an empty crowd. `task` asks for numbers or a choice, and has all parameters. `seed` has 32 bytes
    /// and need not be secret, because all people are invented.
    ///
    /// # Errors
    /// A [`Refusal`] if the task is invalid or asks for something else, or the seed has another length.
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
                inner: BothWaysSimulation::new(&task)?,
                rng: ChaCha20Rng::from_seed(seed),
            })
        };
        Ok(both()?)
    }

    /// Returns the privacy promises of local reports and of messages through a shuffler.
    #[wasm_bindgen(getter, unchecked_return_type = "BothPromises")]
    #[must_use]
    pub fn promises(&self) -> JsValue {
        to_js(&self.inner.privacy_promises())
    }

    /// Adds people. `answers` lists the answers of one person after those of another.
    ///
    /// # Errors
    /// A [`Refusal`] if an answer is invalid or incomplete.
    pub fn add(&mut self, answers: &[f64]) -> Result<(), JsValue> {
        let added = self.inner.add_people(answers, &mut self.rng);
        Ok(added.map_err(Refusal::from)?)
    }

    /// Returns the report and the messages that one person would send.
    ///
    /// # Errors
    /// A [`Refusal`] if the answer is invalid.
    #[wasm_bindgen(js_name = randomizePerson, unchecked_return_type = "BothSent")]
    pub fn randomize_person(&mut self, answer: &[f64]) -> Result<JsValue, JsValue> {
        let sent = self.inner.randomize_person(answer, &mut self.rng);
        Ok(to_js(&sent.map_err(Refusal::from)?))
    }

    /// Estimates the means or shares of the people added so far.
    ///
    /// # Errors
    /// A [`Refusal`] if the confidence is out of range.
    #[wasm_bindgen(unchecked_return_type = "BothEstimates")]
    pub fn estimates(&self, confidence: f64) -> Result<JsValue, JsValue> {
        CONFIDENCE_RANGE
            .check_in_range(confidence)
            .map_err(Refusal::from)?;
        Ok(to_js(&self.inner.estimates(confidence)))
    }
}
