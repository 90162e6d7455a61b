//! Errors of histograms before any upload exists, comparisons with other kinds of privacy, and the
//! influence of dishonest people.

use hushbin::{Error, TaskDraft};

use crate::accounting::{LotteryNoise, required_gaussian_variance};
use crate::estimate::{ErrorPredictor, PredictedQuantity};

/// Noise that is expected in each cell, and the standard errors that follow from it.
///
/// Variances are in units of λ′ = n·r·q, the mean number of noise messages about one cell. Shares of
/// K cells have 1 − 1/K units, flags as yes/no pairs 1/2, and numbers those of
/// [`BinTree`](super::BinTree).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LotteryErrors {
    people: f64,
    mean_noise: f64,
}

impl LotteryErrors {
    /// Creates the prediction for `people` uploads, all of which have noise about one of `cells`
    /// cells.
    #[must_use]
    pub fn new(people: f64, noise: LotteryNoise, cells: u32) -> Self {
        let draws = people * f64::from(noise.draws);
        Self {
            people,
            mean_noise: draws * noise.probability() / f64::from(cells),
        }
    }

    /// Returns the mean number λ′ of noise messages about one cell.
    #[must_use]
    pub const fn mean_noise(&self) -> f64 {
        self.mean_noise
    }

    /// Returns the standard error of a share whose estimated number of people has this variance, in
    /// units of λ′.
    ///
    /// ```
    /// use hushbin_analysis::accounting::LotteryNoise;
    /// use hushbin_analysis::sums::LotteryErrors;
    ///
    /// let noise = LotteryNoise { draws: 1, threshold: 1 << 57 };
    /// let errors = LotteryErrors::new(100_000.0, noise, 16);
    /// let share = errors.share_error(1.0 - 1.0 / 16.0);
    /// assert!((share - 6.77e-5).abs() < 1e-7);
    /// ```
    #[must_use]
    pub fn share_error(&self, variance: f64) -> f64 {
        (self.mean_noise * variance).sqrt() / self.people
    }
}

/// Returns the largest number by which one dishonest person's upload moves a count, if the shuffler
/// takes at most `own_messages` + `draws` messages. Honest people move it by at most 1.
#[must_use]
pub const fn most_moved_by_one_person(own_messages: u32, draws: u32) -> u32 {
    own_messages + draws
}

/// Returns the standard error of a share if a trusted server adds two-sided geometric noise to each
/// count, so that counts are ε-differentially private. One person changes `changes` counts by 1.
#[must_use]
pub fn central_geometric_error(changes: u32, epsilon: f64, people: f64) -> f64 {
    let rate = epsilon / f64::from(changes);
    // The variance is 2p/(1 − p)², with p = exp(−ε/changes).
    (2.0 * (-rate).exp()).sqrt() / -(-rate).exp_m1() / people
}

/// Returns the standard error of a share if a trusted server adds Gaussian noise to each count, so
/// that counts are (ε, δ)-differentially private. One person changes `changes` counts by 1.
#[must_use]
pub fn central_gaussian_error(changes: u32, epsilon: f64, delta: f64, people: f64) -> f64 {
    // This variance is for two changes.
    let variance = 0.5 * f64::from(changes) * required_gaussian_variance(1, 1, epsilon, delta);
    variance.sqrt() / people
}

/// Returns the standard error of a share if reports are locally private with the same ε, in the worst
/// case over answers. Each person chooses at most `own_messages` of `options` options. One option
/// alone is a flag. A person answers one of `questions` such questions, drawn at random.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if there is no such question.
pub fn local_share_error(
    options: u32,
    own_messages: u32,
    questions: u32,
    epsilon: f64,
    people: f64,
) -> Result<f64, Error> {
    let names: Vec<String> = (0..options).map(|option| option.to_string()).collect();
    let question = match (options, own_messages) {
        (1, _) => serde_json::json!({ "name": "local", "kind": "flag" }),
        (_, 1) => serde_json::json!({ "name": "local", "kind": "choice", "options": names }),
        (_, most) => serde_json::json!({
            "name": "local", "kind": "set", "options": names, "sparsity": most,
        }),
    };
    let draft = serde_json::json!({ "id": "local", "epsilon": epsilon, "questions": [question] });
    let draft: TaskDraft = serde_json::from_value(draft).expect("a draft is written as it is read");
    let task = draft.resolve_task()?;
    let variance = ErrorPredictor::for_question(&task.questions()[0])
        .max_contribution_variance(PredictedQuantity::Share, questions > 1);
    let reports = people / f64::from(questions);
    Ok((variance.expect("options have shares") / reports).sqrt())
}
