//! Shares of places from the definitions, against an enumeration of all sets that may be picked.

use hushbin::mechanism::coco::FavouredSideRule as CocoRule;
use hushbin::mechanism::collision::FavouredBucketRule;

use super::{coco, collision};

/// [`coco::shares`] by listing the equally likely sets: those of c sides of which none is weaker
/// than a side outside.
fn shares_listed(favoured: u32, pushes: &coco::Pushes) -> Vec<[u32; 2]> {
    let member = |set: u32, side: usize| set >> side & 1 == 1;
    let sides = 0..pushes.len();
    let sets: Vec<u32> = (0..1u32 << pushes.len())
        .filter(|set| set.count_ones() == favoured)
        .filter(|&set| {
            let inside = sides.clone().filter(|&side| member(set, side));
            let outside = sides.clone().filter(|&side| !member(set, side));
            let least = inside.map(|side| coco::strength(pushes, side)).min();
            least >= outside.map(|side| coco::strength(pushes, side)).max()
        })
        .collect();
    let within = |side| sets.iter().filter(|&&set| member(set, side)).count() as u32;
    sides
        .map(|side| [within(side), sets.len() as u32])
        .collect()
}

#[test]
fn shares_of_coco_are_those_of_all_sets() {
    for model in coco::Model::all(1..=3, &[1, 2, 3, 4, 5], &[1.0]) {
        let CocoRule::Strongest { favoured } = model.rule else {
            continue;
        };
        for input in model.inputs() {
            let pushes = model.pushes(7, &input, 0);
            let shares = coco::shares(favoured, &pushes);
            for ([within, all], [listed, sets]) in
                shares.into_iter().zip(shares_listed(favoured, &pushes))
            {
                assert_eq!(within * sets, listed * all, "{model:?}, {input:?}");
            }
        }
    }
}

#[test]
fn shares_of_collision_are_those_of_all_sets() {
    for buckets in [2, 3, 5, 8] {
        for rule in collision::Model::rules(3, buckets) {
            for fallen in 0..buckets.pow(3) {
                let mut counts = vec![0; buckets as usize];
                for place in [1, buckets, buckets * buckets] {
                    counts[(fallen / place % buckets) as usize] += 1;
                }
                let sets = favoured_sets(rule, &counts);
                for (bucket, [within, all]) in
                    collision::shares(rule, &counts).into_iter().enumerate()
                {
                    let listed = sets.iter().filter(|&set| set >> bucket & 1 == 1).count();
                    assert_eq!(within * sets.len() as u32, listed as u32 * all, "{rule:?}");
                }
            }
        }
    }
}

/// Sets C that the rule may pick, each equally likely, as bits.
///
/// For the rule `heaviest` these are the sets of c buckets of which none holds fewer elements than
/// a bucket outside. Uniformly random ties make each of these equally likely.
fn favoured_sets(rule: FavouredBucketRule, counts: &[u32]) -> Vec<u32> {
    let member = |set: u32, bucket: usize| set >> bucket & 1 == 1;
    let buckets = 0..counts.len();
    match rule {
        FavouredBucketRule::Occupied => {
            let occupied = buckets.filter(|&bucket| counts[bucket] > 0);
            vec![occupied.fold(0, |set, bucket| set | 1 << bucket)]
        }
        FavouredBucketRule::Heaviest { favoured } => (0..1u32 << counts.len())
            .filter(|set| set.count_ones() == favoured)
            .filter(|&set| {
                let inside = buckets.clone().filter(|&b| member(set, b));
                let outside = buckets.clone().filter(|&b| !member(set, b));
                let lightest = inside.map(|b| counts[b]).min();
                let heaviest = outside.map(|b| counts[b]).max();
                lightest >= heaviest
            })
            .collect(),
    }
}
