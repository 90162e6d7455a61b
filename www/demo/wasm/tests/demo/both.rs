use hushbin::sums::SumTaskDraft;
use hushbin_analysis::sums::resolve_sum_draft;
use hushbin_demo::local_vs_shuffle::BothWaysSimulation;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const PEOPLE: u32 = 2000;

fn asked() -> (BothWaysSimulation, ChaCha20Rng) {
    let draft: SumTaskDraft = serde_json::from_value(serde_json::json!({
        "id": "both", "trust": "shuffler", "epsilon": 2.0, "delta": 1e-6, "people": PEOPLE,
        "numbers": [
            { "name": "load", "min": 0, "max": 10_000, "unit": "ms" },
            { "name": "depth", "min": -1, "max": 1 },
            { "name": "tabs", "min": 1, "max": 50 },
        ],
    }))
    .unwrap();
    let task = resolve_sum_draft(&draft).unwrap();
    (
        BothWaysSimulation::new(&task).unwrap(),
        ChaCha20Rng::seed_from_u64(17),
    )
}

fn answer(person: u32) -> [f64; 3] {
    let part = f64::from(person % 100) / 99.0;
    // One person in 100 is outside of the limits.
    [10_500.0 * part, 1.0 - 2.0 * part, 1.0 + 49.0 * part * part]
}

#[test]
fn both_estimate_the_means_of_what_counts_and_the_shuffler_better() {
    let (mut both, mut rng) = asked();
    for person in 0..PEOPLE {
        assert!(!both.estimates(0.95).enough);
        both.add_people(&answer(person), &mut rng).unwrap();
    }
    let found = both.estimates(0.95);
    assert!(found.enough);
    assert_eq!((found.people, found.items.len()), (PEOPLE.into(), 3));
    for (index, own) in found.items.iter().enumerate() {
        let [min, max] = own.range;
        let clipped = |person| answer(person)[index].clamp(min, max);
        let mean = (0..PEOPLE).map(clipped).sum::<f64>() / f64::from(PEOPLE);
        assert!((own.truth - mean).abs() < 1e-9 * (max - min), "{own:?}");
        for estimate in [own.local, own.shuffled] {
            // By chance, one of the six estimates exceeds 5.5 σ in less than one run in 10⁶.
            let off = (estimate.estimate - own.truth).abs();
            assert!(off < 5.5 * estimate.standard_error, "{own:?}");
        }
        assert!(own.local.standard_error > 5.0 * own.shuffled.standard_error);
    }
}

#[test]
fn linked_messages_say_the_answer_and_a_report_does_not() {
    let (both, mut rng) = asked();
    let said = both.privacy_promises();
    for person in 0..100 {
        let answer = answer(person);
        let sent = both.randomize_person(&answer, &mut rng).unwrap();
        assert_eq!(sent.messages.len(), said.messages as usize);
        assert!(!sent.report.is_empty());
        for own in &sent.told {
            assert!(
                own.ratio.ln().abs() <= said.local_epsilon * (1.0 + 1e-9),
                "{own:?}"
            );
        }
        for (own, range) in sent.read.iter().zip([10_000.0, 2.0, 49.0]) {
            let about = sent
                .messages
                .iter()
                .filter(|message| message.item.as_ref() == Some(&own.item));
            assert_eq!(about.clone().count() as u64, own.counts.iter().sum::<u64>());
            assert_eq!(
                about.filter(|message| message.up).count() as u64,
                own.counts[0]
            );
            // By chance, one of 300 readings exceeds 6 deviations in less than one run in 10⁶. The
            // 5 % of the range are for the answers outside of the limits.
            let off = (own.read - own.answered).abs();
            assert!(off <= 6.0 * own.give + 0.05 * range, "{own:?}");
        }
    }
    // None of these people was added.
    assert_eq!(both.estimates(0.95).people, 0);
}

fn asked_for_a_choice() -> (BothWaysSimulation, ChaCha20Rng) {
    let draft: SumTaskDraft = serde_json::from_value(serde_json::json!({
        "id": "both", "trust": "shuffler", "epsilon": 2.0, "delta": 1e-6, "people": PEOPLE,
        "questions": [
            { "name": "language", "kind": "choice", "options": ["en", "es", "hi", "zh", "none"] },
        ],
    }))
    .unwrap();
    let task = resolve_sum_draft(&draft).unwrap();
    (
        BothWaysSimulation::new(&task).unwrap(),
        ChaCha20Rng::seed_from_u64(18),
    )
}

#[test]
fn both_estimate_the_shares_of_options_and_the_shuffler_better() {
    let (mut both, mut rng) = asked_for_a_choice();
    // Of ten people, 4, 3, 2 and 1 choose the first options, and nobody the last.
    let options = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0];
    for person in 0..PEOPLE as usize {
        both.add_people(&options[person % 10..][..1], &mut rng)
            .unwrap();
    }
    let found = both.estimates(0.95);
    assert!(found.enough);
    let truths: Vec<_> = found.items.iter().map(|own| own.truth).collect();
    assert_eq!(truths, [40.0, 30.0, 20.0, 10.0, 0.0]);
    for own in &found.items {
        assert_eq!((own.unit.as_deref(), own.range), (Some("%"), [0.0, 100.0]));
        for estimate in [own.local, own.shuffled] {
            // By chance, one of the ten estimates exceeds 5.5 σ in less than one run in 10⁶.
            let off = (estimate.estimate - own.truth).abs();
            assert!(off < 5.5 * estimate.standard_error, "{own:?}");
        }
        assert!(own.local.standard_error > 5.0 * own.shuffled.standard_error);
    }
}

#[test]
fn linked_messages_about_options_say_the_answer_and_a_report_does_not() {
    let (both, mut rng) = asked_for_a_choice();
    let said = both.privacy_promises();
    for person in 0..100 {
        let answer = [f64::from(person % 5)];
        let sent = both.randomize_person(&answer, &mut rng).unwrap();
        assert!((1..=said.messages as usize).contains(&sent.messages.len()));
        assert_eq!((sent.told.len(), sent.read.len()), (5, 5));
        for own in &sent.told {
            assert!(
                own.ratio.ln().abs() <= said.local_epsilon * (1.0 + 1e-9),
                "{own:?}"
            );
        }
        for (own, index) in sent.read.iter().zip(0..) {
            let chosen = index == person % 5;
            assert_eq!(own.answered, if chosen { 100.0 } else { 0.0 });
            assert!(own.counts[0] >= u64::from(chosen) && own.counts[1] == 0);
            let messages = sent.messages.iter();
            let about = messages.filter(|own_message| own_message.item.as_ref() == Some(&own.item));
            assert_eq!(about.count() as u64, own.counts[0]);
        }
    }
    assert_eq!(both.estimates(0.95).people, 0);
}

#[test]
fn vectors_and_wrong_answers_are_refused() {
    let draft: SumTaskDraft = serde_json::from_value(serde_json::json!({
        "id": "v", "trust": "shuffler", "epsilon": 2.0, "delta": 1e-6, "people": 1000,
        "vector": { "items": 4, "length": 1.0 },
    }))
    .unwrap();
    assert!(BothWaysSimulation::new(&resolve_sum_draft(&draft).unwrap()).is_err());
    let (mut both, mut rng) = asked();
    assert!(both.add_people(&[1.0, 0.0], &mut rng).is_err());
    assert!(both.add_people(&[1.0, 0.0, f64::NAN], &mut rng).is_err());
    assert_eq!(both.estimates(0.95).people, 0);
    let (mut both, mut rng) = asked_for_a_choice();
    assert!(both.add_people(&[5.0], &mut rng).is_err());
    assert!(both.add_people(&[0.5], &mut rng).is_err());
    assert_eq!(both.estimates(0.95).people, 0);
}
