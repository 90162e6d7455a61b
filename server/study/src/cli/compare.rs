//! Subcommand `hushbin-study compare`: compares hushbin's mechanisms with published ones, for one
//! question.

use std::io::{self, Write};

use crate::competitors::{
    Budget, ComparedQuestion, ComparisonRow, MechanismComparison, compare_mechanisms,
};

use crate::output::Error;

/// Compare hushbin with published mechanisms: the variance of one report's estimate and the
/// standard error, for a choice, several numbers per person, or one number.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    question: QuestionOptions,
    /// Local ε of one report.
    #[arg(long, value_name = "E")]
    epsilon: f64,
    /// Local δ of one report, for mechanisms with a δ.
    #[arg(long, value_name = "D", default_value_t = 0.0)]
    delta: f64,
    /// Number of people, with one report each.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    people: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Kind of question: exactly one of three.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct QuestionOptions {
    /// A choice: one of K options.
    #[arg(long, value_name = "K")]
    options: Option<u32>,
    /// D numbers from -1 to 1 for every person.
    #[arg(long, value_name = "D")]
    attributes: Option<u32>,
    /// One number from -1 to 1.
    #[arg(long)]
    number: bool,
}

impl QuestionOptions {
    fn compared_question(&self) -> ComparedQuestion {
        match (self.options, self.attributes) {
            (Some(options), _) => ComparedQuestion::Choice { options },
            (None, Some(attributes)) => ComparedQuestion::Numbers { attributes },
            (None, None) => ComparedQuestion::Number,
        }
    }
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let budget = Budget::new(options.epsilon, options.delta)?;
    let table = compare_mechanisms(
        options.question.compared_question(),
        &budget,
        options.people,
    )?;
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&table)?)?;
    } else {
        write_comparison_text(out, &table)?;
    }
    Ok(())
}

fn write_comparison_text(out: &mut dyn Write, table: &MechanismComparison) -> io::Result<()> {
    let (what, of) = match table.asked {
        ComparedQuestion::Choice { options } => (
            format!("one of {options} options"),
            "an option's share; average: over all options",
        ),
        ComparedQuestion::Numbers { attributes } => (
            format!("{attributes} numbers of every person"),
            "a number's mean, from -1 to 1; average: over numbers",
        ),
        ComparedQuestion::Number => (
            "one number".to_owned(),
            "its mean, from -1 to 1; average: over numbers",
        ),
    };
    let MechanismComparison {
        epsilon, people, ..
    } = table;
    let delta = if table.delta == 0.0 {
        "0".to_owned()
    } else {
        format!("{:e}", table.delta)
    };
    writeln!(out, "{what}, ε = {epsilon}, δ = {delta}, {people} people")?;
    writeln!(out, "variance of one report's estimate of {of};")?;
    writeln!(
        out,
        "times: that of the first; error: root of worst variance over people"
    )?;
    writeln!(out)?;
    writeln!(
        out,
        "  {:<23}  {:<18}  {:>11}  {:>7}  {:>11}  {:>7}  {:>8}",
        "mechanism", "parameters", "worst", "times", "average", "times", "error"
    )?;
    for (index, row) in table.rows.iter().enumerate() {
        let mark = if index == 0 { "*" } else { " " };
        writeln!(out, "{mark} {}", comparison_row_text(row))?;
    }
    Ok(())
}

fn comparison_row_text(row: &ComparisonRow) -> String {
    let name = row.mechanism;
    let (Some(variance), Some(error)) = (row.variance, row.standard_error) else {
        return format!(
            "{name:<23}  none: {}",
            row.reason.as_deref().unwrap_or("unknown")
        );
    };
    let times = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
    format!(
        "{name:<23}  {:<18}  {:>11.5}  {:>7}  {:>11.5}  {:>7}  {error:>8.5}",
        row.parameters,
        variance.worst,
        times(row.worst_ratio),
        variance.average,
        times(row.average_ratio),
    )
}
