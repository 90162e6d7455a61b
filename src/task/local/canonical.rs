//! A task as canonical bytes: no two tasks are written alike.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::kind::Kind;
use super::question::{Question, QuestionParts};
use crate::canonical::CanonicalReader;
use crate::domain::ValueKind;
use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::task::budget::Budget;
use crate::task::items::Items;

/// What all of them begin with, behind the budget if there is one; the number is the version of what follows: one
/// question without a name, for ratings, or questions with names.
pub(in crate::task) const UNNAMED: &str = "hushbin task 1";
pub(in crate::task) const NAMED: &str = "hushbin task 2";

/// What canonical bytes say.
pub(in crate::task) struct Read {
    pub(in crate::task) id: String,
    pub(in crate::task) questions: Vec<Question>,
    /// Whether they have names.
    pub(in crate::task) named: bool,
    pub(in crate::task) budget: Budget,
}

/// Every field has one spelling, so that only the bytes that [`write`] gives are
/// read.
///
/// # Errors
/// [`Error::Malformed`] for others, and those of the questions' parameters.
pub(in crate::task) fn read(bytes: &[u8]) -> Result<Read, Error> {
    let reader = &mut CanonicalReader::new(bytes);
    let mut form = reader.text();
    let read = Budget::read_canonical(&mut form, reader).and_then(|budget| match form {
        UNNAMED => read_unnamed(budget, reader),
        NAMED => read_named(budget, reader),
        _ => reader.known(None),
    });
    reader.end(read)
}

fn read_unnamed(budget: Budget, reader: &mut CanonicalReader<'_>) -> Result<Read, Error> {
    let id = reader.text().to_owned();
    let items = Items::read_canonical(reader);
    let sparsity = reader.small();
    let epsilon = reader.float();
    let value = match reader.number() {
        0 => ValueKind::Sign,
        1 => ValueKind::Real,
        _ => reader.known(None)?,
    };
    let question = read_mechanism(
        String::new(),
        (Kind::Ratings(value), items),
        [sparsity, 1],
        epsilon,
        reader,
    )?;
    Ok(Read {
        id,
        questions: alloc::vec![question],
        named: false,
        budget,
    })
}

fn read_named(budget: Budget, reader: &mut CanonicalReader<'_>) -> Result<Read, Error> {
    let id = reader.text().to_owned();
    let epsilon = reader.float();
    let mut questions = Vec::new();
    for _ in 0..reader.count() {
        let name = reader.text().to_owned();
        let weight = reader.small();
        let (kind, items, sparsity) = Kind::read_canonical(reader)?;
        let asked = (kind, items);
        questions.push(read_mechanism(
            name,
            asked,
            [sparsity, weight],
            epsilon,
            reader,
        )?);
    }
    Ok(Read {
        id,
        questions,
        named: true,
        budget,
    })
}

/// A question of what is read already and the mechanism that follows.
// Once in the module that pages download, which has both ways above.
#[inline(never)]
fn read_mechanism(
    name: String,
    (kind, items): (Kind, Items),
    [sparsity, weight]: [u32; 2],
    epsilon: f64,
    reader: &mut CanonicalReader<'_>,
) -> Result<Question, Error> {
    Question::of_bytes(QuestionParts {
        name,
        kind,
        items,
        sparsity,
        weight,
        epsilon,
        mechanism: Mechanism::read_canonical(reader)?,
    })
}
