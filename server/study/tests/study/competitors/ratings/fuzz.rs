//! Fuzz test: reports can be drawn for any input.

use std::collections::BTreeMap;

use hushbin::Entry;
use hushbin::bounds::NEIGHBOUR_DISTANCE_RANGE;
use hushbin_study::competitors::ratings::{OracleSetting, PUBLISHED_RATING_ORACLES, ReportSums};
use hushbin_tests::generators::seeded;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_input_makes_a_report(
        items in 1_u32..40,
        sparsity in 1_u32..12,
        epsilon in prop_oneof![0.001..0.1, 0.1..4.0, Just(12.0)],
        distance in prop_oneof![Just(NEIGHBOUR_DISTANCE_RANGE.min), 0.1..40.0, Just(NEIGHBOUR_DISTANCE_RANGE.max)],
        people in prop::collection::vec(
            prop::collection::btree_map(0_u64..40, prop_oneof![Just(1.0), Just(-1.0), -1.0..=1.0], 0..20),
            0..5,
        ),
        seed in any::<u64>(),
    ) {
        let setting = OracleSetting { item_count: items, sparsity: sparsity.min(items), epsilon, delta: 1e-6, protected_distance: distance };
        let person = |person: &BTreeMap<u64, f64>| -> Vec<Entry> {
            let entries = person.iter().map(|(&item, &value)| Entry { item, value });
            entries.filter(|entry| entry.item < u64::from(items)).collect()
        };
        let people: Vec<Vec<Entry>> = people.iter().map(person).collect();
        let slices: Vec<&[Entry]> = people.iter().map(Vec::as_slice).collect();
        let mut rng = seeded(seed);
        for named in PUBLISHED_RATING_ORACLES {
            let oracle = (named.build)(&setting).unwrap();
            prop_assert!(oracle.privacy_loss() <= epsilon + 1e-9 && oracle.privacy_loss() > 0.0, "{}", named.name);
            prop_assert!(oracle.report_bits() >= 1.0);
            let moments = oracle.report_estimate_moments();
            let variances = moments.mean_variances_by_presence().into_iter().chain(moments.frequency_variances_by_sign().into_iter().flatten());
            for variance in variances {
                prop_assert!(variance.is_finite() && variance > -1e-9, "{}: {variance}", named.name);
            }
            let mut heard = ReportSums::new(items);
            oracle.draw_and_add_reports(&slices, &mut heard, &mut rng);
            for entries in &people {
                oracle.draw_and_add_report(entries, &mut heard, &mut rng);
            }
            prop_assert_eq!(heard.report_count, 2 * people.len() as u64);
            let linear = oracle.linear_estimator();
            if heard.report_count > 0 {
                prop_assert!(linear.means(&heard).iter().all(|mean| mean.is_finite()));
                prop_assert_eq!(linear.sign_frequencies(&heard).is_some(), moments.presence_moments.is_some());
            }
        }
    }
}
