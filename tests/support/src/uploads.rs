//! Drafts and uploads.

use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, TaskDraft, Upload, UploadId};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub fn draft(json: &str) -> TaskDraft {
    serde_json::from_str(json).unwrap()
}

/// Makes uploads with random ids and reports that are the same in every run.
pub struct Uploads {
    task: Task,
    rng: ChaCha20Rng,
}

impl Uploads {
    pub fn new(task: &Task, seed: u64) -> Self {
        Self {
            task: task.clone(),
            rng: ChaCha20Rng::seed_from_u64(seed),
        }
    }

    /// Makes an upload of `reports` people with equal answers: item 0 of every question as 1, all
    /// numbers and parts as 1, or the text "dark".
    pub fn make(&mut self, reports: usize) -> Upload {
        let mut randomizer = Randomizer::new(&self.task);
        let questions = self.task.questions().iter();
        let answers: Vec<Vec<Entry>> = questions
            .map(|question| {
                let items = match question.kind() {
                    QuestionKind::Text(prefixes) => prefixes.prefix_hashes("dark"),
                    QuestionKind::Numbers(all) => (0..all.len() as u64).collect(),
                    QuestionKind::JointChoices(all) => (0..all.parts().len() as u64).collect(),
                    _ => vec![question.items().find_item("dark-mode").unwrap_or(0)],
                };
                let entry = |item| Entry { item, value: 1.0 };
                items.into_iter().map(entry).collect()
            })
            .collect();
        let answers: Vec<&[Entry]> = answers.iter().map(Vec::as_slice).collect();
        let mut id = [0; 16];
        self.rng.fill_bytes(&mut id);
        let reports = (0..reports)
            .map(|_| {
                randomizer
                    .randomize_answers(&answers, &mut self.rng)
                    .unwrap()
                    .report
            })
            .collect();
        Upload {
            id: UploadId(id),
            reports,
        }
    }

    pub fn bytes(&mut self, reports: usize) -> Vec<u8> {
        self.make(reports).encode(&self.task.fingerprint())
    }
}
