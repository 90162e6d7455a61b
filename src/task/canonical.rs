//! A task as canonical bytes: no two tasks are written alike.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;

use super::items::{Items, Open};
use super::parts::TaskParts;
use crate::domain::ValueKind;
use crate::error::Error;
use crate::fingerprint::{Canonical, CanonicalReader};
use crate::mechanism::Mechanism;

/// What all of them begin with; the number is the version of what follows.
const HEAD: &str = "hushbin task 1";

pub(super) fn write(parts: &TaskParts) -> Vec<u8> {
    // Destructured, so that a field added to the task is not forgotten.
    let TaskParts {
        id,
        items,
        sparsity,
        epsilon,
        value,
        mechanism,
    } = parts;
    let mut canonical = Canonical::default();
    canonical.text(HEAD);
    canonical.text(id);
    match items {
        Items::Named(names) => {
            canonical.number(0);
            canonical.number(names.len() as u64);
            names.iter().for_each(|name| canonical.text(name));
        }
        Items::Count(count) => {
            canonical.number(1);
            canonical.number(u64::from(*count));
        }
        Items::Open(_) => canonical.number(2),
    }
    canonical.number(u64::from(*sparsity));
    canonical.number(epsilon.to_bits());
    canonical.number(match value {
        ValueKind::Sign => 0,
        ValueKind::Real => 1,
    });
    mechanism.write_canonical(&mut canonical);
    canonical.into_bytes()
}

/// Every field has one spelling, so that only the bytes that [`write`] gives are
/// read: `None` for others.
///
/// # Errors
/// Those of the mechanism's parameters.
pub(super) fn read(bytes: &[u8]) -> Option<Result<TaskParts, Error>> {
    let reader = &mut CanonicalReader::new(bytes);
    if reader.text()? != HEAD {
        return None;
    }
    let id = reader.text()?.to_owned();
    let items = match reader.number()? {
        0 => {
            let mut names = Vec::new();
            for _ in 0..reader.small()? {
                names.push(reader.text()?.to_owned());
            }
            Items::Named(names)
        }
        1 => Items::Count(reader.small()?),
        2 => Items::Open(Open::Open),
        _ => return None,
    };
    let sparsity = reader.small()?;
    let epsilon = f64::from_bits(reader.number()?);
    let value = match reader.number()? {
        0 => ValueKind::Sign,
        1 => ValueKind::Real,
        _ => return None,
    };
    let mechanism = Mechanism::read_canonical(reader)?;
    let parts = |mechanism| TaskParts {
        id,
        items,
        sparsity,
        epsilon,
        value,
        mechanism,
    };
    (reader.rest() == 0).then(|| mechanism.map(parts))
}
