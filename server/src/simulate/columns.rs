//! The columns of answers as CSV, and what stands in them.

use hushbin::task::{Kind, Part};
use hushbin::{Question, Task};
use serde_json::{Map, Value};

/// What a column of CSV answers: a question, or a part of one.
pub(super) struct Column<'a> {
    pub(super) question: usize,
    pub(super) part: Option<&'a Part>,
}

impl<'a> Column<'a> {
    fn new(task: &'a Task, name: &str) -> Result<Self, String> {
        if task.is_unnamed() {
            let (question, part) = (0, None);
            return Ok(Self { question, part });
        }
        let questions = task.questions().iter().zip(0..);
        let named = |(own, question): (&'a Question, usize)| match parts(own.kind()) {
            Some(parts) => {
                let part = name.strip_prefix(own.name())?.strip_prefix('.')?;
                let part = parts.iter().find(|own| own.name() == part)?;
                let part = Some(part);
                Some(Self { question, part })
            }
            None => (own.name() == name).then_some(Self {
                question,
                part: None,
            }),
        };
        let found = questions.filter_map(named).next();
        found.ok_or_else(|| match task.position(name) {
            Some(_) => format!("{name:?} has a column for each part, as in \"{name}.part\""),
            None => format!("the task has no question {name:?}"),
        })
    }
}

/// The parts that are answered each by its name.
fn parts(kind: &Kind) -> Option<&[Part]> {
    match kind {
        Kind::Cross(cross) => Some(cross.parts()),
        Kind::Together(together) => Some(together.parts()),
        _ => None,
    }
}

/// Adds the answer to a part.
pub(super) fn add_part(given: &mut Value, part: &Part, cell: &str) {
    if given.is_null() {
        *given = Value::Object(Map::new());
    }
    if let Value::Object(parts) = given {
        parts.insert(part.name().to_owned(), value(&part.kind(), cell));
    }
}

/// What each column answers.
pub(super) fn columns<'a>(
    task: &'a Task,
    header: &csv::StringRecord,
) -> Result<Vec<Column<'a>>, String> {
    header.iter().map(|name| Column::new(task, name)).collect()
}

pub(super) fn position(task: &Task, name: &str) -> Result<usize, String> {
    let found = task.position(name);
    found.ok_or_else(|| format!("the task has no question {name:?}"))
}

/// What a cell stands for, as far as that can be told: what cannot stays a text, which
/// the question refuses.
pub(super) fn value(kind: &Kind, cell: &str) -> Value {
    let text = || Value::String(cell.to_owned());
    let parts = || {
        cell.split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
    };
    match kind {
        Kind::Set => Value::Array(parts().map(Value::from).collect()),
        Kind::Text(_) => text(),
        _ if cell.is_empty() => Value::Null,
        Kind::Flag => cell.parse().map_or_else(|_| text(), Value::Bool),
        Kind::Number(_) => number(cell),
        Kind::Numbers(of) if of.is_alone() => number(cell),
        // The columns of what has parts are those of its parts.
        Kind::Choice | Kind::Cross(_) | Kind::Together(_) => text(),
        Kind::Ratings(_) | Kind::Numbers(_) => {
            let rating = |part: &str| {
                let (item, value) = part.rsplit_once(':')?;
                Some((item.to_owned(), number(value)))
            };
            let ratings: Option<Map<String, Value>> = parts().map(rating).collect();
            ratings.map_or_else(text, Value::Object)
        }
    }
}

pub(super) fn number(cell: &str) -> Value {
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => number.into(),
        _ => cell.into(),
    }
}
