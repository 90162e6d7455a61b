//! What is drawn.

use hushbin_analysis::accounting::Kind;

/// ε_c by one bound; none where its theorem does not apply.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub(super) name: &'static str,
    /// None for the account's own.
    pub(super) kind: Option<Kind>,
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// Curves over one axis.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) x_title: String,
    /// The batch asked about.
    pub(super) here: f64,
    pub(super) curves: Vec<Curve>,
}
