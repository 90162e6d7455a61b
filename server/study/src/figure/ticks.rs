//! Positions and labels of ticks on an axis.

use std::ops::Range;

/// Returns the ticks of a logarithmic axis. They are powers of ten, and also multiples of these
/// powers if the range has few of them.
pub(crate) fn logarithmic_ticks(range: &Range<f64>) -> Vec<f64> {
    let decades = (range.end / range.start).log10();
    let leading: &[u32] = if decades < 1.0 {
        &[1, 2, 3, 4, 5, 6, 7, 8, 9]
    } else if decades < 3.0 {
        &[1, 2, 5]
    } else {
        &[1]
    };
    let exponent = |x: f64| x.log10().floor() as i32;
    (exponent(range.start)..=exponent(range.end))
        .flat_map(|exponent| {
            leading
                .iter()
                .map(move |&leading| leading_times_power_of_ten(leading, exponent))
        })
        .filter(|tick| range.contains(tick))
        .collect()
}

/// Computes leading·10^exponent. The result equals the double nearest to this decimal number,
/// because a division by an exact power of ten rounds only once.
fn leading_times_power_of_ten(leading: u32, exponent: i32) -> f64 {
    let scale = 10_f64.powi(exponent.abs());
    if exponent < 0 {
        f64::from(leading) / scale
    } else {
        f64::from(leading) * scale
    }
}

pub(crate) fn tick_label(tick: f64) -> String {
    if tick == 0.0 {
        return "0".to_owned();
    }
    if tick < 0.0 {
        return format!("−{}", tick_label(-tick));
    }
    if (1e-3..1e4).contains(&tick) {
        return tick.to_string();
    }
    let scientific = format!("{tick:e}");
    let (leading, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let raised: String = exponent.chars().map(superscript_character).collect();
    match leading {
        "1" => format!("10{raised}"),
        _ => format!("{leading}·10{raised}"),
    }
}

fn superscript_character(character: char) -> char {
    match character {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁻',
    }
}

/// Returns the ticks of a linear axis: about eight round numbers.
pub(crate) fn linear_ticks(range: &Range<f64>) -> Vec<f64> {
    let rough = (range.end - range.start) / 8.0;
    let exponent = rough.log10().floor() as i32;
    let step = [1, 2, 5, 10].map(|leading| leading_times_power_of_ten(leading, exponent));
    let step = step
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let first = (range.start / step).ceil() as i64;
    let last = (range.end / step).floor() as i64;
    // Formatting removes the rounding error of the product: 0.3 instead of 0.30000000000000004.
    let digits = (-exponent).max(0) as usize;
    (first..=last)
        .filter_map(|count| format!("{:.digits$}", count as f64 * step).parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let shown = |range: Range<f64>| -> Vec<String> {
            logarithmic_ticks(&range)
                .into_iter()
                .map(tick_label)
                .collect()
        };
        assert_eq!(shown(900.0..2e6), ["1000", "10⁴", "10⁵", "10⁶"]);
        assert_eq!(shown(0.09..6.0), ["0.1", "0.2", "0.5", "1", "2", "5"]);
        assert_eq!(shown(2.5e-7..4.5e-7), ["3·10⁻⁷", "4·10⁻⁷"]);
        assert_eq!(shown(1e-12..1e-8).len(), 4);
    }

    #[test]
    fn even_ticks_are_round() {
        let shown = |range: Range<f64>| -> Vec<String> {
            linear_ticks(&range).into_iter().map(tick_label).collect()
        };
        assert_eq!(shown(-0.9..6.5), ["0", "1", "2", "3", "4", "5", "6"]);
        assert_eq!(
            shown(-0.45..0.25),
            ["−0.4", "−0.3", "−0.2", "−0.1", "0", "0.1", "0.2"]
        );
    }
}
