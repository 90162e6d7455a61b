//! The papers' experiments with every competitor: units of work that can be done in any
//! order and resumed, and tables, figures and a page of what they found.

mod experiment;
mod table;

pub(crate) use experiment::{Curve, Experiment, Figure, Measured, Panel, Point, StudyError, Unit};
pub(crate) use table::{Row, Table};
