//! Options and words of planning for questions by name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::lines;
use hushbin::choose::QuestionDraft;
use hushbin::task::Budget;
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;
use hushbin_analysis::plan::{ErrorsOf, POWER, QuestionAnswer, SurveyAnswer, Unknown, Wanted};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::describe;
use crate::cli::output::Error;
use crate::task::task_file;

/// What is asked by kind, or by the questions of a file.
#[derive(Debug, clap::Args)]
pub(super) struct ByName {
    /// Kind of one question: flag, choice, set, number, numbers, cross, text or together.
    #[arg(long, value_name = "KIND", conflicts_with = "items")]
    pub(super) kind: Option<String>,
    /// File of several questions, complete or not, as a task file has them; its "epsilon"
    /// and "people" hold where options leave too little said.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["items", "kind", "names", "sparsity", "entries"])]
    pub(super) task: Option<PathBuf>,
    /// Number of options of a choice, of a set or of a cross's rows; or --names. Of questions
    /// that are asked together of each, as 2,2,3: of two options they are flags.
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "names",
        value_delimiter = ','
    )]
    options: Vec<u32>,
    /// Number of options of a cross's columns, which are a number where --min and --max are
    /// said instead.
    #[arg(long, value_name = "N")]
    columns: Option<u32>,
    /// Number of numbers, each from --min to --max; or --names.
    #[arg(long, value_name = "N", conflicts_with = "names")]
    numbers: Option<u32>,
    /// The least number that is not clipped.
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    min: Option<f64>,
    /// The greatest.
    #[arg(
        long,
        value_name = "X",
        requires = "kind",
        allow_negative_numbers = true
    )]
    max: Option<f64>,
    /// The unit of numbers.
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// What a number is wanted for: mean, histogram or quantiles.
    #[arg(long, value_name = "WHAT")]
    want: Option<String>,
    /// Number of levels, for a mean; chosen unless it is said.
    #[arg(long, value_name = "N")]
    levels: Option<u32>,
    /// Number of bins, for a histogram or quantiles.
    #[arg(long, value_name = "N")]
    bins: Option<u32>,
    /// How bins are spaced: even or logarithmic.
    #[arg(long, value_name = "HOW")]
    spacing: Option<String>,
    /// Length of a text, in characters.
    #[arg(long, value_name = "N")]
    length: Option<u32>,
    /// Half-width of an interval at 95% confidence that is wanted, in what is answered:
    /// shares from 0 to 1, means in their unit, quantiles in their unit where the spread
    /// is known. Of the question NAME of several; of NAME.NUMBER of several numbers.
    #[arg(long, value_name = "[NAME=]X", value_parser = named)]
    within: Vec<Named>,
    /// The part of people below the quantile that is wanted; 0.5 where only a spread is
    /// said.
    #[arg(long, value_name = "[NAME=]P", value_parser = named)]
    quantile: Vec<Named>,
    /// Standard deviation of a number, in its unit: what a quantile's share says of the
    /// quantile, if people are spread normally.
    #[arg(long, value_name = "[NAME=]X", value_parser = named)]
    spread: Vec<Named>,
}

/// A number that may say of which question it is.
#[derive(Debug, Clone)]
struct Named {
    name: Option<String>,
    number: f64,
}

fn named(text: &str) -> Result<Named, String> {
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    let number = number
        .parse()
        .map_err(|_| "expected a number, or NAME=number".to_owned())?;
    Ok(Named { name, number })
}

/// The fields of a file of questions.
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

/// What is asked: questions with what is wanted of each.
pub(super) struct Asked {
    /// Of a file that has one.
    pub(super) id: Option<String>,
    pub(super) questions: Vec<QuestionDraft>,
    pub(super) budget: Budget,
    pub(super) wanted: Vec<(String, Wanted)>,
    /// What a file says.
    epsilon: Option<f64>,
    people: Option<u64>,
}

impl Asked {
    /// People and local ε, of what options say and, where that is too little, the file.
    pub(super) fn known(
        &self,
        people: Option<u64>,
        epsilon: Option<f64>,
        central_epsilon: Option<f64>,
    ) -> (Option<u64>, Option<f64>) {
        let wants = self.wanted.iter().any(|(_, own)| own.within.is_some());
        let private = epsilon.is_some() || central_epsilon.is_some();
        let said = u8::from(wants) + u8::from(private) + u8::from(people.is_some());
        let epsilon = epsilon.or(self.epsilon.filter(|_| !private && said < 2));
        let said = said + u8::from(!private && epsilon.is_some());
        (people.or(self.people.filter(|_| said < 2)), epsilon)
    }
}

impl ByName {
    /// Whether questions are asked by name.
    ///
    /// # Errors
    /// Where something is said that belongs to none.
    pub(super) fn is_asked(&self) -> Result<bool, Error> {
        let numbers = [
            self.options.first().copied(),
            self.columns,
            self.numbers,
            self.levels,
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
                "--options, --columns, --numbers, --min, --max, --unit, --want, --levels, --bins, \
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
        let asked = self.kind.is_some() || self.task.is_some();
        let wanted = [&self.within, &self.quantile, &self.spread];
        if !asked && wanted.iter().any(|wanted| !wanted.is_empty()) {
            return Err("--within, --quantile and --spread go with a --kind or a --task".into());
        }
        Ok(asked)
    }

    /// What is asked; `names` are of options or numbers.
    ///
    /// # Errors
    /// For files that are none, and what is said of no question.
    pub(super) fn asked(
        &self,
        names: Option<&Path>,
        sparsity: Option<u32>,
        entries: Option<&[u64]>,
    ) -> Result<Asked, Error> {
        let mut asked = match &self.task {
            Some(file) => {
                let file: Questions = task_file::parse(file)?;
                Asked {
                    id: Some(file.id),
                    questions: file.questions,
                    budget: file.budget,
                    wanted: Vec::new(),
                    epsilon: file.epsilon,
                    people: file.people,
                }
            }
            None => Asked {
                id: None,
                questions: vec![self.question(names, sparsity, entries)?],
                budget: Budget::default(),
                wanted: Vec::new(),
                epsilon: None,
                people: None,
            },
        };
        asked.wanted = self.wanted(&asked.questions)?;
        Ok(asked)
    }

    /// The question of a kind, read as a task file's.
    fn question(
        &self,
        names: Option<&Path>,
        sparsity: Option<u32>,
        entries: Option<&[u64]>,
    ) -> Result<QuestionDraft, Error> {
        let kind = self.kind.as_deref().unwrap_or_default();
        let listed = names.map(self::names).transpose()?;
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
            ("sparsity", json!(sparsity)),
            ("entries", json!(entries)),
            ("length", json!(self.length)),
        ];
        match kind {
            "numbers" => {
                let count = |count: u32| (1..=count).map(|n| format!("number-{n}")).collect();
                let names: Option<Vec<String>> = listed.or(self.numbers.map(count));
                let number = |name| said([("name", json!(name))].into_iter().chain(self.limits()));
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
                fields.push(("of", json!([said(rows), said(columns)])));
            }
            _ => {
                fields.push(("options", json!(options())));
                fields.extend(self.limits().into_iter().chain(self.cells()));
            }
        }
        Ok(serde_json::from_value(said(fields))?)
    }

    fn limits(&self) -> [(&'static str, Value); 3] {
        let Self { min, max, unit, .. } = self;
        [
            ("min", json!(min)),
            ("max", json!(max)),
            ("unit", json!(unit)),
        ]
    }

    /// What a number's levels or bins are chosen by.
    fn cells(&self) -> [(&'static str, Value); 4] {
        [
            ("want", json!(self.want)),
            ("levels", json!(self.levels)),
            ("bins", json!(self.bins)),
            ("spacing", json!(self.spacing)),
        ]
    }

    fn wanted(&self, questions: &[QuestionDraft]) -> Result<Vec<(String, Wanted)>, Error> {
        let mut all: Vec<(String, Wanted)> = Vec::new();
        for (own, of) in [
            (&self.within, Field::Within),
            (&self.quantile, Field::Quantile),
            (&self.spread, Field::Spread),
        ] {
            for named in own {
                let (name, number) = named.question(questions)?;
                let index = all.iter().position(|(known, _)| *known == name);
                let index = index.unwrap_or_else(|| {
                    all.push((name, Wanted::default()));
                    all.len() - 1
                });
                let wanted = &mut all[index].1;
                if let Some(number) = number {
                    wanted.of = Some(number);
                }
                match of {
                    Field::Within => wanted.within = Some(named.number),
                    Field::Quantile => wanted.quantile = Some(named.number),
                    Field::Spread => wanted.spread = Some(named.number),
                }
            }
        }
        Ok(all)
    }
}

#[derive(Clone, Copy)]
enum Field {
    Within,
    Quantile,
    Spread,
}

impl Named {
    /// The question that it is of, and which of several numbers.
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

/// An object of those fields that are said.
fn said<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let said = fields.into_iter().filter(|(_, value)| !value.is_null());
    said.collect()
}

/// Flags, and choices of more options.
fn parts(options: &[u32]) -> Value {
    let part = |(number, &count): (u32, &u32)| match count {
        2 => json!({ "name": format!("flag-{number}"), "kind": "flag" }),
        _ => json!({ "name": format!("choice-{number}"), "kind": "choice", "options": count }),
    };
    (1..).zip(options).map(part).collect()
}

/// The lines of a file.
pub(super) fn names(path: &Path) -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// The answer in words.
pub(super) fn write_words(out: &mut dyn Write, answer: &SurveyAnswer) -> io::Result<()> {
    let found = |unknown| lines::found(answer.solved_for, unknown);
    writeln!(out, "{}\n", answer.verdict.text)?;
    lines::write_people(out, answer.people, answer.days, answer.solved_for)?;
    lines::write_local(
        out,
        [answer.epsilon, answer.effective_epsilon],
        &answer.protects,
        answer.solved_for,
    )?;
    lines::write_shuffled(
        out,
        answer.central.as_ref(),
        answer.central_reason.as_deref(),
    )?;
    if let Some(times) = answer.together_over_drawn {
        writeln!(
            out,
            "together     all questions as one of kind \"together\" would take {times:.2} times the people, of all answers in sum"
        )?;
    }
    writeln!(out, "fingerprint  {}", answer.task.fingerprint())?;
    for question in &answer.questions {
        writeln!(
            out,
            "\n{}: {}, answered by {:.0} reports, {:.1}% of all",
            question.name,
            question.kind,
            question.reports,
            100.0 * question.share
        )?;
        write_question(out, question, found(Unknown::Error))?;
    }
    writeln!(out, "\n{}", answer.assumes)
}

fn write_question(out: &mut dyn Write, own: &QuestionAnswer, found: &str) -> io::Result<()> {
    let mechanism = describe::mechanism(&own.mechanism);
    writeln!(out, "  mechanism  {mechanism}")?;
    if let Some(cells) = own.cells {
        let what = match own.errors_of {
            ErrorsOf::Mean | ErrorsOf::ConditionalMean => "levels",
            _ => "bins",
        };
        writeln!(out, "  {what:<9}  {cells}{}", describe::tree(&own.tree))?;
    }
    let of = match own.errors_of {
        ErrorsOf::Share => "shares, from 0 to 1".to_owned(),
        ErrorsOf::QuantileShare => "the share below the quantile, from 0 to 1".to_owned(),
        ErrorsOf::Mean => format!("the mean{}", of_and_unit(own)),
        ErrorsOf::ConditionalMean => format!("the mean{}, within a row", of_and_unit(own)),
        ErrorsOf::Quantile => format!("the quantile{}", of_and_unit(own)),
    };
    let number = |number: f64| describe::significant(number, 3);
    let wanted = own.wanted.map_or_else(String::new, |wanted| {
        format!(", wanted ±{}", number(wanted))
    });
    writeln!(
        out,
        "  error      {} standard error of {of}{found}",
        number(own.standard_error)
    )?;
    writeln!(
        out,
        "  intervals  ±{} for one, ±{} for all at once ({}%){wanted}",
        number(own.interval),
        number(own.simultaneous_interval),
        100.0 * DEFAULT_CONFIDENCE
    )?;
    for other in &own.numbers {
        let unit = other.unit.as_deref().unwrap_or("");
        let line = format!("{}: ±{} {unit}", other.name, number(other.interval));
        writeln!(out, "             {}", line.trim_end())?;
    }
    if own.errors_of == ErrorsOf::Share {
        let seen = own.smallest.map_or_else(
            || "nothing".to_owned(),
            |share| {
                format!(
                    "answers that {:.3}% of people give, or more, in {POWER} of all cases",
                    100.0 * share
                )
            },
        );
        writeln!(out, "  seen       {seen}")?;
    }
    if let Some(distance) = &own.distance {
        let even = if own.errors_of == ErrorsOf::Share {
            "with answers given evenly, "
        } else {
            ""
        };
        writeln!(out, "  bound      {even}{}", distance.text)?;
    }
    if let Some(times) = own.as_ratings {
        writeln!(
            out,
            "  ratings    the same answers as ratings of items would take {times:.2} times the people"
        )?;
    }
    if let Some(bias) = &own.bias {
        writeln!(out, "  bias       {bias}")?;
    }
    Ok(())
}

/// Of which number, and in which unit.
fn of_and_unit(own: &QuestionAnswer) -> String {
    let of = own.of.as_ref().map(|of| format!(" of {of}"));
    let unit = own.unit.as_ref().map(|unit| format!(", in {unit}"));
    of.unwrap_or_default() + &unit.unwrap_or_default()
}
