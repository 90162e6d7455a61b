//! The toy, from a task file to an estimate.

#![allow(clippy::unwrap_used)]

use hushbin::{Entry, Mechanism, Randomizer, Task, TaskDraft, Upload, UploadId};
use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy};
use hushbin_analysis::estimate::{
    ErrorPredictor, Estimand, EstimateOptions, EstimateQuery, Totals, estimates_for_query,
};
use hushbin_analysis::likelihood::{Hypothesis, neighbour_pairs, observe_report};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const FILE: &str = r#"{
    "id": "settings", "items": ["dark-mode", "autoplay", "captions"], "sparsity": 2,
    "epsilon": 2.0, "value": "sign", "mechanism": "toy"
}"#;
const PEOPLE: u32 = 40_000;

#[test]
fn a_task_file_becomes_estimates() {
    let draft: TaskDraft = serde_json::from_str(FILE).unwrap();
    let task = draft.resolve_task().unwrap();
    assert!(matches!(task.questions()[0].mechanism(), Mechanism::Toy(_)));
    assert!(draft.check_agrees_with(&task).is_ok());
    assert!(task.achieved_report_epsilon() <= 2.0);
    let complete: Task = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
    assert_eq!(complete, task);
    assert_eq!(
        Task::from_canonical_bytes(&task.canonical_bytes()),
        Ok(complete)
    );

    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut randomizer = Randomizer::new(&task);
    let entries = |values: &[f64]| -> Vec<Entry> {
        let entry = |(item, &value)| Entry { item, value };
        (0..)
            .zip(values)
            .map(entry)
            .filter(|entry| entry.value != 0.0)
            .collect()
    };
    // Every fourth person has no entry.
    let people =
        [[1.0, 0.0, -1.0], [1.0, 1.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0]].map(|p| entries(&p));
    let mut totals = Totals::new(&task);
    for input in people.iter().cycle().take(PEOPLE as usize) {
        let made = randomizer.randomize(input, &mut rng).unwrap();
        let upload = Upload {
            id: UploadId([0; 16]),
            reports: vec![made.report],
        };
        let upload = Upload::decode(&upload.encode(&task.fingerprint()), &task).unwrap();
        upload
            .reports
            .iter()
            .for_each(|report| totals.add_report(report));
    }
    let question = EstimateQuery::new(&task, &EstimateOptions::default()).unwrap();
    let found = estimates_for_query(&task, &totals, &question);
    let stored = Totals::decode(&task, &totals.encode()).unwrap();
    assert_eq!(stored.encode(), totals.encode());
    let again = estimates_for_query(&task, &stored, &question);
    let [found_json, again] = [&found, &again].map(|own| serde_json::to_string(own).unwrap());
    assert_eq!(again, found_json);
    for (item, truth) in found.estimates.iter().zip([0.75, 0.25, -0.25]) {
        let mut all = item.estimates();
        let (estimand, mean) = all.next().unwrap();
        assert_eq!((estimand, all.next()), (Estimand::Mean, None));
        // Four standard errors: exceeded by chance with probability 2e-4, but not with this seed.
        assert!(
            (mean.estimate - truth).abs() < 4.0 * mean.standard_error,
            "{item:?}"
        );
        let predicted = ErrorPredictor::for_question(&task.questions()[0])
            .rare_item_standard_error(Estimand::Mean, f64::from(PEOPLE));
        assert!((mean.standard_error / predicted.unwrap() - 1.0).abs() < 0.05);
    }

    let mixture = ReportMixture::for_task(&task).unwrap();
    assert!(
        compute_batch_privacy(&mixture, 10_000, 1.0, 1e-6)
            .unwrap()
            .central_epsilon
            < 0.2
    );
    for pair in neighbour_pairs(&task.questions()[0]) {
        let report = randomizer
            .randomize(&pair.inputs[0], &mut rng)
            .unwrap()
            .report;
        let inputs = pair
            .inputs
            .each_ref()
            .map(|input| Hypothesis::new(&task.questions()[0], input));
        let seen = observe_report(&task.questions()[0], inputs.each_ref(), &report);
        assert!(
            seen.log_likelihood_ratio.abs() <= 2.0 * (1.0 + 1e-12),
            "{pair:?}"
        );
    }
}
