//! Figures as SVG: what they show, how curves look, and where axes are marked.

mod curves;
mod draw;
mod strokes;
mod style;
mod ticks;

pub(crate) use curves::{Curve, Figure, Panel};
pub(crate) use draw::{size, svg};

use plotters::style::RGBColor;

/// Colour of text and axes.
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of lines behind curves.
const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
/// Font of all text.
const FONT: &str = "sans-serif";
