//! What is known of an honest crowd holds of one, whatever it is asked and answers.

use hushbin_analysis::estimate::Estimator;

use super::stored::{folded, reports, tasks};

/// Over all mechanisms, rules and kinds of questions. Of some 150 tests of right probabilities
/// one in 600 crowds has a p below 10⁻⁵ by chance.
#[test]
fn an_honest_crowd_is_not_flagged() {
    let mut tests = 0;
    for task in tasks() {
        let totals = folded(&task, &reports(&task, 20_000));
        for test in Estimator::for_task(task.clone()).crowd(&totals) {
            assert!(test.p > 1e-5 && !test.flagged, "{test:?}: {task:?}");
            tests += 1;
        }
    }
    assert!(tests > 100, "{tests}");
}
