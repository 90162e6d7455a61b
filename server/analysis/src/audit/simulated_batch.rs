//! Simulated batches of a task through a shuffler, and the score by which an attacker guesses one
//! person's answer.
//!
//! The attacker knows the answers of all remaining people and sees the number of messages of every
//! kind. The messages of all people are made one person after another, by the code that pages run.
//!
//! **Sums.** The person's answer is at the lower or the upper end of its range. The remaining people
//! give the answer that adds no answer messages, so only noise messages hide the person. The score
//! is the sum of the log-likelihood ratios of the message counts. It distinguishes the two answers
//! best if every person reports all coordinates.
//!
//! **Counted questions.** Every batch has a random pair of answers that have no cell in common, so
//! an attack covers all options. One is the low answer, and all remaining people give it. Noise
//! that depends on a person's own answer would therefore be missing, or too frequent, in a cell
//! that counts. Let C_j be the count of cell j without the messages of the remaining people. Given
//! their total T, the noise messages N_j are multinomial with equal probabilities, so their
//! probability is proportional to 1/Π N_j!. The total has the same distribution under both
//! answers. N_j is C_j, or C_j − 1 in the cells of the person's answer. Hence the likelihood ratio
//! of the high to the low answer is exactly
//!
//! Π C_j over the cells of the high answer, divided by Π C_j over the cells of the low answer.

use crate::sums::SumTotals;
use hushbin::sample::{draw_below, move_random_subset_to_front};
use hushbin::sums::{
    CountedKind, CountedQuestions, Message, SumTask, SummedQuantity, UnitStepParameters,
};
use rand_core::CryptoRng;

/// Simulator of batches of one task.
pub(super) struct BatchSimulator<'a, S> {
    task: &'a SumTask,
    attack: Attack<'a>,
    /// Replaces messages by those of an answer.
    send: S,
    message_buffer: Vec<Message>,
}

/// Answers that an attacker distinguishes.
enum Attack<'a> {
    /// Ends of the range of summed numbers, or of a vector.
    Sums {
        steps: UnitStepParameters,
        /// Three answers. The first is the answer of all people except the targeted person. The
        /// remaining two are the possible answers of the targeted person.
        neutral_low_high_answers: [Vec<f64>; 3],
    },
    /// Answers to counted questions.
    Questions {
        questions: &'a CountedQuestions,
        /// Options or bins, in the order that the last batch drew.
        deck: Vec<u32>,
    },
}

impl<'a, S> BatchSimulator<'a, S> {
    /// Creates a simulator of people who send the messages that `send` makes.
    pub(super) fn new(task: &'a SumTask, send: S) -> Self {
        Self {
            task,
            attack: Attack::new(task),
            send,
            message_buffer: Vec::new(),
        }
    }

    /// Simulates a batch. The targeted person gives the high answer if `upper` is true, and
    /// otherwise the low answer. Returns the log-likelihood ratio of the high to the low answer.
    pub(super) fn simulate_batch_score<R: CryptoRng>(&mut self, upper: bool, rng: &mut R) -> f64
    where
        S: FnMut(&[f64], &mut R, &mut Vec<Message>),
    {
        let mut totals = SumTotals::new(self.task);
        let others = self.task.honest_people_count() - 1;
        let [neutral, low, high] = self.attack.draw_answers(rng);
        let own = if upper { &high } else { &low };
        for answer in (0..others).map(|_| &neutral).chain([own]) {
            (self.send)(answer, rng, &mut self.message_buffer);
            for message in &self.message_buffer {
                totals.add_message(*message);
            }
        }
        match &self.attack {
            Attack::Sums { steps, .. } => sum_log_likelihood_ratio(self.task, steps, &totals),
            Attack::Questions { questions, .. } => {
                let cells = [low, high].map(|answer| cells_of_answer(questions, &answer));
                cell_log_likelihood_ratio(totals.cell_counts(), others, &cells)
            }
        }
    }
}

impl<'a> Attack<'a> {
    fn new(task: &'a SumTask) -> Self {
        let sums = |neutral_low_high_answers| {
            let steps = task.message_parameters().unit_steps();
            Self::Sums {
                steps: *steps.expect("only questions have a lottery"),
                neutral_low_high_answers,
            }
        };
        match task.summed_quantity() {
            SummedQuantity::NumbersWithLimits(_, limits) => {
                let ends = limits.iter().map(|own| own.range());
                sums([
                    ends.clone()
                        // Halved before adding, so that the sum cannot overflow.
                        .map(|[min, max]| min / 2.0 + max / 2.0)
                        .collect(),
                    ends.clone().map(|[min, _]| min).collect(),
                    ends.map(|[_, max]| max).collect(),
                ])
            }
            SummedQuantity::BoundedVector(ball) => {
                let own = ball.max_length() / f64::from(ball.dimension()).sqrt();
                sums([0.0, -own, own].map(|value| vec![value; ball.dimension() as usize]))
            }
            SummedQuantity::CountedQuestions(questions) => Self::Questions {
                questions,
                deck: (0..questions.items().item_count().unwrap_or(0)).collect(),
            },
        }
    }

    /// Returns the answer of the remaining people, then the low and the high answer.
    fn draw_answers<R: CryptoRng>(&mut self, rng: &mut R) -> [Vec<f64>; 3] {
        match self {
            Self::Sums {
                neutral_low_high_answers,
                ..
            } => neutral_low_high_answers.clone(),
            Self::Questions { questions, deck } => {
                let [low, high] = draw_answer_pair(questions, deck, rng);
                [low.clone(), low, high]
            }
        }
    }
}

/// Draws two answers that have no cell in common. They then differ in as many cells as any two
/// answers do.
fn draw_answer_pair<R: CryptoRng>(
    questions: &CountedQuestions,
    deck: &mut [u32],
    rng: &mut R,
) -> [Vec<f64>; 2] {
    let count = deck.len() as u32;
    let numbers = |items: &[u32]| items.iter().map(|item| f64::from(*item)).collect();
    match questions.kind() {
        CountedKind::Choice { .. } => {
            move_random_subset_to_front(rng, deck, 2);
            [numbers(&deck[..1]), numbers(&deck[1..2])]
        }
        CountedKind::Set { sparsity, .. } => {
            // The low answer may have fewer options, and the more paddings.
            let fewer = draw_below(rng, (*sparsity).min(count - sparsity) + 1) as usize;
            let most = *sparsity as usize;
            move_random_subset_to_front(rng, deck, most + fewer);
            [numbers(&deck[most..most + fewer]), numbers(&deck[..most])]
        }
        CountedKind::Flags => {
            let low: Vec<f64> = deck.iter().map(|_| f64::from(draw_below(rng, 2))).collect();
            let high = low.iter().map(|own| 1.0 - own).collect();
            [low, high]
        }
        CountedKind::Number { .. } => {
            let edges = questions.bin_edges().unwrap_or_default();
            loop {
                move_random_subset_to_front(rng, deck, 2);
                let answers = [deck[0], deck[1]].map(|bin| vec![edges[bin as usize]]);
                let [low, high] = answers
                    .each_ref()
                    .map(|own| cells_of_answer(questions, own));
                // Of two bins, at least one pair is in different nodes of the upper level.
                if low.iter().all(|cell| !high.contains(cell)) {
                    return answers;
                }
            }
        }
    }
}

fn cells_of_answer(questions: &CountedQuestions, answer: &[f64]) -> Vec<u32> {
    let cells = questions.cells_of_answer(answer);
    cells.expect("the answers are the task's")
}

/// Returns the log-likelihood ratio of the high to the low answer, whose cells are given. `others`
/// people have given the low answer.
///
/// A count of 0 in one of these cells proves that the answer was the other one. The ratio is then
/// above 700 or below −700, far beyond any other ratio.
fn cell_log_likelihood_ratio(counts: &[u64], others: u64, [low, high]: &[Vec<u32>; 2]) -> f64 {
    let log = |count: u64| (count as f64).max(f64::MIN_POSITIVE).ln();
    let up = high.iter().map(|cell| log(counts[*cell as usize]));
    let down = low
        .iter()
        .map(|cell| log(counts[*cell as usize].saturating_sub(others)));
    up.sum::<f64>() - down.sum::<f64>()
}

/// Returns the sum of the log-likelihood ratios of all message counts of sums.
fn sum_log_likelihood_ratio(task: &SumTask, steps: &UnitStepParameters, totals: &SumTotals) -> f64 {
    let trials = task.honest_people_count() * u64::from(steps.noise_trial_count());
    let ratio = |coordinate| {
        let [up, down] = totals.counts_by_sign(coordinate);
        count_log_likelihood_ratio(steps, trials, up)
            - count_log_likelihood_ratio(steps, trials, down)
    };
    let coordinates = task.summed_quantity().coordinate_count() as usize;
    (0..coordinates).map(ratio).sum()
}

/// Returns the log-likelihood ratio of a message count, up to a constant. Let k be the message
/// count, L the number of levels, and B ~ Binomial(N, q) the number of noise messages in N `trials`.
/// The ratio is then ln(P(B = k − L)/P(B = k)).
fn count_log_likelihood_ratio(steps: &UnitStepParameters, trials: u64, count: u64) -> f64 {
    let step = |step: u64| {
        let more = (count as f64 - step as f64).max(1e-9);
        let less = (trials as f64 - count as f64 + step as f64 + 1.0).max(1e-9);
        (more / less).ln()
    };
    (0..u64::from(steps.messages_per_unit())).map(step).sum()
}

#[cfg(test)]
mod tests;
