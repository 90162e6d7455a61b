//! A text-like crowd. People write messages that consist of a few words of a large vocabulary. Each
//! message is liked or not, as in telemetry of reactions.
//!
//! Words follow Zipf's law with exponent 1.1. Half of a person's words are about the person's
//! topic: they follow the same law, shifted to different words. The shift makes people differ. The
//! probability that a message is liked is a logistic function of the sum of its words' weights.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use crate::evaluate::crowd::random::{ZipfItemDistribution, draw_uniform};

/// Number of words of a message, which are all distinct.
pub(super) const WORDS_PER_MESSAGE: usize = 8;
/// Number of messages of a person.
pub(super) const MESSAGES_PER_PERSON: usize = 10;
/// Number of topics that people write about.
const TOPIC_COUNT: u32 = 8;
/// Standard deviation of the score of a message, which is the sum of its words' weights.
const SCORE_STANDARD_DEVIATION: f64 = 3.0;

/// Message of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextMessage {
    /// Words of the message.
    pub(super) words: [u16; WORDS_PER_MESSAGE],
    /// True if the message is liked. The model predicts this.
    pub(super) is_liked: bool,
}

impl TextMessage {
    /// Returns 1 if the message is liked, otherwise −1.
    pub(super) fn liked_sign(&self) -> f64 {
        if self.is_liked { 1.0 } else { -1.0 }
    }

    /// Returns the sum of the weights of the message's words.
    pub(super) fn weight_sum(&self, weights: &[f64]) -> f64 {
        let weight = |word: &u16| weights[usize::from(*word)];
        self.words.iter().map(weight).sum()
    }
}

/// Distribution from which the messages of people are drawn.
#[derive(Debug, Clone)]
pub(super) struct MessageDistribution {
    word_distribution: ZipfItemDistribution,
    /// True weight of each word.
    true_word_weights: Vec<f64>,
}

impl MessageDistribution {
    /// Creates the distribution of messages over `words` words. The result is always the same.
    pub(super) fn new(words: u16) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(words.into());
        let scale = SCORE_STANDARD_DEVIATION / (WORDS_PER_MESSAGE as f64).sqrt();
        let mut weight = || -> f64 {
            let normal: f64 = StandardNormal.sample(rng);
            scale * normal
        };
        Self {
            word_distribution: ZipfItemDistribution::new(words.into(), 1.1),
            true_word_weights: (0..words).map(|_| weight()).collect(),
        }
    }

    /// Number of words in the vocabulary.
    pub(super) fn word_count(&self) -> u32 {
        self.true_word_weights.len() as u32
    }

    /// Draws a person's messages.
    pub(super) fn draw_person_messages(
        &self,
        rng: &mut ChaCha8Rng,
    ) -> [TextMessage; MESSAGES_PER_PERSON] {
        let topic = rng.next_u32() % TOPIC_COUNT;
        std::array::from_fn(|_| self.draw_message(topic, rng))
    }

    fn draw_message(&self, topic: u32, rng: &mut ChaCha8Rng) -> TextMessage {
        let shift = topic * self.word_count() / TOPIC_COUNT;
        let mut message = TextMessage {
            words: [0; WORDS_PER_MESSAGE],
            is_liked: false,
        };
        let mut there = 0;
        while there < WORDS_PER_MESSAGE {
            let about = if rng.next_u32() >> 31 == 1 { shift } else { 0 };
            let word = ((self.word_distribution.draw_item(rng) + about) % self.word_count()) as u16;
            if !message.words[..there].contains(&word) {
                message.words[there] = word;
                there += 1;
            }
        }
        let score = message.weight_sum(&self.true_word_weights);
        message.is_liked = draw_uniform(rng) < 1.0 / (1.0 + (-score).exp());
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_of_different_words_and_half_are_liked() {
        let words = MessageDistribution::new(256);
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let (mut liked, mut guessed) = (0, 0);
        for message in (0..500).flat_map(|_| words.draw_person_messages(rng)) {
            let mut own = message.words;
            own.sort_unstable();
            assert!(own.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(u32::from(own[WORDS_PER_MESSAGE - 1]) < words.word_count());
            liked += u32::from(message.is_liked);
            guessed +=
                u32::from(message.is_liked == (message.weight_sum(&words.true_word_weights) > 0.0));
        }
        assert!((1000..4000).contains(&liked), "{liked}");
        // Predictions with the true weights are wrong for one message in seven.
        assert!((4100..4500).contains(&guessed), "{guessed}");
    }
}
