//! What all figures have in common: how curves look, and how axes are marked.

mod strokes;
mod style;
mod ticks;

pub(crate) use strokes::{draw_curve, draw_sample};
pub(crate) use style::{Dash, Style};
pub(crate) use ticks::{even_ticks, label, ticks};

use plotters::style::RGBColor;

/// Of text and axes.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Of lines behind curves.
pub(crate) const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
/// Of all text.
pub(crate) const FONT: &str = "sans-serif";
