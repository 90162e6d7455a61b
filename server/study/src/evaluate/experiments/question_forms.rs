//! Experiment that compares two forms of the same question. The planner computes the ratio of their
//! variances. Every such ratio in the documentation is a row of this experiment's table.

use hushbin_analysis::plan::{Plan, QuestionPlan, Survey, plan_survey};
use hushbin_analysis::sums::{SumPlan, resolve_sum_draft};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::measurement::REPORT_BYTES_METRIC;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, PerReportSquaredErrors, QuestionSetting,
};

/// Experiment that compares forms of questions. All values are computed by formula.
pub(crate) struct QuestionFormsExperiment {
    forms: Vec<QuestionForm>,
}

/// Form of a question, and the alternative form that it is compared with.
struct QuestionForm {
    /// Unique name in tables.
    name: String,
    items: u32,
    sparsity: u32,
    baseline: FormBaseline,
}

/// Alternative that a form of a question is compared with.
enum FormBaseline {
    /// The form is this question. The alternative asks for the same answers as ratings.
    Ratings(Value),
    /// The form asks these questions together, as one question. In the alternative, each report
    /// answers only one of them, drawn at random.
    DrawnQuestion(Vec<Value>),
    /// Two questions that estimate the same quantity: the form and the alternative. The string is
    /// the name of the comparison in tables.
    OtherQuestion(&'static str, [Value; 2]),
    /// The alternative is P1's mechanism with this name and the best number of buckets.
    PaperMechanism(&'static str),
    /// The form has no alternative. It asks for a text. The measured value is the share of people
    /// that a text must have in order to be found in the reports of a million people.
    NoBaselineForText(Value),
    /// The form is a sum of messages through a shuffler. The alternative is local reports of the
    /// same number of people, which is the field.
    LocalReports(u64),
}

const VARIANCE_RATIO_METRIC: &str = "variance over the other's";
const RATINGS_BASELINE_NAME: &str = "beside ratings";
const BIN_CHOICE_BASELINE_NAME: &str = "beside a choice of a bin";
const DRAWN_BASELINE_NAME: &str = "beside drawing one";
const PAPER_BASELINE_NAME: &str = "beside the paper's";
const DETECTABLE_SHARE_ESTIMAND: &str = "share of a text that is found";
const MEAN_ESTIMAND: &str = "mean";
const STANDARD_ERROR_METRIC: &str = "standard error";
/// Values of ε for all forms except sums, which use [`SUMS_EPSILON`].
const FORM_EPSILONS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0];
const SUMS_EPSILON: f64 = 1.0;
/// Central δ of those forms that are sums through a shuffler.
const SUMS_DELTA: f64 = 1e-6;
/// Number of people for whom questions are planned.
const PLANNED_PEOPLE_COUNT: u64 = 1_000_000;

impl QuestionFormsExperiment {
    /// Creates all forms.
    pub(crate) fn new() -> Self {
        let mut forms: Vec<QuestionForm> = forms_against_ratings().collect();
        for bins in [16, 64, 128] {
            let pattern = json!({ "want": "quantiles", "bins": bins });
            let mut choice = pattern.clone();
            choice["mechanism"] = json!({ "name": "collision", "rule": "heaviest" });
            let baseline = FormBaseline::OtherQuestion(
                BIN_CHOICE_BASELINE_NAME,
                [pattern, choice].map(|fields| one_number_question_json(&fields)),
            );
            let label = format!("pattern of {bins}");
            forms.push(question_form(label, bins, 1, baseline));
        }
        for (count, options, words) in [
            (8, 2, "flags"),
            (4, 2, "flags"),
            (4, 3, "choices of 3"),
            (4, 6, "choices of 6"),
        ] {
            let baseline = FormBaseline::DrawnQuestion(named_choice_questions(count, options));
            let label = format!("{count} {words}");
            forms.push(question_form(label, count, count, baseline));
        }
        for name in ["collision", "coco"] {
            forms.extend([16, 32, 64].map(|sparsity| {
                let label = format!("{name}, s = {sparsity}");
                question_form(label, 256, sparsity, FormBaseline::PaperMechanism(name))
            }));
        }
        let text = json!({ "kind": "text", "length": 8 });
        forms.push(question_form(
            "text of 8".to_owned(),
            8,
            1,
            FormBaseline::NoBaselineForText(text),
        ));
        for (count, people) in [
            (1, 100_000),
            (4, 100_000),
            (16, 10_000),
            (16, 100_000),
            (64, 100_000),
        ] {
            let label = format!("{count} of {people}");
            forms.push(question_form(
                label,
                count,
                count,
                FormBaseline::LocalReports(people),
            ));
        }
        Self { forms }
    }
}

fn question_form(name: String, items: u32, sparsity: u32, baseline: FormBaseline) -> QuestionForm {
    QuestionForm {
        name,
        items,
        sparsity,
        baseline,
    }
}

/// Returns the forms that are compared with ratings.
fn forms_against_ratings() -> impl Iterator<Item = QuestionForm> {
    let set = json!({ "kind": "set", "options": 16, "sparsity": 4 });
    let questions = [
        ("flag", 1, 1, json!({ "kind": "flag" })),
        ("choice of 5", 5, 1, choice_question(5)),
        ("choice of 10", 10, 1, choice_question(10)),
        ("set of 16, s = 4", 16, 4, set),
        (
            "mean of a number",
            1,
            1,
            one_number_question_json(&json!({})),
        ),
        ("4 numbers", 4, 4, numbers_question_json(4)),
        ("16 numbers", 16, 16, numbers_question_json(16)),
    ];
    questions
        .into_iter()
        .map(|(name, items, sparsity, question)| {
            question_form(
                name.to_owned(),
                items,
                sparsity,
                FormBaseline::Ratings(question),
            )
        })
}

fn choice_question(options: u32) -> Value {
    if options == 2 {
        return json!({ "kind": "flag" });
    }
    json!({ "kind": "choice", "options": options })
}

/// Returns the question for one number from −1 to 1, with these fields set.
fn one_number_question_json(fields: &Value) -> Value {
    let mut question = json!({ "kind": "number", "min": -1, "max": 1 });
    for (name, value) in fields.as_object().into_iter().flatten() {
        question[name] = value.clone();
    }
    question
}

/// Returns the question for `count` numbers from −1 to 1.
fn numbers_question_json(count: u32) -> Value {
    let of: Vec<Value> = (0..count)
        .map(|index| json!({ "name": format!("n{index}"), "min": -1, "max": 1 }))
        .collect();
    json!({ "kind": "numbers", "of": of })
}

/// Returns `count` named choices of `options` options each.
fn named_choice_questions(count: u32, options: u32) -> Vec<Value> {
    let part = |index| {
        let mut part = choice_question(options);
        part["name"] = json!(format!("part-{index}"));
        part
    };
    (0..count).map(part).collect()
}

/// Returns the plan for these questions.
fn plan_questions(mut questions: Vec<Value>, epsilon: f64) -> Result<Plan, StudyError> {
    for question in &mut questions {
        if question["name"].is_null() {
            question["name"] = json!("question");
        }
    }
    let words = json!(questions).to_string();
    let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft(&words, error);
    let asked =
        json!({ "questions": questions, "people": PLANNED_PEOPLE_COUNT, "epsilon": epsilon });
    let asked: Survey = serde_json::from_value(asked).map_err(|error| refused(&error))?;
    plan_survey(&asked).map_err(|error| refused(&error))
}

/// Returns the squared ratio of a question's standard error to the range of its answers.
fn squared_error_over_range(question: &Value, epsilon: f64) -> Result<f64, StudyError> {
    let answer = plan_questions(vec![question.clone()], epsilon)?;
    let QuestionPlan {
        standard_error,
        range,
        ..
    } = answer.questions[0];
    Ok((standard_error / range).powi(2))
}

impl QuestionForm {
    fn point(&self, people: u64, epsilon: f64, delta: f64) -> MeasurementPoint {
        MeasurementPoint {
            people,
            items: self.items,
            sparsity: self.sparsity,
            epsilon,
            delta,
            parameter: 0.0,
        }
    }

    const fn form_epsilons(&self) -> &'static [f64] {
        match self.baseline {
            FormBaseline::LocalReports(_) => &[SUMS_EPSILON],
            _ => &FORM_EPSILONS,
        }
    }

    fn measure_at(&self, epsilon: f64) -> Result<Vec<Measurement>, StudyError> {
        let ratio = |baseline: &str, value: f64| {
            let point = self.point(0, epsilon, 0.0);
            vec![Measurement::new(
                point,
                &self.name,
                baseline,
                VARIANCE_RATIO_METRIC,
                value,
            )]
        };
        let refused = |reason: &str| StudyError::invalid_draft(&self.name, &reason);
        Ok(match &self.baseline {
            FormBaseline::Ratings(question) => {
                let answer = plan_questions(vec![question.clone()], epsilon)?;
                let times = answer.questions[0].as_ratings;
                let times = times.ok_or_else(|| refused("it is not comparable with ratings"))?;
                ratio(RATINGS_BASELINE_NAME, 1.0 / times)
            }
            FormBaseline::DrawnQuestion(parts) => {
                let times = plan_questions(parts.clone(), epsilon)?.together_over_drawn;
                ratio(
                    DRAWN_BASELINE_NAME,
                    times.ok_or_else(|| refused("it is not asked together"))?,
                )
            }
            FormBaseline::OtherQuestion(baseline, [own, other]) => ratio(
                baseline,
                squared_error_over_range(own, epsilon)? / squared_error_over_range(other, epsilon)?,
            ),
            FormBaseline::PaperMechanism(name) => {
                let [own, paper] = [json!({}), paper_mechanism_draft(name)].map(|fields| {
                    let mut mechanism = fields;
                    mechanism["name"] = json!(name);
                    self.designed_estimand_variance(&mechanism, epsilon)
                });
                ratio(PAPER_BASELINE_NAME, own? / paper?)
            }
            FormBaseline::NoBaselineForText(text) => {
                let answer = plan_questions(vec![text.clone()], epsilon)?;
                let share = answer.questions[0].smallest_frequency.unwrap_or(1.0);
                let point = self.point(PLANNED_PEOPLE_COUNT, epsilon, 0.0);
                vec![Measurement::new(
                    point,
                    &self.name,
                    DETECTABLE_SHARE_ESTIMAND,
                    "share",
                    share,
                )]
            }
            FormBaseline::LocalReports(people) => self.measurements_for_sums(*people, epsilon)?,
        })
    }

    /// Returns the variance of a mechanism's estimate, for the estimand that P1 designed the
    /// mechanism for. All people have as many items as the sparsity allows.
    fn designed_estimand_variance(
        &self,
        mechanism: &Value,
        epsilon: f64,
    ) -> Result<f64, StudyError> {
        let asked = QuestionSetting {
            people_count: PLANNED_PEOPLE_COUNT,
            item_count: self.items,
            sparsity: self.sparsity,
            epsilon,
            delta: 0.0,
            protected_distance: 0.0,
            has_sign_values: true,
        };
        let own = ComparedRatingMechanism::from_task_draft(&self.name, &asked, mechanism)?;
        let PerReportSquaredErrors {
            mean_error: mean,
            frequency_error: frequency,
        } = own.squared_errors_per_report(&asked);
        let own = match mechanism["name"].as_str() {
            Some("collision") => frequency,
            _ => mean,
        };
        Ok(own.expect("both are unbiased"))
    }

    /// Compares sums of `items` numbers in [−1, 1] through a shuffler with local reports.
    fn measurements_for_sums(
        &self,
        people: u64,
        epsilon: f64,
    ) -> Result<Vec<Measurement>, StudyError> {
        let numbers: Vec<Value> = (0..self.items)
            .map(|index| json!({ "name": index.to_string(), "min": -1, "max": 1 }))
            .collect();
        let draft = json!({
            "id": "ways", "trust": "shuffler", "epsilon": epsilon, "delta": SUMS_DELTA,
            "people": people, "numbers": numbers,
        });
        let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft(&self.name, error);
        let draft = serde_json::from_value(draft).map_err(|error| refused(&error))?;
        let task = resolve_sum_draft(&draft).map_err(|error| refused(&error))?;
        let plan = SumPlan::new(task).map_err(|error| refused(&error))?;
        let [through, private] = ["numbers through a shuffler", "numbers, private reports"];
        let error = &plan.errors[0];
        let rows = [
            (through, STANDARD_ERROR_METRIC, error.standard_error),
            (private, STANDARD_ERROR_METRIC, error.local_standard_error),
            (through, "messages", f64::from(plan.messages)),
            (through, REPORT_BYTES_METRIC, plan.bytes as f64),
        ];
        let point = self.point(people, epsilon, SUMS_DELTA);
        let row =
            |(name, metric, value)| Measurement::new(point, name, MEAN_ESTIMAND, metric, value);
        Ok(rows.map(row).into())
    }
}

/// Returns the rule and the hashing of P1's mechanism with this name, as fields of a JSON draft.
/// The number of buckets is left unset, so the best number is chosen.
fn paper_mechanism_draft(name: &str) -> Value {
    let rule = match name {
        "collision" => "occupied",
        _ => "overwrite",
    };
    json!({ "rule": rule, "hashing": "independent" })
}

impl Experiment for QuestionFormsExperiment {
    fn name(&self) -> &'static str {
        "ways"
    }

    fn title(&self) -> &'static str {
        "Ways to ask a question: variance relative to another way"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let forms = self.forms.iter().enumerate();
        forms
            .map(|(index, own)| WorkUnit::formula_unit(&own.name, index))
            .collect()
    }

    fn run_unit(&self, unit: &WorkUnit, _: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let form = &self.forms[unit.index];
        let mut measured = Vec::new();
        for &epsilon in form.form_epsilons() {
            measured.extend(form.measure_at(epsilon)?);
        }
        Ok(measured)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let figure = |(name, baseline, label): (&str, &str, &str)| Figure {
            name: format!("ways-{name}"),
            title: format!("Variance relative to {label}, at the same ε"),
            x_label: "ε",
            y_label: VARIANCE_RATIO_METRIC,
            are_x_and_y_logarithmic: [true, true],
            panels: vec![Panel {
                title: format!("relative to {label}"),
                curves: table.mechanism_curves(
                    baseline,
                    VARIANCE_RATIO_METRIC,
                    |_| true,
                    |point| point.epsilon,
                ),
            }],
        };
        let all = [
            ("ratings", RATINGS_BASELINE_NAME, "ratings"),
            ("pattern", BIN_CHOICE_BASELINE_NAME, "a choice of a bin"),
            ("drawn", DRAWN_BASELINE_NAME, "one drawn question"),
            ("paper", PAPER_BASELINE_NAME, "the paper's mechanism"),
        ];
        all.map(figure).into()
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn run(forms: &QuestionFormsExperiment, name: &str) -> Vec<Measurement> {
        let mut units = forms.work_units().into_iter();
        let unit = units.find(|unit| unit.name == name).unwrap();
        forms
            .run_unit(&unit, &ChaCha8Rng::seed_from_u64(1))
            .unwrap()
    }

    #[test]
    fn ways_are_named_once() {
        let units = QuestionFormsExperiment::new().work_units();
        let mut names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), units.len());
    }

    /// If everyone answers yes, the variance of a flag is e/(e − 1)², with e = exp(ε). From ε = 1
    /// on, ratings with favoured buckets have four times this variance.
    #[test]
    fn what_is_known_comes_out() {
        let forms = QuestionFormsExperiment::new();
        let flag = run(&forms, "flag");
        let of_one = flag.iter().find(|row| row.point.epsilon == 1.0).unwrap();
        assert!((of_one.value - 0.25).abs() < 1e-9, "{of_one:?}");
    }

    /// Each panel has at least one curve, and each curve has a point at every ε.
    #[test]
    fn figures_hold_all_ratios() {
        let forms = QuestionFormsExperiment::new();
        let named = |unit: &WorkUnit| !unit.name.contains(" of 1000");
        let units = forms.work_units().into_iter().filter(named);
        let rows: Vec<Measurement> = units.flat_map(|unit| run(&forms, &unit.name)).collect();
        let ratios = rows
            .iter()
            .filter(|row| row.metric == VARIANCE_RATIO_METRIC)
            .count();
        let figures = forms.figures(&MeasurementTable::new(rows));
        let curves = figures.iter().flat_map(|own| &own.panels[0].curves);
        let points: usize = curves.clone().map(|curve| curve.points.len()).sum();
        assert_eq!(points, ratios);
        assert!(
            curves
                .clone()
                .all(|curve| curve.points.len() == FORM_EPSILONS.len())
        );
    }
}
