//! What figures show, before it is drawn.

/// A figure: panels side by side over one legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// As in names of files, once in a study.
    pub(crate) name: String,
    /// What it shows, in a line: its alternative text, too.
    pub(crate) title: String,
    /// What is to the right, such as `ε`.
    pub(crate) x: &'static str,
    /// What is up, such as `mean of ln TVE`.
    pub(crate) y: &'static str,
    /// Whether ratios are distances, to the right and up.
    pub(crate) logarithmic: [bool; 2],
    /// At least one.
    pub(crate) panels: Vec<Panel>,
}

/// A part of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// What is alike in it, such as `s = 4`.
    pub(crate) title: String,
    /// A mechanism each.
    pub(crate) curves: Vec<Curve>,
}

/// A curve of a panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// As in the legend; curves of one label look alike in all panels.
    pub(crate) label: String,
    /// From left to right: where, the mean and its standard error, 0 where it is computed.
    pub(crate) points: Vec<[f64; 3]>,
}
