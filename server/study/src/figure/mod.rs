//! Figures as SVG: what they show, how curves look, and where axes are marked.

mod curves;
mod draw;
mod strokes;
mod style;
mod ticks;

pub(crate) use curves::{Curve, Figure, Panel};
pub(crate) use draw::{size, svg};
