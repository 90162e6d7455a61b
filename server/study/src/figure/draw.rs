//! Drawing of figures as SVG, with panels side by side and one legend below them. Each mechanism
//! has a different mark. Measured points have a bar that extends by two standard errors to either
//! side.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;

use super::curves::{Curve, Figure, Panel};
use super::strokes::{draw_curve, draw_legend_sample};
use super::style::{CurveStyle, FONT, GRID_LINE_COLOR, TEXT_COLOR};
use super::ticks::{linear_ticks, logarithmic_ticks, tick_label};
use crate::output::Error;

/// Width and height of a figure's panel in pixels.
const PANEL_SIZE: (u32, u32) = (520, 420);
const PANELS_PER_ROW: usize = 2;
/// Height of a line in the legend or in the title, in pixels.
const TEXT_LINE_HEIGHT: i32 = 26;
const ONE_LINE_TITLE_HEIGHT: u32 = 40;

type ChartArea<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Axis of a panel, linear or logarithmic, with the range that it covers.
#[derive(Clone)]
struct ChartAxis {
    range: Range<f64>,
    is_logarithmic: bool,
}

/// Draws a figure and returns it as SVG.
///
/// # Errors
/// Any error of the drawing library.
pub(crate) fn figure_to_svg(figure: &Figure) -> Result<String, Error> {
    let names = distinct_curve_labels(&figure.panels);
    let (columns, rows) = panel_columns_and_rows(figure);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, figure_size(figure)).into_drawing_area();
        root.fill(&WHITE)?;
        let font = (FONT, 18).into_font().color(&TEXT_COLOR);
        let title = title_lines(figure);
        for (line, row) in title.iter().zip(0..) {
            root.draw(&Text::new(
                line.clone(),
                (16, 12 + row * TEXT_LINE_HEIGHT),
                font.clone(),
            ))?;
        }
        let (_, under) = root.split_vertically(title_height(title.len()));
        let (plots, legend) = under.split_vertically(PANEL_SIZE.1 * rows as u32);
        // All panels have the same vertical range, so that heights are comparable.
        let all = || figure.panels.iter().flat_map(|panel| &panel.curves);
        let up = ChartAxis::new(
            all(),
            |&[_, y, error]| [y - error, y + error],
            figure.are_x_and_y_logarithmic[1],
        );
        let areas = plots.split_evenly((rows, columns));
        for (area, panel) in areas.iter().zip(&figure.panels) {
            let right = ChartAxis::new(
                panel.curves.iter(),
                |&[x, ..]| [x; 2],
                figure.are_x_and_y_logarithmic[0],
            );
            draw_panel(area, figure, panel, [right, up.clone()], &names)?;
        }
        for (index, name) in names.iter().enumerate() {
            let (column, row) = ((index % columns) as i32, (index / columns) as i32);
            let at = (
                40 + column * PANEL_SIZE.0 as i32,
                14 + row * TEXT_LINE_HEIGHT,
            );
            draw_legend_sample(&legend, at, style_at_legend_index(index), name)?;
        }
        root.present()?;
    }
    Ok(text)
}

/// Returns the number of columns and the number of rows in which panels are arranged.
fn panel_columns_and_rows(figure: &Figure) -> (usize, usize) {
    let columns = figure.panels.len().clamp(1, PANELS_PER_ROW);
    (columns, figure.panels.len().div_ceil(columns))
}

/// Returns the width and height of a figure in pixels.
pub(crate) fn figure_size(figure: &Figure) -> (u32, u32) {
    let (columns, rows) = panel_columns_and_rows(figure);
    let legend = 30
        + TEXT_LINE_HEIGHT
            * distinct_curve_labels(&figure.panels)
                .len()
                .div_ceil(columns) as i32;
    let height =
        title_height(title_lines(figure).len()) + PANEL_SIZE.1 * rows as u32 + legend as u32;
    (PANEL_SIZE.0 * columns as u32, height)
}

/// Breaks the figure's title into lines that fit the width of the figure.
fn title_lines(figure: &Figure) -> Vec<String> {
    let (columns, _) = panel_columns_and_rows(figure);
    // Letters of this font are on average at most eight pixels wide.
    let most = (PANEL_SIZE.0 as usize * columns - 32) / 8;
    let mut lines: Vec<String> = Vec::new();
    for word in figure.title.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the height in pixels of a title that has `lines` lines.
const fn title_height(lines: usize) -> u32 {
    ONE_LINE_TITLE_HEIGHT + TEXT_LINE_HEIGHT as u32 * (lines.saturating_sub(1)) as u32
}

/// Returns the distinct labels of all curves, in the order of first occurrence.
fn distinct_curve_labels(panels: &[Panel]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if !names.contains(&curve.label.as_str()) {
            names.push(&curve.label);
        }
    }
    names
}

/// Returns the style of the curve with this index in the legend. The first curve is the reference,
/// a plain line. After ten more curves the marks repeat, with dashed lines.
fn style_at_legend_index(index: usize) -> CurveStyle {
    match index.checked_sub(1) {
        None => CurveStyle::reference_curve(),
        Some(index) => CurveStyle::for_curve_index(index),
    }
}

impl ChartAxis {
    /// Creates an axis that covers all values, with a small margin.
    fn new<'a>(
        curves: impl Iterator<Item = &'a Curve>,
        ends: impl Fn(&[f64; 3]) -> [f64; 2],
        logarithmic: bool,
    ) -> Self {
        let values = curves.flat_map(|curve| &curve.points).flat_map(ends);
        let values = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let range = match (low <= high, logarithmic) {
            // If there are no values, the range is arbitrary.
            (false, _) => 0.1..1.0,
            (true, true) => low / 1.1..high * 1.1,
            (true, false) => {
                let room = (0.04 * (high - low)).max(1e-9 * high.abs()).max(1e-12);
                low - room..high + room
            }
        };
        Self {
            range,
            is_logarithmic: logarithmic,
        }
    }
}

impl Ranged for ChartAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let range = &self.range;
        let part = if self.is_logarithmic {
            (value / range.start).ln() / (range.end / range.start).ln()
        } else {
            (value - range.start) / (range.end - range.start)
        };
        limit.0 + (part * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        if self.is_logarithmic {
            logarithmic_ticks(&self.range)
        } else {
            linear_ticks(&self.range)
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for ChartAxis {
    fn format_ext(&self, value: &f64) -> String {
        tick_label(*value)
    }
}

fn draw_panel(
    area: &ChartArea<'_>,
    figure: &Figure,
    panel: &Panel,
    [right, up]: [ChartAxis; 2],
    names: &[&str],
) -> Result<(), Error> {
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .caption(&panel.title, (FONT, 16).into_font().color(&TEXT_COLOR))
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(right, up.clone())?;
    chart
        .configure_mesh()
        .axis_style(TEXT_COLOR)
        .bold_line_style(GRID_LINE_COLOR)
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 13).into_font().color(&TEXT_COLOR))
        .axis_desc_style((FONT, 15).into_font().color(&TEXT_COLOR))
        .x_desc(figure.x_label)
        .y_desc(figure.y_label)
        .draw()?;
    let index = |curve: &Curve| {
        names
            .iter()
            .position(|name| *name == curve.label)
            .unwrap_or(0)
    };
    // The reference curve is drawn last, on top of the rest.
    for curve in panel.curves.iter().rev() {
        let index = index(curve);
        let style = style_at_legend_index(index);
        let drawn = |y: &f64| y.is_finite() && (!up.is_logarithmic || *y > 0.0);
        let bars = curve
            .points
            .iter()
            .filter(|[_, y, error]| *error > 0.0 && drawn(y));
        for &[x, y, error] in bars {
            let ends = [y - 2.0 * error, y + 2.0 * error];
            // The axis covers one standard error to either side, so bars of two standard errors are
            // cut at the ends of the axis.
            let ends = ends.map(|end| (x, end.clamp(up.range.start, up.range.end)));
            chart.draw_series([PathElement::new(ends, style.color)])?;
        }
        let points: Vec<(f64, Option<f64>)> = curve
            .points
            .iter()
            .map(|&[x, y, _]| (x, Some(y).filter(&drawn)))
            .collect();
        draw_curve(&mut chart, index, style, &points)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long title is broken into lines without losing letters, and no line is wider than the
    /// panels.
    #[test]
    fn long_titles_have_lines() {
        let figure = |title: &str, panels: usize| Figure {
            name: "f".to_owned(),
            title: title.to_owned(),
            x_label: "x",
            y_label: "y",
            are_x_and_y_logarithmic: [false; 2],
            panels: vec![
                Panel {
                    title: "p".to_owned(),
                    curves: Vec::new(),
                };
                panels
            ],
        };
        let words = "rates and errors over the number of buckets, and of what else there is to say";
        let [one, two] = [1, 2].map(|panels| figure(words, panels));
        assert_eq!((title_lines(&one).len(), title_lines(&two).len()), (2, 1));
        assert_eq!(title_lines(&one).join(" "), words);
        let short = figure("rates", 1);
        assert_eq!(
            figure_size(&one).1,
            figure_size(&short).1 + TEXT_LINE_HEIGHT as u32
        );
        let drawn = figure_to_svg(&one).unwrap();
        assert!(title_lines(&one).iter().all(|line| drawn.contains(line)));
    }
}
