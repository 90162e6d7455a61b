//! Answers to questions as cells, and the law of a person's messages.

use std::collections::BTreeMap;
use std::convert::Infallible;

use hushbin::ErrorCode;
use hushbin::sums::{CellGroup, CodingLoss, CountedQuestions, Message, SumRandomizer, SumTask};
use hushbin_tests::significance::{assert_distributed, assert_uniform};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};

use super::{choice, flags, histogram, questions, set};

/// Number of messages about each cell, then the number of blank ones.
fn counts(messages: &[Message], cells: u32) -> Vec<u32> {
    let mut counts = vec![0; cells as usize + 1];
    for message in messages {
        match *message {
            Message::Cell(cell) => counts[cell as usize] += 1,
            Message::Blank => counts[cells as usize] += 1,
            Message::SignedUnitStep { .. } => unreachable!("questions have cells"),
        }
    }
    counts
}

fn cells_of(task: &SumTask) -> u32 {
    task.summed_quantity().coordinate_count()
}

/// Generator that makes one of four choices at every draw. [`Choices::next_path`] goes to the next
/// sequence of choices, until all have been made.
#[derive(Default)]
struct Choices {
    made: Vec<u64>,
    taken: usize,
}

impl Choices {
    /// Returns false after the last sequence.
    fn next_path(&mut self) -> bool {
        self.made.truncate(self.taken);
        self.taken = 0;
        while let Some(last) = self.made.pop() {
            if last < 3 {
                self.made.push(last + 1);
                return true;
            }
        }
        false
    }

    /// Probability of the sequence of choices.
    fn probability(&self) -> f64 {
        0.25_f64.powi(self.taken as i32)
    }
}

impl TryRng for Choices {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // The middle of a quarter, which no range of at most four integers rejects.
        self.try_next_u64()
            .map(|word| (word >> 32) as u32 + (1 << 29))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        if self.taken == self.made.len() {
            self.made.push(0);
        }
        self.taken += 1;
        Ok(self.made[self.taken - 1] << 62)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("messages take words")
    }
}

impl TryCryptoRng for Choices {}

type Law = BTreeMap<Vec<u32>, f64>;

/// Law of the counts of an answer's messages, over all words.
fn law_of(task: &SumTask, answer: &[f64]) -> Law {
    let (mut law, mut sent) = (Law::new(), Vec::new());
    let (mut randomizer, mut rng) = (SumRandomizer::new(task), Choices::default());
    loop {
        randomizer.randomize(answer, &mut rng, &mut sent).unwrap();
        assert!(task.message_count_range().contains(&(sent.len() as u32)));
        *law.entry(counts(&sent, cells_of(task))).or_default() += rng.probability();
        if !rng.next_path() {
            return law;
        }
    }
}

/// Law that is promised: the own cells, then for each draw with probability `quarters` / 4 a cell
/// that is uniform over all cells, else a blank if all people send as many messages.
fn promised_law(own: &[u32], cells: u32, [draws, quarters]: [u32; 2], equal: bool) -> Law {
    let mut start = vec![0; cells as usize + 1];
    own.iter().for_each(|cell| start[*cell as usize] += 1);
    let mut law = Law::from([(start, 1.0)]);
    let sends = f64::from(quarters) / 4.0;
    for _ in 0..draws {
        let mut next = Law::new();
        for (counts, probability) in law {
            for cell in 0..=cells {
                let mut with = counts.clone();
                let by = if cell < cells {
                    with[cell as usize] += 1;
                    sends / f64::from(cells)
                } else {
                    with[cell as usize] += u32::from(equal);
                    1.0 - sends
                };
                if by > 0.0 {
                    *next.entry(with).or_default() += probability * by;
                }
            }
        }
        law = next;
    }
    law
}

/// Exact law of all messages of a person, by enumeration. All tasks have four cells.
#[test]
fn messages_have_exactly_the_promised_law() {
    let mut tried = 0;
    let mut check = |of: &CountedQuestions, answers: &[(&[f64], &[u32])], most: u32| {
        assert_eq!(of.cell_count(), 4);
        for draws in 1..=most {
            for (quarters, equal) in [(1, false), (3, true), (4, false), (4, true)] {
                let task = questions(of.clone(), draws, quarters.into(), equal);
                for (answer, own) in answers {
                    let law = law_of(&task, answer);
                    let promised = promised_law(own, 4, [draws, quarters], equal);
                    assert!(law.keys().eq(promised.keys()), "{law:?} {promised:?}");
                    for (counts, probability) in law {
                        let off = (probability - promised[&counts]).abs();
                        assert!(off < 1e-12, "{counts:?}: off by {off}");
                    }
                    tried += 1;
                }
            }
        }
    };
    check(&choice(4), &[(&[0.0], &[0]), (&[3.0], &[3])], 2);
    check(&histogram(4), &[(&[-7.0], &[0]), (&[0.5], &[1])], 1);
    // "No" and "yes" of either flag.
    check(
        &flags(2),
        &[(&[0.0, 1.0], &[0, 3]), (&[1.0, 1.0], &[1, 3])],
        1,
    );
    // Two options and two paddings.
    let none: (&[f64], &[u32]) = (&[], &[2, 3]);
    check(
        &set(2, 2),
        &[none, (&[1.0], &[1, 2]), (&[1.0, 0.0], &[0, 1])],
        1,
    );
    assert_eq!(tried, 4 * (2 * 2 + 2 + 2 + 3));
}

/// Number of words of each length that were drawn.
struct Counted {
    inner: ChaCha20Rng,
    words: Vec<u8>,
}

impl TryRng for Counted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.words.push(32);
        Ok(self.inner.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.words.push(64);
        Ok(self.inner.next_u64())
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("messages take words")
    }
}

impl TryCryptoRng for Counted {}

/// Words are drawn in the same number and order whatever the answer.
#[test]
fn what_is_drawn_does_not_depend_on_the_answer() {
    let many: Vec<f64> = (0..50).map(f64::from).collect();
    let all: [(SumTask, Vec<&[f64]>); 4] = [
        (questions(choice(1000), 5, 2, false), vec![&[0.0], &[999.0]]),
        (
            questions(set(50, 3), 5, 2, false),
            vec![&[], &[7.0], &[1.0, 2.0, 3.0], &many],
        ),
        (questions(flags(3), 5, 2, true), vec![&[0.0; 3], &[1.0; 3]]),
        (
            questions(histogram(64), 5, 2, false),
            vec![&[-9.0], &[0.3], &[9.0]],
        ),
    ];
    for (task, answers) in &all {
        let (mut randomizer, mut sent) = (SumRandomizer::new(task), Vec::new());
        for seed in 0..50 {
            let mut words = answers.iter().map(|answer| {
                let inner = ChaCha20Rng::seed_from_u64(seed);
                let mut rng = Counted {
                    inner,
                    words: Vec::new(),
                };
                randomizer.randomize(answer, &mut rng, &mut sent).unwrap();
                (rng.words, sent.len())
            });
            let first = words.next().unwrap();
            assert!(words.all(|other| other == first), "{}", task.id());
        }
    }
}

const DRAWS: u64 = 40_000;

fn draw(task: &SumTask, answer: &[f64], mut visit: impl FnMut(&[Message], CodingLoss)) {
    let (mut randomizer, mut sent) = (SumRandomizer::new(task), Vec::new());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..DRAWS {
        let lost = randomizer.randomize(answer, &mut rng, &mut sent).unwrap();
        visit(&sent, lost);
    }
}

/// Noise about seven options, whose number is no power of two.
#[test]
fn noise_is_uniform_over_all_cells() {
    let task = questions(set(5, 2), 3, 1, false);
    let (mut cells, mut numbers) = ([0_u64; 7], [0_u64; 4]);
    draw(&task, &[4.0], |sent, _| {
        let mut found = counts(sent, 7);
        // The option and the first padding.
        found[4] -= 1;
        found[5] -= 1;
        numbers[sent.len() - 2] += 1;
        cells
            .iter_mut()
            .zip(found)
            .for_each(|(sum, own)| *sum += u64::from(own));
    });
    assert_uniform(&cells, "cells of noise");
    let binomial = [27.0, 27.0, 9.0, 1.0].map(|ways| ways / 64.0);
    assert_distributed(&numbers, &binomial, "number of noise messages");
}

/// Each subset of a set that is too large has the same probability, and the person learns of it.
#[test]
fn sets_that_are_too_large_are_sampled() {
    let task = questions(set(5, 2), 1, 1, false);
    let mut subsets = BTreeMap::<Vec<usize>, u64>::new();
    draw(&task, &[0.0, 1.0, 3.0, 4.0], |sent, lost| {
        assert!(lost.was_clipped);
        if sent.len() == 2 {
            let cells = counts(sent, 7);
            let own = (0..7).filter(|cell| cells[*cell] == 1).collect();
            *subsets.entry(own).or_default() += 1;
        }
    });
    assert!(subsets.keys().flatten().all(|cell| *cell < 5 && *cell != 2));
    let found: Vec<u64> = subsets.into_values().collect();
    assert_eq!(found.len(), 6);
    assert_uniform(&found, "subsets");
}

#[test]
fn an_own_message_has_any_place() {
    let task = questions(choice(3), 3, 2, true);
    let mut places = [0_u64; 4];
    draw(&task, &[1.0], |sent, lost| {
        assert!(!lost.was_clipped);
        if counts(sent, 3)[..3] == [0, 1, 0] {
            let own = sent.iter().position(|own| *own == Message::Cell(1));
            places[own.unwrap()] += 1;
        }
    });
    assert_uniform(&places, "places of the own message");
}

/// Cells of an answer, which are those that every draw has in common.
fn own_cells(of: &CountedQuestions, answer: &[f64]) -> (Vec<u32>, bool) {
    let task = questions(of.clone(), 1, 1, false);
    let (mut randomizer, mut sent) = (SumRandomizer::new(&task), Vec::new());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    loop {
        let lost = randomizer.randomize(answer, &mut rng, &mut sent).unwrap();
        if sent.len() == of.own_message_count() as usize {
            let counts = counts(&sent, of.cell_count());
            assert!(counts.iter().all(|count| *count < 2));
            let own = (0..of.cell_count()).filter(|cell| counts[*cell as usize] == 1);
            return (own.collect(), lost.was_clipped);
        }
    }
}

/// Groups add up, and every answer has one node of each level: the bin, and the node above it.
#[test]
fn numbers_are_counted_in_bins_and_nodes_above_them() {
    for (bins, upper) in [
        (2, None),
        (31, None),
        (32, Some((6, 6))),
        (64, Some((8, 8))),
        (70, Some((9, 8))),
        (256, Some((16, 16))),
        (1000, Some((32, 32))),
        (4096, Some((64, 64))),
    ] {
        let of = histogram(bins);
        assert_eq!(of.bins_per_node(), upper.map(|(width, _)| width));
        let group = |cells| CellGroup {
            cells,
            own_messages: 1,
        };
        let mut groups: Vec<CellGroup> = upper.into_iter().map(|(_, nodes)| group(nodes)).collect();
        groups.push(group(bins));
        assert_eq!(of.cell_groups(), groups);
        let edges = of.bin_edges().unwrap();
        assert_eq!(edges.len(), bins as usize + 1);
        assert_eq!([edges[0], edges[bins as usize]], [-1.0, 3.0]);
        for bin in [0, 1, bins / 3, bins - 2, bins - 1] {
            let cells = match upper {
                None => vec![bin],
                Some((width, nodes)) => vec![bin / width, nodes + bin],
            };
            // The lower edge belongs to the bin, and the upper edge does not.
            let [from, to] = [edges[bin as usize], edges[bin as usize + 1]];
            for number in [from, f64::midpoint(from, to), to.next_down()] {
                assert_eq!(own_cells(&of, &[number]), (cells.clone(), false));
            }
        }
        let last = own_cells(&of, &[3.0_f64.next_down()]).0;
        assert_eq!(own_cells(&of, &[3.0]), (last.clone(), false));
        assert_eq!(own_cells(&of, &[f64::MAX]), (last, true));
        assert_eq!(own_cells(&of, &[f64::MIN]).0, own_cells(&of, &[-1.0]).0);
        assert!(own_cells(&of, &[f64::MIN]).1);
    }
}

#[test]
fn sets_are_filled_up_and_flags_are_pairs() {
    let of = set(4, 3);
    for (answer, cells) in [
        (&[][..], [4, 5, 6]),
        (&[2.0], [2, 4, 5]),
        (&[3.0, 0.0], [0, 3, 4]),
        (&[3.0, 0.0, 1.0], [0, 1, 3]),
    ] {
        assert_eq!(own_cells(&of, answer), (cells.to_vec(), false));
    }
    assert_eq!(own_cells(&flags(3), &[1.0, 0.0, 1.0]).0, [1, 2, 5]);
}

#[test]
fn what_is_no_answer_is_refused_and_nothing_drawn() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut refused = |of: CountedQuestions, answer: &[f64]| {
        let mut sent = Vec::new();
        let mut randomizer = SumRandomizer::new(&questions(of, 2, 1, false));
        let error = randomizer.randomize(answer, &mut rng, &mut sent);
        error.unwrap_err().code()
    };
    for (of, answer) in [
        (choice(3), &[][..]),
        (choice(3), &[1.0, 2.0]),
        (flags(2), &[1.0]),
        (histogram(9), &[1.0, 2.0]),
    ] {
        assert_eq!(refused(of, answer), ErrorCode::WrongAnswerCount);
    }
    for value in [3.0, -1.0, 0.5, f64::NAN, f64::INFINITY, 4_294_967_296.0] {
        assert_eq!(refused(choice(3), &[value]), ErrorCode::ValueOutOfRange);
        assert_eq!(
            refused(set(3, 2), &[0.0, value]),
            ErrorCode::ValueOutOfRange
        );
        assert_eq!(refused(flags(2), &[0.0, value]), ErrorCode::ValueOutOfRange);
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(refused(histogram(40), &[value]), ErrorCode::ValueOutOfRange);
    }
    assert_eq!(refused(set(3, 2), &[1.0, 1.0]), ErrorCode::DuplicateItem);
    assert_eq!(rng, ChaCha20Rng::seed_from_u64(1));
}
