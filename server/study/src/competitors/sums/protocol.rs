//! What people send and what the analyser makes of it: PVME's Algorithm 3 (GKMPS's
//! protocol in every coordinate), repaired.

use hushbin::Error;
use hushbin::bounds::Bound;
use rand_core::CryptoRng;

use super::budget::{COORDINATES, CoordinateBudget};
use super::negative_binomial::unit;
use super::noise::CoordinateNoise;

/// Number n_h of honest people whose shares are counted on.
pub const HONEST: Bound = Bound {
    name: "honest people",
    min: 1.0,
    max: 1e9,
};

/// One message: a coordinate, from 0, and a value, ±1 to ±L.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Message {
    /// The coordinate j.
    pub coordinate: u32,
    /// The value, not 0.
    pub value: i32,
}

/// Sums of D coordinates in [−1, 1] over n people, by shuffled messages.
///
/// There is no local ε: a person's own messages carry the value, rounded. What is
/// private are the shuffled messages of a batch with n_h honest people or more.
///
/// ```
/// use hushbin_study::competitors::sums::{CoordinateBudget, VectorSum};
///
/// let sum = VectorSum::new(2, 1, 1000, &CoordinateBudget::of(2.0, 1e-3)?)?;
/// assert!(sum.noise_messages(1000) < 910.0);
/// assert!((sum.variance(1000, 0.25).sqrt() - 15.9).abs() < 0.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSum {
    coordinates: u32,
    honest: u32,
    /// Of all honest people together.
    noise: CoordinateNoise,
}

impl VectorSum {
    /// D coordinates with L levels each, n_h honest people and (ε₀, δ₀) of a coordinate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where D is outside [`COORDINATES`] or n_h outside
    /// [`HONEST`], and as [`CoordinateNoise::new`].
    pub fn new(
        coordinates: u32,
        levels: u32,
        honest: u32,
        each: &CoordinateBudget,
    ) -> Result<Self, Error> {
        COORDINATES.check(f64::from(coordinates))?;
        HONEST.check(f64::from(honest))?;
        Ok(Self {
            coordinates,
            honest,
            noise: CoordinateNoise::new(levels, each)?,
        })
    }

    /// D.
    #[must_use]
    pub const fn coordinates(&self) -> u32 {
        self.coordinates
    }

    /// The noise of one coordinate, of n_h people.
    #[must_use]
    pub const fn noise(&self) -> &CoordinateNoise {
        &self.noise
    }

    /// One person's messages for D numbers y in [−1, 1]: for each coordinate the message
    /// x if it is not 0, L·y rounded to x without bias, and a share of the noise.
    /// Drawn in floating point, as [`NegativeBinomial::draw`](super::NegativeBinomial::draw)
    /// is: for simulations. In order; it is for the shuffler to shuffle.
    ///
    /// # Errors
    /// [`Error::AnswerCount`] where there are not D, [`Error::ValueRange`] where one is
    /// out of range or not a number.
    pub fn messages<R: CryptoRng + ?Sized>(
        &self,
        values: &[f64],
        rng: &mut R,
    ) -> Result<Vec<Message>, Error> {
        self.check(values)?;
        let mut all = Vec::new();
        for (coordinate, &y) in (0..).zip(values) {
            let mut send = |value, copies| {
                let message = Message { coordinate, value };
                all.extend(std::iter::repeat_n(message, copies as usize));
            };
            let x = self.rounded(y, rng);
            send(x, u64::from(x != 0));
            for sign in [1, -1] {
                send(sign, self.noise.units().share(self.honest).draw(rng));
            }
            for (name, law) in self.noise.copies() {
                let copies = law.share(self.honest).draw(rng);
                if copies > 0 {
                    for value in self.noise.tuples().messages(name) {
                        send(value, copies);
                    }
                }
            }
        }
        Ok(all)
    }

    /// L·y rounded to one of its neighbours, without bias but for 2⁻⁵³.
    fn rounded<R: CryptoRng + ?Sized>(&self, y: f64, rng: &mut R) -> i32 {
        let scaled = self.levels() * y;
        let down = scaled.floor();
        down as i32 + i32::from(unit(rng) < scaled - down)
    }

    fn levels(&self) -> f64 {
        f64::from(self.noise.tuples().levels())
    }

    fn check(&self, values: &[f64]) -> Result<(), Error> {
        if values.len() != self.coordinates as usize {
            return Err(Error::AnswerCount {
                given: values.len(),
                expected: self.coordinates,
            });
        }
        let mut all = (0..).zip(values);
        let wrong = all.find(|(_, value)| !(-1.0..=1.0).contains(*value));
        wrong.map_or(Ok(()), |(item, &value)| {
            Err(Error::ValueRange {
                item,
                value,
                expected: "a number from -1 to 1",
            })
        })
    }

    /// The sum of every coordinate over all people, unbiased: X_j/L, X_j the sum of the
    /// values of its messages, in whatever order they come.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] where a message is of no coordinate,
    /// [`Error::ValueRange`] where its value is 0 or beyond ±L.
    pub fn sums(&self, messages: impl IntoIterator<Item = Message>) -> Result<Vec<f64>, Error> {
        let levels = self.noise.tuples().levels();
        let mut totals = vec![0_i64; self.coordinates as usize];
        for Message { coordinate, value } in messages {
            if value == 0 || value.unsigned_abs() > levels {
                return Err(Error::ValueRange {
                    item: coordinate.into(),
                    value: value.into(),
                    expected: "a value from -L to L, not 0",
                });
            }
            let total = totals.get_mut(coordinate as usize);
            *total.ok_or(Error::UnknownItem {
                item: coordinate.into(),
                items: self.coordinates,
            })? += i64::from(value);
        }
        let sum = |total: i64| total as f64 / self.levels();
        Ok(totals.into_iter().map(sum).collect())
    }

    /// Expected number of noise messages of n people, all coordinates together.
    #[must_use]
    pub fn noise_messages(&self, people: u32) -> f64 {
        self.shares(people) * f64::from(self.coordinates) * self.noise.messages()
    }

    /// Variance of one coordinate's sum over n people, (V·n/n_h + n·ρ)/L²; ρ, from 0 to
    /// 1/4, is the average f·(1 − f) of what is rounded, f its fractional part.
    #[must_use]
    pub fn variance(&self, people: u32, rounding: f64) -> f64 {
        let noise = self.shares(people) * self.noise.variance();
        (noise + f64::from(people) * rounding) / (self.levels() * self.levels())
    }

    /// n/n_h.
    fn shares(&self, people: u32) -> f64 {
        f64::from(people) / f64::from(self.honest)
    }
}
