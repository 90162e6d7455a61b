//! Sums in the shuffle model: the frame against the reference, messages, and tasks.

mod frame;
mod questions;
mod sampler;
mod task;

use hushbin::Items;
use hushbin::sample::Threshold;
use hushbin::sums::{
    BoundedVector, CountedKind, CountedQuestions, MessageParameters, NoiseLottery, SumTask,
    SumTaskFields, SummedQuantity, UnitStepParameters,
};
use hushbin::task::{NumberLimits, ReportBudget};

const REFERENCE: &str = include_str!("../../reference/shuffle-sums.json");

fn parts(measure: SummedQuantity) -> SumTaskFields {
    SumTaskFields {
        id: "sum".into(),
        summed_quantity: measure,
        central_epsilon: 1.0,
        delta: 1e-6,
        min_people: 1000,
        honest_fraction: 0.9,
        report_budget: ReportBudget::default(),
    }
}

/// Numbers from −1 to 1, `count` of them.
fn numbers(count: u32) -> SummedQuantity {
    let names = (0..count).map(|index| format!("n{index}")).collect();
    let limits = (0..count).map(|_| NumberLimits::new(-1.0, 1.0, None).unwrap());
    SummedQuantity::from_numbers(names, limits.collect()).unwrap()
}

fn ball(dimension: u32, length: f64) -> SummedQuantity {
    SummedQuantity::BoundedVector(
        BoundedVector::new(
            Items::Count(dimension),
            length,
            7,
            BoundedVector::DEFAULT_BOUND_FACTOR,
        )
        .unwrap(),
    )
}

fn messages([levels, drawn, trials]: [u32; 3], q: f64, noise: u32) -> UnitStepParameters {
    let threshold = Threshold((q * 2_f64.powi(64)) as u64);
    UnitStepParameters::new(levels, drawn, trials, threshold, noise).unwrap()
}

fn task(measure: SummedQuantity, messages: impl Into<MessageParameters>) -> SumTask {
    SumTask::new(parts(measure), messages).unwrap()
}

fn choice(options: u32) -> CountedQuestions {
    let kind = CountedKind::Choice { name: "c".into() };
    CountedQuestions::new(kind, Items::Count(options)).unwrap()
}

fn set(options: u32, sparsity: u32) -> CountedQuestions {
    let name = "s".into();
    CountedQuestions::new(CountedKind::Set { name, sparsity }, Items::Count(options)).unwrap()
}

fn flags(count: u32) -> CountedQuestions {
    let names = (0..count).map(|index| format!("f{index}")).collect();
    CountedQuestions::new(CountedKind::Flags, Items::Named(names)).unwrap()
}

/// Number from −1 to 3.
fn histogram(bins: u32) -> CountedQuestions {
    let limits = NumberLimits::new(-1.0, 3.0, Some("s".into())).unwrap();
    let name = "n".into();
    CountedQuestions::new(CountedKind::Number { name, limits }, Items::Count(bins)).unwrap()
}

/// Task of questions whose noise messages are sent with probability `quarters` / 4.
fn questions(of: CountedQuestions, draws: u32, quarters: u128, equal: bool) -> SumTask {
    let lottery = NoiseLottery::new(draws, quarters << 62, equal).unwrap();
    task(SummedQuantity::CountedQuestions(of), lottery)
}
