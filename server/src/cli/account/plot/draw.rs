//! Curves as SVG: log-log, every curve with a dash pattern and a mark of its own,
//! so that they are told apart without colour, on a background of its own.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::curve::{Curve, Panel};
use super::style::Style;
use crate::cli::Error;

const SIZE: (u32, u32) = (1280, 760);
const LEGEND: i32 = 150;
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Panels side by side over one legend.
pub(super) fn svg(y_title: &str, panels: &[Panel; 2]) -> Result<String, Error> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (plots, legend) = root.split_vertically(SIZE.1 as i32 - LEGEND);
        // The same heights mean the same in both.
        let heights = range(panels.iter().flat_map(|panel| &panel.curves));
        for (area, panel) in plots.split_evenly((1, 2)).iter().zip(panels) {
            draw_panel(area, y_title, panel, heights.clone())?;
        }
        draw_legend(&legend, panels)?;
        root.present()?;
    }
    Ok(text)
}

/// From the least to the greatest value, with a little room.
fn range<'a>(curves: impl Iterator<Item = &'a Curve>) -> Range<f64> {
    let values = curves
        .flat_map(|curve| &curve.points)
        .filter_map(|&(_, y)| y)
        .filter(|&y| y > 0.0);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    if low > high {
        // Nothing is lost anywhere.
        return 0.1..1.0;
    }
    low / 1.3..high * 1.3
}

fn draw_panel(
    area: &Area<'_>,
    y_title: &str,
    panel: &Panel,
    heights: Range<f64>,
) -> Result<(), Error> {
    let all = || panel.curves.iter().flat_map(|curve| &curve.points);
    let (low, high) = all().fold((f64::INFINITY, 0.0_f64), |(low, high), &(x, _)| {
        (low.min(x), high.max(x))
    });
    // A single point is a panel, too.
    let widths = low / 1.02..high * 1.02;
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(66)
        .build_cartesian_2d(
            widths.clone().log_scale().with_key_points(ticks(&widths)),
            heights.clone().log_scale().with_key_points(ticks(&heights)),
        )?;
    chart
        .configure_mesh()
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|&x| label(x))
        .y_label_formatter(&|&y| label(y))
        .label_style((FONT, 14).into_font().color(&INK))
        .axis_desc_style((FONT, 16).into_font().color(&INK))
        .x_desc(&panel.x_title)
        .y_desc(y_title)
        .draw()?;
    let here = [(panel.here, heights.start), (panel.here, heights.end)];
    chart.draw_series(std::iter::once(PathElement::new(here, INK.mix(0.35))))?;
    // The account's own curve is the first, and drawn last.
    for (index, curve) in panel.curves.iter().enumerate().rev() {
        draw_curve(&mut chart, index, curve)?;
    }
    Ok(())
}

/// The curve of this number, and marks on it.
fn draw_curve<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    index: usize,
    curve: &Curve,
) -> Result<(), Error>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = Style::for_curve(index, curve.kind);
    let defined = |&(x, y): &(f64, Option<f64>)| Some((x, y.filter(|&y| y > 0.0)?));
    for part in curve.points.split(|point| defined(point).is_none()) {
        let part: Vec<(f64, f64)> = part.iter().filter_map(defined).collect();
        let (dash, gap) = style.dash;
        if gap == 0 {
            chart.draw_series(LineSeries::new(part, style.line()))?;
        } else {
            chart.draw_series(DashedLineSeries::new(part, dash, gap, style.line()))?;
        }
    }
    let step = curve.points.len().div_ceil(7).max(1);
    // Marks of neighbours lie beside each other.
    let marks = curve.points.iter().skip(index % step).step_by(step);
    for point in marks.filter_map(defined) {
        if let Some((shape, fill)) = style.mark() {
            let at = EmptyElement::at(point);
            chart.draw_series([at + Polygon::new(shape.clone(), fill)])?;
            let at = EmptyElement::at(point);
            chart.draw_series([at + PathElement::new(shape, style.color)])?;
        }
    }
    Ok(())
}

/// Powers of ten, and what is between them where there are few.
fn ticks(range: &Range<f64>) -> Vec<f64> {
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
        .flat_map(|exponent| leading.iter().map(move |&leading| power(leading, exponent)))
        .filter(|tick| range.contains(tick))
        .collect()
}

/// leading·10^exponent, to the last bit as it is written.
fn power(leading: u32, exponent: i32) -> f64 {
    let scale = 10_f64.powi(exponent.abs());
    if exponent < 0 {
        f64::from(leading) / scale
    } else {
        f64::from(leading) * scale
    }
}

fn label(tick: f64) -> String {
    if (1e-3..1e4).contains(&tick) {
        return tick.to_string();
    }
    let scientific = format!("{tick:e}");
    let (leading, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let raised: String = exponent.chars().map(raised).collect();
    match leading {
        "1" => format!("10{raised}"),
        _ => format!("{leading}·10{raised}"),
    }
}

fn raised(character: char) -> char {
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

/// Names in three columns, in the order in which the bounds are computed.
fn draw_legend(area: &Area<'_>, panels: &[Panel; 2]) -> Result<(), Error> {
    let drawn = |name: &str| {
        let curves = panels.iter().flat_map(|panel| &panel.curves);
        curves
            .filter(|curve| curve.name == name)
            .any(|curve| curve.points.iter().any(|(_, y)| y.is_some()))
    };
    let curves = panels[0].curves.iter().enumerate();
    let named: Vec<_> = curves.filter(|(_, curve)| drawn(curve.name)).collect();
    let rows = named.len().div_ceil(3);
    for (place, (index, curve)) in named.into_iter().enumerate() {
        let (column, row) = ((place / rows) as i32, (place % rows) as i32);
        let (x, y) = (90 + column * 400, 24 + row * 28);
        let style = Style::for_curve(index, curve.kind);
        let (dash, gap) = style.dash;
        let ends = [(x, y), (x + 56, y)];
        if gap == 0 {
            area.draw(&PathElement::new(ends, style.line()))?;
        } else {
            area.draw(&DashedPathElement::new(ends, dash, gap, style.line()))?;
        }
        if let Some((shape, fill)) = style.mark() {
            let at = EmptyElement::at((x + 28, y));
            area.draw(&(at + Polygon::new(shape.clone(), fill)))?;
            let at = EmptyElement::at((x + 28, y));
            area.draw(&(at + PathElement::new(shape, style.color)))?;
        }
        let font = (FONT, 16).into_font().color(&INK);
        area.draw(&Text::new(curve.name, (x + 68, y - 8), font))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let shown =
            |range: Range<f64>| -> Vec<String> { ticks(&range).into_iter().map(label).collect() };
        assert_eq!(shown(900.0..2e6), ["1000", "10⁴", "10⁵", "10⁶"]);
        assert_eq!(shown(0.09..6.0), ["0.1", "0.2", "0.5", "1", "2", "5"]);
        assert_eq!(shown(2.5e-7..4.5e-7), ["3·10⁻⁷", "4·10⁻⁷"]);
        assert_eq!(shown(1e-12..1e-8).len(), 4);
    }
}
