//! Columns of answers in CSV, and parsing of cells.

use hushbin::task::{QuestionKind, QuestionPart};
use hushbin::{Question, Task};
use serde_json::{Map, Value};

/// Target of a CSV column: a question, or a part or an item of a question.
pub(super) struct Column {
    pub(super) question_index: usize,
    part: Option<String>,
    /// Kind of the question or part; `None` for the number of an item.
    kind: Option<QuestionKind>,
}

impl Column {
    /// Finds the target of the column with this name.
    ///
    /// # Errors
    /// If the task has no question, part or item with this name.
    pub(super) fn new(task: &Task, name: &str) -> Result<Self, String> {
        let part_of = |name: &str, question, kind| Self {
            question_index: question,
            part: Some(name.to_owned()),
            kind,
        };
        if task.has_unnamed_question() {
            let item = task.questions()[0].items().find_item(name);
            let found = item.map(|_| part_of(name, 0, None));
            return found.ok_or_else(|| format!("there is no option {name:?}"));
        }
        let part = |(own, question): (&Question, usize)| {
            let name = name.strip_prefix(own.name())?.strip_prefix('.')?;
            let part = question_kind_parts(own.kind())
                .iter()
                .find(|part| part.name() == name);
            match own.kind() {
                QuestionKind::Ratings(_) | QuestionKind::Numbers(_) => {
                    own.items().find_item(name).map(|_| None)
                }
                _ => part.map(|part| Some(part.kind())),
            }
            .map(|kind| part_of(name, question, kind))
        };
        match task.question_position(name) {
            Some(question) if question_kind_parts(task.questions()[question].kind()).is_empty() => {
                Ok(Self {
                    question_index: question,
                    part: None,
                    kind: Some(task.questions()[question].kind().clone()),
                })
            }
            Some(_) => Err(format!(
                "{name:?} has a column for each part, as in \"{name}.part\""
            )),
            None => {
                let found = task.questions().iter().zip(0..).find_map(part);
                found.ok_or_else(|| format!("the task has no question {name:?}"))
            }
        }
    }

    /// Adds the value of a cell to the person's answer to the question. An empty cell of a part
    /// adds nothing.
    pub(super) fn add_cell(&self, answer: &mut Value, cell: &str) {
        let value = self
            .kind
            .as_ref()
            .map_or_else(|| parse_number_cell(cell), |kind| parse_cell(kind, cell));
        let Some(part) = &self.part else {
            *answer = value;
            return;
        };
        if !answer.is_object() {
            *answer = Value::Object(Map::new());
        }
        if let (Value::Object(parts), false) = (answer, value.is_null()) {
            parts.insert(part.clone(), value);
        }
    }
}

/// Returns the parts of a kind of question. The result is empty if the kind has no parts.
pub(super) fn question_kind_parts(kind: &QuestionKind) -> &[QuestionPart] {
    match kind {
        QuestionKind::CrossTabulation(cross) => cross.parts(),
        QuestionKind::JointChoices(together) => together.parts(),
        _ => &[],
    }
}

/// Parses a cell. A cell of the wrong form becomes a text, which the question refuses later.
fn parse_cell(kind: &QuestionKind, cell: &str) -> Value {
    let text = || Value::from(cell);
    let parts = || {
        let parts = cell.split(';').map(str::trim);
        parts.filter(|part| !part.is_empty())
    };
    let is = |words: [&str; 3]| words.iter().any(|word| word.eq_ignore_ascii_case(cell));
    match kind {
        QuestionKind::Set => parts().map(Value::from).collect(),
        QuestionKind::Text(_) => text(),
        _ if cell.is_empty() => Value::Null,
        QuestionKind::Flag if is(["true", "yes", "1"]) => true.into(),
        QuestionKind::Flag if is(["false", "no", "0"]) => false.into(),
        QuestionKind::Number(_) => parse_number_cell(cell),
        QuestionKind::Numbers(of) if of.is_single() => parse_number_cell(cell),
        // Questions with parts have columns for the parts, so this is never a whole answer.
        QuestionKind::Flag
        | QuestionKind::Choice
        | QuestionKind::CrossTabulation(_)
        | QuestionKind::JointChoices(_) => text(),
        QuestionKind::Ratings(_) | QuestionKind::Numbers(_) => {
            let rating = |part: &str| {
                let (item, value) = part.rsplit_once(':')?;
                Some((item.to_owned(), parse_number_cell(value)))
            };
            let ratings: Option<Map<String, Value>> = parts().map(rating).collect();
            ratings.map_or_else(text, Value::Object)
        }
    }
}

pub(super) fn parse_number_cell(cell: &str) -> Value {
    match cell.parse::<f64>() {
        _ if cell.is_empty() => Value::Null,
        Ok(number) if number.is_finite() => number.into(),
        _ => cell.into(),
    }
}
