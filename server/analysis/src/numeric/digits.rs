//! Rounding of numbers to a few significant digits, for display.

/// Rounds a positive number up to three significant digits.
pub(crate) fn round_up(number: f64) -> f64 {
    let digits = 2 - number.log10().floor() as i32;
    let unit = 10_f64.powi(digits.abs());
    // The factor keeps a number unchanged if it has three digits up to a rounding error.
    if digits >= 0 {
        (number * unit * (1.0 - 1e-12)).ceil() / unit
    } else {
        (number / unit * (1.0 - 1e-12)).ceil() * unit
    }
}

/// Rounds a positive number down to four significant digits.
pub(crate) fn round_down(number: f64) -> f64 {
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
        ] {
            assert_eq!(round_up(number), rounded, "{number}");
        }
    }
}
