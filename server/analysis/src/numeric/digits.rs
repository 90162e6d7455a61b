//! Rounding of numbers to a few significant digits, for display.

/// Rounds a number up so that it has three significant digits. The number is 0 or positive.
///
/// ```
/// use hushbin_analysis::promise::round_up_to_three_digits;
///
/// assert_eq!([0.0, 1.23, 1.231, 4567.0].map(round_up_to_three_digits), [0.0, 1.23, 1.24, 4570.0]);
/// ```
#[must_use]
pub fn round_up_to_three_digits(number: f64) -> f64 {
    let exponent = number.log10().floor() - 2.0;
    // The factor keeps a number unchanged if it has three digits up to a rounding error.
    let units = (number / 10_f64.powf(exponent) * (1.0 - 1e-12)).ceil();
    // Parsing the decimal text gives the nearest float. A product could be wrong in the last digit.
    // The logarithm of 0 is not finite, so its text is no number.
    format!("{units}e{exponent}").parse().unwrap_or(number)
}

/// Rounds a positive number down so that it has four significant digits.
pub(crate) fn round_down_to_four_digits(number: f64) -> f64 {
    let unit = 10_f64.powi(3 - number.log10().floor() as i32);
    (number * unit).floor() / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_never_below() {
        for (number, rounded) in [
            (1.0, 1.0),
            (123.0, 123.0),
            (123.1, 124.0),
            (99_950.0, 100_000.0),
            (0.034_51, 0.0346),
            (2.64, 2.64),
            (1_234_567.0, 1_240_000.0),
            (1e-8, 1e-8),
            (1.3e-30, 1.3e-30),
            (0.0, 0.0),
        ] {
            assert_eq!(round_up_to_three_digits(number), rounded, "{number}");
        }
    }
}
