//! Conversion of entries to the elements of a report.

use std::collections::BTreeMap;

use hushbin::Entry;
use hushbin::hash::HashFamily;
use hushbin::mechanism::collision::FavouredBucketRule;

use crate::support::collision::Model;
use crate::support::generators::seeded;
use crate::support::significance::{assert_rates, assert_uniform};

#[test]
fn entries_become_elements_without_bias() {
    let model = Model {
        items: 9,
        sparsity: 3,
        epsilon: 1.0,
        rule: FavouredBucketRule::Heaviest { favoured: 1 },
        hashing: HashFamily::Balanced,
        buckets: 5,
        hashes: 1,
    };
    let domain = model.task().questions()[0].domain();
    let mut rng = seeded(17);
    let mut signed = Vec::new();
    let n = 100_000;

    // Up to s values: each becomes its sign with probability equal to its magnitude.
    let values = [0.25, -0.7, 0.001];
    let entries = [5, 0, 8].into_iter().zip(values);
    let entries: Vec<Entry> = entries.map(|(item, value)| Entry { item, value }).collect();
    let mut counts = [0; 3];
    for _ in 0..n {
        let sampled_down = domain.round_and_sample_entries(&entries, &mut rng, &mut signed);
        assert!(!sampled_down);
        for kept in &signed {
            let index = entries
                .iter()
                .position(|entry| entry.item == kept.item)
                .unwrap();
            assert_eq!(kept.is_negative, values[index] < 0.0);
            counts[index] += 1;
        }
    }
    let rates = [0, 1, 2].map(|i| (format!("value {}", values[i]), counts[i], values[i].abs()));
    assert_rates(n, &rates);

    // More than s values: any three of the five are equally likely.
    let entries: Vec<Entry> = (0..5).map(|item| Entry { item, value: -1.0 }).collect();
    let mut subsets: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for _ in 0..n {
        let sampled_down = domain.round_and_sample_entries(&entries, &mut rng, &mut signed);
        assert!(sampled_down);
        let mut kept: Vec<u64> = signed.iter().map(|kept| kept.item).collect();
        kept.sort_unstable();
        *subsets.entry(kept).or_default() += 1;
    }
    assert_eq!(subsets.len(), 10);
    assert_uniform(&subsets.into_values().collect::<Vec<_>>(), "three of five");
}
