//! Drawing of curves on a chart, and of samples of curves in a legend.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::style::{CurveStyle, FONT, TEXT_COLOR};

/// Error type of the drawing library.
type DrawingError = DrawingAreaErrorKind<std::io::Error>;

/// Draws a curve with at most seven marks. The line is interrupted at missing points. Curves with
/// different indices have their marks at different points, so that the marks do not overlap.
pub(crate) fn draw_curve<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    index: usize,
    style: CurveStyle,
    points: &[(f64, Option<f64>)],
) -> Result<(), DrawingError>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    // Draws each run of points between two missing ones as a separate line.
    let defined = |&(x, y): &(f64, Option<f64>)| Some((x, y?));
    for part in points.split(|point| defined(point).is_none()) {
        let part: Vec<(f64, f64)> = part.iter().filter_map(defined).collect();
        let (dash, gap) = style.dash_and_gap_lengths;
        if gap == 0 {
            chart.draw_series(LineSeries::new(part, style.line_style()))?;
        } else {
            chart.draw_series(DashedLineSeries::new(part, dash, gap, style.line_style()))?;
        }
    }
    let step = points.len().div_ceil(7).max(1);
    // The offset by index keeps the marks of different curves apart.
    let marks = points.iter().skip(index % step).step_by(step);
    for point in marks.filter_map(defined) {
        if let Some((shape, fill)) = style.mark_corners_and_fill() {
            let at = EmptyElement::at(point);
            chart.draw_series([at + Polygon::new(shape.clone(), fill)])?;
            let at = EmptyElement::at(point);
            chart.draw_series([at + PathElement::new(shape, style.color)])?;
        }
    }
    Ok(())
}

/// Draws a sample of a curve, with the curve's name, at a position of the legend.
pub(crate) fn draw_legend_sample(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    (x, y): (i32, i32),
    style: CurveStyle,
    name: &str,
) -> Result<(), DrawingError> {
    let (dash, gap) = style.dash_and_gap_lengths;
    let ends = [(x, y), (x + 56, y)];
    if gap == 0 {
        area.draw(&PathElement::new(ends, style.line_style()))?;
    } else {
        area.draw(&DashedPathElement::new(ends, dash, gap, style.line_style()))?;
    }
    if let Some((shape, fill)) = style.mark_corners_and_fill() {
        let at = EmptyElement::at((x + 28, y));
        area.draw(&(at + Polygon::new(shape.clone(), fill)))?;
        let at = EmptyElement::at((x + 28, y));
        area.draw(&(at + PathElement::new(shape, style.color)))?;
    }
    let font = (FONT, 16).into_font().color(&TEXT_COLOR);
    area.draw(&Text::new(name.to_owned(), (x + 68, y - 8), font))
}
