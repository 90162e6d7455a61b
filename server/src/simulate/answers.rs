//! Reading of a data set: the answers of people to the questions of a task.
//!
//! CSV has a header of question names. A choice is given by its option. A flag is `true` or
//! `false`, `yes` or `no`, `1` or `0`. Numbers and texts are given as they are. A set is a list of
//! options separated by semicolons. Ratings and several numbers are `name:value` pairs separated by
//! semicolons. A question with parts has a column for each part, `question.part`. Ratings and
//! several numbers may have such columns too.
//!
//! JSON lines have one object for each person: the argument that a page would pass to `report`. If
//! a task has unnamed ratings only, columns and members are its items.
//!
//! Every person answers all questions. A set and ratings may be empty.

use std::io::BufRead;
use std::path::Path;

use hushbin::task::{Kind, Limits, Part};
use hushbin::{Entry, Items, Question, Task};
use serde_json::{Map, Value};

use super::columns::{Column, parts};
use super::lines::{DataError, Format, for_each_object, for_each_record, line_error, open};

/// Answers of all people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answers {
    questions: usize,
    /// Entries, ordered by person and question.
    entries: Vec<Entry>,
    /// Start index of the entries of each person and question, and the total at the end.
    bounds: Vec<usize>,
    /// Number of answers outside the range, for each question.
    clipped: Vec<u64>,
}

impl Answers {
    /// Reads a file of answers to the task.
    ///
    /// # Errors
    /// [`DataError`] for the first invalid line.
    pub(crate) fn open(path: &Path, format: Format, task: &Task) -> Result<Self, DataError> {
        let reader = open(path)?;
        match format {
            Format::Csv => Self::read_csv(reader, task),
            Format::JsonLines => Self::read_json_lines(reader, task),
        }
    }

    fn new(task: &Task) -> Self {
        let questions = task.questions().len();
        Self {
            questions,
            entries: Vec::new(),
            bounds: vec![0],
            clipped: vec![0; questions],
        }
    }

    fn read_csv(reader: impl BufRead, task: &Task) -> Result<Self, DataError> {
        let mut answers = Self::new(task);
        let column = |name: &str| Column::new(task, name);
        for_each_record(reader, column, |columns, record| {
            let mut given = vec![Value::Null; answers.questions];
            for (column, cell) in columns.iter().zip(record) {
                column.add(&mut given[column.question], cell);
            }
            answers.add(task, &given)
        })?;
        answers.checked()
    }

    fn read_json_lines(reader: impl BufRead, task: &Task) -> Result<Self, DataError> {
        let mut answers = Self::new(task);
        for_each_object(reader, |object| {
            let mut given = vec![Value::Null; answers.questions];
            if task.is_unnamed() {
                given[0] = Value::Object(object);
                return answers.add(task, &given);
            }
            for (name, value) in object {
                let found = task.position(&name);
                let unknown = || format!("the task has no question {name:?}");
                given[found.ok_or_else(unknown)?] = value;
            }
            answers.add(task, &given)
        })?;
        answers.checked()
    }

    fn checked(self) -> Result<Self, DataError> {
        match self.people() {
            0 => Err(line_error(1, &"there are no answers")),
            _ => Ok(self),
        }
    }

    /// Adds one person, and returns which answer is missing. The randomizer checks whether answers
    /// are consistent.
    fn add(&mut self, task: &Task, given: &[Value]) -> Result<Option<String>, String> {
        for (index, (question, value)) in task.questions().iter().zip(given).enumerate() {
            let named = |reason: String| format!("{:?}: {reason}", question.name());
            if let Some(missing) = missing(question, value) {
                // Leaves a partial person behind, which is harmless: the whole file is refused
                // later.
                return Ok(Some(named(missing)));
            }
            let entries = self.entries(index, question, value).map_err(named)?;
            self.entries.extend(entries);
            self.bounds.push(self.entries.len());
        }
        Ok(None)
    }

    /// Converts an answer to entries.
    fn entries(
        &mut self,
        index: usize,
        question: &Question,
        value: &Value,
    ) -> Result<Vec<Entry>, String> {
        let one = |item| Entry { item, value: 1.0 };
        let expected = |what: &str| Err(format!("expected {what}, found {value}"));
        match (question.kind(), value) {
            (Kind::Set | Kind::Ratings(_), Value::Null) => Ok(Vec::new()),
            (kind @ (Kind::Flag | Kind::Choice), _) => {
                Ok(vec![one(single(kind, question.items(), value)? as u64)])
            }
            (kind @ Kind::Number(scale), _) => {
                let value = single(kind, question.items(), value)?;
                self.clip(index, scale.range(), value);
                Ok(vec![Entry { item: 0, value }])
            }
            (Kind::Set, Value::Array(options)) => {
                let options = options.iter();
                options
                    .map(|option| item(question.items(), option).map(one))
                    .collect()
            }
            (Kind::Set, _) => expected("a list of options"),
            (kind @ Kind::Numbers(of), _) if of.is_alone() => {
                let value = single(kind, question.items(), value)?;
                Ok(self.numbers(index, of, vec![Entry { item: 0, value }]))
            }
            (Kind::Numbers(of), Value::Object(numbers)) => {
                Ok(self.numbers(index, of, rated(question, numbers)?))
            }
            (Kind::Numbers(_), _) => expected("each number by its name"),
            (Kind::Text(prefixes), Value::String(text)) => {
                Ok(prefixes.keys(text).into_iter().map(one).collect())
            }
            (Kind::Text(_), _) => expected("a text"),
            (Kind::Cross(cross), Value::Object(given)) => {
                let given = part_answers(cross.parts(), given)?;
                let (item, value) = (given[0] as u64, given[1]);
                if let Some(scale) = cross.columns().scale() {
                    self.clip(index, scale.range(), value);
                }
                Ok(vec![Entry { item, value }])
            }
            (Kind::Together(together), Value::Object(given)) => {
                let given = part_answers(together.parts(), given)?;
                let entries = (0..).zip(given);
                Ok(entries.map(|(item, value)| Entry { item, value }).collect())
            }
            (Kind::Cross(_) | Kind::Together(_), _) => {
                expected("the answers to all parts, by name")
            }
            (Kind::Ratings(_), Value::Object(ratings)) => rated(question, ratings),
            (Kind::Ratings(_), _) => expected("items and their values"),
        }
    }

    /// Sorts entries of several numbers by item, and counts those outside the range.
    fn numbers(&mut self, question: usize, of: &[Limits], mut entries: Vec<Entry>) -> Vec<Entry> {
        entries.sort_by_key(|entry| entry.item);
        for entry in &entries {
            self.clip(question, of[entry.item as usize].range(), entry.value);
        }
        entries
    }

    /// Counts a number outside its range.
    fn clip(&mut self, question: usize, [min, max]: [f64; 2], number: f64) {
        self.clipped[question] += u64::from(!(min..=max).contains(&number));
    }

    /// Returns the number of people.
    pub(crate) fn people(&self) -> usize {
        (self.bounds.len() - 1) / self.questions
    }

    /// Returns the entries of one person's answer to a question.
    ///
    /// # Panics
    /// If there is no such person or question.
    pub(crate) fn answer(&self, person: usize, question: usize) -> &[Entry] {
        let at = person * self.questions + question;
        &self.entries[self.bounds[at]..self.bounds[at + 1]]
    }

    /// Returns the entries of one person, for each question.
    pub(crate) fn person(&self, person: usize) -> Vec<&[Entry]> {
        let questions = 0..self.questions;
        questions
            .map(|question| self.answer(person, question))
            .collect()
    }

    /// Returns the number of answers outside the range of a question.
    pub(crate) fn clipped(&self, question: usize) -> u64 {
        self.clipped[question]
    }
}

/// Describes the missing answer to the question or to one of its parts; `None` if none is missing.
fn missing(question: &Question, value: &Value) -> Option<String> {
    let missing = "there is no answer";
    let names: Vec<&str> = match (question.kind(), question.items(), value) {
        (Kind::Set | Kind::Ratings(_), _, _) => return None,
        (_, _, Value::Null) => return Some(missing.to_owned()),
        (Kind::Numbers(_), Items::Named(names), _) => names.iter().map(String::as_str).collect(),
        (kind, _, _) => parts(kind).iter().map(Part::name).collect(),
    };
    let given = value.as_object()?;
    // An unknown name is the more useful error than the name that is missing instead.
    if given.keys().any(|name| !names.contains(&name.as_str())) {
        return None;
    }
    let lacks = |name: &&str| given.get(*name).is_none_or(Value::is_null);
    let found = names.into_iter().find(lacks)?;
    Some(format!("{found:?}: {missing}"))
}

/// Returns the index of the option, or the number, for each part.
fn part_answers(parts: &[Part], given: &Map<String, Value>) -> Result<Vec<f64>, String> {
    let is_part = |name: &str| parts.iter().any(|part| part.name() == name);
    if let Some(other) = given.keys().find(|name| !is_part(name)) {
        return Err(format!("there is no part {other:?}"));
    }
    let answer = |part: &Part| {
        let own = given.get(part.name()).unwrap_or(&Value::Null);
        let answer = single(&part.kind(), part.items(), own);
        answer.map_err(|reason| format!("{:?}: {reason}", part.name()))
    };
    parts.iter().map(answer).collect()
}

/// Returns the index of the option, or the number.
fn single(kind: &Kind, items: &Items, given: &Value) -> Result<f64, String> {
    let expected = |what: &str| Err(format!("expected {what}, found {given}"));
    match (kind, given) {
        (Kind::Flag, Value::Bool(answer)) => Ok(f64::from(u8::from(*answer))),
        (Kind::Flag, _) => expected("true or false"),
        (Kind::Choice, Value::String(_) | Value::Number(_)) => {
            item(items, given).map(|item| item as f64)
        }
        (Kind::Choice, _) => expected("one of the options"),
        _ => given
            .as_f64()
            .map_or_else(|| expected("a finite number"), Ok),
    }
}

/// Converts values by item name to entries.
fn rated(question: &Question, values: &Map<String, Value>) -> Result<Vec<Entry>, String> {
    let entry = |(name, value): (&String, &Value)| {
        let item = item(question.items(), &Value::String(name.clone()))?;
        let value = value.as_f64().ok_or(format!("{name:?} is {value}"))?;
        Ok(Entry { item, value })
    };
    values.iter().map(entry).collect()
}

fn item(items: &Items, name: &Value) -> Result<u64, String> {
    let text = match (name, items) {
        (Value::String(name), _) => name.clone(),
        (Value::Number(number), Items::Count(_)) => number.to_string(),
        _ => return Err(format!("expected the name of an option, found {name}")),
    };
    let item = items.resolve(&text);
    item.ok_or_else(|| format!("there is no option {text:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task() -> Task {
        let draft: hushbin::TaskDraft = serde_json::from_value(json!({
            "id": "t", "epsilon": 1.0, "questions": [
                { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
                { "name": "beta", "kind": "flag" },
                { "name": "load, ms", "kind": "number", "min": 0, "max": 100 },
                { "name": "used", "kind": "set", "options": ["a", "b", "c"], "sparsity": 2 },
                { "name": "rated", "kind": "ratings", "items": 4, "sparsity": 2, "value": "real" },
            ],
        }))
        .unwrap();
        draft.resolve().unwrap()
    }

    fn csv(text: &str) -> Result<Answers, String> {
        Answers::read_csv(text.as_bytes(), &task()).map_err(|error| error.to_string())
    }

    fn json(text: &str) -> Result<Answers, String> {
        Answers::read_json_lines(text.as_bytes(), &task()).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_say_the_same() {
        let from_csv = csv("\"load, ms\",theme,beta,used,rated\n\
             150,dark,true,a; c,0:0.5;3:-1\n\
             7.5,light,false,,\n");
        let from_json = json(
            "{\"theme\":\"dark\",\"beta\":true,\"load, ms\":150,\"used\":[\"a\",\"c\"],\
             \"rated\":{\"0\":0.5,\"3\":-1}}\n\n\
             {\"load, ms\":7.5,\"theme\":\"light\",\"beta\":false,\"used\":null}\n",
        );
        assert_eq!(from_csv, from_json);
        let answers = from_csv.unwrap();
        assert_eq!(answers.people(), 2);
        assert_eq!(answers.clipped(2), 1);
        let entry = |item, value| Entry { item, value };
        let first = answers.person(0);
        assert_eq!(first[0], [entry(0, 1.0)]);
        assert_eq!(first[1], [entry(1, 1.0)]);
        assert_eq!(first[2], [entry(0, 150.0)]);
        assert_eq!(first[3], [entry(0, 1.0), entry(2, 1.0)]);
        assert_eq!(first[4], [entry(0, 0.5), entry(3, -1.0)]);
        assert_eq!(answers.person(1)[3], []);
    }

    #[test]
    fn tools_write_csv_in_several_ways() {
        let expected = csv("theme,beta,\"load, ms\"\ndark,true,1.5\nlight,false,2\n").unwrap();
        for text in [
            "\u{feff}theme , beta,\"load, ms\"\n dark ,True, 1.5\nlight,FALSE,2\n",
            "\u{feff}\"theme\",beta,\"load, ms\"\r\ndark,yes,1.5\r\nlight,no,2\r\n",
            "theme;beta;load, ms\ndark;1;1.5\nlight;0;2\n",
            "theme\tload, ms\tbeta\ndark\t1.5\tTRUE\nlight\t2\tNo\n",
            "\n\ntheme,beta,\"load, ms\"\rdark,true,1.5\rlight,false,2\r",
        ] {
            assert_eq!(csv(text).as_ref(), Ok(&expected), "{text:?}");
        }
        // A separator inside the only name.
        let draft: hushbin::TaskDraft = serde_json::from_value(json!({
            "id": "t", "epsilon": 1.0, "questions": [
                { "name": "a;b c", "kind": "choice", "options": ["x;y", "z"] },
            ],
        }))
        .unwrap();
        let task = draft.resolve().unwrap();
        let found = Answers::read_csv("a;b c\nx;y\nz\n".as_bytes(), &task).unwrap();
        assert_eq!(found.people(), 2);
        for (text, expected) in [
            (
                "theme;colour\n",
                "line 1: the task has no question \"colour\"",
            ),
            (
                "theme;beta,theme\n",
                "line 1: the task has no question \"theme;beta\"",
            ),
            (
                "theme beta\n",
                "line 1: the task has no question \"theme beta\"",
            ),
        ] {
            assert_eq!(csv(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn several_numbers_have_columns_of_their_own() {
        let draft: hushbin::TaskDraft = serde_json::from_value(json!({
            "id": "t", "epsilon": 1.0, "questions": [
                { "name": "load", "kind": "numbers", "of": [
                    { "name": "first", "min": 0, "max": 5, "unit": "s" },
                    { "name": "all", "min": 0, "max": 10 },
                ] },
                { "name": "rated", "kind": "ratings", "items": ["x", "y"], "sparsity": 2,
                  "value": "real" },
            ],
        }))
        .unwrap();
        let task = draft.resolve().unwrap();
        let read = |text: &str| {
            let found = Answers::read_csv(text.as_bytes(), &task);
            found.map_err(|error| error.to_string())
        };
        let columns = read("load.first,rated.y,load.all,rated.x\n1,,2.5,0.5\n7,1,3,\n").unwrap();
        let cells = "load,rated\nfirst:1;all:2.5,x:0.5\nall:3;first:7,y:1\n";
        assert_eq!(Ok(&columns), read(cells).as_ref());
        let lines = "{\"load\":{\"all\":2.5,\"first\":1},\"rated\":{\"x\":0.5}}\n\
             {\"load\":{\"all\":3,\"first\":7},\"rated\":{\"y\":1}}\n";
        let lines = Answers::read_json_lines(lines.as_bytes(), &task).unwrap();
        assert_eq!((&columns, columns.clipped(0)), (&lines, 1));
        for (text, expected) in [
            (
                "load.last\n",
                "line 1: the task has no question \"load.last\"",
            ),
            (
                "load.first,load.all\n1,2\n,2\n3,\n",
                "line 3: \"load\": \"first\": there is no answer; further lines without answers: 1",
            ),
            (
                "load\nfirst:1\n",
                "line 2: \"load\": \"all\": there is no answer",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
    }

    /// serde would silently keep the last of two equal members.
    #[test]
    fn members_that_stand_twice_are_refused() {
        for (text, expected) in [
            (
                "{\"theme\":\"dark\",\"theme\":\"light\"}",
                "line 1: \"theme\" appears twice",
            ),
            (
                "\n{\"rated\":{\"0\":1,\"1\":1,\"0\":-1}}",
                "line 2: \"0\" appears twice",
            ),
            (
                "{\"used\":[{\"a\":1,\"a\":1}]}",
                "line 1: \"a\" appears twice",
            ),
            (
                "{\"theme\":\"{\\\"a:\",\"\\u0074heme\":\"\"}",
                "line 1: \"theme\" appears twice",
            ),
        ] {
            assert_eq!(json(text).unwrap_err(), expected);
        }
    }

    #[test]
    fn missing_answers_are_counted() {
        let text = "theme,beta,\"load, ms\"\ndark,true,1\ndark,true,\nlight,,2\ndark,false,\n";
        let expected = "line 3: \"load, ms\": there is no answer; further lines without answers: 2";
        assert_eq!(csv(text).unwrap_err(), expected);
        let text = "\u{feff}{\"theme\":\"dark\",\"beta\":true,\"load, ms\":null}\n{}\n";
        let expected = "line 1: \"load, ms\": there is no answer; further lines without answers: 1";
        assert_eq!(json(text).unwrap_err(), expected);
        // Invalid answers are reported before missing ones.
        let text = "theme,beta,\"load, ms\"\ndark,true,\ndark,true,NA\n";
        let expected = "line 3: \"load, ms\": expected a finite number, found \"NA\"";
        assert_eq!(csv(text).unwrap_err(), expected);
    }

    fn crossed() -> Task {
        let draft: hushbin::TaskDraft = serde_json::from_value(json!({
            "id": "t", "epsilon": 1.0, "questions": [
                { "name": "load-by-plan", "kind": "cross", "of": [
                    { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
                    { "name": "loadMs", "kind": "number", "min": 0, "max": 100 },
                ] },
                { "name": "both", "kind": "cross", "of": [
                    { "name": "beta", "kind": "flag" },
                    { "name": "version", "kind": "choice", "options": 3 },
                ] },
                { "name": "all", "kind": "together", "of": [
                    { "name": "beta", "kind": "flag" },
                    { "name": "theme", "kind": "choice", "options": ["dark", "light"] },
                    { "name": "version", "kind": "choice", "options": 3 },
                ] },
            ],
        }))
        .unwrap();
        draft.resolve().unwrap()
    }

    #[test]
    fn parts_have_columns_or_members() {
        let task = crossed();
        let from_csv = Answers::read_csv(
            "both.version,load-by-plan.loadMs,load-by-plan.plan,both.beta,\
             all.theme,all.version,all.beta\n\
             2,150,pro,true,light,1,true\n0,7.5,free,false,dark,2,false\n"
                .as_bytes(),
            &task,
        );
        let from_json = Answers::read_json_lines(
            "{\"load-by-plan\":{\"plan\":\"pro\",\"loadMs\":150},\
             \"both\":{\"beta\":true,\"version\":2},\
             \"all\":{\"version\":1,\"beta\":true,\"theme\":\"light\"}}\n\
             {\"all\":{\"beta\":false,\"theme\":\"dark\",\"version\":2},\
             \"both\":{\"version\":0,\"beta\":false},\
             \"load-by-plan\":{\"loadMs\":7.5,\"plan\":\"free\"}}\n"
                .as_bytes(),
            &task,
        );
        let answers = from_csv.unwrap();
        assert_eq!(answers, from_json.unwrap());
        let entry = |item, value| Entry { item, value };
        assert_eq!(answers.answer(0, 0), [entry(1, 150.0)]);
        assert_eq!(answers.answer(0, 1), [entry(1, 2.0)]);
        assert_eq!(answers.answer(1, 0), [entry(0, 7.5)]);
        let all = [entry(0, 1.0), entry(1, 1.0), entry(2, 1.0)];
        assert_eq!(answers.answer(0, 2), all);
        assert_eq!(answers.answer(1, 2)[2], entry(2, 2.0));
        assert_eq!([0, 1].map(|question| answers.clipped(question)), [1, 0]);
    }

    #[test]
    fn wrong_parts_are_named() {
        let task = crossed();
        let header = "load-by-plan.plan,load-by-plan.loadMs,both.beta,both.version,\
                      all.beta,all.theme,all.version\n";
        for (text, expected) in [
            (
                "load-by-plan\n".to_owned(),
                "line 1: \"load-by-plan\" has a column for each part",
            ),
            (
                "both.gamma\n".to_owned(),
                "line 1: the task has no question \"both.gamma\"",
            ),
            (
                format!("{header}prof,1,true,0,true,dark,0\n"),
                "line 2: \"load-by-plan\": \"plan\": there is no option \"prof\"",
            ),
            (
                format!("{header}pro,,true,0,true,dark,0\n"),
                "line 2: \"load-by-plan\": \"loadMs\": there is no answer",
            ),
            (
                format!("{header}pro,NaN,true,0,true,dark,0\n"),
                "line 2: \"load-by-plan\": \"loadMs\": expected a finite number",
            ),
            (
                format!("{header}pro,1,perhaps,0,true,dark,0\n"),
                "line 2: \"both\": \"beta\": expected true or false",
            ),
            (
                "all\n".to_owned(),
                "line 1: \"all\" has a column for each part",
            ),
            (
                format!("{header}pro,1,true,0,2,dark,0\n"),
                "line 2: \"all\": \"beta\": expected true or false",
            ),
            (
                format!("{header}pro,1,true,0,true,blue,0\n"),
                "line 2: \"all\": \"theme\": there is no option \"blue\"",
            ),
            (
                format!("{header}pro,1,true,0,true,,0\n"),
                "line 2: \"all\": \"theme\": there is no answer",
            ),
            (
                "both.beta\ntrue\n".to_owned(),
                "line 2: \"load-by-plan\": there is no answer",
            ),
        ] {
            let error = Answers::read_csv(text.as_bytes(), &task)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{error}, expected {expected}");
        }
        let line = "{\"load-by-plan\":{\"plan\":\"pro\",\"load\":1}}";
        let error = Answers::read_json_lines(line.as_bytes(), &task).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: \"load-by-plan\": there is no part \"load\""
        );
    }

    #[test]
    fn ratings_alone_are_items() {
        let draft: hushbin::TaskDraft = serde_json::from_value(json!({
            "id": "t", "items": ["dark", "wide"], "sparsity": 2, "epsilon": 1.0, "value": "sign",
        }))
        .unwrap();
        let task = draft.resolve().unwrap();
        let from_csv = Answers::read_csv("wide,dark\n1,-1\n,1\n".as_bytes(), &task).unwrap();
        let lines = "{\"wide\":1,\"dark\":-1}\n{\"dark\":1}\n";
        let from_json = Answers::read_json_lines(lines.as_bytes(), &task).unwrap();
        assert_eq!(from_csv.person(1), from_json.person(1));
        let sorted = |answers: &Answers| {
            let mut entries = answers.person(0)[0].to_vec();
            entries.sort_by_key(|entry| entry.item);
            entries
        };
        assert_eq!(sorted(&from_csv), sorted(&from_json));
        let error = Answers::read_csv("tall\n1\n".as_bytes(), &task).unwrap_err();
        assert_eq!(error.to_string(), "line 1: there is no option \"tall\"");
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, expected) in [
            (
                "theme,colour\n",
                "line 1: the task has no question \"colour\"",
            ),
            ("theme,theme\n", "line 1: \"theme\" appears twice"),
            ("theme\n", "line 1: there are no answers"),
            (
                "theme\nblue\n",
                "line 2: \"theme\": there is no option \"blue\"",
            ),
            ("theme\n\"\"\n", "line 2: \"theme\": there is no answer"),
            ("theme\ndark\n", "line 2: \"beta\": there is no answer"),
            (
                "theme,beta\ndark,perhaps\n",
                "line 2: \"beta\": expected true or false, found \"perhaps\"",
            ),
            (
                "theme,beta,\"load, ms\"\ndark,true,1\nlight,true,NaN\n",
                "line 3: \"load, ms\": expected a finite number, found \"NaN\"",
            ),
        ] {
            assert_eq!(csv(text).unwrap_err(), expected, "{text:?}");
        }
        for (text, expected) in [
            (
                "{\"colour\":1}",
                "line 1: the task has no question \"colour\"",
            ),
            ("[]", "line 1: invalid type"),
            (
                "{\"theme\":[\"dark\",\"light\"]}",
                "line 1: \"theme\": expected one of the options",
            ),
            (
                "{\"theme\":\"dark\",\"beta\":1}",
                "line 1: \"beta\": expected true or false",
            ),
        ] {
            let error = json(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let uneven = csv("theme,beta\ndark\n").unwrap_err();
        assert!(uneven.starts_with("line 2: "), "{uneven}");
    }
}
