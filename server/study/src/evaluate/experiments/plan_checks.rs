//! Experiment that checks the planner. It simulates the reports of the planned number of people. It
//! then compares the half-width of the estimate's interval with the wanted half-width.
//!
//! Plans are for the worst case. So each question is answered by a crowd for which the error is
//! close to the worst.

use hushbin::{Entry, Randomizer};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Estimator, Totals};
use hushbin_analysis::plan::{Plan, Survey, plan_survey};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use serde_json::{Value, json};

use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;

/// Experiment whose questions are first planned and then simulated.
pub(crate) struct PlanChecksExperiment {
    size: StudySize,
    questions: Vec<PlannedQuestion>,
}

/// Question, with its wanted accuracy and the people who answer it.
struct PlannedQuestion {
    name: &'static str,
    question_json: Value,
    wanted_accuracy: Value,
    epsilon: f64,
    answer_of_person: fn(IndexedPerson<'_>) -> Vec<Entry>,
    /// Path of the estimate in the JSON of all estimates.
    estimate_path: &'static str,
    true_value: f64,
}

/// Person of a crowd. The person's answers depend on the index and on random numbers.
struct IndexedPerson<'a> {
    /// Index of the person, from 0.
    person_index: u64,
    rng: &'a mut ChaCha8Rng,
}

const HALF_WIDTH_RATIO_METRIC: &str = "half-width over the one wanted";
const WANTED_ERROR_SHARE_METRIC: &str = "share of errors within the one wanted";
const COVERAGE_METRIC: &str = "share of intervals that hold the truth";

impl IndexedPerson<'_> {
    /// Returns true if the person's index is even.
    const fn is_even(&self) -> bool {
        self.person_index.is_multiple_of(2)
    }

    /// Returns a number from −1 to 1. The numbers of 101 consecutive people are spread evenly.
    fn evenly_spread_number(&self) -> f64 {
        (self.person_index % 101) as f64 / 50.0 - 1.0
    }
}

fn entries_of_value_one(items: impl IntoIterator<Item = u64>) -> Vec<Entry> {
    let entry = |item| Entry { item, value: 1.0 };
    items.into_iter().map(entry).collect()
}

fn entries_with_values(values: impl IntoIterator<Item = f64>) -> Vec<Entry> {
    let entry = |(item, value)| Entry { item, value };
    (0..).zip(values).map(entry).collect()
}

/// Returns the planned questions about shares. At least half of the people give the first answer.
fn share_questions() -> [PlannedQuestion; 3] {
    [
        PlannedQuestion {
            name: "flag",
            question_json: json!({ "kind": "flag" }),
            wanted_accuracy: json!({ "within": 0.01 }),
            epsilon: 1.0,
            answer_of_person: |person| entries_of_value_one([person.person_index % 2]),
            estimate_path: "/estimates/0/share",
            true_value: 0.5,
        },
        PlannedQuestion {
            name: "choice of 10",
            question_json: json!({ "kind": "choice", "options": 10 }),
            wanted_accuracy: json!({ "within": 0.01 }),
            epsilon: 1.0,
            answer_of_person: |person| {
                entries_of_value_one([if person.is_even() {
                    0
                } else {
                    1 + person.person_index % 9
                }])
            },
            estimate_path: "/estimates/0/share",
            true_value: 0.5,
        },
        PlannedQuestion {
            name: "set of 16, s = 4",
            question_json: json!({ "kind": "set", "options": 16, "sparsity": 4 }),
            wanted_accuracy: json!({ "within": 0.02 }),
            epsilon: 2.0,
            answer_of_person: |person| {
                entries_of_value_one(if person.person_index.is_multiple_of(5) {
                    4..8
                } else {
                    0..4
                })
            },
            estimate_path: "/estimates/0/share",
            true_value: 0.8,
        },
    ]
}

/// Returns the planned questions about numbers.
fn number_questions() -> [PlannedQuestion; 3] {
    let number = json!({ "kind": "number", "min": -1, "max": 1 });
    let of = ["a", "b", "c", "d"].map(|name| json!({ "name": name, "min": -1, "max": 1 }));
    [
        PlannedQuestion {
            name: "mean of a number",
            question_json: number,
            wanted_accuracy: json!({ "within": 0.02 }),
            epsilon: 1.0,
            answer_of_person: |person| entries_with_values([person.evenly_spread_number()]),
            estimate_path: "/number/mean",
            true_value: 0.0,
        },
        PlannedQuestion {
            name: "4 numbers",
            question_json: json!({ "kind": "numbers", "of": of }),
            wanted_accuracy: json!({ "within": 0.05 }),
            epsilon: 2.0,
            answer_of_person: |person| {
                entries_with_values([person.evenly_spread_number(), 0.5, 0.0, -1.0])
            },
            estimate_path: "/estimates/0/mean",
            true_value: 0.0,
        },
        PlannedQuestion {
            name: "median of a number",
            question_json: json!({ "kind": "number", "min": 0, "max": 30, "want": "quantiles" }),
            wanted_accuracy: json!({ "within": 1.0, "spread": 6 }),
            epsilon: 1.0,
            answer_of_person: |person| {
                let normal = Normal::new(15.1_f64, 6.0).expect("a spread is above 0");
                let number: f64 = normal.sample(person.rng);
                entries_with_values([number.clamp(0.0, 30.0)])
            },
            estimate_path: "/number/quantiles/0",
            true_value: 15.1,
        },
    ]
}

/// Returns the planned questions about means: means within the rows of a cross-tabulation, and
/// means of rated items.
fn mean_questions() -> [PlannedQuestion; 2] {
    let cross = json!([{ "name": "beta", "kind": "flag" },
        { "name": "load", "kind": "number", "min": -1, "max": 1 }]);
    [
        PlannedQuestion {
            name: "means of 2 rows",
            question_json: json!({ "kind": "cross", "of": cross }),
            wanted_accuracy: json!({ "within": 0.05 }),
            epsilon: 2.0,
            answer_of_person: |person| {
                let value = person.evenly_spread_number();
                vec![Entry {
                    item: u64::from(person.is_even()),
                    value,
                }]
            },
            estimate_path: "/cross/conditional_means/0",
            true_value: 0.0,
        },
        PlannedQuestion {
            name: "ratings of 20, s = 2",
            question_json: json!({ "kind": "ratings", "items": 20, "value": "sign", "sparsity": 2 }),
            wanted_accuracy: json!({ "within": 0.05 }),
            epsilon: 2.0,
            answer_of_person: |person| {
                entries_with_values([if person.is_even() { 1.0 } else { -1.0 }, 1.0])
            },
            estimate_path: "/estimates/0/mean",
            true_value: 0.0,
        },
    ]
}

impl PlanChecksExperiment {
    /// Creates the experiment with all planned questions, for a study of the given size.
    pub(crate) fn new(size: StudySize) -> Self {
        Self {
            size,
            questions: (share_questions()
                .into_iter()
                .chain(number_questions())
                .chain(mean_questions()))
            .collect(),
        }
    }
}

impl PlannedQuestion {
    /// Plans the question for an interval whose half-width is `times` the wanted one. Returns the
    /// plan and the half-width.
    fn plan_question(&self, times: f64) -> Result<(Plan, f64), StudyError> {
        let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft(self.name, error);
        let mut question = self.question_json.clone();
        question["name"] = json!("q");
        let mut wanted = self.wanted_accuracy.clone();
        let within = times * wanted["within"].as_f64().unwrap_or_default();
        wanted["within"] = json!(within);
        let survey = json!({ "questions": [question], "epsilon": self.epsilon,
            "wanted": { "q": wanted } });
        let survey: Survey = serde_json::from_value(survey).map_err(|error| refused(&error))?;
        Ok((
            plan_survey(&survey).map_err(|error| refused(&error))?,
            within,
        ))
    }

    fn measure_plan(&self, times: f64, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let (plan, within) = self.plan_question(times)?;
        let refused = |error: &dyn std::fmt::Display| StudyError::invalid_draft(self.name, error);
        // Separate streams draw the people and the noise.
        let [mut drawing, mut noise] = [generator_stream(rng, 0), generator_stream(rng, 1)];
        let mut randomizer = Randomizer::new(&plan.task);
        let mut totals = Totals::new(&plan.task);
        for number in 0..plan.people {
            let rng = &mut drawing;
            let entries = (self.answer_of_person)(IndexedPerson {
                person_index: number,
                rng,
            });
            totals.add_report(&randomizer.randomize(&entries, &mut noise)?.report);
        }
        let options = EstimateOptions {
            quantiles: self.estimate_path.contains("quantiles").then(|| vec![0.5]),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(&plan.task, &options).map_err(|error| refused(&error))?;
        let estimates = Estimator::for_task(plan.task.clone()).estimates(&totals, &query);
        let estimates = json!(estimates);
        let read = |end: &str| {
            let number = estimates.pointer(&format!("{}/{end}", self.estimate_path));
            number
                .and_then(Value::as_f64)
                .ok_or_else(|| refused(&"there is no estimate"))
        };
        let (estimate, lower, upper) =
            (read("estimate")?, read("interval/0")?, read("interval/1")?);
        let is = |holds: bool| f64::from(u8::from(holds));
        let point = MeasurementPoint {
            people: plan.people,
            items: plan.questions[0].answers.unwrap_or(1),
            sparsity: plan.questions[0].sparsity,
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: within,
        };
        let metrics = [
            (HALF_WIDTH_RATIO_METRIC, 0.5 * (upper - lower) / within),
            (
                WANTED_ERROR_SHARE_METRIC,
                is((estimate - self.true_value).abs() <= within),
            ),
            (
                COVERAGE_METRIC,
                is((lower..=upper).contains(&self.true_value)),
            ),
        ];
        let row = |(metric, value)| Measurement::new(point, self.name, "plan", metric, value);
        Ok(metrics.map(row).into())
    }
}

impl Experiment for PlanChecksExperiment {
    fn name(&self) -> &'static str {
        "plans"
    }

    fn title(&self) -> &'static str {
        "Planned numbers of people, checked by simulated reports"
    }

    fn work_units(&self) -> Vec<WorkUnit> {
        let questions = self.questions.iter().enumerate();
        let repeats = self.size.quick_or_full(100, 400);
        let units = questions.flat_map(|(index, own)| {
            WorkUnit::repeated_units(repeats, index, 1e4, |repeat| {
                format!("{}, repeat {repeat}", own.name)
            })
        });
        units.collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        // Three times the error needs a ninth of the people.
        let times = self.size.quick_or_full(3.0, 1.0);
        self.questions[unit.index].measure_plan(times, rng)
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let own = table.mechanism_curves(
            "plan",
            HALF_WIDTH_RATIO_METRIC,
            |_| true,
            |point| point.people as f64,
        );
        vec![Figure {
            name: "plans".to_owned(),
            title: "Half-width of the interval divided by the planned half-width".to_owned(),
            x_label: "planned number of people",
            y_label: HALF_WIDTH_RATIO_METRIC,
            are_x_and_y_logarithmic: [true, false],
            panels: vec![Panel {
                title: "questions".to_owned(),
                curves: own,
            }],
        }]
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Planned numbers of people suffice: at least 95 of 100 crowds have an error below the planned
    /// half-width. With 40 crowds, the observed share of such crowds is below 0.8 by chance once in
    /// 10⁴ tests. Intervals are as wide as planned, or narrower if the crowd is not the worst case.
    #[test]
    fn as_many_people_as_planned_are_enough() {
        let plans = PlanChecksExperiment::new(StudySize::Quick);
        for (index, question) in plans.questions.iter().enumerate() {
            let rows = (0..40).flat_map(|repeat| {
                let rng = ChaCha8Rng::seed_from_u64(1000 * index as u64 + repeat);
                question.measure_plan(3.0, &rng).unwrap()
            });
            let table = MeasurementTable::new(rows);
            let mean = |metric| table.rows_of("plan", metric).next().unwrap().mean_value;
            let width = mean(HALF_WIDTH_RATIO_METRIC);
            assert!((0.7..1.05).contains(&width), "{}: {width}", question.name);
            for metric in [WANTED_ERROR_SHARE_METRIC, COVERAGE_METRIC] {
                assert!(
                    mean(metric) > 0.8,
                    "{}, {metric}: {}",
                    question.name,
                    mean(metric)
                );
            }
        }
    }
}
