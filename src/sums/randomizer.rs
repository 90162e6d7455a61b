//! Randomising of one person's answer into messages.

use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::counted_questions::CountedQuestions;
use super::messages::{Message, MessageParameters, NoiseLottery, UnitStepParameters};
use super::summed_quantity::CodingLoss;
use super::task::SumTask;
use crate::error::{Error, error};
use crate::sample::{draw_below, draw_u64, draw_with_probability, move_random_subset_to_front};

/// Maker of messages for one task.
///
/// # Guarantee
/// The messages of one person alone reveal the answer: they have no local guarantee. The guarantee
/// holds after they are shuffled with the messages of [`SumTask::honest_people_count`] more people who
/// use this type. The result is ([`SumTask::central_epsilon`], [`SumTask::delta`])-differentially
/// private. The number of messages, and the position of each message, do not depend on the answer.
///
/// ```
/// use hushbin::sums::{Message, SumRandomizer};
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
///
/// # use hushbin::sample::Threshold;
/// # use hushbin::sums::{SummedQuantity, UnitStepParameters, SumTaskFields, SumTask};
/// # use hushbin::task::{ReportBudget, NumberLimits};
/// # let parts = SumTaskFields {
/// #     id: "timings".into(),
/// #     summed_quantity: SummedQuantity::from_numbers(vec!["load".into()], vec![NumberLimits::new(0.0, 10.0, None)?])?,
/// #     central_epsilon: 1.0, delta: 1e-6, min_people: 10_000, honest_fraction: 0.9,
/// #     report_budget: ReportBudget::default(),
/// # };
/// # let task = SumTask::new(parts, UnitStepParameters::new(8, 1, 1, Threshold(1 << 55), 2)?)?;
/// // A test's generator. A page's generator is seeded by the operating system.
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let mut messages = Vec::new();
/// let lost = SumRandomizer::new(&task).randomize(&[10.0], &mut rng, &mut messages)?;
/// assert_eq!((messages.len(), lost.was_clipped), (10, false));
/// let up = Message::SignedUnitStep { coordinate: 0, negative: false };
/// assert!(messages.iter().filter(|own| **own == up).count() >= 8);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SumRandomizer {
    pub(crate) task: SumTask,
    answer_coordinates: Vec<f64>,
    coordinate_permutation: Vec<u32>,
    /// Cells of the answer to questions.
    own_cells: Vec<u32>,
}

impl SumRandomizer {
    pub(crate) fn from_task(task: SumTask) -> Self {
        Self {
            coordinate_permutation: (0..task.summed_quantity().coordinate_count()).collect(),
            answer_coordinates: Vec::new(),
            own_cells: Vec::new(),
            task,
        }
    }

    /// Replaces `messages` by the messages of an answer, in random order. The number of messages is
    /// within [`SumTask::message_count_range`].
    ///
    /// The answer to numbers or a vector has a number for each item, in the items' order. Numbers
    /// beyond the limits are clipped, and vectors that are too long are shortened. The answers to
    /// [`CountedQuestions`] are:
    ///
    /// - the index of the chosen option;
    /// - the indices of the options of a set, all different; if there are more than the sparsity,
    ///   the messages are about a random subset;
    /// - 0 for no or 1 for yes, for each flag;
    /// - one number; beyond the limits it is counted in the first or last bin.
    ///
    /// # Errors
    /// [`Error::WrongAnswerCount`] for more or fewer numbers than the task asks for.
    /// [`Error::ValueOutOfRange`] for a number that is not finite, or that is no index.
    /// [`Error::DuplicateItem`] for an option that is given twice. On an error nothing is drawn.
    pub fn randomize<R: CryptoRng + ?Sized>(
        &mut self,
        answer: &[f64],
        rng: &mut R,
        messages: &mut Vec<Message>,
    ) -> Result<CodingLoss, Error> {
        let lost = match *self.task.message_parameters() {
            MessageParameters::Lottery(lottery) => {
                let questions = self.task.summed_quantity().counted_questions();
                let questions = questions.expect("only questions have a lottery");
                let was_clipped = questions.answer_to_cells(answer, &mut self.own_cells)?;
                messages.clear();
                append_cells(questions, lottery, &mut self.own_cells, rng, messages);
                CodingLoss {
                    was_clipped,
                    omitted_length: 0.0,
                }
            }
            MessageParameters::UnitSteps(steps) => {
                let lost = self.code_coordinates(answer)?;
                messages.clear();
                self.append_noise_messages(steps, rng, messages);
                self.append_value_messages(steps, rng, messages);
                // Blanks fill up to a fixed count.
                messages.resize(steps.message_count() as usize, Message::Blank);
                lost
            }
        };
        // The shuffle hides which message is which.
        let count = messages.len();
        move_random_subset_to_front(rng, messages, count);
        Ok(lost)
    }

    /// Checks the numbers of an answer and codes them as coordinates.
    fn code_coordinates(&mut self, answer: &[f64]) -> Result<CodingLoss, Error> {
        let expected = self
            .task
            .summed_quantity()
            .items()
            .item_count()
            .unwrap_or(0);
        if answer.len() != expected as usize {
            return Err(error!(WrongAnswerCount {
                given: answer.len(),
                expected,
            }));
        }
        if let Some(item) = answer.iter().position(|own| !own.is_finite()) {
            return Err(error!(ValueOutOfRange {
                item: item as u64,
                value: answer[item],
                expected: "a finite number",
            }));
        }
        Ok(self
            .task
            .summed_quantity()
            .answer_to_coordinates(answer, &mut self.answer_coordinates))
    }

    /// Draws the noise of all coordinates, up and down. If there are more noise messages than the
    /// task allows, all noise is redrawn. A redraw does not depend on the answer, and the task's δ
    /// accounts for its probability.
    fn append_noise_messages<R: CryptoRng + ?Sized>(
        &self,
        own: UnitStepParameters,
        rng: &mut R,
        messages: &mut Vec<Message>,
    ) {
        loop {
            messages.clear();
            for code in 1..=2 * self.task.summed_quantity().coordinate_count() {
                for _ in 0..own.noise_trial_count {
                    if own.noise_threshold.draw_bool(rng) {
                        messages.push(Message::from_step_code(code));
                    }
                }
            }
            if messages.len() <= own.max_noise_messages as usize {
                return;
            }
        }
    }

    /// Appends the messages of the drawn coordinates. Each coordinate is rounded to one of L levels
    /// without bias.
    fn append_value_messages<R: CryptoRng + ?Sized>(
        &mut self,
        own: UnitStepParameters,
        rng: &mut R,
        messages: &mut Vec<Message>,
    ) {
        let (levels, drawn) = (own.level_count, own.drawn_coordinate_count as usize);
        if drawn < self.coordinate_permutation.len() {
            move_random_subset_to_front(rng, &mut self.coordinate_permutation, drawn);
        }
        for &coordinate in &self.coordinate_permutation[..drawn] {
            // Clamped, because earlier rounding of floats could otherwise lead to more than L
            // messages.
            let value = self.answer_coordinates[coordinate as usize].clamp(-1.0, 1.0);
            let exact = value.abs() * f64::from(levels);
            let least = libm::floor(exact);
            // The difference is exact: both are within a factor of two, or `least` is 0.
            let up = u32::from(draw_with_probability(rng, exact - least));
            let message = Message::SignedUnitStep {
                coordinate,
                negative: value < 0.0,
            };
            let count = (least as u32 + up).min(levels);
            messages.extend((0..count).map(|_| message));
        }
    }
}

/// Appends the own messages of an answer with these cells, the noise of the lottery, and blanks if
/// the task pads to equal counts. The draws do not depend on the answer.
fn append_cells<R: CryptoRng + ?Sized>(
    questions: &CountedQuestions,
    lottery: NoiseLottery,
    own_cells: &mut [u32],
    rng: &mut R,
    messages: &mut Vec<Message>,
) {
    let (cells, own) = (questions.cell_count(), questions.own_message_count());
    // An answer to a set may have more options than messages. The subset is always drawn, so that
    // other answers draw as many words.
    move_random_subset_to_front(rng, own_cells, own as usize);
    let sent = own_cells.iter().take(own as usize);
    messages.extend(sent.map(|cell| Message::Cell(*cell)));
    for _ in 0..lottery.draws {
        if draw_u64(rng) <= lottery.last_winning_word {
            messages.push(Message::Cell(draw_below(rng, cells)));
        }
    }
    if lottery.pads_to_equal_counts {
        messages.resize((own + lottery.draws) as usize, Message::Blank);
    }
}
