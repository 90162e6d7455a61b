//! Comparison of a draft with the task in use, field by field.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::error::Error;

/// Checks that two values of a field are equal.
///
/// # Errors
/// [`Error::TaskDiffers`] if they differ.
pub(super) fn check_equal<T: PartialEq + fmt::Debug>(
    field: &'static str,
    given: &T,
    in_use: &T,
) -> Result<(), Error> {
    if given == in_use {
        return Ok(());
    }
    Err(Error::TaskDiffers {
        field,
        given: format!("{given:?}"),
        in_use: format!("{in_use:?}"),
    })
}

/// Checks that the value in use is equal to the given value. If `given` is `None`, any value in use
/// is accepted.
///
/// # Errors
/// [`Error::TaskDiffers`] if the given value differs.
pub(super) fn check_equal_if_stated<T: PartialEq + fmt::Debug>(
    field: &'static str,
    given: &Option<T>,
    in_use: impl Into<Option<T>>,
) -> Result<(), Error> {
    match (given, in_use.into()) {
        (None, _) => Ok(()),
        (Some(given), Some(in_use)) => check_equal(field, given, &in_use),
        (Some(given), None) => Err(Error::TaskDiffers {
            field,
            given: format!("{given:?}"),
            in_use: String::from("none"),
        }),
    }
}
