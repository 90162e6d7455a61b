//! Simulation of a crowd that reports by every mechanism of an experiment.

use hushbin::Entry;
use rand_chacha::ChaCha8Rng;

use super::contestant::{Asked, Listener};
use crate::evaluate::crowd::random::stream;
use crate::evaluate::crowd::workload::Workload;
use crate::evaluate::measure::experiment::{Point, StudyError};
use crate::evaluate::measure::score::Truth;

/// Number of people in a block. All mechanisms receive one block before the next one is drawn.
const BLOCK: usize = 16_384;

/// Draws a crowd block by block, and adds the people's reports to all listeners. Returns the truth
/// about the crowd. The crowd and each listener have their own stream of random numbers.
pub(crate) fn hear_crowd(
    listeners: &mut [Listener<'_>],
    workload: Workload<'_>,
    asked: Asked,
    rng: &ChaCha8Rng,
) -> Result<Truth, StudyError> {
    let mut truth = Truth::new(asked.items);
    let mut drawing = rng.clone();
    let mut streams: Vec<ChaCha8Rng> = (1..=listeners.len() as u64)
        .map(|index| stream(rng, index))
        .collect();
    let people = asked.people as usize;
    for begin in (0..people).step_by(BLOCK) {
        let numbers = begin..people.min(begin + BLOCK);
        let block = workload.draw(numbers, asked.items, asked.sparsity, &mut drawing);
        let block: Vec<&[Entry]> = block.people();
        truth.add(&block);
        for (listener, rng) in listeners.iter_mut().zip(&mut streams) {
            listener.hear(&block, rng)?;
        }
    }
    Ok(truth)
}

/// Returns the parameters of a question as a point of an experiment. Its δ is 0, because only some
/// of the mechanisms have one.
pub(crate) fn point(asked: &Asked) -> Point {
    Point {
        people: asked.people,
        items: asked.items,
        sparsity: asked.sparsity,
        epsilon: asked.epsilon,
        delta: 0.0,
        parameter: asked.distance,
    }
}

/// Returns a person with the value 1 for the first `entries` items.
pub(crate) fn person(entries: u32) -> Vec<Entry> {
    let entry = |item| Entry { item, value: 1.0 };
    (0..u64::from(entries)).map(entry).collect()
}
