//! Tests that properties of honest crowds are true for any question and any answers.

use hushbin_analysis::estimate::Estimator;

use super::stored::{folded, reports, tasks};

/// Tests over every mechanism, rule and kind of question. With some 150 tests of right
/// probabilities, one crowd in 600 has a p below 10⁻⁵ by chance.
#[test]
fn an_honest_crowd_is_not_flagged() {
    let mut tests = 0;
    for task in tasks() {
        let totals = folded(&task, &reports(&task, 20_000));
        for test in Estimator::for_task(task.clone()).run_honesty_tests(&totals) {
            assert!(test.p > 1e-5 && !test.flagged, "{test:?}: {task:?}");
            tests += 1;
        }
    }
    assert!(tests > 100, "{tests}");
}
