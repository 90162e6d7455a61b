//! Curves as SVG: log-log, every curve with a dash pattern and a mark of its own,
//! so that they are told apart without colour, on a background of its own.

use std::ops::Range;

use hushbin_analysis::accounting::Kind;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::curve::{Curve, Panel};
use crate::chart::{Dash, FONT, GRID, INK, Style, draw_curve, draw_sample, label, ticks};
use crate::output::Error;

const SIZE: (u32, u32) = (1280, 760);
const LEGEND: i32 = 150;

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
        let positive = |&(x, y): &(f64, Option<f64>)| (x, y.filter(|&y| y > 0.0));
        let points: Vec<_> = curve.points.iter().map(positive).collect();
        draw_curve(&mut chart, index, style(index, curve.kind), &points)?;
    }
    Ok(())
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
        draw_sample(area, (x, y), style(index, curve.kind), curve.name)?;
    }
    Ok(())
}

/// Of the account itself, which is no published bound, a plain line; else dashes where there
/// is a search and dots where there is a formula.
fn style(index: usize, kind: Option<Kind>) -> Style {
    match kind {
        None => Style::plain(),
        Some(Kind::ClosedForm) => Style::numbered(index, Dash::Dots),
        Some(Kind::Numeric) => Style::numbered(index, Dash::Dashes),
    }
}
