//! Limits of a number that a question asks for.

use alloc::string::String;

use super::items::check_printable_name;
use crate::bounds::check_ascending;
use crate::canonical::CanonicalReader;
use crate::error::Error;

/// Range of a number, with its unit.
///
/// Numbers outside the range are clipped. Estimates do not correct the resulting bias.
///
/// ```
/// use hushbin::task::NumberLimits;
///
/// let width = NumberLimits::new(0.0, 4000.0, Some("px".into())).unwrap();
/// assert_eq!((width.range(), width.unit()), ([0.0, 4000.0], Some("px")));
/// assert!(NumberLimits::new(0.0, 0.0, None).is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NumberLimits {
    range: [f64; 2],
    pub(super) unit: Option<String>,
}

impl NumberLimits {
    /// Creates the range from `min` to `max`.
    ///
    /// # Errors
    /// [`Error::InvalidCombination`] unless `min` and `max` are finite and ascending;
    /// [`Error::InvalidItemName`] for a unit that could not be an item's name.
    pub fn new(min: f64, max: f64, unit: Option<String>) -> Result<Self, Error> {
        let range = [min, max];
        check_ascending(&range)?;
        if let Some(unit) = &unit {
            check_printable_name(0, unit)?;
        }
        Ok(Self { range, unit })
    }

    /// Returns the minimum and the maximum of the range. Numbers outside are clipped.
    #[must_use]
    pub const fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Clips a number to the range and maps the range linearly to [−1, 1].
    ///
    /// ```
    /// use hushbin::task::NumberLimits;
    ///
    /// let celsius = NumberLimits::new(-20.0, 60.0, None).unwrap();
    /// assert_eq!([-20.0, 0.0, 99.0].map(|number| celsius.normalise_to_signed_unit(number)), [-1.0, -0.5, 1.0]);
    /// ```
    #[must_use]
    pub fn normalise_to_signed_unit(&self, number: f64) -> f64 {
        let [min, max] = self.range;
        2.0 * ((number.clamp(min, max) - min) / (max - min)) - 1.0
    }

    pub(crate) fn read_canonical(reader: &mut CanonicalReader<'_>) -> Result<Self, Error> {
        let unit = reader.read_text();
        let unit = (!unit.is_empty()).then(|| String::from(unit));
        Self::new(reader.read_float(), reader.read_float(), unit)
    }
}
