//! Crowds whose reports mechanisms hear.

use hushbin::Entry;
use rand_chacha::ChaCha8Rng;

use super::contestant::{Asked, Listener};
use crate::evaluate::crowd::random::stream;
use crate::evaluate::crowd::workload::Workload;
use crate::evaluate::measure::experiment::{Point, StudyError};
use crate::evaluate::measure::score::Truth;

/// People whose reports are drawn between two looks at the next mechanism.
const BLOCK: usize = 16_384;

/// A crowd, drawn block by block from a stream of its own, whose reports all listeners hear,
/// each from its own stream.
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

/// Where that is in an experiment; of each mechanism δ is its own affair.
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

/// Somebody who has the first so many items.
pub(crate) fn person(entries: u32) -> Vec<Entry> {
    let entry = |item| Entry { item, value: 1.0 };
    (0..u64::from(entries)).map(entry).collect()
}
