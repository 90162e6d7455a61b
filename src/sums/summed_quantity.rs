//! Quantities that are summed, and the coding of answers as coordinates from −1 to 1.

use alloc::string::String;
use alloc::vec::Vec;

use super::counted_questions::CountedQuestions;
use super::kashin_frame::{KashinFrame, euclidean_length};
use crate::bounds;
use crate::canonical::CanonicalReader;
use crate::error::{Error, error};
use crate::task::{Items, NumberLimits};

/// Quantity that is summed.
///
/// ```
/// use hushbin::sums::SummedQuantity;
/// use hushbin::task::NumberLimits;
///
/// let limits = vec![NumberLimits::new(0.0, 5.0, None)?, NumberLimits::new(-1.0, 1.0, None)?];
/// let measure = SummedQuantity::from_numbers(vec!["stars".into(), "mood".into()], limits)?;
/// assert_eq!((measure.coordinate_count(), measure.items().find_item("mood")), (2, Some(1)));
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum SummedQuantity {
    /// Numbers, and the limits of each number. The items are [`Items::Named`] and give the names of
    /// the numbers.
    NumbersWithLimits(Items, Vec<NumberLimits>),
    /// Vector of bounded Euclidean length.
    BoundedVector(BoundedVector),
    /// Questions whose options are counted. Each cell is a coordinate of 0 or 1.
    CountedQuestions(CountedQuestions),
}

/// Vectors of Euclidean length at most R, with the frame that computes their coefficients.
///
/// ```
/// use hushbin::Items;
/// use hushbin::sums::BoundedVector;
///
/// let ball = BoundedVector::new(Items::Count(5), 10.0, 7, 2.0)?;
/// // Padded to 8 numbers, in a frame of twice as many coefficients.
/// assert_eq!((ball.dimension(), ball.coordinate_count()), (5, 16));
/// assert!(BoundedVector::new(Items::Count(5), 0.0, 7, 2.0).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedVector {
    pub(super) items: Items,
    pub(super) max_length: f64,
    pub(super) frame_seed: u64,
    pub(super) coefficient_spread: f64,
}

impl BoundedVector {
    /// Describes vectors that have a number for each of `items` and a length of at most R =
    /// `length`. The `seed` determines the signs of the frame. The frame's coefficients are at most
    /// C/√d, where C is `spread` and d is the padded dimension.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a dimension outside [`bounds::SUM_DIMENSION_RANGE`] or a C outside
    /// [`bounds::SUM_FRAME_SPREAD_RANGE`]. [`Error::InvalidCombination`] for a length that is not positive and finite,
    /// or for open items. Also the errors for invalid names.
    pub fn new(items: Items, length: f64, seed: u64, spread: f64) -> Result<Self, Error> {
        items.check_items()?;
        bounds::SUM_DIMENSION_RANGE.check_in_range(f64::from(items.item_count().unwrap_or(0)))?;
        bounds::SUM_FRAME_SPREAD_RANGE.check_in_range(spread)?;
        if !(length > 0.0 && length.is_finite()) {
            return Err(error!(InvalidCombination {
                reason: "a \"vector\" needs a finite \"length\" above 0",
            }));
        }
        Ok(Self {
            items,
            max_length: length,
            frame_seed: seed,
            coefficient_spread: spread,
        })
    }

    /// Dimension d, before it is padded to a power of two.
    #[must_use]
    pub fn dimension(&self) -> u32 {
        self.items.item_count().unwrap_or(0)
    }

    /// Number D of coefficients of a vector.
    #[must_use]
    pub fn coordinate_count(&self) -> u32 {
        2 * self.dimension().next_power_of_two()
    }

    /// Frame for the padded dimension.
    #[must_use]
    pub fn frame(&self) -> KashinFrame {
        KashinFrame::new(self.dimension().next_power_of_two(), self.frame_seed)
    }

    /// Bound A on the coefficients of a vector of length 1. A is C/√d, where C is the spread and d
    /// is the padded dimension.
    #[must_use]
    pub fn coefficient_bound(&self) -> f64 {
        self.coefficient_spread / libm::sqrt(self.frame().dimension() as f64)
    }

    fn vector_to_coordinates(&self, answer: &[f64], coordinates: &mut Vec<f64>) -> CodingLoss {
        // Divide by the largest number first, so that no square is infinite.
        let largest = answer
            .iter()
            .fold(0.0, |most: f64, own| most.max(own.abs()));
        let unit: Vec<f64> = match largest > 0.0 {
            true => answer.iter().map(|own| own / largest).collect(),
            false => answer.to_vec(),
        };
        // The norm is at least 1, except for a vector of zeros.
        let norm = euclidean_length(&unit);
        let relative = norm * (largest / self.max_length);
        let scale = if relative > 1.0 {
            1.0 / norm
        } else {
            largest / self.max_length
        };
        let mut vector: Vec<f64> = unit.iter().map(|own| own * scale).collect();
        let (frame, bound) = (self.frame(), self.coefficient_bound());
        vector.resize(frame.dimension(), 0.0);
        let (values, omitted) = frame.bounded_coefficients(&vector, bound);
        // The coefficients are within the bound, so coordinates are from −1 to 1.
        coordinates.extend(values.iter().map(|own| own / bound));
        CodingLoss {
            was_clipped: relative > 1.0,
            omitted_length: omitted,
        }
    }
}

impl SummedQuantity {
    /// Describes summed numbers with these names and limits.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the number of names is outside [`bounds::SUM_COORDINATE_COUNT_RANGE`].
    /// [`Error::WrongAnswerCount`] if there are more or fewer limits than names. Also the errors for
    /// invalid names.
    pub fn from_numbers(names: Vec<String>, limits: Vec<NumberLimits>) -> Result<Self, Error> {
        bounds::SUM_COORDINATE_COUNT_RANGE.check_in_range(names.len() as f64)?;
        if limits.len() != names.len() {
            return Err(error!(WrongAnswerCount {
                given: limits.len(),
                expected: names.len() as u32,
            }));
        }
        let items = Items::Named(names);
        items.check_items()?;
        Ok(Self::NumbersWithLimits(items, limits))
    }

    /// Items for which a person gives a number, or whose counts are estimated.
    #[must_use]
    pub const fn items(&self) -> &Items {
        match self {
            Self::NumbersWithLimits(items, _) => items,
            Self::BoundedVector(ball) => &ball.items,
            Self::CountedQuestions(questions) => questions.items(),
        }
    }

    /// Questions whose options are counted, or `None` for numbers and vectors.
    #[must_use]
    pub const fn counted_questions(&self) -> Option<&CountedQuestions> {
        match self {
            Self::CountedQuestions(questions) => Some(questions),
            _ => None,
        }
    }

    /// Number D of coordinates of an answer, or number K of cells. Each message concerns one of
    /// them.
    #[must_use]
    pub fn coordinate_count(&self) -> u32 {
        match self {
            Self::NumbersWithLimits(_, limits) => limits.len() as u32,
            Self::BoundedVector(ball) => ball.coordinate_count(),
            Self::CountedQuestions(questions) => questions.cell_count(),
        }
    }

    /// Largest [`Message::message_code`](super::Message) of a task.
    pub(super) fn largest_message_code(&self) -> u32 {
        match self {
            Self::CountedQuestions(questions) => questions.cell_count(),
            // A coordinate has a message up and one down.
            _ => 2 * self.coordinate_count(),
        }
    }

    /// Replaces the content of `coordinates` by an answer's coordinates, each from −1 to 1. Returns
    /// the loss of accuracy.
    pub(super) fn answer_to_coordinates(
        &self,
        answer: &[f64],
        coordinates: &mut Vec<f64>,
    ) -> CodingLoss {
        coordinates.clear();
        let limits = match self {
            Self::NumbersWithLimits(_, limits) => &limits[..],
            Self::BoundedVector(ball) => return ball.vector_to_coordinates(answer, coordinates),
            // Answers to questions are coded as cells instead.
            Self::CountedQuestions(_) => &[],
        };
        let numbers = answer.iter().zip(limits);
        coordinates.extend(
            numbers
                .clone()
                .map(|(own, limits)| limits.normalise_to_signed_unit(*own)),
        );
        let mut beyond = numbers.map(|(own, limits)| {
            let [min, max] = limits.range();
            *own < min || *own > max
        });
        CodingLoss {
            was_clipped: beyond.any(|beyond| beyond),
            omitted_length: 0.0,
        }
    }

    pub(super) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let kind = reader.read_u64();
        let items = Items::read_canonical(reader);
        match (kind, items) {
            // 0 means numbers within limits, 1 means a vector, and more are kinds of questions.
            (0, Items::Named(names)) => {
                let limits = names.iter().map(|_| NumberLimits::read_canonical(reader));
                let limits = limits.collect::<Result<_, _>>()?;
                Self::from_numbers(names, limits)
            }
            (1, items) => {
                let (length, seed) = (reader.read_float(), reader.read_u64());
                BoundedVector::new(items, length, seed, reader.read_float())
                    .map(Self::BoundedVector)
            }
            (kind, items) => {
                CountedQuestions::read_canonical(kind, items, reader).map(Self::CountedQuestions)
            }
        }
    }
}

/// Expected loss of accuracy when an answer is coded as messages. The page counts such losses for
/// itself and does not send them.
///
/// ```
/// use hushbin::sums::CodingLoss;
///
/// // A number beyond its limits is reported as the nearer limit.
/// let lost = CodingLoss { was_clipped: true, omitted_length: 0.0 };
/// assert!(lost.was_clipped && lost.omitted_length == 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodingLoss {
    /// True if a number was beyond its limits, if a vector was longer than R, or if a set had more
    /// options than the sparsity.
    pub was_clipped: bool,
    /// Length, in units of R, of the part of a vector that the coefficients do not represent. The
    /// length is 0 for numbers and questions.
    pub omitted_length: f64,
}
