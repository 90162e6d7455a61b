//! Statement of a plan in words: its verdict and its assumptions.

use hushbin::mechanism::NeighbouringInputs;

use super::goal::PlannedEstimateKind;
use super::plan_result::{PlanVerdict, PlanVerdictKind, QuestionPlan};
use crate::promise::plan_protection_statement;

impl QuestionPlan {
    /// Returns the estimates whose errors are stated, in words.
    fn estimates_text(&self) -> String {
        match (self.errors_of, &self.number_name) {
            (PlannedEstimateKind::Share, _) => format!("shares of {}", self.name),
            (PlannedEstimateKind::Mean, Some(of)) => format!("the mean of {of} in {}", self.name),
            (PlannedEstimateKind::ConditionalMean, of) => {
                let of = of.as_deref().unwrap_or_default();
                format!("means of {of} within rows of {}", self.name)
            }
            (PlannedEstimateKind::Mean, None) => format!("the mean of {}", self.name),
            (PlannedEstimateKind::QuantileShare, _) => {
                format!("the share below the quantile of {}", self.name)
            }
            (PlannedEstimateKind::Quantile, _) => format!("the quantile of {}", self.name),
            (PlannedEstimateKind::Items, _) => "items".to_owned(),
        }
    }

    fn plus_minus_text(&self, number: f64) -> String {
        let unit = self
            .unit
            .as_ref()
            .map_or(String::new(), |unit| format!(" {unit}"));
        format!("±{}{unit}", format_significant(number, 3))
    }

    /// Returns true if an interval contains all possible values, or if no item is detected.
    fn shows_only_noise(&self) -> bool {
        match self.errors_of {
            PlannedEstimateKind::Items => self.smallest_frequency.is_none(),
            _ => 2.0 * self.half_width >= self.range,
        }
    }

    fn misses_goal(&self) -> bool {
        // Tolerate rounding errors.
        let over = |own: f64, wanted: Option<f64>| wanted.is_some_and(|w| own > w * (1.0 + 1e-9));
        over(self.half_width, self.wanted_half_width) || over(self.error, self.wanted_error)
    }

    /// Returns true if no answer would be detected if all were equally common.
    fn hides_average_answer(&self) -> bool {
        let rarer = |average| self.smallest_frequency.is_none_or(|share| share > average);
        self.share_if_equally_common.is_some_and(rarer)
    }

    fn verdict_sentence(&self) -> String {
        if self.errors_of == PlannedEstimateKind::Items {
            return self.items_verdict_sentence();
        }
        let mut what = self.estimates_text();
        what[..1].make_ascii_uppercase();
        let within = self.plus_minus_text(self.half_width);
        let are = if self.has_several_estimates() {
            "are"
        } else {
            "is"
        };
        if self.shows_only_noise() {
            return format!(
                "{what} {are} noise: the interval, {within}, covers every possible \
                 value."
            );
        }
        let seen = match self.smallest_frequency {
            Some(share) => format!(
                "; answers that at least {} of people give stand out",
                format_percent(share)
            ),
            None => String::new(),
        };
        format!("{what} {are} exact to {within} (95% interval){seen}.")
    }

    fn items_verdict_sentence(&self) -> String {
        let among = self
            .answers
            .map(|items| format!(" among {}", format_thousands(items.into())));
        let among = among.unwrap_or_default();
        let Some(smallest) = self.smallest_frequency else {
            return format!(
                "This is noise: even an item that everyone has would not stand out{among}."
            );
        };
        let smallest = format_percent(smallest);
        let seen = match self.share_if_equally_common {
            Some(average) if self.hides_average_answer() => format!(
                "Only items that at least {smallest} of people have stand out{among}. If all were \
                 equally common, at {} each, none would stand out.",
                format_percent(average)
            ),
            _ => format!("Items that at least {smallest} of people have stand out{among}."),
        };
        if self.bias.is_some_and(|bias| bias > self.standard_error) {
            return format!(
                "{seen} In the worst case, most of the error is bias from dropped entries or \
                 clipping. More people do not reduce it."
            );
        }
        seen
    }

    /// Returns the wanted accuracy that the plan misses, in words.
    fn missed_goal_text(&self) -> String {
        let interval = self.wanted_half_width.map(|own| self.plus_minus_text(own));
        let error = self
            .wanted_error
            .map(|own| format!("error of {}", format_significant(own, 3)));
        let goals: Vec<String> = interval.into_iter().chain(error).collect();
        let goals = goals.join(" and ");
        if self.name.is_empty() {
            return goals;
        }
        format!("{goals} of {}", self.name)
    }

    /// Returns true if the question has several estimates, so that sentences use the plural.
    fn has_several_estimates(&self) -> bool {
        matches!(
            self.errors_of,
            PlannedEstimateKind::Share | PlannedEstimateKind::ConditionalMean
        )
    }
}

impl PlanVerdict {
    /// Creates the verdict on a plan. `missed` returns a phrase that says how to reach the wanted
    /// accuracy.
    pub(super) fn new(questions: &[QuestionPlan], missed: impl FnOnce() -> String) -> Self {
        let any = |is: fn(&QuestionPlan) -> bool| questions.iter().any(is);
        let misses = any(QuestionPlan::misses_goal);
        let kind = if any(QuestionPlan::shows_only_noise) {
            PlanVerdictKind::Noise
        } else if misses {
            PlanVerdictKind::Missed
        } else if any(QuestionPlan::hides_average_answer) {
            PlanVerdictKind::FrequentOnly
        } else {
            PlanVerdictKind::Useful
        };
        let mut sentences: Vec<String> = questions
            .iter()
            .map(QuestionPlan::verdict_sentence)
            .collect();
        if misses {
            let own = questions.iter().filter(|own| own.misses_goal());
            let wanted: Vec<String> = own.map(QuestionPlan::missed_goal_text).collect();
            sentences.push(format!("For {}, {}.", wanted.join(" and "), missed()));
        }
        Self {
            kind,
            text: sentences.join(" "),
        }
    }
}

/// Returns a phrase that states the number of people, or the local ε, at which every error is at
/// most the wanted one.
pub(super) fn needed_people_text(
    people: Option<u64>,
    per_day: Option<f64>,
    epsilon: Option<f64>,
) -> String {
    let people = match (people, per_day) {
        (Some(people), Some(day)) => format!(
            "you need {} people ({} days)",
            format_thousands(people),
            format_thousands((people as f64 / day).ceil() as u64)
        ),
        (Some(people), None) => format!("you need {} people", format_thousands(people)),
        (None, _) => "no number of people is enough at this privacy".to_owned(),
    };
    match epsilon {
        Some(epsilon) => format!(
            "{people}, or a local ε of {}",
            format_significant(epsilon, 3)
        ),
        None => people,
    }
}

/// Returns the assumptions of a plan, in words.
pub(super) fn assumptions_text(
    questions: &[QuestionPlan],
    neighbours: NeighbouringInputs,
    honest_fraction: f64,
) -> String {
    let one = match questions {
        [_] => "Each person sends one report.",
        _ => "Each person sends one report, which answers one question, chosen at random.",
    };
    let about = |of, text| {
        let any = questions.iter().any(|own| own.errors_of == of);
        if any { text } else { "" }
    };
    let quantiles = about(
        PlannedEstimateKind::Quantile,
        " Intervals of quantiles assume numbers with a normal distribution around the middle bin. \
         For a histogram they also assume bins that are narrow compared to the spread.",
    );
    let rows = about(
        PlannedEstimateKind::ConditionalMean,
        " Means within rows are this exact if all rows have the same number of people. In a row \
         with half of that number, the error is twice as large.",
    );
    let items = about(
        PlannedEstimateKind::Items,
        " Errors are averages over all items, for entries of -1 or 1.",
    );
    let worst = if items.is_empty() {
        " Errors are for the worst case over answers."
    } else {
        ""
    };
    let promise = plan_protection_statement(neighbours, honest_fraction);
    format!("{one}{items}{worst}{quantiles}{rows} {promise}")
}

/// Formats a number with `digits` significant digits. Digits before the decimal point are never
/// dropped.
fn format_significant(number: f64, digits: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let places = digits - 1 - number.abs().log10().floor() as i32;
    let text = format!("{number:.*}", places.clamp(0, 12) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a frequency as a percentage.
fn format_percent(frequency: f64) -> String {
    format!("{}%", format_significant(100.0 * frequency, 2))
}

/// Formats a number of people in groups of three digits, separated by commas.
pub(super) fn format_thousands(people: u64) -> String {
    let digits = people.to_string();
    let groups: Vec<&str> = (0..digits.len())
        .rev()
        .step_by(3)
        .map(|end| &digits[end.saturating_sub(2)..=end])
        .collect();
    groups.into_iter().rev().collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (people, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(format_thousands(people), text);
        }
        for (number, text) in [
            (0.0, "0"),
            (0.0123, "0.012"),
            (1.0, "1"),
            (1.26, "1.3"),
            (12.3, "12"),
            (1230.0, "1230"),
        ] {
            assert_eq!(format_significant(number, 2), text);
        }
    }
}
