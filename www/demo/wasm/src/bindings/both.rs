//! Simulated people who answer in both ways.

use chacha20::ChaCha20Rng;
use hushbin::sums::SumTask;
use hushbin_analysis::estimate::CONFIDENCE;
use rand_core::SeedableRng;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::{Refusal, given, taken};
use crate::both::BothWays;

/// A simulated crowd, asked both ways.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Both {
    inner: BothWays,
    rng: ChaCha20Rng,
}

#[wasm_bindgen]
impl Both {
    /// Creates a crowd of nobody yet, for a complete task of numbers. `seed` has 32 bytes. It
    /// need not be secret, because all people are invented.
    ///
    /// # Errors
    /// A [`Refusal`], as from all that is asked of it.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "SumTaskFile")] task: JsValue,
        seed: &[u8],
    ) -> Result<Self, JsValue> {
        let both = || -> Result<Self, Refusal> {
            let task: SumTask = taken(task)?;
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

    /// What is promised by either.
    #[wasm_bindgen(getter, unchecked_return_type = "BothPromises")]
    #[must_use]
    pub fn promises(&self) -> JsValue {
        given(&self.inner.promises())
    }

    /// Asks people, whose numbers lie back to back.
    ///
    /// # Errors
    /// As [`Both::new`].
    pub fn add(&mut self, answers: &[f64]) -> Result<(), JsValue> {
        let added = self.inner.add(answers, &mut self.rng);
        Ok(added.map_err(Refusal::from)?)
    }

    /// What one person would send either way.
    ///
    /// # Errors
    /// As [`Both::new`].
    #[wasm_bindgen(unchecked_return_type = "BothSent")]
    pub fn sent(&mut self, answer: &[f64]) -> Result<JsValue, JsValue> {
        let sent = self.inner.sent(answer, &mut self.rng);
        Ok(given(&sent.map_err(Refusal::from)?))
    }

    /// The means of those who were asked.
    ///
    /// # Errors
    /// As [`Both::new`].
    #[wasm_bindgen(unchecked_return_type = "BothEstimates")]
    pub fn estimates(&self, confidence: f64) -> Result<JsValue, JsValue> {
        CONFIDENCE.check(confidence).map_err(Refusal::from)?;
        Ok(given(&self.inner.estimates(confidence)))
    }
}
