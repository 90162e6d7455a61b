//! The balanced hash against its definition, one slot and one round at a time.

use hushbin::hash::{BalancedHash, HashKeys, independent_bucket, sign_word_of_closed_elements};
use hushbin::mix::mix64;
use proptest::prelude::*;

/// The outputs of `splitmix64` in order.
fn splitmix(seed: u64) -> impl Iterator<Item = u64> {
    (1u64..).map(move |n| mix64(seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))))
}

/// Round keys: five from the first three outputs, the remaining ones from the fifth on. The
/// fourth output is the key of the signs.
fn round_keys(seed: u64) -> Vec<u32> {
    let outputs: Vec<u64> = splitmix(seed).take(12).collect();
    let halves = |outputs: &[u64]| -> Vec<u32> {
        let halves = |&output: &u64| [output as u32, (output >> 32) as u32];
        outputs.iter().flat_map(halves).collect()
    };
    let first = halves(&outputs[..3]);
    [&first[..5], &halves(&outputs[4..])].concat()
}

fn mix32(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x21f0_aaad);
    h = (h ^ (h >> 15)).wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}

/// Bucket of a slot. Even rounds shift z by a function of w, odd rounds shift w by a function of z.
fn bucket(hash: &BalancedHash, t: u32, keys: &[u32], slot: u32) -> u32 {
    let (t, m) = (u64::from(t), u64::from(hash.slots_per_bucket()));
    let shift = |x: u64, key: u32, range: u64| (u64::from(mix32(x as u32 ^ key)) * range) >> 32;
    let (mut w, mut z) = (u64::from(slot) / t, u64::from(slot) % t);
    for (round, &key) in keys[..hash.round_count()].iter().enumerate() {
        if round % 2 == 0 {
            z = (z + shift(w, key, t)) % t;
        } else {
            w = (w + shift(z, key, m)) % m;
        }
    }
    z as u32
}

proptest! {
    #[test]
    fn slots_go_to_their_buckets_and_buckets_list_their_slots(
        seed: u64,
        buckets in 1u32..80,
        // Sizes around and beyond the blocks of slots that are listed together.
        per_bucket in prop_oneof![1u32..9, 10u32..70, 90u32..140],
    ) {
        let hash = BalancedHash::new(buckets * per_bucket, buckets);
        prop_assert_eq!(hash.slots_per_bucket(), per_bucket);
        let (keys, rounds) = (HashKeys::new(seed), round_keys(seed));
        let mut held = vec![Vec::new(); buckets as usize];
        for slot in 0..buckets * per_bucket {
            let there = bucket(&hash, buckets, &rounds, slot);
            prop_assert_eq!(hash.bucket_of_slot(&keys, slot), there);
            held[there as usize].push(slot);
        }
        for (bucket, held) in (0..).zip(held) {
            let mut listed = Vec::new();
            hash.for_each_slot_in_bucket(&keys, bucket, |slot| listed.push(slot));
            listed.sort_unstable();
            prop_assert_eq!(listed, held);
        }
    }

    #[test]
    fn each_family_has_a_key_of_its_own(seed: u64, x: u64, word: u32, buckets in 1u32..u32::MAX) {
        let outputs: Vec<u64> = splitmix(seed).take(4).collect();
        let keys = HashKeys::new(seed);
        let product = u128::from(mix64(x ^ outputs[0])) * u128::from(buckets);
        prop_assert_eq!(independent_bucket(&keys, x, buckets), (product >> 64) as u32);
        prop_assert_eq!(sign_word_of_closed_elements(&keys, word), mix64(u64::from(word) ^ outputs[3]));
    }
}
