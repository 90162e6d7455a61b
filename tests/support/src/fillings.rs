//! Hits of Collision's reports under the balanced hash, over all fillings of buckets. For domains
//! small enough to enumerate these.

use std::collections::BTreeMap;

use hushbin::domain::Domain;
use hushbin::mechanism::collision::Collision;

/// Filling of the buckets of a function: the elements of each bucket, as bits.
type Filling = Vec<u32>;

/// Probability that a report of this input hits exactly these slots, as bits, under the rule
/// `heaviest`. Fillings of buckets of m slots are equally likely, and ties are broken evenly.
pub fn hits(
    collision: &Collision,
    domain: &Domain,
    epsilon: f64,
    input: &[u32],
) -> BTreeMap<u32, f64> {
    let slots = collision.hit_decoder(domain).visitable_slot_count() as u32;
    let buckets = collision.buckets_per_hash();
    let mut all = Vec::new();
    fill(
        0,
        slots,
        slots / buckets,
        &mut vec![0; buckets as usize],
        &mut all,
    );
    let favoured = collision
        .favoured_count()
        .expect("rule heaviest favours some");
    let inside = collision
        .thresholds(domain.sparsity(), epsilon)
        .favoured_threshold(1);
    let outcomes = collision.total_buckets();
    let chances = [
        inside.probability() / f64::from(favoured),
        inside.false_probability() / f64::from(outcomes - favoured),
    ];
    let input = input.iter().fold(0, |set, element| set | 1 << element);
    let mut found = BTreeMap::new();
    let functions = all.len().pow(collision.hash_count());
    for index in 0..functions {
        // The fillings of all functions are concatenated.
        let mut rest = index;
        let mut cells: Filling = Vec::new();
        for _ in 0..collision.hash_count() {
            cells.extend(&all[rest % all.len()]);
            rest /= all.len();
        }
        let count = |cell: &u32| (cell & input).count_ones();
        for cell in &cells {
            let heavier = cells.iter().filter(|own| count(own) > count(cell)).count() as f64;
            let equal = cells.iter().filter(|own| count(own) == count(cell)).count() as f64;
            let chosen = ((f64::from(favoured) - heavier) / equal).clamp(0.0, 1.0);
            let chance = chosen * chances[0] + (1.0 - chosen) * chances[1];
            *found.entry(*cell).or_insert(0.0) += chance / functions as f64;
        }
    }
    found
}

/// Enumerates the placements of slots from `slot` on into buckets with limited room.
fn fill(slot: u32, slots: u32, most: u32, buckets: &mut Filling, all: &mut Vec<Filling>) {
    if slot == slots {
        all.push(buckets.clone());
        return;
    }
    for bucket in 0..buckets.len() {
        if buckets[bucket].count_ones() < most {
            buckets[bucket] |= 1 << slot;
            fill(slot + 1, slots, most, buckets, all);
            buckets[bucket] &= !(1 << slot);
        }
    }
}
