//! Features: functions of the seed and the id of an upload.
//!
//! Every upload has a new seed and a new id. Both should be random and independent of the input. A
//! feature with few values disproves this if a value is more frequent under one input than under
//! another.

use hushbin::UploadId;
use hushbin::mix::mix64;

/// Number of 64-bit words that are examined for each upload.
const EXAMINED_WORD_COUNT: usize = 7;
/// Increment of the generator `splitmix64`. Outputs of this generator are the keys of a report's
/// hashes.
const SPLITMIX64_INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;
/// Maximum number of values of a feature.
const MAX_FEATURE_VALUE_COUNT: usize = 256;
/// Moduli whose remainders are not functions of a single byte.
const REMAINDER_MODULI: [u8; 6] = [3, 5, 7, 9, 11, 13];

/// Words that are examined: the report's seed, four hash keys, and both halves of the upload's id.
/// The hash keys are the first four outputs of `splitmix64` for the seed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SeedAndIdWords([u64; EXAMINED_WORD_COUNT]);

impl SeedAndIdWords {
    pub(super) fn new(seed: u64, id: UploadId) -> Self {
        let output = |n: u64| mix64(seed.wrapping_add(n.wrapping_mul(SPLITMIX64_INCREMENT)));
        let [low, high] = upload_id_halves(id);
        Self([seed, output(1), output(2), output(3), output(4), low, high])
    }
}

/// Returns the low and the high word of an id.
pub(super) fn upload_id_halves(id: UploadId) -> [u64; 2] {
    let id = u128::from_le_bytes(id.0);
    [id as u64, (id >> 64) as u64]
}

/// Number of times that a value occurred under each of the two inputs.
pub(super) type CountsByInput = [u32; 2];

/// Function of one word.
#[derive(Debug, Clone, Copy)]
enum WordFunction {
    /// Parity of the bits under a mask.
    MaskedBitParity(u64),
    /// Byte that starts at this bit.
    ByteAtBit(u32),
    Remainder(u8),
    /// Number of ones.
    OneBitCount,
}

impl WordFunction {
    fn value_of_word(self, word: u64) -> usize {
        match self {
            Self::MaskedBitParity(mask) => ((word & mask).count_ones() % 2) as usize,
            Self::ByteAtBit(from) => usize::from((word >> from) as u8),
            Self::Remainder(modulus) => (word % u64::from(modulus)) as usize,
            Self::OneBitCount => word.count_ones() as usize,
        }
    }
}

/// Function of a word, with the counts of its values.
#[derive(Debug, Clone)]
pub(super) struct CountedWordFeature {
    word_index: usize,
    word_function: WordFunction,
    value_counts: Vec<CountsByInput>,
}

impl CountedWordFeature {
    /// Returns the counts of the value that the feature has for these words.
    pub(super) fn value_counts(&self, words: &SeedAndIdWords) -> CountsByInput {
        self.value_counts[self.word_function.value_of_word(words.0[self.word_index])]
    }

    fn new(samples: [&[SeedAndIdWords]; 2], word: usize, function: WordFunction) -> Self {
        let mut counts = vec![CountsByInput::default(); MAX_FEATURE_VALUE_COUNT];
        for (which, words) in samples.into_iter().enumerate() {
            for words in words {
                counts[function.value_of_word(words.0[word])][which] += 1;
            }
        }
        Self {
            word_index: word,
            word_function: function,
            value_counts: counts,
        }
    }

    /// Returns the part of a word that best separates the samples of two inputs: a byte, a
    /// remainder or the number of ones. Both inputs have equally many samples.
    pub(super) fn best_word_part(samples: [&[SeedAndIdWords]; 2]) -> Self {
        let bytes = (0..64).step_by(8).map(WordFunction::ByteAtBit);
        let functions = bytes
            .chain(REMAINDER_MODULI.map(WordFunction::Remainder))
            .chain([WordFunction::OneBitCount]);
        let features = functions
            .flat_map(|of| (0..EXAMINED_WORD_COUNT).map(move |word| Self::new(samples, word, of)));
        let features =
            features.map(|feature| (standardised_chi_squared(&feature.value_counts), feature));
        let (_, best) = features
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .expect("there are functions");
        best
    }

    /// Returns the parity of a word that best separates the samples. The mask of the parity
    /// combines at most two of the [`basic_bit_masks`].
    pub(super) fn best_word_parity(samples: [&[SeedAndIdWords]; 2]) -> Self {
        let best = (0..EXAMINED_WORD_COUNT).map(|word| {
            let (difference, mask) = best_parity_mask(samples, word);
            (difference, word, mask)
        });
        let best = best.max_by_key(|(difference, ..)| *difference);
        let (_, word, mask) = best.expect("there are words");
        Self::new(samples, word, WordFunction::MaskedBitParity(mask))
    }
}

/// Computes χ² for the counts of two samples. Returns the number of standard deviations by which χ²
/// exceeds its mean under equal distributions.
fn standardised_chi_squared(counts: &[CountsByInput]) -> f64 {
    let met = counts.iter().map(|count| count.map(f64::from));
    let (mut cells, mut square) = (0.0, 0.0);
    for [first, second] in met.filter(|[first, second]| first + second > 0.0) {
        cells += 1.0;
        square += (first - second).powi(2) / (first + second);
    }
    // χ² with f degrees of freedom has mean f and variance 2f.
    let freedom = f64::max(cells - 1.0, 1.0);
    (square - freedom) / (2.0 * freedom).sqrt()
}

/// Finds the bit mask whose parity differs most between the samples of the two inputs. Returns the
/// difference between the two numbers of samples with odd parity, then the mask.
fn best_parity_mask(samples: [&[SeedAndIdWords]; 2], word: usize) -> (u32, u64) {
    let [first, second] = samples.map(|samples| parity_bits_by_mask(samples, word));
    let odd = |one: &[u64], other: &[u64]| -> u32 {
        let bits = one.iter().zip(other);
        bits.map(|(a, b)| (a ^ b).count_ones()).sum()
    };
    let masks = basic_bit_masks();
    let mut best = (0, 0);
    for (i, mask) in masks.iter().enumerate() {
        for (j, other) in masks.iter().enumerate().skip(i + 1) {
            let difference = odd(&first[i], &first[j]).abs_diff(odd(&second[i], &second[j]));
            if difference > best.0 {
                best = (difference, mask ^ other);
            }
        }
    }
    best
}

/// Returns the basic masks: empty, each bit, each byte, all bits.
fn basic_bit_masks() -> Vec<u64> {
    let bits = (0..64).map(|bit| 1 << bit);
    let bytes = (0..64).step_by(8).map(|from| 0xff << from);
    [0].into_iter()
        .chain(bits)
        .chain(bytes)
        .chain([u64::MAX])
        .collect()
}

/// Returns one list of bits for each of the [`basic_bit_masks`]. A bit is the parity of the masked word
/// in one sample.
fn parity_bits_by_mask(samples: &[SeedAndIdWords], word: usize) -> Vec<Vec<u64>> {
    let mut planes = vec![vec![0; samples.len().div_ceil(64)]];
    for bit in 0..64 {
        let blocks = samples.chunks(64).map(|block| {
            let bits = block.iter().map(|words| words.0[word] >> bit & 1);
            bits.fold(0, |plane, bit| plane << 1 | bit)
        });
        planes.push(blocks.collect());
    }
    // The parity of a byte or word is the exclusive or of its bits' planes.
    let sum = |planes: &[Vec<u64>]| -> Vec<u64> {
        let blocks = 0..planes[0].len();
        let parity = |block: usize| planes.iter().fold(0, |sum, plane| sum ^ plane[block]);
        blocks.map(parity).collect()
    };
    for byte in 0..8 {
        planes.push(sum(&planes[1 + 8 * byte..9 + 8 * byte]));
    }
    planes.push(sum(&planes[65..73]));
    planes
}

#[cfg(test)]
mod tests {
    use chacha20::ChaCha20Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    const SAMPLES: usize = 200;

    /// Draws samples of random words for two inputs. A sample is drawn again until `suits` accepts
    /// the word at index `word` for the input.
    fn samples(word: usize, suits: impl Fn(u64, usize) -> bool) -> [Vec<SeedAndIdWords>; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(word as u64);
        [0, 1].map(|which| {
            let mut drawn = || {
                let words = SeedAndIdWords([0; EXAMINED_WORD_COUNT].map(|_| rng.next_u64()));
                suits(words.0[word], which).then_some(words)
            };
            let one = |_| loop {
                if let Some(words) = drawn() {
                    return words;
                }
            };
            (0..SAMPLES).map(one).collect()
        })
    }

    #[test]
    fn the_parity_that_follows_the_input_is_found() {
        let masks = [
            1,
            1 << 63,
            1 << 3 | 1 << 60,
            0xff00,
            u64::MAX,
            u64::MAX ^ 8,
            0xffff,
        ];
        for (word, mask) in (0..EXAMINED_WORD_COUNT).zip(masks) {
            let value = |word: u64| WordFunction::MaskedBitParity(mask).value_of_word(word);
            let samples = samples(word, |word, which| value(word) == which);
            let [first, second] = &samples;
            let found = CountedWordFeature::best_word_parity([first, second]);
            assert_eq!(
                found.value_counts(&first[0]),
                [SAMPLES as u32, 0],
                "{mask:x}"
            );
            assert_eq!(
                found.value_counts(&second[0]),
                [0, SAMPLES as u32],
                "{mask:x}"
            );
            let WordFunction::MaskedBitParity(found) = found.word_function else {
                panic!("no parity")
            };
            assert_eq!(found, mask);
        }
    }

    #[test]
    fn the_part_that_follows_the_input_is_found() {
        let parts: [fn(u64) -> bool; 4] = [
            |word| word.is_multiple_of(3),
            |word| word % 13 < 6,
            |word| (word >> 24 & 0xff) % 7 < 3,
            |word| word.count_ones() > 32,
        ];
        for (word, part) in (0..).zip(parts) {
            let samples = samples(word, |word, which| part(word) == (which == 1));
            let [first, second] = &samples;
            let found = CountedWordFeature::best_word_part([first, second]);
            assert!(first.iter().all(|words| found.value_counts(words)[1] == 0));
            assert!(second.iter().all(|words| found.value_counts(words)[0] == 0));
        }
    }

    #[test]
    fn equal_distributions_are_hardly_apart() {
        let [first, second] = samples(0, |_, _| true);
        for feature in [
            CountedWordFeature::best_word_parity([&first, &second]),
            CountedWordFeature::best_word_part([&first, &second]),
        ] {
            // χ² of one degree of freedom is above 25 with probability 6e-7. One of twenty thousand
            // parities is above with probability 0.01; with this seed none is.
            assert!(
                standardised_chi_squared(&feature.value_counts) < 24.0 / 2_f64.sqrt(),
                "{feature:?}"
            );
        }
    }
}
