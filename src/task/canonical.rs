//! A task as canonical bytes: no two tasks are written alike.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use super::budget::Budget;
use super::items::Items;
use super::kind::Kind;
use super::parts::TaskParts;
use super::question::{Question, QuestionParts};
use crate::domain::ValueKind;
use crate::error::Error;
use crate::fingerprint::{Canonical, CanonicalReader};
use crate::mechanism::Mechanism;

/// What all of them begin with, behind the budget if there is one; the number is the version of what follows: one
/// question without a name, for ratings, or questions with names.
const UNNAMED: &str = "hushbin task 1";
const NAMED: &str = "hushbin task 2";

pub(super) fn write(id: &str, questions: &[Question], budget: Budget) -> Vec<u8> {
    let mut canonical = Canonical::default();
    budget.write_canonical(&mut canonical);
    match questions {
        [sole] if sole.name().is_empty() => {
            canonical.text(UNNAMED);
            canonical.text(id);
            sole.items().write_canonical(&mut canonical);
            canonical.number(u64::from(sole.sparsity()));
            canonical.number(sole.epsilon().to_bits());
            sole.kind().write_canonical(&mut canonical);
            sole.mechanism().write_canonical(&mut canonical);
        }
        _ => {
            canonical.text(NAMED);
            canonical.text(id);
            canonical.number(questions[0].epsilon().to_bits());
            canonical.number(questions.len() as u64);
            for question in questions {
                canonical.text(question.name());
                canonical.number(u64::from(question.weight()));
                question.kind().write_canonical(&mut canonical);
                if question.kind().own_items().is_none() {
                    question.items().write_canonical(&mut canonical);
                    canonical.number(u64::from(question.sparsity()));
                }
                question.mechanism().write_canonical(&mut canonical);
            }
        }
    }
    canonical.into_bytes()
}

/// What canonical bytes say.
pub(super) struct Read {
    pub(super) id: String,
    pub(super) questions: Vec<Question>,
    /// Whether they have names.
    pub(super) named: bool,
    pub(super) budget: Budget,
}

/// Every field has one spelling, so that only the bytes that [`write`] gives are
/// read: `None` for others.
///
/// # Errors
/// Those of the questions' parameters.
pub(super) fn read(bytes: &[u8]) -> Option<Result<Read, Error>> {
    let reader = &mut CanonicalReader::new(bytes);
    let mut form = reader.text()?;
    let budget = match Budget::read_canonical(&mut form, reader)? {
        Ok(budget) => budget,
        Err(error) => return Some(Err(error)),
    };
    let read = match form {
        UNNAMED => read_unnamed(budget, reader)?,
        NAMED => read_named(budget, reader)?,
        _ => return None,
    };
    (read.is_err() || reader.rest() == 0).then_some(read)
}

fn read_unnamed(budget: Budget, reader: &mut CanonicalReader<'_>) -> Option<Result<Read, Error>> {
    let id = reader.text()?.to_owned();
    let items = Items::read_canonical(reader)?;
    let sparsity = reader.small()?;
    let epsilon = f64::from_bits(reader.number()?);
    let value = match reader.number()? {
        0 => ValueKind::Sign,
        1 => ValueKind::Real,
        _ => return None,
    };
    let mechanism = Mechanism::read_canonical(reader)?;
    let read = |mechanism| {
        let parts = TaskParts {
            id,
            items,
            sparsity,
            epsilon,
            value,
            mechanism,
        };
        let (id, question) = parts.into_question();
        Ok(Read {
            id,
            questions: alloc::vec![Question::of_bytes(question)?],
            named: false,
            budget,
        })
    };
    Some(mechanism.and_then(read))
}

fn read_named(budget: Budget, reader: &mut CanonicalReader<'_>) -> Option<Result<Read, Error>> {
    let id = reader.text()?.to_owned();
    let epsilon = f64::from_bits(reader.number()?);
    let mut questions = Vec::new();
    for _ in 0..reader.small()? {
        match read_question(epsilon, reader)? {
            Ok(question) => questions.push(question),
            Err(error) => return Some(Err(error)),
        }
    }
    let named = true;
    Some(Ok(Read {
        id,
        questions,
        named,
        budget,
    }))
}

fn read_question(
    epsilon: f64,
    reader: &mut CanonicalReader<'_>,
) -> Option<Result<Question, Error>> {
    let name = reader.text()?.to_owned();
    let weight = reader.small()?;
    let (kind, items) = match Kind::read_canonical(reader, false)? {
        Ok(asked) => asked,
        Err(error) => return Some(Err(error)),
    };
    let sparsity = match kind.own_items() {
        Some(_) => kind.own_sparsity(),
        None => reader.small()?,
    };
    let mechanism = Mechanism::read_canonical(reader)?;
    let question = |mechanism| {
        Question::of_bytes(QuestionParts {
            name,
            kind,
            items,
            sparsity,
            weight,
            epsilon,
            mechanism,
        })
    };
    Some(mechanism.and_then(question))
}
