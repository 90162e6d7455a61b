//! Holding a draft against the task in use, field by field.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::error::Error;

/// The check that two values of a field are the same.
///
/// # Errors
/// [`Error::TaskDiffers`] where both differ.
pub(super) fn same<T: PartialEq + fmt::Debug>(
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

/// The same of what a draft may leave open.
///
/// # Errors
/// [`Error::TaskDiffers`] where something else is said.
pub(super) fn same_if_said<T: PartialEq + fmt::Debug>(
    field: &'static str,
    given: &Option<T>,
    in_use: impl Into<Option<T>>,
) -> Result<(), Error> {
    match (given, in_use.into()) {
        (None, _) => Ok(()),
        (Some(given), Some(in_use)) => same(field, given, &in_use),
        (Some(given), None) => Err(Error::TaskDiffers {
            field,
            given: format!("{given:?}"),
            in_use: String::from("none"),
        }),
    }
}
