//! Private learning, except for the randomisation: features, the gradient of one person's loss, and
//! clipping. The clipped gradient consists of d numbers in [−1, 1]. Any mechanism for numbers can
//! report it.

use hushbin::Error;
use hushbin::bounds::ParameterRange;

/// Loss function of a linear model, which predicts a label y from w·x. w is the vector of weights,
/// and x is the vector of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossFunction {
    /// Loss (w·x − y)² of linear regression, for weights w, features x and a label y.
    Squared,
    /// Loss ln(1 + exp(−y·w·x)) of logistic regression, for weights w, features x and a label y =
    /// ±1.
    Logistic,
    /// Loss max(0, 1 − y·w·x) of a support vector machine, for weights w, features x and a label y
    /// = ±1.
    Hinge,
}

impl LossFunction {
    /// Returns the gradient of one person's regularised loss with respect to the weights w. The
    /// regularised loss is the loss plus λ·|w|², where λ is `regularization`. The hinge loss,
    /// max(0, 1 − y·w·x), counts as having gradient 0 if it is 0.
    ///
    /// # Panics
    /// If the numbers of weights and features differ.
    ///
    /// ```
    /// use hushbin_study::competitors::{LossFunction, clip_gradient_coordinates};
    ///
    /// let mut gradient = LossFunction::Squared.gradient(&[0.5, -0.25], &[1.0, -1.0], -1.0, 0.0);
    /// assert_eq!(gradient, [3.5, -3.5]);
    /// clip_gradient_coordinates(&mut gradient);
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
        // Derivative of the loss with respect to w·x.
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

/// Clips every coordinate of the gradient to [−1, 1]. The paper omits this step, but every
/// mechanism requires numbers in this range.
pub fn clip_gradient_coordinates(gradient: &mut [f64]) {
    for coordinate in gradient {
        *coordinate = coordinate.clamp(-1.0, 1.0);
    }
}

/// Encodes `value`, one of k = `values` categories, as k − 1 features, for k from 2 to 2²⁰. A value
/// below k − 1 gets 1 in the feature with this index and −1 in the remaining features. The last
/// value gets −1 in every feature.
///
/// # Errors
/// [`Error::OutOfRange`] if k is out of range. [`Error::UnknownItem`] if `value` is not below k.
///
/// ```
/// use hushbin_study::competitors::encode_category_as_signs;
///
/// assert_eq!(encode_category_as_signs(1, 4)?, [-1.0, 1.0, -1.0]);
/// assert_eq!(encode_category_as_signs(3, 4)?, [-1.0; 3]);
/// assert!(encode_category_as_signs(4, 4).is_err());
/// # Ok::<(), hushbin::Error>(())
/// ```
pub fn encode_category_as_signs(value: u32, values: u32) -> Result<Vec<f64>, Error> {
    let range = ParameterRange {
        name: "values",
        ..hushbin::bounds::OPTION_COUNT_RANGE
    };
    range.check_in_range(f64::from(values))?;
    if value >= values {
        return Err(Error::UnknownItem {
            item: value.into(),
            items: values,
        });
    }
    let feature = |own| if own == value { 1.0 } else { -1.0 };
    Ok((0..values - 1).map(feature).collect())
}
