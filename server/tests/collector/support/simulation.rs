//! Random people as data sets, and what `hushbin simulate` finds on them.

use std::fs;
use std::path::{Path, PathBuf};

use hushbin::sample::{below, choose_front};
use hushbin_tests::process::answer;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use tempfile::TempDir;

/// A directory that vanishes, for a task and people.
pub(crate) struct Simulation {
    directory: TempDir,
}

impl Simulation {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// Where the task file is.
    pub(crate) fn task(&self) -> PathBuf {
        self.directory.path().join("task.json")
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data.txt")
    }

    /// Writes people with values of these magnitudes, of items and with signs
    /// that are uniformly random.
    pub(crate) fn scatter<'a>(
        &self,
        items: u32,
        people: impl Iterator<Item = &'a [f64]>,
        seed: u64,
    ) {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut deck: Vec<u32> = (0..items).collect();
        let person = |magnitudes: &[f64]| -> Vec<(u32, f64)> {
            choose_front(&mut rng, &mut deck, magnitudes.len());
            let entries = deck.iter().zip(magnitudes);
            entries
                .map(|(&item, &value)| (item, [value, -value][below(&mut rng, 2) as usize]))
                .collect()
        };
        self.write(items, people.map(person));
    }

    /// Writes people who all have the first items, so many of them, as 1.
    pub(crate) fn agree(&self, items: u32, entries: impl Iterator<Item = u32>) {
        let person = |entries| (0..entries).map(|item| (item, 1.0)).collect();
        self.write(items, entries.map(person));
    }

    fn write(&self, items: u32, people: impl Iterator<Item = Vec<(u32, f64)>>) {
        let (mut lines, mut count, mut most) = (String::new(), 0, 0);
        for (person, entries) in people.enumerate() {
            (count, most) = (person + 1, most.max(entries.len()));
            for (item, value) in entries {
                lines += &format!("{person} {item} {value}\n");
            }
        }
        fs::write(self.data(), format!("{count} {items} {most}\n{lines}")).unwrap();
    }

    /// What the command finds in so many runs.
    pub(crate) fn run(&self, estimand: &str, runs: u32, seed: u32) -> Value {
        let (task, data) = (self.task(), self.data());
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        answer(&[
            "simulate",
            "--task",
            &path(&task),
            "--data",
            &path(&data),
            "--estimand",
            estimand,
            "--runs",
            &runs.to_string(),
            "--seed",
            &seed.to_string(),
            "--json",
        ])
    }
}
