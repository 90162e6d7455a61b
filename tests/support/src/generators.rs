//! Random number generators under the control of tests.

use hushbin::{Entry, Error, RandomizedReport, Randomizer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{CryptoRng, Infallible, SeedableRng, TryCryptoRng, TryRng};

/// Returns the given words, then zeros. A 32-bit draw takes the low half of a word. Counts the used
/// words.
pub struct Scripted<'a> {
    pub words: &'a [u64],
    pub taken: usize,
}

impl<'a> Scripted<'a> {
    pub fn new(words: &'a [u64]) -> Self {
        Self { words, taken: 0 }
    }
}

impl TryRng for Scripted<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let word = self.words.get(self.taken).copied().unwrap_or(0);
        self.taken += 1;
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| self.try_next_u64().map_or(0, |word| word as u8));
        Ok(())
    }
}

impl TryCryptoRng for Scripted<'_> {}

/// Returns a given first 64-bit word, which is a report's seed, then ChaCha's output.
pub struct FixedFirst<'a> {
    pub first: Option<u64>,
    pub rest: &'a mut ChaCha8Rng,
}

impl TryRng for FixedFirst<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        assert!(self.first.is_none(), "the first word is the seed, 64 bits");
        self.rest.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        match self.first.take() {
            Some(first) => Ok(first),
            None => self.rest.try_next_u64(),
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rest.try_fill_bytes(bytes)
    }
}

impl TryCryptoRng for FixedFirst<'_> {}

/// Creates the generator for the test of this number.
pub fn seeded(number: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(number)
}

/// Calls [`Randomizer::randomize`], compiled here for test crates without optimisation.
pub fn randomize(
    randomizer: &mut Randomizer,
    entries: &[Entry],
    rng: &mut dyn CryptoRng,
) -> Result<RandomizedReport, Error> {
    randomizer.randomize(entries, rng)
}
