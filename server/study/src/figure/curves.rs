//! Data of figures.

/// A figure: panels side by side over one legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Unique name in a study, used in file names.
    pub(crate) name: String,
    /// Title in one line; also the alternative text.
    pub(crate) title: String,
    /// Label of the horizontal axis, such as `ε`.
    pub(crate) x: &'static str,
    /// Label of the vertical axis, such as `mean of ln TVE`.
    pub(crate) y: &'static str,
    /// True for a logarithmic axis: the horizontal one, then the vertical one.
    pub(crate) logarithmic: [bool; 2],
    /// Panels, at least one.
    pub(crate) panels: Vec<Panel>,
}

/// One panel of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// Parameters common to the panel, such as `s = 4`.
    pub(crate) title: String,
    /// Curves, one per mechanism.
    pub(crate) curves: Vec<Curve>,
}

/// A curve of a panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// Label in the legend. Curves with the same label look the same in all panels.
    pub(crate) label: String,
    /// Points from left to right: x coordinate, mean and its standard error, which is 0 for
    /// computed values.
    pub(crate) points: Vec<[f64; 3]>,
}
