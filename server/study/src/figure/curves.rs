//! Data of figures: titles, axes, panels and curves.

/// Figure that consists of panels, with one legend below them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Name of the figure, which is its file name and unique in a study.
    pub(crate) name: String,
    /// Title in one line, which is also the alternative text of the image.
    pub(crate) title: String,
    /// Label of the horizontal axis, such as `ε`.
    pub(crate) x_label: &'static str,
    /// Label of the vertical axis, such as `mean of ln TVE`.
    pub(crate) y_label: &'static str,
    /// True for an axis that is logarithmic. The first value is for the horizontal axis, the second
    /// value is for the vertical axis.
    pub(crate) are_x_and_y_logarithmic: [bool; 2],
    /// Panels of the figure, at least one.
    pub(crate) panels: Vec<Panel>,
}

/// Panel of a figure: a chart with curves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// Title that states the parameters common to all curves, such as `s = 4`.
    pub(crate) title: String,
    /// Curves of the panel, one for each mechanism.
    pub(crate) curves: Vec<Curve>,
}

/// Curve of a panel: a label and points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// Label in the legend. Curves with the same label look the same in all panels.
    pub(crate) label: String,
    /// Points from left to right. A point has the x coordinate, a mean (the y coordinate), and the
    /// standard error of the mean, which is 0 for values computed by formula.
    pub(crate) points: Vec<[f64; 3]>,
}
