//! Local training: the change that one person's messages make to the shared model.

use hushbin::Entry;

use super::messages::{MESSAGES_PER_PERSON, TextMessage, WORDS_PER_MESSAGE};

/// Number of passes over a person's messages.
const LOCAL_EPOCH_COUNT: usize = 2;
/// Size of a step along the gradient of one message's loss.
const LOCAL_LEARNING_RATE: f64 = 0.2;

/// Logistic regression on a person's messages, starting from the shared weights.
#[derive(Debug)]
pub(super) struct LocalTraining {
    /// Change of each word's weight. All changes are 0 before and after each call of
    /// [`Self::train_on_messages`].
    weight_changes: Vec<f64>,
}

impl LocalTraining {
    /// Creates a learner for `words` words, with all changes 0.
    pub(super) fn new(words: usize) -> Self {
        Self {
            weight_changes: vec![0.0; words],
        }
    }

    /// Trains on a person's messages and returns the changes of the words' weights. Only weights of
    /// words in the messages change.
    pub(super) fn train_on_messages(
        &mut self,
        weights: &[f64],
        messages: &[TextMessage; MESSAGES_PER_PERSON],
    ) -> Vec<Entry> {
        for message in std::iter::repeat_n(messages, LOCAL_EPOCH_COUNT).flatten() {
            let margin = message.liked_sign()
                * (message.weight_sum(weights) + message.weight_sum(&self.weight_changes));
            // Negative slope of the loss ln(1 + exp(−margin)), times the rate. The step is the same
            // for each word of the message.
            let step = LOCAL_LEARNING_RATE * message.liked_sign() / (1.0 + margin.exp());
            for &word in &message.words {
                self.weight_changes[usize::from(word)] += step;
            }
        }
        let mut changes = Vec::with_capacity(MESSAGES_PER_PERSON * WORDS_PER_MESSAGE);
        for &word in messages.iter().flat_map(|own| &own.words) {
            // Taking the value resets the word to 0 and skips words that occurred before.
            let value = std::mem::take(&mut self.weight_changes[usize::from(word)]);
            if value != 0.0 {
                changes.push(Entry {
                    item: word.into(),
                    value,
                });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use crate::competitors::LossFunction;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::super::messages::MessageDistribution;
    use super::*;

    /// The changes of the weights equal the changes from gradients that are computed over all
    /// features.
    #[test]
    fn changes_are_those_of_gradients() {
        let words = MessageDistribution::new(64);
        let messages = words.draw_person_messages(&mut ChaCha8Rng::seed_from_u64(1));
        let start: Vec<f64> = (0..64).map(|word| f64::from(word) / 64.0 - 0.5).collect();
        let mut weights = start.clone();
        for message in messages.iter().chain(&messages) {
            let mut features = [0.0; 64];
            for word in message.words {
                features[usize::from(word)] = 1.0;
            }
            let gradient =
                LossFunction::Logistic.gradient(&weights, &features, message.liked_sign(), 0.0);
            for (weight, own) in weights.iter_mut().zip(gradient) {
                *weight -= LOCAL_LEARNING_RATE * own;
            }
        }
        let mut local = LocalTraining::new(64);
        for _ in 0..2 {
            let mut changed = start.clone();
            for own in local.train_on_messages(&start, &messages) {
                changed[own.item as usize] += own.value;
            }
            let both = changed.iter().zip(&weights);
            assert!(both.clone().all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
