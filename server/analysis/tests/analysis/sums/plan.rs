use hushbin::ErrorCode;
use hushbin::sample::Threshold;
use hushbin::sums::{SumTask, SumTaskDraft, UnitStepParameters};
use hushbin_analysis::sums::{SumPlan, central_epsilon_bounds, resolve_sum_draft};

use super::draft;

/// Kind, numbers and people at ε = 1, δ = 10⁻⁶; then the maximum standard error, and the minimum
/// ratio of the local model's to it.
const TABLE: [(&str, u32, u64, f64, f64); 5] = [
    ("numbers", 1, 100_000, 0.0001, 60.0),
    ("numbers", 4, 100_000, 0.00022, 60.0),
    ("numbers", 16, 10_000, 0.0040, 21.0),
    ("numbers", 16, 100_000, 0.00045, 60.0),
    ("vector", 64, 100_000, 0.0005, 100.0),
];

#[test]
fn errors_are_a_part_of_those_of_the_local_model() {
    for (what, d, people, most, ratio) in TABLE {
        let task = resolve_sum_draft(&draft(what, d, people, 1.0)).unwrap();
        let plan = SumPlan::new(task).unwrap();
        let error = &plan.errors[0];
        let shown = format!("{what} {d} {people}: {plan:?}");
        assert!(error.standard_error <= most, "{shown}");
        assert!(
            error.local_standard_error >= ratio * error.standard_error,
            "{shown}"
        );
        let [lower, upper] = [plan.central_epsilon.lower, plan.central_epsilon.upper];
        assert!(upper <= 1.0 && lower > 0.999 && lower <= upper, "{shown}");
        assert!(plan.messages <= 512 && plan.noise_messages < f64::from(plan.messages));
    }
}

/// If messages run out, fewer coordinates are drawn. With a tighter limit there are fewer levels.
#[test]
fn messages_are_as_few_as_said() {
    let many = resolve_sum_draft(&draft("numbers", 1000, 10_000, 1.0)).unwrap();
    assert!(
        many.message_parameters()
            .unit_steps()
            .unwrap()
            .drawn_coordinate_count()
            < 100
            && many
                .message_parameters()
                .unit_steps()
                .unwrap()
                .message_count()
                <= 512
    );
    let large = resolve_sum_draft(&draft("numbers", 64, 1_000_000, 1.0)).unwrap();
    assert!(large.min_batch_messages() <= 20_000_000);
    let few = resolve_sum_draft(&draft("numbers", 4, 200, 1.0)).unwrap();
    assert!(
        few.message_parameters()
            .unit_steps()
            .unwrap()
            .noise_trial_count()
            > 1
    );
    // The noise of two people cannot hide a person under a small ε.
    let error = resolve_sum_draft(&draft("numbers", 4, 3, 0.01)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::OutOfRange);
    // The number of messages that memory can reorder is limited too.
    let error = resolve_sum_draft(&draft("numbers", 512, 1_000_000_000, 1.0)).unwrap_err();
    assert!(
        error.to_string().contains("messages of one person"),
        "{error}"
    );
}

fn changed(task: &SumTask, levels: u32, threshold: f64) -> SumTaskDraft {
    let own = task.message_parameters().unit_steps().unwrap();
    let threshold = Threshold((own.noise_threshold().0 as f64 * threshold) as u64);
    let (drawn, trials, noise) = (
        own.drawn_coordinate_count(),
        own.noise_trial_count(),
        own.max_noise_messages(),
    );
    SumTaskDraft {
        message_parameters: Some(
            UnitStepParameters::new(levels, drawn, trials, threshold, noise)
                .unwrap()
                .into(),
        ),
        ..SumTaskDraft::from(task.clone())
    }
}

#[test]
fn a_promise_that_messages_do_not_keep_is_refused() {
    let task = resolve_sum_draft(&draft("numbers", 4, 10_000, 1.0)).unwrap();
    let levels = task
        .message_parameters()
        .unit_steps()
        .unwrap()
        .messages_per_unit();
    assert_eq!(
        resolve_sum_draft(&changed(&task, levels, 1.0)),
        Ok(task.clone())
    );
    assert!(central_epsilon_bounds(&task).unwrap().upper <= 1.0);
    // Fewer levels need less noise.
    assert!(resolve_sum_draft(&changed(&task, levels - 1, 1.0)).is_ok());
    for (levels, threshold) in [(levels, 0.999), (levels + 1, 1.0)] {
        let error = resolve_sum_draft(&changed(&task, levels, threshold)).unwrap_err();
        assert!(
            error.to_string().starts_with("ε of the messages is 1."),
            "{error}"
        );
    }
    for change in [
        |own: &mut SumTaskDraft| own.task_fields.min_people = 9_900,
        |own: &mut SumTaskDraft| own.task_fields.honest_fraction = 0.89,
        |own: &mut SumTaskDraft| own.task_fields.delta = 0.99e-6,
        |own: &mut SumTaskDraft| own.task_fields.central_epsilon = 0.999,
    ] {
        let mut draft = SumTaskDraft::from(task.clone());
        change(&mut draft);
        assert_eq!(
            resolve_sum_draft(&draft).unwrap_err().code(),
            ErrorCode::OutOfRange
        );
    }
    // A cap so low that noise would be redrawn too often.
    let own = task.message_parameters().unit_steps().unwrap();
    let cut = UnitStepParameters::new(
        own.messages_per_unit(),
        own.drawn_coordinate_count(),
        own.noise_trial_count(),
        own.noise_threshold(),
        3,
    );
    let draft = SumTaskDraft {
        message_parameters: Some(cut.unwrap().into()),
        ..SumTaskDraft::from(task)
    };
    assert_eq!(
        resolve_sum_draft(&draft).unwrap_err().code(),
        ErrorCode::OutOfRange
    );
}
