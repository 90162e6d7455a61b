//! Figures as SVG: the data, the style of curves, and the ticks of axes.

mod curves;
mod draw;
mod strokes;
mod style;
mod ticks;

pub(crate) use curves::{Curve, Figure, Panel};
pub(crate) use draw::{figure_size, figure_to_svg};
