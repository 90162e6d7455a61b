//! Estimates, as CSV, from uploads that were collected by other means: a queue, a log, files.
//!
//! ```sh
//! cargo run --package hushbin-analysis --example decode -- settings.json uploads/*
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::io;

use hushbin::{Task, TaskDraft, Upload};
use hushbin_analysis::estimate::{
    EstimateOptions, EstimateQuery, Estimates, Totals, estimates_for_query,
};

/// Folds the reports of each upload once, in any order, even if uploads are repeated.
fn estimate_from_uploads<'a>(
    task: &Task,
    uploads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Estimates, Box<dyn Error>> {
    let mut totals = Totals::new(task);
    let mut seen = HashSet::new();
    for bytes in uploads {
        // Refuses uploads made under other parameters.
        let upload = Upload::decode(bytes, task)?;
        if seen.insert(upload.id) {
            upload
                .reports
                .iter()
                .for_each(|report| totals.add_report(report));
        }
    }
    let question = EstimateQuery::new(task, &EstimateOptions::default())?;
    Ok(estimates_for_query(task, &totals, &question))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("usage: decode TASK_FILE UPLOAD...")?;
    let draft: TaskDraft = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let task = draft.resolve_task()?;
    let uploads = arguments
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    let answer = estimate_from_uploads(&task, uploads.iter().map(Vec::as_slice))?;
    answer.write_csv(io::stdout())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use hushbin::{Entry, Randomizer, UploadId};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn an_upload_that_comes_twice_counts_once_and_another_tasks_is_refused() {
        let task = |id: &str| {
            let json = format!(
                r#"{{ "id": "{id}", "items": ["dark-mode"], "sparsity": 1, "epsilon": 4.0, "value": "sign" }}"#
            );
            let draft: TaskDraft = serde_json::from_str(&json).unwrap();
            draft.resolve_task().unwrap()
        };
        let settings = task("settings");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut randomizer = Randomizer::new(&settings);
        let mut upload = |id| {
            let answers = [Entry {
                item: 0,
                value: 1.0,
            }];
            let reports = (0..500)
                .map(|_| randomizer.randomize(&answers, &mut rng).unwrap().report)
                .collect();
            let id = UploadId([id; 16]);
            Upload { id, reports }.encode(&settings.fingerprint())
        };
        let (first, second) = (upload(1), upload(2));

        let answer = estimate_from_uploads(&settings, [&*first, &*second, &*first]).unwrap();
        assert_eq!(answer.reports, 1000);
        let [mean, ..] = answer.estimates[0].by_estimand;
        let mean = mean.unwrap();
        assert!(
            (mean.estimate - 1.0).abs() < 5.0 * mean.standard_error,
            "{mean:?}"
        );
        assert!(estimate_from_uploads(&task("other"), [&*first]).is_err());
    }
}
