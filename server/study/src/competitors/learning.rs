//! Private learning up to what is randomised: features, one person's gradient, its
//! clipping. The clipped gradient is d numbers in [−1, 1] for a mechanism of these.

use hushbin::Error;
use hushbin::bounds::Bound;

/// The loss of a model of y by w·x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Linear regression: (w·x − y)².
    Squared,
    /// Logistic regression, y = ±1: ln(1 + exp(−y·w·x)).
    Logistic,
    /// A support vector machine, y = ±1: max(0, 1 − y·w·x).
    Hinge,
}

impl Loss {
    /// The gradient in w of one person's loss and λ·|w|²; of the hinge loss 0 from y·w·x = 1 on.
    ///
    /// # Panics
    /// If there are not as many weights as features.
    ///
    /// ```
    /// use hushbin_study::competitors::{Loss, clip};
    ///
    /// let mut gradient = Loss::Squared.gradient(&[0.5, -0.25], &[1.0, -1.0], -1.0, 0.0);
    /// assert_eq!(gradient, [3.5, -3.5]);
    /// clip(&mut gradient);
    /// assert_eq!(gradient, [1.0, -1.0]);
    /// ```
    #[must_use]
    pub fn gradient(
        self,
        weights: &[f64],
        features: &[f64],
        label: f64,
        regularization: f64,
    ) -> Vec<f64> {
        assert_eq!(weights.len(), features.len(), "a weight for each feature");
        let product: f64 = weights.iter().zip(features).map(|(w, x)| w * x).sum();
        let margin = label * product;
        let slope = match self {
            Self::Squared => 2.0 * (product - label),
            Self::Logistic => -label / (1.0 + margin.exp()),
            Self::Hinge if margin < 1.0 => -label,
            Self::Hinge => 0.0,
        };
        let both = weights.iter().zip(features);
        both.map(|(w, x)| slope * x + 2.0 * regularization * w)
            .collect()
    }
}

/// Clips every coordinate to [−1, 1], which the paper leaves unsaid and every mechanism needs.
pub fn clip(gradient: &mut [f64]) {
    for coordinate in gradient {
        *coordinate = coordinate.clamp(-1.0, 1.0);
    }
}

/// One of k `values`, 2 to 2²⁰, as k − 1 features: of a value below k − 1 its own is 1
/// and the others are −1, of the last all are −1.
///
/// # Errors
/// [`Error::OutOfRange`] where k is; [`Error::UnknownItem`] where there is no such
/// value.
///
/// ```
/// use hushbin_study::competitors::encode_category;
///
/// assert_eq!(encode_category(1, 4)?, [-1.0, 1.0, -1.0]);
/// assert_eq!(encode_category(3, 4)?, [-1.0; 3]);
/// assert!(encode_category(4, 4).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn encode_category(value: u32, values: u32) -> Result<Vec<f64>, Error> {
    let range = Bound {
        name: "values",
        ..hushbin::bounds::OPTIONS
    };
    range.check(f64::from(values))?;
    if value >= values {
        return Err(Error::UnknownItem {
            item: value.into(),
            items: values,
        });
    }
    let feature = |own| if own == value { 1.0 } else { -1.0 };
    Ok((0..values - 1).map(feature).collect())
}
