//! Distribution of hashes over seeds.

use hushbin::hash::{BalancedHash, HashKeys, independent_bucket};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::support::generators::seeded;
use crate::support::significance::{assert_rates, assert_uniform};

/// Random seeds, and consecutive seeds as an adversary could choose them.
fn seeds(rng: &mut ChaCha8Rng, n: u64) -> impl Iterator<Item = u64> {
    let random: Vec<u64> = (0..n).map(|_| rng.next_u64()).collect();
    random.into_iter().chain(0..n)
}

#[test]
fn the_balanced_hash_is_uniform() {
    let mut rng = seeded(15);
    let n = 50_000;
    for (elements, buckets) in [(12, 4), (30, 10), (100, 7), (64, 8), (2762, 23), (500, 499)] {
        let hash = BalancedHash::new(elements, buckets);
        let last = elements - 1;
        let slots = [0, 1, buckets - 1, buckets.min(last - 1), last];
        let mut alone = vec![vec![0; buckets as usize]; slots.len()];
        let mut together = vec![vec![0; slots.len()]; slots.len()];
        for seed in seeds(&mut rng, n) {
            let keys = HashKeys::new(seed);
            let placed = slots.map(|slot| hash.bucket_of_slot(&keys, slot));
            for (i, &bucket) in placed.iter().enumerate() {
                alone[i][bucket as usize] += 1;
                for j in 0..i {
                    together[i][j] += u64::from(placed[j] == bucket);
                }
            }
        }
        for (counts, slot) in alone.iter().zip(slots) {
            assert_uniform(counts, &format!("slot {slot} of {hash:?}"));
        }
        let mut events = Vec::new();
        for i in 0..slots.len() {
            for j in 0..i {
                if slots[i] != slots[j] {
                    let meet =
                        f64::from(hash.slots_per_bucket() - 1) / (hash.slot_count() - 1) as f64;
                    let what = format!("{} meets {} in {hash:?}", slots[i], slots[j]);
                    events.push((what, together[i][j], meet));
                }
            }
        }
        assert_rates(2 * n, &events);
    }
}

/// Five rounds leave a known bias of pairs. Each round turns the probability that one coordinate of
/// two slots agrees into that of the other. It shrinks the distance from the ideal by the range of
/// the added number. The distance is 1/N² after the first round, which uses only the other
/// coordinate. For small m there are more rounds, which leave no visible bias.
#[test]
fn the_balanced_hash_is_as_uniform_as_documented() {
    let mut rng = seeded(18);
    let n = 1_000_000;
    for (elements, buckets, rounds) in
        [(64, 8, 5), (72, 9, 5), (16, 2, 21), (8, 4, 21), (14, 6, 21)]
    {
        let hash = BalancedHash::new(elements, buckets);
        assert_eq!(hash.round_count(), rounds);
        let (t, m) = (f64::from(buckets), f64::from(hash.slots_per_bucket()));
        let slots = t * m;
        let ideal = (m - 1.0) / (slots - 1.0);
        let left = if rounds == 5 {
            1.0 / (slots * slots)
        } else {
            0.0
        };
        // Slots 0 and 1 share w, slots 0 and t share z.
        let same_w = ideal * (1.0 - left);
        let same_z = ideal + (1.0 / t - ideal) * left;
        let mut met = [0, 0];
        for _ in 0..n {
            let keys = HashKeys::new(rng.next_u64());
            let bucket = hash.bucket_of_slot(&keys, 0);
            met[0] += u64::from(hash.bucket_of_slot(&keys, 1) == bucket);
            met[1] += u64::from(hash.bucket_of_slot(&keys, buckets) == bucket);
        }
        let what = |which: &str| format!("same {which} in {hash:?}");
        assert_rates(
            n,
            &[(what("w"), met[0], same_w), (what("z"), met[1], same_z)],
        );
    }
}

#[test]
fn the_independent_hash_is_uniform() {
    let mut rng = seeded(16);
    let n = 50_000;
    for buckets in [2, 7, 100] {
        let mut alone = vec![0; buckets as usize];
        let mut met = 0;
        for seed in seeds(&mut rng, n) {
            let keys = HashKeys::new(seed);
            let (a, b) = (
                independent_bucket(&keys, 6, buckets),
                independent_bucket(&keys, 7, buckets),
            );
            alone[a as usize] += 1;
            met += u64::from(a == b);
        }
        assert_uniform(&alone, &format!("independent to {buckets}"));
        let meet = 1.0 / f64::from(buckets);
        assert_rates(2 * n, &[(format!("6 meets 7 in {buckets}"), met, meet)]);
    }
}
