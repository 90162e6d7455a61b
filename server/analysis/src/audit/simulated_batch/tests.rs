//! Scores of counted questions, compared with enumerations of all noise.

use std::collections::BTreeMap;

use crate::accounting::{LotteryBatch, LotteryNoise};
use hushbin::Items;
use hushbin::task::NumberLimits;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::*;

/// Probability of every vector of counts: `own` messages, and `draws` draws that each add a message
/// about one of the cells with probability ρ.
fn count_distribution(own: Vec<u64>, draws: u32, rho: f64) -> BTreeMap<Vec<u64>, f64> {
    let mut known = BTreeMap::from([(own, 1.0)]);
    for _ in 0..draws {
        let mut next = BTreeMap::new();
        for (counts, p) in known {
            let each = p * rho / counts.len() as f64;
            for cell in 0..counts.len() {
                let mut more = counts.clone();
                more[cell] += 1;
                *next.entry(more).or_default() += each;
            }
            *next.entry(counts).or_default() += p * (1.0 - rho);
        }
        known = next;
    }
    known
}

fn questions() -> Vec<(CountedQuestions, u32)> {
    let name = || "q".to_owned();
    let limits = || NumberLimits::new(-1.0, 2.0, None).unwrap();
    let set = |sparsity| CountedKind::Set {
        name: name(),
        sparsity,
    };
    let number = || CountedKind::Number {
        name: name(),
        limits: limits(),
    };
    let flags = Items::Named(vec!["a".into(), "b".into()]);
    [
        (CountedKind::Choice { name: name() }, Items::Count(2), 7),
        (CountedKind::Choice { name: name() }, Items::Count(4), 6),
        (set(1), Items::Count(1), 6),
        (set(2), Items::Count(3), 5),
        (set(2), Items::Count(5), 4),
        (CountedKind::Flags, flags, 6),
        (number(), Items::Count(3), 6),
        // Two levels.
        (number(), Items::Count(32), 3),
    ]
    .into_iter()
    .map(|(kind, items, draws)| (CountedQuestions::new(kind, items).unwrap(), draws))
    .collect()
}

#[test]
fn score_is_the_exact_likelihood_ratio() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (rho, others, epsilon) = (0.75, 2, 0.8_f64);
    for (questions, draws) in questions() {
        let count = questions.items().item_count().unwrap();
        let mut deck: Vec<u32> = (0..count).collect();
        for _ in 0..4 {
            let pair = draw_answer_pair(&questions, &mut deck, &mut rng);
            let cells = pair.map(|answer| cells_of_answer(&questions, &answer));
            let [low, high] = [0, 1].map(|own: usize| {
                let mut counts = vec![0; questions.cell_count() as usize];
                let added = cells[0].iter().map(|cell| (cell, others));
                for (cell, more) in added.chain(cells[own].iter().map(|cell| (cell, 1))) {
                    counts[*cell as usize] += more;
                }
                count_distribution(counts, draws, rho)
            });
            let (mut delta, mut by_score, mut compared) = (0.0, 0.0, 0);
            for counts in low
                .keys()
                .chain(high.keys().filter(|own| !low.contains_key(*own)))
            {
                let [p, q] = [&high, &low].map(|law| law.get(counts).copied().unwrap_or(0.0));
                let score = cell_log_likelihood_ratio(counts, others, &cells);
                delta += (p - epsilon.exp() * q).max(0.0);
                if score > epsilon {
                    by_score += p - epsilon.exp() * q;
                }
                if p == 0.0 {
                    assert!(score < -700.0, "{questions:?}, {counts:?}: {score}");
                } else if q == 0.0 {
                    assert!(score > 700.0, "{questions:?}, {counts:?}: {score}");
                } else {
                    let exact = (p / q).ln();
                    assert!((score - exact).abs() < 1e-9, "{counts:?}: {score}, {exact}");
                    compared += 1;
                }
            }
            assert!(compared > 4);
            assert!((delta - by_score).abs() < 1e-12);
            // These answers are the worst pair that the accounting knows.
            let batch = LotteryBatch {
                cells: questions.cell_count(),
                own_messages: questions.own_message_count(),
                honest_people: u64::from(draws),
                batches: 1,
            };
            let noise = LotteryNoise {
                draws: 1,
                threshold: 3 << 62,
            };
            let bounds = batch.delta_bounds(noise, epsilon).unwrap();
            assert!(bounds.lower <= delta + 1e-12 && delta <= bounds.upper + 1e-12);
            if batch.own_messages == 1 {
                assert!(bounds.upper - bounds.lower < 1e-9, "{bounds:?}");
            }
        }
    }
}

/// Every option, padding, flag and bin is in a pair.
#[test]
fn pairs_reach_all_cells() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for (questions, _) in questions() {
        let mut deck: Vec<u32> = (0..questions.items().item_count().unwrap()).collect();
        let mut drawn = vec![false; questions.cell_count() as usize];
        for _ in 0..1000 {
            let pair = draw_answer_pair(&questions, &mut deck, &mut rng);
            let [low, high] = pair.map(|answer| cells_of_answer(&questions, &answer));
            assert_eq!(
                [low.len(), high.len()],
                [questions.own_message_count() as usize; 2]
            );
            assert!(low.iter().all(|cell| !high.contains(cell)));
            low.iter()
                .chain(&high)
                .for_each(|cell| drawn[*cell as usize] = true);
        }
        assert!(drawn.iter().all(|own| *own), "{questions:?}: {drawn:?}");
    }
}
