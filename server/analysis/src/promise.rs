//! What a task's reports give away, in numbers and in words.

use hushbin::Task;
use hushbin::mechanism::{Mechanism, Neighbours};
use serde::Serialize;

/// How much privacy was spent, and against whom that holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Privacy {
    /// Local ε asked for.
    pub epsilon: f64,
    /// Local ε realised by each report, rounded up.
    pub effective_epsilon: f64,
    /// Probability with which that may fail; 0 but for hash-bin with a δ.
    #[serde(skip_serializing_if = "is_zero")]
    pub delta: f64,
    /// What ε is about.
    pub protects: String,
    /// What that means.
    pub statement: String,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Privacy {
    /// Of one report of the task.
    #[must_use]
    pub fn for_task(task: &Task) -> Self {
        let neighbours = task.mechanism().neighbours();
        let about = match neighbours {
            Neighbours::Any => "the person who sent it".to_owned(),
            Neighbours::OneItem => "the value of any one item, the person's other items being \
                 given; what many items of a person say together is not protected"
                .to_owned(),
            Neighbours::Within(distance) => format!(
                "which of two inputs it was made of, if their values differ by at most {distance} \
                 in sum; inputs farther apart are protected less"
            ),
        };
        let delta = task.mechanism().delta();
        let failing = if delta > 0.0 {
            format!(
                " This fails with a probability of at most {delta:e}, if the hash of the report is \
                 as good as random."
            )
        } else {
            String::new()
        };
        Self {
            epsilon: task.epsilon(),
            effective_epsilon: task.effective_epsilon(),
            delta,
            protects: protects(neighbours),
            statement: format!(
                "Every report was randomised in the browser under local differential privacy: \
                 whoever sees it, the operator of this collector included, learns from it at most \
                 a factor of exp(epsilon) about {about}.{failing} A person who reports several \
                 times spends epsilon each time."
            ),
        }
    }
}

/// What a report protects, in a few words.
#[must_use]
pub fn protects(neighbours: Neighbours) -> String {
    match neighbours {
        Neighbours::Any => "a person's whole input".to_owned(),
        Neighbours::OneItem => "the value of any single item, not a whole input".to_owned(),
        Neighbours::Within(distance) => {
            format!("which of two inputs it is that differ by at most {distance} in sum")
        }
    }
}

/// The bias that no number of reports lessens, in words; `None` where there is
/// none for people with at most s entries.
#[must_use]
pub fn bias(task: &Task) -> Option<String> {
    let Mechanism::HashBin(hash_bin) = task.mechanism() else {
        return None;
    };
    let (clip, s) = (hash_bin.level().clip()?, task.sparsity());
    let left = hash_bin.left(s);
    (left < 1.0).then(|| {
        format!(
            "A person's sum was clipped to ±{clip}, which pulls estimates towards 0: of each value \
             of a person with {s} full entries a part of {left:.3} is left on average. Intervals \
             do not cover that."
        )
    })
}
