//! Options that describe questions, and the wanted accuracy of the estimates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hushbin::Items;
use hushbin::choose::QuestionDraft;
use hushbin::task::ReportBudget;
use hushbin_analysis::plan::AccuracyGoal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::output::Error;
use crate::task::task_file;
use crate::text_file;

/// Options that describe what a plan is for: ratings of items, one question of another kind, or all
/// questions in a task file.
#[derive(Debug, clap::Args)]
pub(super) struct QuestionOptions {
    /// Number of items that people rate, 1 to 1048576, or 'open' if items may be any strings.
    /// Without --kind and --task, the question asks for ratings of these items
    #[arg(long, value_name = "N", required_unless_present_any = ["names", "kind", "task"], value_parser = parse_item_count_or_open)]
    items: Option<Items>,
    /// File with the names of the items, options or numbers, one name per line, to use instead of
    /// --items, --options or --numbers
    #[arg(long, value_name = "FILE", conflicts_with = "items")]
    names: Option<PathBuf>,
    /// Maximum number of entries of one person that a report covers, 1 to 1024. An entry is an item
    /// that the person rates, or an option that the person chooses in a 'set'
    #[arg(long, value_name = "S", required_unless_present_any = ["entries", "kind", "task"])]
    sparsity: Option<u32>,
    /// Expected numbers of people who have 0, 1, 2, … entries, separated by commas, for ratings.
    /// The command uses them to predict the bias of estimates and, without --sparsity, to choose
    /// the sparsity
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    entries: Option<Vec<u64>>,
    /// Possible ratings of an item: 'sign' for -1 and 1, 'real' for all numbers from -1 to 1
    /// (default sign)
    #[arg(long, default_value = "sign", hide_default_value = true, value_parser = ["sign", "real"], conflicts_with_all = NON_RATINGS_OPTIONS)]
    value: String,
    /// Wanted estimate for each rated item: 'mean' for the mean rating over all people, where a
    /// missing rating counts as 0; 'frequency' for the shares of people with a positive and with a
    /// negative rating; 'nonmissing' for the share of people with any rating (default mean)
    #[arg(long, default_value = "mean", hide_default_value = true, value_parser = ["mean", "frequency", "nonmissing"], conflicts_with_all = NON_RATINGS_OPTIONS)]
    objective: String,
    /// Protection that the mechanism for ratings has to give: 'user' protects all ratings of a
    /// person, 'event' protects the value of any single rating (default user)
    #[arg(long, default_value = "user", hide_default_value = true, value_parser = ["user", "event"], conflicts_with_all = NON_RATINGS_OPTIONS)]
    level: String,
    /// Kind of a question that does not ask for ratings: 'flag' (no or yes), 'choice' (one option),
    /// 'set' (several options), 'number', 'numbers' (several numbers), 'cross' (two answers of the
    /// same person, as rows and columns of a table), 'text', or 'together' (several flags and
    /// choices in one report)
    #[arg(long, value_name = "KIND", conflicts_with = "items")]
    kind: Option<String>,
    /// Task file (JSON) with the questions; parameters may be missing. A plan needs two of these:
    /// people, privacy, accuracy. If the options give fewer, the file's 'epsilon' and then its
    /// 'people' are used
    #[arg(long, value_name = "FILE", conflicts_with_all = ["items", "kind", "names", "sparsity", "entries"])]
    pub(super) task: Option<PathBuf>,
    /// Number of options of a 'choice' or a 'set', or number of rows of a 'cross', 2 to 1048576.
    /// For 'together', the numbers of options of all parts, separated by commas, such as 2,2,3. A
    /// yes-or-no part has 2
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "names",
        value_delimiter = ','
    )]
    options: Vec<u32>,
    /// Number of columns of a 'cross', 2 to 1048576, if the second answer is one of several
    /// options. If the second answer is a number, give --min and --max instead
    #[arg(long, value_name = "N")]
    columns: Option<u32>,
    /// Count of numbers in the answer to a question of kind 'numbers', 2 to 1024. Each number is
    /// between --min and --max
    #[arg(long, value_name = "N", conflicts_with = "names")]
    numbers: Option<u32>,
    /// Minimum of a 'number', of each of the 'numbers', or of the number in a 'cross'. Smaller
    /// answers count as the minimum
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    min: Option<f64>,
    /// Maximum of a 'number', of each of the 'numbers', or of the number in a 'cross'. Larger
    /// answers count as the maximum
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    max: Option<f64>,
    /// Unit of the numbers from --min to --max, such as ms
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Wanted estimate for a question of kind 'number': 'mean', 'histogram' or 'quantiles' (default
    /// histogram if --bins or --spacing is given, otherwise mean). For the number in a 'cross',
    /// only 'mean' or 'histogram'
    #[arg(long, value_name = "WHAT")]
    want: Option<String>,
    /// Number of bins that the range from --min to --max is divided into: for a histogram 2 to 4096
    /// (default 32), for quantiles 2 to 128 (default 64)
    #[arg(long, value_name = "N")]
    bins: Option<u32>,
    /// Spacing of the bins: 'even', or 'logarithmic' if --min is above 0 (default even)
    #[arg(long, value_name = "HOW")]
    spacing: Option<String>,
    /// Maximum length of the texts of a question of kind 'text', in characters, 1 to 126
    #[arg(long, value_name = "N")]
    length: Option<u32>,
    /// Wanted accuracy: the maximum half-width (±) of a 95% interval. For a share, X is a fraction
    /// from 0 to 1. For a mean, X is in the unit of the number. For a quantile, X is in the unit of
    /// the number if --spread is given, and otherwise a fraction of people. If there are several
    /// questions, write NAME=X with the name of each question. For one number of a question of kind
    /// 'numbers', write NAME.NUMBER=X
    #[arg(long, value_name = "[NAME=]X", value_parser = parse_named_number)]
    within: Vec<NamedNumber>,
    /// Wanted quantile of a 'number', as the fraction of people below the quantile, 0.001 to 0.999
    /// (default 0.5 if --spread or --want quantiles is given). If there are several questions,
    /// write NAME=P with the name of the question
    #[arg(long, value_name = "[NAME=]P", value_parser = parse_named_number)]
    quantile: Vec<NamedNumber>,
    /// Expected standard deviation of people's answers to a question of kind 'number', in the unit
    /// of the number. With this option, the error of a quantile is stated in the unit of the
    /// number, assuming normally distributed answers. If there are several questions, write NAME=X
    /// with the name of the question
    #[arg(long, value_name = "[NAME=]X", value_parser = parse_named_number)]
    spread: Vec<NamedNumber>,
    /// Wanted accuracy of ratings: the maximum root mean squared error over all items, 0.000001 to
    /// 1
    #[arg(long, value_name = "SE", conflicts_with_all = NON_RATINGS_OPTIONS)]
    standard_error: Option<f64>,
    /// Wanted accuracy of ratings: the smallest frequency that should be detected, 0.000001 to 1.
    /// With probability 0.8, the estimate of an item with this frequency differs significantly from
    /// 0
    #[arg(long, value_name = "F", conflicts_with_all = NON_RATINGS_OPTIONS)]
    smallest_frequency: Option<f64>,
}

/// Options for questions that do not ask for ratings. They conflict with the options for ratings.
const NON_RATINGS_OPTIONS: [&str; 2] = ["kind", "task"];

fn parse_item_count_or_open(text: &str) -> Result<Items, String> {
    let items = if text == "open" { "\"open\"" } else { text };
    let expected = "expected a number of items, or \"open\"";
    match serde_json::from_str(items) {
        Ok(items @ (Items::Count(_) | Items::Open(_))) => Ok(items),
        _ => Err(expected.to_owned()),
    }
}

/// Value of an option such as `--within`, with the name of its question if the option gives one.
#[derive(Debug, Clone)]
struct NamedNumber {
    name: Option<String>,
    number: f64,
}

fn parse_named_number(text: &str) -> Result<NamedNumber, String> {
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    let number = number
        .parse()
        .map_err(|_| "expected a number, or NAME=number".to_owned())?;
    Ok(NamedNumber { name, number })
}

/// Task file for a plan. Any parameter may be missing, even ε or the number of people.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanTaskFile {
    id: String,
    questions: Vec<QuestionDraft>,
    epsilon: Option<f64>,
    people: Option<u64>,
    #[serde(default)]
    budget: ReportBudget,
}

/// Questions to plan, with the wanted accuracy of each.
#[derive(Debug, Default)]
pub(super) struct PlanRequest {
    /// Id of the task in the task file, or `None` without a task file.
    pub(super) task_id: Option<String>,
    /// Labels in the task file, or none.
    pub(super) labels: Vec<String>,
    pub(super) questions: Vec<QuestionDraft>,
    pub(super) budget: ReportBudget,
    pub(super) accuracy_goals: BTreeMap<String, AccuracyGoal>,
    /// Local ε in the task file.
    task_file_epsilon: Option<f64>,
    /// Number of people in the task file.
    task_file_people: Option<u64>,
}

impl PlanRequest {
    /// Returns the number of people and the local ε to plan for. The options may give fewer than
    /// two of these: people, privacy, accuracy. Numbers in the task file are then used too.
    pub(super) fn people_and_epsilon(
        &self,
        people: Option<u64>,
        epsilon: Option<f64>,
        central_epsilon: Option<f64>,
    ) -> (Option<u64>, Option<f64>) {
        let wants = self.accuracy_goals.values().any(|own| own.within.is_some());
        let private = epsilon.is_some() || central_epsilon.is_some();
        let given = u8::from(wants) + u8::from(private) + u8::from(people.is_some());
        let epsilon = epsilon.or(self.task_file_epsilon.filter(|_| !private && given < 2));
        let given = given + u8::from(!private && epsilon.is_some());
        (
            people.or(self.task_file_people.filter(|_| given < 2)),
            epsilon,
        )
    }
}

impl QuestionOptions {
    /// Reads the questions, and the wanted accuracy of each question.
    ///
    /// # Errors
    /// When a file cannot be read, an option does not fit the kind of question, or an option names
    /// no question although there are several.
    pub(super) fn read_plan_request(&self) -> Result<PlanRequest, Error> {
        self.check_options_fit_kind()?;
        let mut request = match &self.task {
            Some(file) => {
                let (file, labels): (PlanTaskFile, _) = task_file::read_json(file)?;
                PlanRequest {
                    labels,
                    task_id: Some(file.id),
                    questions: file.questions,
                    budget: file.budget,
                    task_file_epsilon: file.epsilon,
                    task_file_people: file.people,
                    ..PlanRequest::default()
                }
            }
            None => PlanRequest {
                questions: vec![self.build_question()?],
                ..PlanRequest::default()
            },
        };
        request.accuracy_goals = self.accuracy_goals(&request.questions)?;
        Ok(request)
    }

    /// Checks that every given option fits the kind of question.
    fn check_options_fit_kind(&self) -> Result<(), Error> {
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

    /// Builds the question that the options describe. The parser of task files checks the fields.
    fn build_question(&self) -> Result<QuestionDraft, Error> {
        let listed = self.names.as_deref().map(read_item_names).transpose()?;
        let Some(kind) = self.kind.as_deref() else {
            return self.ratings_question(listed.as_deref());
        };
        let single = match self.options[..] {
            [count] => Some(count),
            [_, _, ..] if kind != "together" => {
                return Err("several --options need --kind together".into());
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
                let number = |name| {
                    let name = [("name", json!(name))];
                    object_without_nulls(name.into_iter().chain(self.number_range_fields()))
                };
                let numbers = |names: Vec<String>| Value::from_iter(names.into_iter().map(number));
                fields.push(("of", json!(names.map(numbers))));
                fields.push(("options", json!(single)));
                fields.extend(self.bin_fields());
            }
            "together" => fields.push(("of", together_question_parts(&self.options))),
            "cross" => fields.push(("of", self.cross_tabulation_parts(json!(options())))),
            _ => {
                fields.push(("options", json!(options())));
                fields.extend(
                    self.number_range_fields()
                        .into_iter()
                        .chain(self.bin_fields()),
                );
            }
        }
        Ok(serde_json::from_value(object_without_nulls(fields))?)
    }

    /// Returns the rows and the columns of a cross-tabulation, whose rows have these options.
    fn cross_tabulation_parts(&self, row_options: Value) -> Value {
        let rows = [("name", json!("rows")), ("kind", json!("choice"))];
        let rows = rows.into_iter().chain([("options", row_options)]);
        let kind = if self.columns.is_some() {
            "choice"
        } else {
            "number"
        };
        let columns = [
            ("name", json!("columns")),
            ("kind", json!(kind)),
            ("options", json!(self.columns)),
        ];
        let columns = columns.into_iter().chain(self.number_range_fields());
        let columns = columns.chain(self.bin_fields());
        json!([object_without_nulls(rows), object_without_nulls(columns)])
    }

    /// Builds the question that asks for ratings. Its name is empty, so that the task file is
    /// written in the short form for a single question.
    fn ratings_question(&self, listed: Option<&[String]>) -> Result<QuestionDraft, Error> {
        let items = (self.items.as_ref()).map_or_else(|| json!(listed), |items| json!(items));
        Ok(serde_json::from_value(object_without_nulls([
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

    fn number_range_fields(&self) -> [(&'static str, Value); 3] {
        let Self { min, max, unit, .. } = self;
        [
            ("min", json!(min)),
            ("max", json!(max)),
            ("unit", json!(unit)),
        ]
    }

    /// Returns the fields of a task file that determine the bins of a number.
    fn bin_fields(&self) -> [(&'static str, Value); 3] {
        [
            ("want", json!(self.want)),
            ("bins", json!(self.bins)),
            ("spacing", json!(self.spacing)),
        ]
    }

    /// Returns the wanted accuracy of each question, by the name of the question.
    fn accuracy_goals(
        &self,
        questions: &[QuestionDraft],
    ) -> Result<BTreeMap<String, AccuracyGoal>, Error> {
        let mut all: BTreeMap<String, AccuracyGoal> = BTreeMap::new();
        type GoalFieldAccessor = fn(&mut AccuracyGoal) -> &mut Option<f64>;
        let fields: [(&[NamedNumber], GoalFieldAccessor); 3] = [
            (&self.within, |own| &mut own.within),
            (&self.quantile, |own| &mut own.quantile),
            (&self.spread, |own| &mut own.spread),
        ];
        for (given, field) in fields {
            for named in given {
                let (name, number) = named.question_and_number_names(questions)?;
                let wanted = all.entry(name).or_default();
                if let Some(number) = number {
                    wanted.number_name = Some(number);
                }
                *field(wanted) = Some(named.number);
            }
        }
        if self.standard_error.is_some() || self.smallest_frequency.is_some() {
            let ratings = all.entry(String::new()).or_default();
            ratings.standard_error = self.standard_error;
            ratings.smallest_frequency = self.smallest_frequency;
        }
        Ok(all)
    }
}

impl NamedNumber {
    /// Returns the name of the question that this option is for. If the option gives
    /// `NAME.NUMBER`, also returns the name of that number in the question.
    fn question_and_number_names(
        &self,
        questions: &[QuestionDraft],
    ) -> Result<(String, Option<String>), Error> {
        let Some(name) = &self.name else {
            return match questions {
                [sole] => Ok((sole.name.clone(), None)),
                _ => Err("there are several questions: write NAME=number to name one".into()),
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

/// Builds a JSON object of the fields that are not null.
fn object_without_nulls<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    given.collect()
}

/// Builds the parts of a question of kind `together`. A part is a flag if it has 2 options, and a
/// choice if it has any other number of options.
fn together_question_parts(options: &[u32]) -> Value {
    let part = |(number, &count): (u32, &u32)| match count {
        2 => json!({ "name": format!("flag-{number}"), "kind": "flag" }),
        _ => json!({ "name": format!("choice-{number}"), "kind": "choice", "options": count }),
    };
    (1..).zip(options).map(part).collect()
}

/// Reads the names in a file, one per line.
fn read_item_names(path: &Path) -> Result<Vec<String>, Error> {
    let text =
        text_file::read_text_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}
