//! Formatting of the cost of a task in plain English.

use std::io::{self, Write};
use std::path::Path;

use hushbin::choose::collision::ParametersDraft;
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::collision::Collision;
use hushbin::task::{QuestionKind, QuestionPart};
use hushbin::{Items, Question};

use super::assessment::{PredictedErrors, QuestionAssessment, TaskAssessment};
use crate::cli::describe;
use crate::cli::table::write_aligned_rows;
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, ForgedReportInfluence};
use hushbin_analysis::heavy_hitters::DEFAULT_FIND_PROBABILITY;
use hushbin_analysis::promise::round_up_to_three_digits;

/// Ratio of variances from which the price of a memo is stated.
const MIN_MENTIONED_VARIANCE_RATIO: f64 = 1.01;

/// Number of reports for which the short answer states the error, if that error is predicted.
const ACCURACY_EXAMPLE_REPORTS: u64 = 10_000;

impl TaskAssessment {
    /// Summarises the cost in a few lines of plain English.
    pub(super) fn summary_lines(&self, file: Option<&Path>) -> Vec<String> {
        let asks = match self.task.questions() {
            [sole] => format!("for {}", describe_question(sole)),
            all => {
                let names: Vec<&str> = all.iter().map(Question::name).collect();
                let names = names.join(", ");
                format!("{} questions, one in each report: {names}", all.len())
            }
        };
        let budget = self.task.report_budget();
        let yearly = budget.reports_a_year();
        let fresh = round_up_to_three_digits(f64::from(yearly) * self.effective_epsilon);
        let (epsilon, year_epsilon) = (self.effective_epsilon, self.budget.year_epsilon);
        let [one, year] = [epsilon, year_epsilon].map(round_up_to_three_digits);
        let [one_guess, year_guess] = [epsilon, year_epsilon].map(describe::guess_certainty_phrase);
        let from_memo = match budget.memo() {
            None => String::new(),
            Some(_) => format!(" (fresh reports: {fresh})"),
        };
        let covered = match budget.cover() {
            None => "",
            Some(_) => " People without an answer report as well.",
        };
        let protects = &self.protects;
        let accuracy = [
            self.worst_accuracy_sentence(),
            self.memo_accuracy_cost_sentence(),
        ];
        vec![
            format!("{} is a valid task. It asks {asks}.", self.task.id()),
            format!("Each report spends ε = {one}, which protects {protects}: {one_guess}."),
            format!(
                "A person sends at most {yearly} reports a year. Linked together, they spend at \
                 most ε = {year}{from_memo}: {year_guess}.{covered}"
            ),
            accuracy.into_iter().flatten().collect::<Vec<_>>().join(" "),
            describe::task_fingerprint_sentence(file, &self.fingerprint, &self.labels),
        ]
    }

    /// Returns a sentence with the number of people that a memo costs, if reports from it are less
    /// exact than fresh reports. That is so for choices with many options.
    fn memo_accuracy_cost_sentence(&self) -> Option<String> {
        let question = self
            .task
            .only_question()
            .filter(|_| self.task.memo_thresholds().is_some())?;
        let Mechanism::Collision(own) = question.mechanism() else {
            return None;
        };
        let (domain, epsilon) = (question.domain(), question.epsilon());
        let fresh =
            Collision::choose_parameters(&domain, epsilon, &ParametersDraft::default()).ok()?;
        let [own, fresh] = [own, &fresh].map(|own| own.hit_probabilities(&domain, epsilon));
        let [own, fresh] = [own, fresh].map(|own| own.total_variance(&domain));
        let price = own / fresh;
        (price > MIN_MENTIONED_VARIANCE_RATIO).then(|| {
            format!("Because of the memo, this takes {price:.2} times the people of fresh reports.")
        })
    }

    /// Returns a sentence with the 95% interval of the least exact question. That question has the
    /// widest interval, relative to the range of possible values.
    fn worst_accuracy_sentence(&self) -> Option<String> {
        let questions = self.task.questions();
        let costs = (self.unnamed.iter()).chain(self.questions.iter().map(|named| &named.cost));
        let intervals = questions.iter().zip(costs).filter_map(|(question, cost)| {
            let usual = cost
                .predictions
                .iter()
                .find(|own| own.people == ACCURACY_EXAMPLE_REPORTS);
            let shown = usual.or(cost.predictions.first())?;
            Some((question, describe_estimate(question), shown))
        });
        let part = |own: &(&Question, EstimateDescription, &PredictedErrors)| {
            own.2.interval / own.1.uninformative_half_width
        };
        let (question, own, shown) = intervals.max_by(|a, b| part(a).total_cmp(&part(b)))?;
        let (people, what, unit) = (shown.people, &own.estimate_name, &own.unit_suffix);
        let half_width = own.unit_conversion_factor * shown.interval;
        let interval = describe::format_significant_digits(half_width, 3);
        let name = match questions {
            [_] => String::new(),
            _ => format!(" ({}, the least exact question)", question.name()),
        };
        let noise = match shown.interval >= own.uninformative_half_width {
            true => ", which is noise: every value is possible",
            false => "",
        };
        Some(format!(
            "From {people} reports you learn {what} to ±{interval}{unit}, at 95% \
             confidence{name}{noise}."
        ))
    }

    /// Writes the details: the privacy, and for each question a table of errors and a table of
    /// candidate mechanisms.
    pub(super) fn write_assessment_details(&self, out: &mut dyn Write) -> io::Result<()> {
        let questions = self.task.questions();
        self.write_privacy(out)?;
        if let Some(times) = self.together_over_drawn {
            writeln!(
                out,
                "together     all questions as one of kind \"together\" would have {times:.2} times the variance"
            )?;
        }
        if let Some(cost) = &self.unnamed {
            cost.write_question_details(&questions[0], &self.forged_influence_lines(None), out)?;
        }
        for (named, question) in self.questions.iter().zip(questions) {
            let share = 100.0 * named.share;
            writeln!(
                out,
                "\n{}: {}, {share:.1}% of all reports",
                named.name,
                describe_question(question)
            )?;
            let influence = self.forged_influence_lines(Some(&named.name));
            named
                .cost
                .write_question_details(question, &influence, out)?;
        }
        Ok(())
    }

    /// Returns one line for each kind of estimate of a question: the maximum shift that made-up
    /// reports can cause.
    fn forged_influence_lines(&self, question: Option<&str>) -> Vec<String> {
        let own = |moved: &&ForgedReportInfluence| moved.question.as_deref() == question;
        let words = |moved: &ForgedReportInfluence| {
            let unit = describe::unit_suffix(moved.unit.as_deref());
            let [up, down] =
                [moved.up, moved.down].map(|by| describe::format_significant_digits(by, 3));
            format!(
                "on {} of {}% of made-up reports: at most {up}{unit} up and {down}{unit} down",
                describe::influenced_estimand_name(moved.estimand),
                100.0 * self.made_up_fraction,
            )
        };
        self.influence.iter().filter(own).map(words).collect()
    }

    fn write_privacy(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "local ε      {} in the task, {} spent by each report (rounded up)",
            self.task.epsilon(),
            self.effective_epsilon
        )?;
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

/// Description of the estimate whose errors are predicted, with the unit of the estimate.
struct EstimateDescription {
    /// Estimate in a few words.
    estimate_name: String,
    /// Factor that converts a predicted error to the unit.
    unit_conversion_factor: f64,
    /// Unit with a space before it, or nothing if there is no unit.
    unit_suffix: String,
    /// Smallest predicted half-width at which an interval contains every possible value.
    uninformative_half_width: f64,
}

fn describe_estimate(question: &Question) -> EstimateDescription {
    let half = |[min, max]: [f64; 2]| 0.5 * (max - min);
    let own = |what: &str, scale, unit: &str, useless| EstimateDescription {
        estimate_name: what.to_owned(),
        unit_conversion_factor: scale,
        unit_suffix: unit.to_owned(),
        uninformative_half_width: useless,
    };
    match question.kind() {
        QuestionKind::Numbers(of) if of.is_single() => {
            let unit = describe::unit_suffix(of[0].unit());
            own("the mean", half(of[0].range()), &unit, 1.0)
        }
        QuestionKind::Numbers(_) => own("each mean", 100.0, " % of half its range", 1.0),
        QuestionKind::CrossTabulation(cross) if let Some(levels) = cross.level_scale() => {
            let unit = describe::unit_suffix(levels.unit());
            let (rows, number) = (cross.row_part().cell_count(), cross.column_part().name());
            let what = format!("the mean of {number} in a row that 1/{rows} of people are in");
            own(&what, 1.0, &unit, half(levels.range()))
        }
        QuestionKind::Ratings(_) => {
            let unit = " points on the scale from -1 to 1";
            own("the mean rating of a rare item", 1.0, unit, 1.0)
        }
        _ => own(
            "the share of a rare answer",
            100.0,
            " percentage points",
            1.0,
        ),
    }
}

/// Describes a question in a few words.
fn describe_question(question: &Question) -> String {
    let items = |what: &str| match question.items() {
        Items::Named(names) => format!("{} named {what}", names.len()),
        Items::Count(count) => format!("{count} {what}"),
        Items::Open(_) => format!("any strings as {what}"),
    };
    let sparsity = question.max_entries_per_report();
    match question.kind() {
        QuestionKind::Ratings(_) => format!("ratings of {}, {sparsity} a report", items("items")),
        QuestionKind::Set => format!("any of {}, {sparsity} a report", items("options")),
        QuestionKind::Choice => format!("one of {}", items("options")),
        QuestionKind::Flag => "no or yes".to_owned(),
        QuestionKind::Text(prefixes) => {
            let lengths: Vec<String> = prefixes.lengths().iter().map(u32::to_string).collect();
            format!("a text, by its first {} characters", lengths.join(", "))
        }
        QuestionKind::Numbers(limits) if limits.is_single() => {
            let [min, max] = limits[0].range();
            let unit = describe::unit_suffix(limits[0].unit());
            format!("a number from {min} to {max}{unit}")
        }
        QuestionKind::Numbers(limits) => format!("{} numbers", limits.len()),
        QuestionKind::CrossTabulation(cross) => {
            let [rows, columns] = cross.row_and_column_counts();
            let [row, column] = [cross.row_part(), cross.column_part()].map(QuestionPart::name);
            format!("{row} and {column} together, {rows} by {columns} cells")
        }
        QuestionKind::JointChoices(together) => {
            let names: Vec<&str> = together.parts().iter().map(QuestionPart::name).collect();
            format!("all of {} at once", names.join(", "))
        }
        QuestionKind::Number(scale) => {
            let ([min, max], unit) = (scale.range(), describe::unit_suffix(scale.unit()));
            let a = ["a", "an optional"][usize::from(scale.is_optional())];
            format!(
                "{a} number from {min} to {max}{unit} in {} bins",
                scale.level_or_bin_count()
            )
        }
    }
}

/// Time to add a million reports to one count, in seconds. Measured with a million items: 7 ns per
/// report under balanced hashing, and half of that under independent hashing.
const COUNTING_SECONDS_PER_MILLION: f64 = 0.007;
/// Maximum time to count a million reports without a warning, in seconds.
const SLOW_COUNTING_WARNING_SECONDS: f64 = 60.0;

impl QuestionAssessment {
    fn write_question_details(
        &self,
        question: &Question,
        influence: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "mechanism    {}",
            describe::mechanism_and_parameters(question.mechanism())
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
        let seconds = self
            .steps
            .map_or(0.0, |steps| steps as f64 * COUNTING_SECONDS_PER_MILLION);
        if seconds > SLOW_COUNTING_WARNING_SECONDS {
            writeln!(
                out,
                "counting     is slow for this number of items: about {:.0} minutes of one core \
                 for a million reports",
                seconds / 60.0
            )?;
        }
        writeln!(out)?;
        self.write_predictions(question, out)?;
        self.write_margin_and_median_errors(out)?;
        if self
            .predictions
            .iter()
            .any(|own| own.conditional_mean_standard_error.is_some())
        {
            // There is only one mechanism, and its table would be about shares that are not
            // estimated.
            return Ok(());
        }
        writeln!(out)?;
        self.write_candidates(out)
    }

    /// Writes the standard errors of margins, and of the share below the median. Each of these is a
    /// sum of shares.
    fn write_margin_and_median_errors(&self, out: &mut dyn Write) -> io::Result<()> {
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
        let own = describe_estimate(question);
        let shown =
            |error: f64| describe::format_significant_digits(own.unit_conversion_factor * error, 4);
        let unit = match own.unit_suffix.as_str() {
            "" => String::new(),
            unit => format!(", in{unit}"),
        };
        writeln!(out, "expected error of {}{unit}:", own.estimate_name)?;
        let interval = |reach: f64| match reach >= own.uninformative_half_width {
            true => format!("±{} (noise)", shown(reach)),
            false => format!("±{}", shown(reach)),
        };
        let mut rows = vec![format!(
            "reports\tstandard error\t{confidence}% interval\tall items {confidence}%"
        )];
        for prediction in &self.predictions {
            let error = shown(prediction.mean_or_frequency_error().unwrap_or(f64::NAN));
            let together = prediction.simultaneous_interval.map(interval);
            rows.push(format!(
                "{}\t{error}\t{}\t{}",
                prediction.people,
                interval(prediction.interval),
                together.as_deref().unwrap_or("-")
            ));
        }
        write_aligned_rows(out, &rows)?;
        for prediction in &self.predictions {
            let (people, share) = (prediction.people, prediction.found_share);
            let enough = match share {
                None => continue,
                Some(share) if share <= 1.0 => format!("{:.3}% of people", 100.0 * share),
                Some(_) => "more than all people".to_owned(),
            };
            writeln!(
                out,
                "in {people} reports, a text is found with probability {DEFAULT_FIND_PROBABILITY} if {enough} \
                 have it"
            )?;
        }
        Ok(())
    }

    fn write_candidates(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "root mean squared errors of all mechanisms over all items, for {} people:",
            self.planned_people
        )?;
        let mut rows =
            vec!["mechanism\tsparsity\tmean\tof bias\tfrequency\tnon-missing\tprotects".to_owned()];
        let number = |error| describe::format_decimals(error, 4);
        for own in &self.candidates {
            rows.push(format!(
                "{} {}\t{}\t{}\t{}\t{}\t{}\t{}",
                if rows.len() == 1 { "*" } else { " " },
                own.mechanism.name(),
                own.sparsity,
                number(own.mean_error),
                number(own.mean_bias),
                number(own.frequency_error),
                number(own.nonmissing_error),
                own.protects,
            ));
        }
        write_aligned_rows(out, &rows)
    }
}
