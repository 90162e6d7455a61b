//! Reading of a data set: the answers of people to the questions of a task.
//!
//! CSV has a header of question names. A choice is given by its option. A flag is `true` or
//! `false`, `yes` or `no`, `1` or `0`. Numbers and texts are given without quotation or conversion.
//! A set is a list of options separated by semicolons. Ratings and several numbers are `name:value`
//! pairs separated by semicolons. A question with parts has a column for each part,
//! `question.part`. Ratings and several numbers may have such columns too.
//!
//! JSON lines have one object for each person: the argument that a page would pass to `report`. If
//! a task has unnamed ratings only, columns and members are its items.
//!
//! Every person answers all questions. A set and ratings may be empty.

use std::io::BufRead;
use std::path::Path;

use hushbin::task::{NumberLimits, QuestionKind, QuestionPart};
use hushbin::{Entry, Items, Question, Task};
use serde_json::{Map, Value};

use super::columns::{Column, question_kind_parts};
use super::lines::{
    DataError, DataFormat, for_each_object, for_each_record, line_error, open_data_set,
};

/// Answers of all people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answers {
    question_count: usize,
    /// Entries, ordered by person and question.
    entries: Vec<Entry>,
    /// Indices in `entries`. The answers are numbered by person, then by question. Answer number
    /// `i` has the entries from `bounds[i]` to just before `bounds[i + 1]`.
    entry_bounds_by_answer: Vec<usize>,
    /// Number of answers outside the permitted range, for each question.
    clipped_counts: Vec<u64>,
}

impl Answers {
    /// Reads a file of answers to the task.
    ///
    /// # Errors
    /// [`DataError`] for the first invalid line.
    pub(crate) fn open(path: &Path, format: DataFormat, task: &Task) -> Result<Self, DataError> {
        let reader = open_data_set(path)?;
        match format {
            DataFormat::Csv => Self::read_csv(reader, task),
            DataFormat::JsonLines => Self::read_json_lines(reader, task),
        }
    }

    fn new(task: &Task) -> Self {
        let questions = task.questions().len();
        Self {
            question_count: questions,
            entries: Vec::new(),
            entry_bounds_by_answer: vec![0],
            clipped_counts: vec![0; questions],
        }
    }

    fn read_csv(reader: impl BufRead, task: &Task) -> Result<Self, DataError> {
        let mut answers = Self::new(task);
        let column = |name: &str| Column::new(task, name);
        for_each_record(reader, column, |columns, record| {
            let mut given = vec![Value::Null; answers.question_count];
            for (column, cell) in columns.iter().zip(record) {
                column.add_cell(&mut given[column.question_index], cell);
            }
            answers.add_person(task, &given)
        })?;
        answers.refuse_if_empty()
    }

    fn read_json_lines(reader: impl BufRead, task: &Task) -> Result<Self, DataError> {
        let mut answers = Self::new(task);
        for_each_object(reader, |object| {
            let mut given = vec![Value::Null; answers.question_count];
            if task.has_unnamed_question() {
                given[0] = Value::Object(object);
                return answers.add_person(task, &given);
            }
            for (name, value) in object {
                let found = task.question_position(&name);
                let unknown = || format!("the task has no question {name:?}");
                given[found.ok_or_else(unknown)?] = value;
            }
            answers.add_person(task, &given)
        })?;
        answers.refuse_if_empty()
    }

    fn refuse_if_empty(self) -> Result<Self, DataError> {
        match self.person_count() {
            0 => Err(line_error(1, &"there are no answers")),
            _ => Ok(self),
        }
    }

    /// Adds the answers of one person. Returns a description of the missing answer, or `None` if
    /// all answers are present. The randomizer checks later whether answers are consistent.
    fn add_person(&mut self, task: &Task, given: &[Value]) -> Result<Option<String>, String> {
        for (index, (question, value)) in task.questions().iter().zip(given).enumerate() {
            let named = |reason: String| format!("{:?}: {reason}", question.name());
            if let Some(missing) = describe_missing_answer(question, value) {
                // The entries of this person stay incomplete. This is harmless, since the whole
                // file is refused later.
                return Ok(Some(named(missing)));
            }
            let entries = self
                .answer_to_entries(index, question, value)
                .map_err(named)?;
            self.entries.extend(entries);
            self.entry_bounds_by_answer.push(self.entries.len());
        }
        Ok(None)
    }

    /// Converts an answer to entries.
    fn answer_to_entries(
        &mut self,
        index: usize,
        question: &Question,
        value: &Value,
    ) -> Result<Vec<Entry>, String> {
        let one = |item| Entry { item, value: 1.0 };
        let expected = |what: &str| Err(format!("expected {what}, found {value}"));
        match (question.kind(), value) {
            (QuestionKind::Set | QuestionKind::Ratings(_), Value::Null) => Ok(Vec::new()),
            (kind @ (QuestionKind::Flag | QuestionKind::Choice), _) => {
                let item = answer_as_number(kind, question.items(), value)? as u64;
                Ok(vec![one(item)])
            }
            (QuestionKind::Number(scale), Value::Null) if scale.is_optional() => Ok(vec![one(1)]),
            (kind @ QuestionKind::Number(scale), _) => {
                let value = answer_as_number(kind, question.items(), value)?;
                self.count_if_outside(index, scale.range(), value);
                Ok(vec![Entry { item: 0, value }])
            }
            (QuestionKind::Set, Value::Array(options)) => {
                let entry = |option| find_item(question.items(), option).map(one);
                options.iter().map(entry).collect()
            }
            (QuestionKind::Set, _) => expected("a list of options"),
            (kind @ QuestionKind::Numbers(of), _) if of.is_single() => {
                let value = answer_as_number(kind, question.items(), value)?;
                Ok(self.sort_and_count_clipped(index, of, vec![Entry { item: 0, value }]))
            }
            (QuestionKind::Numbers(of), Value::Object(numbers)) => {
                let entries = entries_from_named_values(question, numbers)?;
                Ok(self.sort_and_count_clipped(index, of, entries))
            }
            (QuestionKind::Numbers(_), _) => expected("each number by its name"),
            (QuestionKind::Text(prefixes), Value::String(text)) => {
                Ok(prefixes.prefix_hashes(text).into_iter().map(one).collect())
            }
            (QuestionKind::Text(_), _) => expected("a text"),
            (QuestionKind::CrossTabulation(cross), Value::Object(given)) => {
                let given = part_answers(cross.parts(), given)?;
                let (item, value) = (given[0] as u64, given[1]);
                if let Some(scale) = cross.column_part().scale() {
                    self.count_if_outside(index, scale.range(), value);
                }
                Ok(vec![Entry { item, value }])
            }
            (QuestionKind::JointChoices(together), Value::Object(given)) => {
                let given = part_answers(together.parts(), given)?;
                let entries = (0..).zip(given);
                Ok(entries.map(|(item, value)| Entry { item, value }).collect())
            }
            (QuestionKind::CrossTabulation(_) | QuestionKind::JointChoices(_), _) => {
                expected("the answers to all parts, by name")
            }
            (QuestionKind::Ratings(_), Value::Object(ratings)) => {
                entries_from_named_values(question, ratings)
            }
            (QuestionKind::Ratings(_), _) => expected("items and their values"),
        }
    }

    /// Sorts the entries by item, and counts numbers that are outside their range. Used if a
    /// question asks for several numbers.
    fn sort_and_count_clipped(
        &mut self,
        question: usize,
        of: &[NumberLimits],
        mut entries: Vec<Entry>,
    ) -> Vec<Entry> {
        entries.sort_by_key(|entry| entry.item);
        for entry in &entries {
            self.count_if_outside(question, of[entry.item as usize].range(), entry.value);
        }
        entries
    }

    /// Increments the question's counter if the number is outside its range.
    fn count_if_outside(&mut self, question: usize, [min, max]: [f64; 2], number: f64) {
        self.clipped_counts[question] += u64::from(!(min..=max).contains(&number));
    }

    /// Returns the number of people.
    pub(crate) fn person_count(&self) -> usize {
        (self.entry_bounds_by_answer.len() - 1) / self.question_count
    }

    /// Returns the entries of one person's answer to a question.
    ///
    /// # Panics
    /// If there is no such person or question.
    pub(crate) fn answer_entries(&self, person: usize, question: usize) -> &[Entry] {
        let at = person * self.question_count + question;
        &self.entries[self.entry_bounds_by_answer[at]..self.entry_bounds_by_answer[at + 1]]
    }

    /// Returns one person's entries for each question.
    pub(crate) fn answers_of_person(&self, person: usize) -> Vec<&[Entry]> {
        let questions = 0..self.question_count;
        questions
            .map(|question| self.answer_entries(person, question))
            .collect()
    }

    /// Returns the number of answers outside the range of a question.
    pub(crate) fn clipped_count(&self, question: usize) -> u64 {
        self.clipped_counts[question]
    }
}

/// Describes the missing answer to the question or to one of its parts. Returns `None` if no answer
/// is missing.
fn describe_missing_answer(question: &Question, value: &Value) -> Option<String> {
    let missing = "there is no answer";
    let names: Vec<&str> = match (question.kind(), question.items(), value) {
        (QuestionKind::Set | QuestionKind::Ratings(_), _, _) => return None,
        (QuestionKind::Number(scale), _, _) if scale.is_optional() => return None,
        (_, _, Value::Null) => return Some(missing.to_owned()),
        (QuestionKind::Numbers(_), Items::Named(names), _) => {
            names.iter().map(String::as_str).collect()
        }
        (kind, _, _) => question_kind_parts(kind)
            .iter()
            .map(QuestionPart::name)
            .collect(),
    };
    let given = value.as_object()?;
    // An error about the unknown name is more useful than an error about the missing name.
    if given.keys().any(|name| !names.contains(&name.as_str())) {
        return None;
    }
    let lacks = |name: &&str| given.get(*name).is_none_or(Value::is_null);
    let found = names.into_iter().find(lacks)?;
    Some(format!("{found:?}: {missing}"))
}

/// Returns the answer to each part: the number if the part asks for a number, or else the index of
/// the chosen option.
fn part_answers(parts: &[QuestionPart], given: &Map<String, Value>) -> Result<Vec<f64>, String> {
    let is_part = |name: &str| parts.iter().any(|part| part.name() == name);
    if let Some(other) = given.keys().find(|name| !is_part(name)) {
        return Err(format!("there is no part {other:?}"));
    }
    let answer = |part: &QuestionPart| {
        let own = given.get(part.name()).unwrap_or(&Value::Null);
        let answer = answer_as_number(&part.kind(), part.items(), own);
        answer.map_err(|reason| format!("{:?}: {reason}", part.name()))
    };
    parts.iter().map(answer).collect()
}

/// Returns an answer as one number: the index of the chosen option, or the number that was given.
fn answer_as_number(kind: &QuestionKind, items: &Items, given: &Value) -> Result<f64, String> {
    let expected = |what: &str| Err(format!("expected {what}, found {given}"));
    match (kind, given) {
        (QuestionKind::Flag, Value::Bool(answer)) => Ok(f64::from(u8::from(*answer))),
        (QuestionKind::Flag, _) => expected("true or false"),
        (QuestionKind::Choice, Value::String(_) | Value::Number(_)) => {
            find_item(items, given).map(|item| item as f64)
        }
        (QuestionKind::Choice, _) => expected("one of the options"),
        _ => given
            .as_f64()
            .map_or_else(|| expected("a finite number"), Ok),
    }
}

/// Converts a map from item names to values into entries.
fn entries_from_named_values(
    question: &Question,
    values: &Map<String, Value>,
) -> Result<Vec<Entry>, String> {
    let entry = |(name, value): (&String, &Value)| {
        let item = find_item(question.items(), &Value::String(name.clone()))?;
        let value = value.as_f64().ok_or(format!("{name:?} is {value}"))?;
        Ok(Entry { item, value })
    };
    values.iter().map(entry).collect()
}

fn find_item(items: &Items, name: &Value) -> Result<u64, String> {
    let text = match (name, items) {
        (Value::String(name), _) => name.clone(),
        (Value::Number(number), Items::Count(_)) => number.to_string(),
        _ => return Err(format!("expected the name of an option, found {name}")),
    };
    let item = items.find_item(&text);
    item.ok_or_else(|| format!("there is no option {text:?}"))
}

#[cfg(test)]
mod tests;
