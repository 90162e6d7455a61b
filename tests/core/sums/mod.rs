//! Sums in the shuffle model: the frame against the reference, messages, and tasks.

mod frame;
mod sampler;
mod task;

use hushbin::sample::Threshold;
use hushbin::sums::{BoundedVector, MessageParameters, SumTask, SumTaskFields, SummedQuantity};
use hushbin::task::{NumberLimits, ReportBudget};
use hushbin::{Items, sums};

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

fn messages([levels, drawn, trials]: [u32; 3], q: f64, noise: u32) -> MessageParameters {
    let threshold = Threshold((q * 2_f64.powi(64)) as u64);
    MessageParameters::new(levels, drawn, trials, threshold, noise).unwrap()
}

fn task(measure: SummedQuantity, messages: sums::MessageParameters) -> SumTask {
    SumTask::new(parts(measure), messages).unwrap()
}
