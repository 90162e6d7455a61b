//! Exact local differential privacy with several hash functions. Probabilities grow with a bucket's
//! share of the favoured set. So only the greatest and the least share of each bucket are needed.

use std::collections::BTreeSet;

use hushbin::mechanism::{coco, collision};
use hushbin::{Mechanism, Task};
use num_bigint::BigUint;
use num_traits::One;

use crate::support::exact::{Exact, Exp};
use crate::support::{coco as signed, collision as counted};

const SEEDS: [u64; 3] = [0, 0x0123_4567_89ab_cdef, u64::MAX];

/// Share of each bucket in the favoured set, under one seed and input.
type Shares = Vec<[u32; 2]>;

/// Returns the greatest and the least share of every bucket over the inputs, each distinct pair
/// once.
fn extremes(rows: impl Iterator<Item = Shares>) -> BTreeSet<[[u32; 2]; 2]> {
    let above = |[a, all]: [u32; 2], [b, others]: [u32; 2]| {
        u64::from(a) * u64::from(others) > u64::from(b) * u64::from(all)
    };
    let mut found: Vec<[[u32; 2]; 2]> = Vec::new();
    for row in rows {
        if found.is_empty() {
            found = row.iter().map(|&share| [share, share]).collect();
        }
        for ([most, least], share) in found.iter_mut().zip(row) {
            if above(share, *most) {
                *most = share;
            }
            if above(*least, share) {
                *least = share;
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the greatest likelihood ratio, if `inside` of 2⁶⁴ words go to the c favoured of all
/// buckets.
fn worst_ratio(extremes: &BTreeSet<[[u32; 2]; 2]>, inside: &BigUint, [c, all]: [u32; 2]) -> Exact {
    let outside = (BigUint::one() << 64) - inside;
    let probability = |[within, of]: [u32; 2]| {
        let weight = inside * (all - c) * within + &outside * c * (of - within);
        Exact::new(weight, BigUint::from(of))
    };
    let ratios = extremes
        .iter()
        .map(|[most, least]| probability(*most) / probability(*least));
    ratios.max().expect("there are buckets")
}

/// Checks that no ratio exceeds the bound. Returns whether the bound is nearly attained.
fn check(task: &Task, inside: &BigUint, of: [u32; 2], rows: impl Fn(u64) -> Vec<Shares>) -> bool {
    let effective = task.achieved_report_epsilon();
    assert!(effective <= task.epsilon(), "{task:?}");
    let found: BTreeSet<_> = SEEDS
        .iter()
        .flat_map(|&seed| extremes(rows(seed).into_iter()))
        .collect();
    let worst = worst_ratio(&found, inside, of);
    assert!(worst <= Exp::of(effective).low_ratio(), "{task:?}");
    let nearly = Exp::of((effective - 1e-12).max(0.0)).high_ratio();
    worst >= nearly
}

#[test]
fn no_report_of_collision_tells_more_than_epsilon() {
    let models = counted::Model::with_several_hashes();
    let mut attained = 0;
    for model in &models {
        let task = model.task();
        let Mechanism::Collision(own) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let collision::FavouredBucketRule::Heaviest { favoured } = own.favouring_rule() else {
            unreachable!()
        };
        let thresholds = own.thresholds(model.sparsity, model.epsilon);
        let inside = thresholds.favoured_threshold(1).0.into();
        let inputs = model.inputs();
        attained += u32::from(check(
            &task,
            &inside,
            [favoured, model.outcomes()],
            |seed| {
                let shares = |input| counted::shares(model.rule, &model.counts(seed, input));
                inputs.iter().map(|input| shares(input)).collect()
            },
        ));
    }
    assert!(
        models.len() > 1000 && attained > 500,
        "{attained} of {}",
        models.len()
    );
}

#[test]
fn no_report_of_coco_tells_more_than_epsilon() {
    let models = signed::Model::with_several_hashes();
    let mut attained = 0;
    for model in &models {
        let task = model.task();
        let coco::FavouredSideRule::Strongest { favoured } = model.rule else {
            unreachable!()
        };
        let signed::Words::Strongest { inside } = model.words() else {
            unreachable!()
        };
        let inputs = model.inputs();
        attained += u32::from(check(&task, &inside, [favoured, model.buckets()], |seed| {
            let words = |input| model.completions(input).map(move |word| (input, word));
            let words = inputs.iter().flat_map(|input| words(input));
            words
                .map(|(input, word)| signed::shares(favoured, &model.pushes(seed, input, word)))
                .collect()
        }));
    }
    assert!(
        models.len() > 1000 && attained > 500,
        "{attained} of {}",
        models.len()
    );
}
