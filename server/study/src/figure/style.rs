//! Style of figures. Every curve has a colour, a dash pattern and a mark.

use plotters::prelude::*;

/// Colour of text and axes.
pub(super) const TEXT_COLOR: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Colour of the grid lines behind curves.
pub(super) const GRID_LINE_COLOR: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
/// Font of all text in figures.
pub(super) const FONT: &str = "sans-serif";

/// Style of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurveStyle {
    pub(crate) color: RGBColor,
    width: u32,
    /// Lengths of a dash and of a gap in pixels. A gap of 0 means a solid line.
    pub(crate) dash_and_gap_lengths: (i32, i32),
    mark: Option<CurveMark>,
}

/// Mark of a curve's points: a shape, and true if the shape is filled.
#[derive(Debug, Clone, Copy)]
struct CurveMark(MarkShape, bool);

#[derive(Debug, Clone, Copy)]
enum MarkShape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Hourglass,
}

/// Colours and marks of curves, by index. The colours are those of Okabe and Ito, darkened for a
/// white background. All marks are different.
const COLOURS_AND_MARKS: [(RGBColor, CurveMark); 10] = [
    (
        RGBColor(0xc8, 0x4c, 0x00),
        CurveMark(MarkShape::Diamond, true),
    ),
    (
        RGBColor(0x7a, 0x5c, 0x00),
        CurveMark(MarkShape::Hourglass, false),
    ),
    (
        RGBColor(0x00, 0x72, 0xb2),
        CurveMark(MarkShape::Circle, false),
    ),
    (
        RGBColor(0x00, 0x72, 0xb2),
        CurveMark(MarkShape::Square, false),
    ),
    (
        RGBColor(0x00, 0x84, 0x62),
        CurveMark(MarkShape::Circle, true),
    ),
    (
        RGBColor(0x00, 0x84, 0x62),
        CurveMark(MarkShape::Square, true),
    ),
    (
        RGBColor(0x55, 0x55, 0x55),
        CurveMark(MarkShape::Hourglass, true),
    ),
    (
        RGBColor(0xb5, 0x4f, 0x8c),
        CurveMark(MarkShape::Triangle, false),
    ),
    (
        RGBColor(0xb5, 0x4f, 0x8c),
        CurveMark(MarkShape::Triangle, true),
    ),
    (
        RGBColor(0xc8, 0x4c, 0x00),
        CurveMark(MarkShape::Diamond, false),
    ),
];

impl CurveStyle {
    /// Returns the style of the reference curve: a plain line.
    pub(crate) const fn reference_curve() -> Self {
        Self {
            color: BLACK,
            width: 3,
            dash_and_gap_lengths: (1, 0),
            mark: None,
        }
    }

    /// Returns the style of the curve with this index. From index `COLOURS_AND_MARKS.len()` on, the
    /// colours and marks repeat, with dashed lines.
    pub(crate) fn for_curve_index(index: usize) -> Self {
        let (color, mark) = COLOURS_AND_MARKS[index % COLOURS_AND_MARKS.len()];
        Self {
            color,
            width: 2,
            dash_and_gap_lengths: if index < COLOURS_AND_MARKS.len() {
                (1, 0)
            } else {
                (10, 4)
            },
            mark: Some(mark),
        }
    }

    pub(crate) fn line_style(&self) -> ShapeStyle {
        self.color.stroke_width(self.width)
    }

    /// Returns the corners of the curve's mark, relative to the marked point, and the style that
    /// fills the mark. Returns `None` for a curve without marks.
    pub(crate) fn mark_corners_and_fill(&self) -> Option<(Vec<(i32, i32)>, ShapeStyle)> {
        let CurveMark(shape, filled) = self.mark?;
        let corners: &[(i32, i32)] = match shape {
            MarkShape::Circle => &[
                (5, 0),
                (4, 4),
                (0, 5),
                (-4, 4),
                (-5, 0),
                (-4, -4),
                (0, -5),
                (4, -4),
                (5, 0),
            ],
            MarkShape::Square => &[(-4, -4), (4, -4), (4, 4), (-4, 4), (-4, -4)],
            MarkShape::Triangle => &[(0, -6), (5, 4), (-5, 4), (0, -6)],
            MarkShape::Diamond => &[(0, -6), (6, 0), (0, 6), (-6, 0), (0, -6)],
            MarkShape::Hourglass => &[(-5, -5), (5, -5), (-5, 5), (5, 5), (-5, -5)],
        };
        let fill = if filled { self.color } else { WHITE };
        Some((corners.to_vec(), fill.filled()))
    }
}
