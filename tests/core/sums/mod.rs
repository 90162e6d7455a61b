//! Sums in the shuffle model: the frame against the reference, messages, and tasks.

mod frame;
mod sampler;
mod task;

use hushbin::sample::Threshold;
use hushbin::sums::{Ball, Measure, Messages, SumParts, SumTask};
use hushbin::task::{Budget, Limits};
use hushbin::{Items, sums};

const REFERENCE: &str = include_str!("../../reference/shuffle-sums.json");

fn parts(measure: Measure) -> SumParts {
    SumParts {
        id: "sum".into(),
        measure,
        epsilon: 1.0,
        delta: 1e-6,
        people: 1000,
        honest_fraction: 0.9,
        budget: Budget::default(),
    }
}

/// Numbers from −1 to 1, `count` of them.
fn numbers(count: u32) -> Measure {
    let names = (0..count).map(|index| format!("n{index}")).collect();
    let limits = (0..count).map(|_| Limits::new(-1.0, 1.0, None).unwrap());
    Measure::numbers(names, limits.collect()).unwrap()
}

fn ball(dimension: u32, length: f64) -> Measure {
    Measure::Ball(Ball::new(Items::Count(dimension), length, 7, Ball::SPREAD).unwrap())
}

fn messages([levels, drawn, trials]: [u32; 3], q: f64, noise: u32) -> Messages {
    let threshold = Threshold((q * 2_f64.powi(64)) as u64);
    Messages::new(levels, drawn, trials, threshold, noise).unwrap()
}

fn task(measure: Measure, messages: sums::Messages) -> SumTask {
    SumTask::new(parts(measure), messages).unwrap()
}
