//! The cost of a task in words.

use std::io::{self, Write};

use hushbin::task::{Kind, Part};
use hushbin::{Items, Question};

use super::cost::{Cost, QuestionCost};
use crate::cli::describe;
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, Influence, Influenced};
use hushbin_analysis::heavy_hitters::PROBABILITY;

impl Cost {
    /// Writes it all, with a table of errors and one of candidates for each question.
    pub(super) fn write_words(&self, out: &mut dyn Write) -> io::Result<()> {
        let questions = self.task.questions();
        match &self.unnamed {
            Some(_) => writeln!(out, "{}: {} a report", self.task.id(), asked(&questions[0]))?,
            None => writeln!(
                out,
                "{}: one of {} questions a report",
                self.task.id(),
                questions.len()
            )?,
        }
        self.write_privacy(out)?;
        if let Some(times) = self.together_over_drawn {
            let difference = match (100.0 * (times - 1.0)).round() {
                0.0 => "as much".to_owned(),
                percent if percent < 0.0 => format!("{:.0}% less", -percent),
                percent => format!("{percent:.0}% more"),
            };
            writeln!(
                out,
                "together     all questions as one of kind \"together\" would have {difference} variance in all"
            )?;
        }
        if let Some(cost) = &self.unnamed {
            cost.write_words(&questions[0], &self.influence_on(None), out)?;
        }
        for (named, question) in self.questions.iter().zip(questions) {
            let share = 100.0 * named.share;
            writeln!(
                out,
                "\n{}: {}, {share:.1}% of all reports",
                named.name,
                asked(question)
            )?;
            let influence = self.influence_on(Some(&named.name));
            named.cost.write_words(question, &influence, out)?;
        }
        Ok(())
    }

    /// By how much what is estimated of a question can be moved, a line each.
    fn influence_on(&self, question: Option<&str>) -> Vec<String> {
        let own = |moved: &&Influence| moved.question.as_deref() == question;
        let words = |moved: &Influence| {
            let unit = moved
                .unit
                .as_ref()
                .map_or(String::new(), |unit| format!(" {unit}"));
            let [up, down] = [moved.up, moved.down].map(|by| describe::significant(by, 3));
            format!(
                "on {} of {}% of made-up reports: at most {up}{unit} up and {down}{unit} down",
                moved_in_words(moved.estimate),
                100.0 * self.made_up,
            )
        };
        self.influence.iter().filter(own).map(words).collect()
    }

    fn write_privacy(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "fingerprint  {}", self.fingerprint)?;
        writeln!(
            out,
            "local ε      {} asked for, {} spent by each report (rounded up)",
            self.task.epsilon(),
            self.effective_epsilon
        )?;
        writeln!(out, "protects     {}", self.protects)?;
        if self.delta > 0.0 {
            writeln!(
                out,
                "δ            {:e}, the probability that the guarantee fails, if signs are as good as random",
                self.delta
            )?;
        }
        writeln!(out, "budget       {}", self.budget.statement)?;
        writeln!(
            out,
            "size         {} bytes a report, {} bytes an upload of one",
            self.report_bytes, self.upload_bytes
        )
    }
}

/// What errors are predicted of, and how they are shown.
struct Predicted {
    /// What it is, with its unit.
    what: String,
    /// What a predicted 1 is in the unit; none of shares and of means from -1 to 1.
    factor: Option<f64>,
    /// Half-width beyond which an interval holds every possible value.
    useless: f64,
}

fn predicted(question: &Question) -> Predicted {
    let plain = |what: &str| Predicted {
        what: what.to_owned(),
        factor: None,
        useless: 1.0,
    };
    let half = |[min, max]: [f64; 2]| 0.5 * (max - min);
    let unit = |unit: Option<&str>| unit.map_or(String::new(), |unit| format!(", in {unit}"));
    match (question.kind(), question.items()) {
        (Kind::Numbers(of), _) if of.is_alone() => Predicted {
            what: format!("its mean{}", unit(of[0].unit())),
            factor: Some(half(of[0].range())),
            useless: 1.0,
        },
        (Kind::Numbers(of), Items::Named(names)) => {
            let halves = names.iter().zip(of.iter()).map(|(name, own)| {
                let unit = self::unit(own.unit());
                format!("{name} {}{unit}", half(own.range()))
            });
            let halves = halves.collect::<Vec<_>>().join(", ");
            plain(&format!("a mean, as a part of half its range ({halves})"))
        }
        (Kind::Cross(cross), _) if let Some(levels) = cross.levels() => Predicted {
            what: format!(
                "the mean of {} in a row that 1/{} of people are in{}, at most; in one of half as many twice that",
                cross.columns().name(),
                cross.rows().cells(),
                unit(levels.unit())
            ),
            factor: Some(1.0),
            useless: half(levels.range()),
        },
        (Kind::Ratings(_), _) => plain("an item that few have, in means from -1 to 1"),
        _ => plain("an answer that few give, in shares from 0 to 1"),
    }
}

/// Of a number, where it has one.
fn unit(unit: Option<&str>) -> String {
    unit.map_or(String::new(), |unit| format!(" {unit}"))
}

const fn moved_in_words(estimate: Influenced) -> &'static str {
    match estimate {
        Influenced::Mean => "means",
        Influenced::Plus => "frequencies of +",
        Influenced::Minus => "frequencies of -",
        Influenced::Nonmissing => "non-missing frequencies",
        Influenced::Share => "shares",
        Influenced::Below => "shares below an edge",
        Influenced::Margin => "shares of rows and columns",
    }
}

/// What is asked, in few words.
fn asked(question: &Question) -> String {
    let items = |what: &str| match question.items() {
        Items::Named(names) => format!("{} named {what}", names.len()),
        Items::Count(count) => format!("{count} {what}"),
        Items::Open(_) => format!("any strings as {what}"),
    };
    match question.kind() {
        Kind::Ratings(_) => format!("{}, {} of them", items("items"), question.sparsity()),
        Kind::Set => format!("{}, {} of them", items("options"), question.sparsity()),
        Kind::Choice => format!("one of {}", items("options")),
        Kind::Flag => "no or yes".to_owned(),
        Kind::Text(prefixes) => {
            let lengths: Vec<String> = prefixes.lengths().iter().map(u32::to_string).collect();
            format!("a text, by its first {} characters", lengths.join(", "))
        }
        Kind::Numbers(limits) if limits.is_alone() => {
            let [min, max] = limits[0].range();
            let unit = unit(limits[0].unit());
            format!("a number from {min} to {max}{unit}")
        }
        Kind::Numbers(limits) => format!("{} numbers", limits.len()),
        Kind::Cross(cross) => {
            let [rows, columns] = cross.shape();
            let [row, column] = [cross.rows(), cross.columns()].map(Part::name);
            format!("{row} and {column} together, {rows} by {columns} cells")
        }
        Kind::Together(together) => {
            let names: Vec<&str> = together.parts().iter().map(Part::name).collect();
            format!("all of {} at once", names.join(", "))
        }
        Kind::Number(scale) => {
            let [min, max] = scale.range();
            let unit = unit(scale.unit());
            format!(
                "a number from {min} to {max}{unit} in {} bins",
                scale.cells()
            )
        }
    }
}

/// Seconds that a step takes of a million reports: 7 nanoseconds each, as measured of a
/// million items under balanced hashing; under independent hashing it takes half of that.
const STEP: f64 = 0.007;
/// Seconds from which on counting a million reports is worth a word.
const SLOW: f64 = 60.0;

impl QuestionCost {
    fn write_words(
        &self,
        question: &Question,
        influence: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "mechanism    {}",
            describe::mechanism(question.mechanism())
        )?;
        if let Some(bias) = &self.bias {
            writeln!(out, "bias         {bias}")?;
        }
        let frequencies = if question.domain().is_rated() {
            "of frequencies"
        } else {
            "of shares"
        };
        for (of, distance) in [
            ("of means", &self.mean_distance),
            (frequencies, &self.frequency_distance),
            ("of non-missing frequencies", &self.nonmissing_distance),
        ] {
            if let Some(distance) = distance {
                writeln!(out, "bound        {of} it {}", distance.text)?;
            }
        }
        for words in influence {
            writeln!(out, "influence    {words}")?;
        }
        let seconds = self.steps.map_or(0.0, |steps| steps as f64 * STEP);
        if seconds > SLOW {
            writeln!(
                out,
                "counting     takes long of so many items: of a million reports some {:.0} minutes of a core",
                seconds / 60.0
            )?;
        }
        writeln!(out)?;
        self.write_predictions(question, out)?;
        self.write_sums(out)?;
        if self
            .predictions
            .iter()
            .any(|own| own.conditional_mean_standard_error.is_some())
        {
            // The only mechanism, by shares that nobody is told.
            return Ok(());
        }
        writeln!(out)?;
        self.write_candidates(out)
    }

    /// Writes the errors of sums of shares: of margins, and below the median.
    fn write_sums(&self, out: &mut dyn Write) -> io::Result<()> {
        if let [row, column @ ..] = &self.margins[..] {
            let column = column.first();
            let column = column.map(|error| format!(" and {error:.5} of a column's"));
            writeln!(
                out,
                "margins: a standard error of {row:.5} of a row's share{}, for {} people",
                column.unwrap_or_default(),
                self.planned_people
            )?;
        }
        if let Some(error) = self.distribution {
            writeln!(
                out,
                "distribution: standard error of at most {error:.5} of the share below the median, for {} people",
                self.planned_people
            )?;
        }
        Ok(())
    }

    fn write_predictions(&self, question: &Question, out: &mut dyn Write) -> io::Result<()> {
        let confidence = 100.0 * DEFAULT_CONFIDENCE;
        let Predicted {
            what,
            factor,
            useless,
        } = predicted(question);
        let shown = |error: f64, places: usize| match factor {
            Some(factor) => describe::significant(factor * error, 4),
            None => format!("{error:.places$}"),
        };
        writeln!(out, "expected error of {what}:")?;
        writeln!(
            out,
            "{:>12}  {:>14}  {:>14}  {:>14}",
            "reports",
            "standard error",
            format!("{confidence}% interval"),
            format!("all items {confidence}%")
        )?;
        for prediction in &self.predictions {
            let together = prediction
                .simultaneous_interval
                .map_or_else(|| "-".to_owned(), |own| format!("±{}", shown(own, 4)));
            let remark = if prediction.interval >= useless {
                "  noise: the interval holds every possible value"
            } else {
                ""
            };
            writeln!(
                out,
                "{:>12}  {:>14}  {:>14}  {together:>14}{remark}",
                prediction.people,
                shown(prediction.standard_error().unwrap_or(f64::NAN), 5),
                format!("±{}", shown(prediction.interval, 4)),
            )?;
        }
        self.write_texts(out)
    }

    /// The share from which on a text is found.
    fn write_texts(&self, out: &mut dyn Write) -> io::Result<()> {
        for prediction in &self.predictions {
            if let Some(share) = prediction.found_share {
                writeln!(
                    out,
                    "of {} reports a text is found with probability {PROBABILITY} if {} have it",
                    prediction.people,
                    if share <= 1.0 {
                        format!("{:.3}% of people", 100.0 * share)
                    } else {
                        "more than all people".to_owned()
                    }
                )?;
            }
        }
        Ok(())
    }

    fn write_candidates(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "the same, and what else there is, for {} people; root mean squared errors over all items:",
            self.planned_people
        )?;
        writeln!(
            out,
            "  {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  {:>11}  protects",
            "mechanism", "sparsity", "mean", "of bias", "frequency", "non-missing"
        )?;
        let number = |error| describe::decimals(error, 4);
        for (index, candidate) in self.candidates.iter().enumerate() {
            writeln!(
                out,
                "{} {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  {:>11}  {}",
                if index == 0 { "*" } else { " " },
                candidate.mechanism.name(),
                candidate.sparsity,
                number(candidate.mean_error),
                number(candidate.mean_bias),
                number(candidate.frequency_error),
                number(candidate.nonmissing_error),
                candidate.protects,
            )?;
        }
        if self.candidates.iter().any(|c| c.mean_bias > Some(0.0)) {
            writeln!(
                out,
                "  bias: of entries left out or clipped, if all people had the same items; no number of people lessens it"
            )?;
        }
        Ok(())
    }
}
