//! What a survey's plan is worth, in plain words.

use super::answer::QuestionAnswer;
use super::goal::ErrorsOf;
use crate::plan::answer::{Verdict, VerdictKind, digits, grouped, percent};

impl QuestionAnswer {
    /// What its errors are of.
    fn what(&self) -> String {
        match (self.errors_of, &self.of) {
            (ErrorsOf::Share, _) => format!("shares of {}", self.name),
            (ErrorsOf::Mean, Some(of)) => format!("the mean of {of} in {}", self.name),
            (ErrorsOf::ConditionalMean, of) => {
                let of = of.as_deref().unwrap_or_default();
                format!("means of {of} within rows of {}", self.name)
            }
            (ErrorsOf::Mean, None) => format!("the mean of {}", self.name),
            (ErrorsOf::QuantileShare, _) => {
                format!("the share below the quantile of {}", self.name)
            }
            (ErrorsOf::Quantile, _) => format!("the quantile of {}", self.name),
        }
    }

    fn plus_or_minus(&self, number: f64) -> String {
        let unit = self
            .unit
            .as_ref()
            .map_or(String::new(), |unit| format!(" {unit}"));
        format!("±{}{unit}", digits(number, 3))
    }

    /// Whether an interval holds all that could be answered.
    fn is_noise(&self) -> bool {
        2.0 * self.interval >= self.range
    }

    fn is_missed(&self) -> bool {
        // But for a rounding.
        self.wanted
            .is_some_and(|wanted| self.interval > wanted * (1.0 + 1e-9))
    }

    /// Whether, if all were given as often, no answer would stand out.
    fn hides_the_average(&self) -> bool {
        let answers = self.average_share();
        answers.is_some_and(|average| self.smallest.is_none_or(|share| share > average))
    }

    fn average_share(&self) -> Option<f64> {
        (self.errors_of == ErrorsOf::Share).then(|| {
            self.answers
                .map(|all| f64::from(self.sparsity) / f64::from(all))
        })?
    }

    fn sentence(&self) -> String {
        let mut what = self.what();
        what[..1].make_ascii_uppercase();
        let within = self.plus_or_minus(self.interval);
        if self.is_noise() {
            let are = if self.is_plural() { "are" } else { "is" };
            return format!("{what} {are} noise: {within} holds all that could be.");
        }
        let seen = match self.smallest {
            Some(share) => format!(
                "; answers that {} of people give, or more, stand out",
                percent(share)
            ),
            None => String::new(),
        };
        let come = if self.is_plural() { "come" } else { "comes" };
        format!("{what} {come} out within {within}{seen}.")
    }

    /// Whether several of a kind are estimated.
    fn is_plural(&self) -> bool {
        matches!(self.errors_of, ErrorsOf::Share | ErrorsOf::ConditionalMean)
    }
}

impl Verdict {
    /// `missed` says what it would take.
    pub(super) fn of_survey(questions: &[QuestionAnswer], missed: impl FnOnce() -> String) -> Self {
        let any = |is: fn(&QuestionAnswer) -> bool| questions.iter().any(is);
        let misses = any(QuestionAnswer::is_missed);
        let kind = if any(QuestionAnswer::is_noise) {
            VerdictKind::Noise
        } else if misses {
            VerdictKind::Missed
        } else if any(QuestionAnswer::hides_the_average) {
            VerdictKind::FrequentOnly
        } else {
            VerdictKind::Useful
        };
        let mut sentences: Vec<String> = questions.iter().map(QuestionAnswer::sentence).collect();
        if misses {
            let own = questions.iter().filter(|own| own.is_missed());
            let wanted = own.filter_map(|own| {
                let wanted = own.plus_or_minus(own.wanted?);
                Some(format!("{wanted} of {}", own.name))
            });
            let wanted: Vec<String> = wanted.collect();
            sentences.push(format!(
                "For the {} wanted {}.",
                wanted.join(" and "),
                missed()
            ));
        }
        Self {
            kind,
            text: sentences.join(" "),
        }
    }
}

/// What brings errors to what is wanted.
pub(super) fn takes(people: Option<u64>, per_day: Option<f64>, epsilon: Option<f64>) -> String {
    let people = match (people, per_day) {
        (Some(people), Some(day)) => format!(
            "it takes {} people ({} days)",
            grouped(people),
            grouped((people as f64 / day).ceil() as u64)
        ),
        (Some(people), None) => format!("it takes {} people", grouped(people)),
        (None, _) => "no number of people is enough at this privacy".to_owned(),
    };
    match epsilon {
        Some(epsilon) => format!("{people}, or a local ε of {}", digits(epsilon, 3)),
        None => people,
    }
}
