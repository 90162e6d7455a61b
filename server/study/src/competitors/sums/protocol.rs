//! Messages that people send, and sums that the analyser computes: PVME's Algorithm 3, corrected.
//! The algorithm runs GKMPS's protocol in every coordinate.

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use rand_core::CryptoRng;

use super::budget::{COORDINATE_COUNT_RANGE, CoordinateBudget};
use super::negative_binomial::draw_open_unit;
use super::noise::CoordinateNoise;

/// Allowed range of n_h, the number of honest people that privacy relies on.
pub const HONEST_PEOPLE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "honest people",
    min: 1.0,
    max: 1e9,
};

/// Message of a person: a value for one coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoordinateMessage {
    /// Index of the coordinate, from 0 on.
    pub coordinate: u32,
    /// Value from −L to L, but never 0. L is the number of levels.
    pub value: i32,
}

/// Protocol that estimates, from shuffled messages, the sums over n people of D numbers in [−1, 1].
///
/// There is no local ε: a person's own messages contain the rounded value. The shuffled messages of
/// a batch are private if at least n_h people are honest.
///
/// ```
/// use hushbin_study::competitors::sums::{CoordinateBudget, VectorSumProtocol};
///
/// let sum = VectorSumProtocol::new(2, 1, 1000, &CoordinateBudget::with_epsilon_and_delta(2.0, 1e-3)?)?;
/// assert!(sum.expected_noise_messages(1000) < 910.0);
/// assert!((sum.variance(1000, 0.25).sqrt() - 15.9).abs() < 0.1);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VectorSumProtocol {
    coordinate_count: u32,
    honest_people_count: u32,
    /// Total noise that the honest people add to one coordinate.
    coordinate_noise: CoordinateNoise,
}

impl VectorSumProtocol {
    /// Returns the protocol for D coordinates with L levels each and n_h honest people. `each` is
    /// the budget (ε₀, δ₀) of one coordinate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if D is outside [`COORDINATE_COUNT_RANGE`] or n_h is outside [`HONEST_PEOPLE_COUNT_RANGE`].
    /// Otherwise the errors of [`CoordinateNoise::new`].
    pub fn new(
        coordinates: u32,
        levels: u32,
        honest: u32,
        each: &CoordinateBudget,
    ) -> Result<Self, Error> {
        COORDINATE_COUNT_RANGE.check_in_range(f64::from(coordinates))?;
        HONEST_PEOPLE_COUNT_RANGE.check_in_range(f64::from(honest))?;
        Ok(Self {
            coordinate_count: coordinates,
            honest_people_count: honest,
            coordinate_noise: CoordinateNoise::new(levels, each)?,
        })
    }

    /// Number of coordinates, D.
    #[must_use]
    pub const fn coordinate_count(&self) -> u32 {
        self.coordinate_count
    }

    /// Total noise that the n_h honest people add to one coordinate.
    #[must_use]
    pub const fn coordinate_noise(&self) -> &CoordinateNoise {
        &self.coordinate_noise
    }

    /// Draws one person's messages for D numbers y in [−1, 1]. For each coordinate, L·y is rounded
    /// without bias to an integer x. The person sends x, unless it is 0, and a part of the
    /// coordinate's noise messages.
    ///
    /// Like [`NegativeBinomial::draw`](super::NegativeBinomial::draw_count) this function draws in
    /// floating point, for simulations only. The messages are not shuffled yet; the shuffler has to
    /// do that.
    ///
    /// # Errors
    /// [`Error::WrongAnswerCount`] if there are not D numbers. [`Error::ValueOutOfRange`] if a number is out
    /// of range or NaN.
    pub fn draw_messages<R: CryptoRng + ?Sized>(
        &self,
        values: &[f64],
        rng: &mut R,
    ) -> Result<Vec<CoordinateMessage>, Error> {
        self.check_numbers(values)?;
        let mut all = Vec::new();
        for (coordinate, &y) in (0..).zip(values) {
            let mut send = |value, copies| {
                let message = CoordinateMessage { coordinate, value };
                all.extend(std::iter::repeat_n(message, copies as usize));
            };
            let x = self.round_to_level(y, rng);
            send(x, u64::from(x != 0));
            for sign in [1, -1] {
                // NB is infinitely divisible: the parts of n_h people add up to the noise.
                send(
                    sign,
                    self.coordinate_noise
                        .unit_count_distribution()
                        .per_person_distribution(self.honest_people_count)
                        .draw_count(rng),
                );
            }
            for (name, law) in self.coordinate_noise.tuple_count_distributions() {
                let copies = law
                    .per_person_distribution(self.honest_people_count)
                    .draw_count(rng);
                if copies > 0 {
                    for value in self.coordinate_noise.tuples().tuple_messages(name) {
                        send(value, copies);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Rounds L·y at random to one of its two neighbouring integers, where L is the number of
    /// levels. The bias is at most 2⁻⁵³.
    fn round_to_level<R: CryptoRng + ?Sized>(&self, y: f64, rng: &mut R) -> i32 {
        let scaled = self.level_count() * y;
        let down = scaled.floor();
        down as i32 + i32::from(draw_open_unit(rng) < scaled - down)
    }

    /// Number of levels L, as a double.
    fn level_count(&self) -> f64 {
        f64::from(self.coordinate_noise.tuples().level_count())
    }

    /// Checks that one person's input consists of D numbers in [−1, 1].
    fn check_numbers(&self, values: &[f64]) -> Result<(), Error> {
        if values.len() != self.coordinate_count as usize {
            return Err(Error::WrongAnswerCount {
                given: values.len(),
                expected: self.coordinate_count,
            });
        }
        let mut all = (0..).zip(values);
        let wrong = all.find(|(_, value)| !(-1.0..=1.0).contains(*value));
        wrong.map_or(Ok(()), |(item, &value)| {
            Err(Error::ValueOutOfRange {
                item,
                value,
                expected: "a number from -1 to 1",
            })
        })
    }

    /// Returns, for each coordinate, the unbiased estimate of the sum of all people's numbers. The
    /// estimate is the sum of the coordinate's message values, divided by the number L of levels.
    /// The order of messages does not matter.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if a message's coordinate is not below D. [`Error::ValueOutOfRange`] if a
    /// message's value is 0 or beyond ±L.
    pub fn estimate_sums(
        &self,
        messages: impl IntoIterator<Item = CoordinateMessage>,
    ) -> Result<Vec<f64>, Error> {
        let levels = self.coordinate_noise.tuples().level_count();
        let mut totals = vec![0_i64; self.coordinate_count as usize];
        for CoordinateMessage { coordinate, value } in messages {
            if value == 0 || value.unsigned_abs() > levels {
                return Err(Error::ValueOutOfRange {
                    item: coordinate.into(),
                    value: value.into(),
                    expected: "a value from -L to L, not 0",
                });
            }
            let total = totals.get_mut(coordinate as usize);
            *total.ok_or(Error::UnknownItem {
                item: coordinate.into(),
                items: self.coordinate_count,
            })? += i64::from(value);
        }
        let sum = |total: i64| total as f64 / self.level_count();
        Ok(totals.into_iter().map(sum).collect())
    }

    /// Expected number of noise messages that n = `people` people send for all coordinates.
    #[must_use]
    pub fn expected_noise_messages(&self, people: u32) -> f64 {
        self.people_per_honest(people)
            * f64::from(self.coordinate_count)
            * self.coordinate_noise.expected_messages()
    }

    /// Returns the variance (V·n/n_h + n·ρ)/L² of one coordinate's estimated sum over n people, n_h
    /// of them honest. V is [`CoordinateNoise::variance`], and L is the number of levels. ρ =
    /// `rounding`, from 0 to 1/4, is the mean of f·(1 − f) over people, where f is the fractional
    /// part of L·y.
    #[must_use]
    pub fn variance(&self, people: u32, rounding: f64) -> f64 {
        let noise = self.people_per_honest(people) * self.coordinate_noise.variance();
        (noise + f64::from(people) * rounding) / (self.level_count() * self.level_count())
    }

    /// Ratio n/n_h of people to honest people.
    fn people_per_honest(&self, people: u32) -> f64 {
        f64::from(people) / f64::from(self.honest_people_count)
    }
}
