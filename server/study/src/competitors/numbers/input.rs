//! Input of one person: d numbers in [−1, 1].

use hushbin::Error;
use hushbin::bounds::ParameterRange;
use hushbin::sample::draw_with_probability;
use rand_core::Rng;

/// Allowed range of the number of attributes d. Up to the maximum, 2^d fits into a double.
pub const ATTRIBUTE_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "attributes",
    min: 1.0,
    max: 1000.0,
};

/// Checks that there are `attributes` numbers and that each is in [−1, 1].
pub(super) fn check_values(values: &[f64], attributes: u32) -> Result<(), Error> {
    if values.len() != attributes as usize {
        return Err(Error::WrongAnswerCount {
            given: values.len(),
            expected: attributes,
        });
    }
    let wrong = (0..)
        .zip(values)
        .find(|(_, value)| !(-1.0..=1.0).contains(*value));
    wrong.map_or(Ok(()), |(item, &value)| {
        Err(Error::ValueOutOfRange {
            item,
            value,
            expected: "a number from -1 to 1",
        })
    })
}

/// Rounds a number x in [−1, 1] at random to 1 or −1, without bias. Returns true, for 1, with
/// probability (1 + x)/2.
///
/// With probability |x|, rounded down, the result is the sign of x. Otherwise the result is a fair
/// coin.
pub(in crate::competitors) fn randomly_rounds_up<R: Rng + ?Sized>(value: f64, rng: &mut R) -> bool {
    if draw_with_probability(rng, value) {
        value > 0.0
    } else {
        rng.next_u64() >> 63 == 1
    }
}
