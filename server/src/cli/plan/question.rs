//! Options that describe questions and the accuracy wanted of their estimates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hushbin::Items;
use hushbin::choose::QuestionDraft;
use hushbin::task::Budget;
use hushbin_analysis::plan::AccuracyGoal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::output::Error;
use crate::task::task_file;
use crate::text;

/// Options that describe questions: ratings of items, one question of another kind, or the questions
/// of a file.
#[derive(Debug, clap::Args)]
pub(super) struct QuestionOptions {
    /// Number of items to rate, or "open" for arbitrary strings
    #[arg(long, value_name = "N", required_unless_present_any = ["names", "kind", "task"], value_parser = parse_items)]
    items: Option<Items>,
    /// File of names of items, options or numbers, one a line
    #[arg(long, value_name = "FILE", conflicts_with = "items")]
    names: Option<PathBuf>,
    /// Number of a person's entries that are reported on
    #[arg(long, value_name = "S", required_unless_present_any = ["entries", "kind", "task"])]
    sparsity: Option<u32>,
    /// Numbers of people with 0, 1, 2, … entries, to weigh bias against noise. Chooses --sparsity
    /// if that is missing
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    entries: Option<Vec<u64>>,
    /// Values of items: -1 or 1 (sign), or from -1 to 1 (real) (default sign)
    #[arg(long, default_value = "sign", hide_default_value = true, value_parser = ["sign", "real"], conflicts_with_all = NOT_RATINGS)]
    value: String,
    /// Estimates wanted of items: means, with missing entries as 0 (mean), frequencies of each sign
    /// (frequency), or frequencies of either sign (nonmissing) (default mean)
    #[arg(long, default_value = "mean", hide_default_value = true, value_parser = ["mean", "frequency", "nonmissing"], conflicts_with_all = NOT_RATINGS)]
    objective: String,
    /// Minimum protection by a report on items: of a person's whole input (user), or of the value
    /// of any single item (event) (default user)
    #[arg(long, default_value = "user", hide_default_value = true, value_parser = ["user", "event"], conflicts_with_all = NOT_RATINGS)]
    level: String,
    /// Kind of the question, if not ratings: flag, choice, set, number, numbers, cross, text or
    /// together
    #[arg(long, value_name = "KIND", conflicts_with = "items")]
    kind: Option<String>,
    /// Task file (JSON), complete or not. Its "epsilon" and "people" are used if options give too
    /// little
    #[arg(long, value_name = "FILE", conflicts_with_all = ["items", "kind", "names", "sparsity", "entries"])]
    pub(super) task: Option<PathBuf>,
    /// Number of options of a choice, a set or a cross's rows (or --names). For together, one
    /// number for each question, such as 2,2,3, where 2 makes a flag
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "names",
        value_delimiter = ','
    )]
    options: Vec<u32>,
    /// Number of options of a cross's columns. For a column of numbers, give --min and --max
    /// instead
    #[arg(long, value_name = "N")]
    columns: Option<u32>,
    /// Number of numbers, each from --min to --max (or --names)
    #[arg(long, value_name = "N", conflicts_with = "names")]
    numbers: Option<u32>,
    /// Smallest number; numbers below it count as it
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    min: Option<f64>,
    /// Largest number; numbers above it count as it
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    max: Option<f64>,
    /// Unit of the numbers, such as ms
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Estimate wanted of a number: mean, histogram or quantiles
    #[arg(long, value_name = "WHAT")]
    want: Option<String>,
    /// Number of bins of a histogram or of quantiles
    #[arg(long, value_name = "N")]
    bins: Option<u32>,
    /// Spacing of the bins: even or logarithmic
    #[arg(long, value_name = "HOW")]
    spacing: Option<String>,
    /// Length of the texts, in characters
    #[arg(long, value_name = "N")]
    length: Option<u32>,
    /// Maximum half-width (±) of a 95% interval: of a share from 0 to 1, of a mean in its unit, or
    /// of a quantile in its unit if --spread is given. NAME= selects a question, and NAME.NUMBER=
    /// one of several numbers
    #[arg(long, value_name = "[NAME=]X", value_parser = parse_named)]
    within: Vec<NamedNumber>,
    /// Quantile wanted: the fraction of people below it, such as 0.9 (default 0.5 if --spread is
    /// given)
    #[arg(long, value_name = "[NAME=]P", value_parser = parse_named)]
    quantile: Vec<NamedNumber>,
    /// Standard deviation of a number among people, in its unit, to state errors of a quantile in
    /// that unit. Assumes a normal distribution
    #[arg(long, value_name = "[NAME=]X", value_parser = parse_named)]
    spread: Vec<NamedNumber>,
    /// Maximum root mean squared error of ratings, over all items
    #[arg(long, value_name = "SE", conflicts_with_all = NOT_RATINGS)]
    standard_error: Option<f64>,
    /// Frequency of the rarest item that should be seen, from 0 to 1
    #[arg(long, value_name = "F", conflicts_with_all = NOT_RATINGS)]
    smallest: Option<f64>,
}

/// Options of questions that are not ratings.
const NOT_RATINGS: [&str; 2] = ["kind", "task"];

fn parse_items(text: &str) -> Result<Items, String> {
    let items = if text == "open" { "\"open\"" } else { text };
    let expected = "expected a number of items, or \"open\"";
    match serde_json::from_str(items) {
        Ok(items @ (Items::Count(_) | Items::Open(_))) => Ok(items),
        _ => Err(expected.to_owned()),
    }
}

/// Number that may name its question.
#[derive(Debug, Clone)]
struct NamedNumber {
    name: Option<String>,
    number: f64,
}

fn parse_named(text: &str) -> Result<NamedNumber, String> {
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    let number = number
        .parse()
        .map_err(|_| "expected a number, or NAME=number".to_owned())?;
    Ok(NamedNumber { name, number })
}

/// Task file, complete or not, without the parameters that a plan finds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    id: String,
    questions: Vec<QuestionDraft>,
    epsilon: Option<f64>,
    people: Option<u64>,
    #[serde(default)]
    budget: Budget,
}

/// Questions with the accuracy wanted of each.
#[derive(Debug, Default)]
pub(super) struct PlanRequest {
    /// Id in the file, or `None` without a file.
    pub(super) id: Option<String>,
    pub(super) questions: Vec<QuestionDraft>,
    pub(super) budget: Budget,
    pub(super) wanted: BTreeMap<String, AccuracyGoal>,
    /// Local ε in the file.
    epsilon: Option<f64>,
    /// Number of people in the file.
    people: Option<u64>,
}

impl PlanRequest {
    /// Returns the number of people and the local ε. Numbers of the file complete the options if
    /// these give fewer than two of people, privacy and accuracy.
    pub(super) fn people_and_epsilon(
        &self,
        people: Option<u64>,
        epsilon: Option<f64>,
        central_epsilon: Option<f64>,
    ) -> (Option<u64>, Option<f64>) {
        let wants = self.wanted.values().any(|own| own.within.is_some());
        let private = epsilon.is_some() || central_epsilon.is_some();
        let given = u8::from(wants) + u8::from(private) + u8::from(people.is_some());
        let epsilon = epsilon.or(self.epsilon.filter(|_| !private && given < 2));
        let given = given + u8::from(!private && epsilon.is_some());
        (people.or(self.people.filter(|_| given < 2)), epsilon)
    }
}

impl QuestionOptions {
    /// Reads the questions, and the accuracy wanted of each.
    ///
    /// # Errors
    /// When a file cannot be read, or an option names none of the questions.
    pub(super) fn request(&self) -> Result<PlanRequest, Error> {
        self.check()?;
        let mut request = match &self.task {
            Some(file) => {
                let file: Questions = task_file::parse(file)?;
                PlanRequest {
                    id: Some(file.id),
                    questions: file.questions,
                    budget: file.budget,
                    epsilon: file.epsilon,
                    people: file.people,
                    ..PlanRequest::default()
                }
            }
            None => PlanRequest {
                questions: vec![self.question()?],
                ..PlanRequest::default()
            },
        };
        request.wanted = self.wanted(&request.questions)?;
        Ok(request)
    }

    /// Checks that options go with the kind of the question.
    fn check(&self) -> Result<(), Error> {
        let numbers = [
            self.options.first().copied(),
            self.columns,
            self.numbers,
            self.bins,
            self.length,
        ];
        let words = [&self.unit, &self.want, &self.spacing];
        let of_kind = numbers.iter().any(Option::is_some)
            || words.iter().any(|word| word.is_some())
            || self.min.is_some()
            || self.max.is_some();
        if of_kind && self.kind.is_none() {
            return Err(
                "--options, --columns, --numbers, --min, --max, --unit, --want, --bins, \
                 --spacing and --length go with a --kind"
                    .into(),
            );
        }
        for (own, option, kind) in [
            (self.columns, "columns", "cross"),
            (self.numbers, "numbers", "numbers"),
        ] {
            if own.is_some() && self.kind.as_deref() != Some(kind) {
                return Err(format!("--{option} goes with --kind {kind}").into());
            }
        }
        if self.kind.is_none() && self.task.is_none() {
            let wanted = [&self.within, &self.quantile, &self.spread];
            if wanted.iter().any(|wanted| !wanted.is_empty()) {
                return Err(
                    "--within, --quantile and --spread go with a --kind or a --task".into(),
                );
            }
        }
        Ok(())
    }

    /// Builds the question of the options, by the parser of task files.
    fn question(&self) -> Result<QuestionDraft, Error> {
        let listed = self.names.as_deref().map(read_names).transpose()?;
        let Some(kind) = self.kind.as_deref() else {
            return self.ratings(listed.as_deref());
        };
        let single = match self.options[..] {
            [count] => Some(count),
            [_, _, ..] if kind != "together" => {
                return Err("several --options are of --kind together".into());
            }
            _ => None,
        };
        let options = || {
            let listed = listed.clone().map(Value::from);
            listed.or(single.map(Value::from))
        };
        let mut fields = vec![
            ("name", json!(kind)),
            ("kind", json!(kind)),
            ("sparsity", json!(self.sparsity)),
            ("entries", json!(self.entries)),
            ("length", json!(self.length)),
        ];
        match kind {
            "numbers" => {
                let count = |count: u32| (1..=count).map(|n| format!("number-{n}")).collect();
                let names: Option<Vec<String>> = listed.or(self.numbers.map(count));
                let number = |name| given([("name", json!(name))].into_iter().chain(self.limits()));
                let numbers = |names: Vec<String>| Value::from_iter(names.into_iter().map(number));
                fields.push(("of", json!(names.map(numbers))));
                fields.push(("options", json!(single)));
                fields.extend(self.cells());
            }
            "together" => fields.push(("of", parts(&self.options))),
            "cross" => {
                let rows = [("name", json!("rows")), ("kind", json!("choice"))];
                let rows = rows.into_iter().chain([("options", json!(options()))]);
                let columns = if self.columns.is_some() {
                    "choice"
                } else {
                    "number"
                };
                let columns = [("name", json!("columns")), ("kind", json!(columns))];
                let columns = columns
                    .into_iter()
                    .chain([("options", json!(self.columns))]);
                let columns = columns.chain(self.limits()).chain(self.cells());
                fields.push(("of", json!([given(rows), given(columns)])));
            }
            _ => {
                fields.push(("options", json!(options())));
                fields.extend(self.limits().into_iter().chain(self.cells()));
            }
        }
        Ok(serde_json::from_value(given(fields))?)
    }

    /// Builds the question of rated items. It has no name, so its task has the form for one
    /// question.
    fn ratings(&self, listed: Option<&[String]>) -> Result<QuestionDraft, Error> {
        let items = (self.items.as_ref()).map_or_else(|| json!(listed), |items| json!(items));
        Ok(serde_json::from_value(given([
            ("name", json!("")),
            ("kind", json!("ratings")),
            ("items", items),
            ("sparsity", json!(self.sparsity)),
            ("entries", json!(self.entries)),
            ("value", json!(self.value)),
            (
                "mechanism",
                json!({
                    "name": "auto",
                    "objective": self.objective,
                    "level": self.level,
                }),
            ),
        ]))?)
    }

    fn limits(&self) -> [(&'static str, Value); 3] {
        let Self { min, max, unit, .. } = self;
        [
            ("min", json!(min)),
            ("max", json!(max)),
            ("unit", json!(unit)),
        ]
    }

    /// Returns the fields that determine the bins of a number.
    fn cells(&self) -> [(&'static str, Value); 3] {
        [
            ("want", json!(self.want)),
            ("bins", json!(self.bins)),
            ("spacing", json!(self.spacing)),
        ]
    }

    /// Collects the accuracy wanted of each question.
    fn wanted(&self, questions: &[QuestionDraft]) -> Result<BTreeMap<String, AccuracyGoal>, Error> {
        let mut all: BTreeMap<String, AccuracyGoal> = BTreeMap::new();
        type Field = fn(&mut AccuracyGoal) -> &mut Option<f64>;
        let fields: [(&[NamedNumber], Field); 3] = [
            (&self.within, |own| &mut own.within),
            (&self.quantile, |own| &mut own.quantile),
            (&self.spread, |own| &mut own.spread),
        ];
        for (given, field) in fields {
            for named in given {
                let (name, number) = named.question(questions)?;
                let wanted = all.entry(name).or_default();
                if let Some(number) = number {
                    wanted.of = Some(number);
                }
                *field(wanted) = Some(named.number);
            }
        }
        if self.standard_error.is_some() || self.smallest.is_some() {
            let ratings = all.entry(String::new()).or_default();
            ratings.standard_error = self.standard_error;
            ratings.smallest = self.smallest;
        }
        Ok(all)
    }
}

impl NamedNumber {
    /// Returns the name of the question, and of the number if the question has several.
    fn question(&self, questions: &[QuestionDraft]) -> Result<(String, Option<String>), Error> {
        let Some(name) = &self.name else {
            return match questions {
                [sole] => Ok((sole.name.clone(), None)),
                _ => Err("say of which question that is, as NAME=number".into()),
            };
        };
        let named = |name: &str| questions.iter().any(|own| own.name == name);
        match name.rsplit_once('.') {
            Some((question, number)) if !named(name) && named(question) => {
                Ok((question.to_owned(), Some(number.to_owned())))
            }
            _ => Ok((name.clone(), None)),
        }
    }
}

/// Builds an object of the fields that are not null.
fn given<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    given.collect()
}

/// Builds the parts of a question of kind together: 2 options make a flag, more make a choice.
fn parts(options: &[u32]) -> Value {
    let part = |(number, &count): (u32, &u32)| match count {
        2 => json!({ "name": format!("flag-{number}"), "kind": "flag" }),
        _ => json!({ "name": format!("choice-{number}"), "kind": "choice", "options": count }),
    };
    (1..).zip(options).map(part).collect()
}

/// Reads the names in a file, one a line.
fn read_names(path: &Path) -> Result<Vec<String>, Error> {
    let text = text::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
