//! Certainty that an attacker can reach, from ε.

/// Returns the maximum certainty of an attacker about an answer, in per cent as text. Before the
/// reports, the attacker was 50 % certain.
///
/// Reports with a total of ε multiply the odds by at most exp(ε). So the maximum is exp(ε) / (1 +
/// exp(ε)), rounded to the nearest per cent. Below 50.5 % it is rounded up to one decimal, and
/// above 99 % to the first digit that differs from 9.
///
/// ```
/// use hushbin_analysis::promise::attacker_certainty_text;
///
/// let stated = [0.01, 0.5, 1.0, 2.0, 4.0, 8.0, 13.0].map(attacker_certainty_text);
/// assert_eq!(stated, ["50.3", "62", "73", "88", "98", "99.97", "99.9998"]);
/// ```
#[must_use]
pub fn attacker_certainty_text(epsilon: f64) -> String {
    // Compute the complement, because 1 − p would lose all digits near 1.
    let doubt = 100.0 / (1.0 + epsilon.exp());
    if doubt > 49.5 {
        // The nearest per cent would be 50, as if the report revealed nothing.
        return format!("{}", 50.0 + (10.0 * (50.0 - doubt)).ceil() / 10.0);
    }
    if doubt >= 1.0 {
        return format!("{:.0}", 100.0 - doubt);
    }
    let digits = -doubt.log10().floor();
    if digits > 12.0 {
        return "100".to_owned();
    }
    let unit = 10_f64.powf(digits);
    let certainty = 100.0 - (doubt * unit).floor() / unit;
    format!("{certainty:.*}", digits as usize)
}
