//! Tests of the parameters that the papers print, and of the additional error that they cause.

use hushbin::choose::{Population, PredictedErrors};
use hushbin::mechanism::hash_bin::PrivacyLevel;
use hushbin::{Mechanism, Task, TaskDraft};
use hushbin_study::competitors::ratings::drafts_as_printed;
use hushbin_tests::errata::assert_table;
use serde_json::{Value, json};

/// Returns a task over `items` items, for people with `sparsity` entries of ±1.
fn planned(items: u32, sparsity: u32, epsilon: f64, people: u64, mechanism: &Value) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "t", "items": items, "sparsity": sparsity, "epsilon": epsilon, "people": people,
        "value": "sign", "mechanism": mechanism,
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

/// Returns the complete mechanism of a task over 1000 items, as JSON.
fn mechanism(sparsity: u32, epsilon: f64, people: u64, mechanism: &Value) -> Value {
    let task = planned(1000, sparsity, epsilon, people, mechanism);
    serde_json::to_value(&task).unwrap()["mechanism"].clone()
}

/// P1's number of buckets is t = ⌊s·e + 2s − 1⌋.
#[test]
fn buckets_of_collision_are_the_papers() {
    for (sparsity, epsilon, buckets) in [
        (1, 0.1, 2),
        (1, 1.0, 3),
        (1, 4.0, 55),
        (4, 0.1, 11),
        (4, 0.5, 13),
        (4, 1.0, 17),
        (16, 1.0, 74),
        (16, 2.0, 149),
        (64, 0.1, 197),
        (64, 1.0, 300),
    ] {
        let printed = drafts_as_printed::collision_draft(sparsity, epsilon);
        let expected = json!({
            "name": "collision", "rule": "occupied", "hashing": "independent", "buckets": buckets,
        });
        assert_eq!(mechanism(sparsity, epsilon, 100, &printed), expected);
    }
}

/// P1 prints no number of buckets t for CoCo, so the best one is chosen.
#[test]
fn coco_is_as_the_paper_has_it() {
    for (sparsity, epsilon) in [(1, 1.0), (8, 0.5), (8, 3.0)] {
        let printed = mechanism(sparsity, epsilon, 100, &drafts_as_printed::coco_draft());
        assert_eq!(printed["rule"], "overwrite");
        assert_eq!(printed["hashing"], "independent");
        assert!(printed["buckets"].as_u64().unwrap() >= u64::from(2 * sparsity + 2));
    }
}

/// P3's clipping bound is η = √(2k·ln(4n/β)), with Laplace noise and one bin.
#[test]
fn the_clip_of_hash_bin_is_the_papers() {
    for (sparsity, people, clip) in [
        (16, 100_000, 22.6),
        (64, 10_000, 41.7),
        (64, 100_000, 45.1),
        (64, 1_000_000, 48.3),
        (64, 10_000_000, 51.2),
        (256, 100_000, 90.2),
    ] {
        let printed = drafts_as_printed::hash_bin_draft_at_user_level(sparsity, people);
        let own = mechanism(sparsity, 1.0, people, &printed);
        let exact = (2.0 * f64::from(sparsity) * (4.0 * people as f64 / 0.05).ln()).sqrt();
        let ours = own["clip"].as_f64().unwrap();
        assert_eq!((ours * 10.0).round() / 10.0, clip);
        // The clipping bound is rounded up to the grid, so that no more sums are clipped.
        assert!(
            (0.0..1.0 / 1024.0).contains(&(ours - exact)),
            "{ours} {exact}"
        );
        assert_eq!((ours * 1024.0).fract(), 0.0);
        assert_eq!(
            [&own["noise"], &own["bins"], &own["hashing"], &own["level"]],
            [
                &json!("laplace"),
                &json!(1),
                &json!("independent"),
                &json!("user")
            ]
        );
    }
}

/// Returns hash-bin at level `neighbouring` if a distance is given, otherwise at level `event`.
fn printed_level(distance: Option<f64>, delta: Option<f64>, entries: u32, epsilon: f64) -> Value {
    match distance {
        Some(distance) => {
            drafts_as_printed::hash_bin_draft_by_distance(entries, epsilon, distance, delta)
        }
        None => drafts_as_printed::hash_bin_draft_at_event_level(entries, epsilon),
    }
}

/// Checks the numbers of bins b in P3's table.
#[test]
fn bins_of_hash_bin_are_the_papers() {
    for (distance, delta, sparsity, epsilon, bins) in [
        // ε²k/4 = 16, 6.25 and 0.01.
        (None, None, 64, 1.0, 16),
        (None, None, 100, 0.5, 6),
        (None, None, 4, 0.1, 1),
        // ε²k/L² = 64, 28.4 and 1.
        (Some(2.0), None, 64, 2.0, 64),
        (Some(3.0), None, 64, 2.0, 28),
        (Some(8.0), None, 64, 1.0, 1),
        // √(ε²k/(L·ln(1/δ))) = √(256/55.3) = 2.15.
        (Some(4.0), Some(1e-6), 64, 2.0, 2),
    ] {
        let printed = printed_level(distance, delta, sparsity, epsilon);
        let own = mechanism(sparsity, epsilon, 1000, &printed);
        assert_eq!(own["bins"], json!(bins), "{printed}");
        assert_eq!(own["hashing"], json!("independent"));
    }
}

fn predicted(task: &Task, people: f64) -> PredictedErrors {
    let question = task.only_question().unwrap();
    let population = Population::with_equal_entries(people, question.max_entries_per_report());
    let domain = question.domain();
    (question.mechanism()).predict_errors(&domain, question.epsilon(), &population)
}

/// Compares P1's number of buckets t with the best t for the same rule, and with the chosen
/// mechanism.
#[test]
fn printed_buckets_cost() {
    let mut rows = Vec::new();
    for (d, s, epsilon) in [
        (256, 4, 1.0),
        (256, 16, 0.5),
        (256, 32, 1.0),
        (256, 64, 1.0),
        (256, 16, 3.0),
        (4096, 64, 0.5),
    ] {
        let task = |mechanism: Value| planned(d, s, epsilon, 10_000, &mechanism);
        let variance = |task: &Task| predicted(task, 1.0).frequency_error.unwrap().variance;
        let printed = task(drafts_as_printed::collision_draft(s, epsilon));
        let best = task(json!({
            "name": "collision", "rule": "occupied", "hashing": "independent",
        }));
        let [own, best_own] = [&printed, &best].map(variance);
        let buckets = |task: &Task| match task.only_question().unwrap().mechanism() {
            Mechanism::Collision(collision) => collision.buckets_per_hash(),
            _ => unreachable!("it was asked for"),
        };
        rows.push(format!(
            "| {d} | {s} | {epsilon} | {} | {} | {:.3} | {:.2} |",
            buckets(&printed),
            buckets(&best),
            own / best_own,
            own / variance(&task(json!("collision"))),
        ));
    }
    assert_table(
        "| d | s | ε | t as printed | best t of the rule | variance over its | over what is chosen |",
        &rows,
    );
}

/// Compares P3's number of bins b and clipping bound η with the parameters that are chosen at the
/// same level.
#[test]
fn printed_bins_and_clips_cost() {
    let mut rows = Vec::new();
    for (level, k, epsilon) in [
        (json!({ "level": "event" }), 16, 1.0),
        (json!({ "level": "event" }), 64, 1.0),
        (json!({ "level": "event" }), 64, 2.0),
        (json!({ "level": "neighbouring", "distance": 4.0 }), 64, 1.0),
        (
            json!({ "level": "neighbouring", "distance": 16.0, "delta": 1e-6 }),
            64,
            4.0,
        ),
        (json!({ "level": "user" }), 16, 1.0),
        (json!({ "level": "user" }), 64, 1.0),
        (json!({ "level": "user" }), 64, 4.0),
    ] {
        let n = 100_000;
        let mut mechanism = level.clone();
        mechanism["name"] = json!("hash-bin");
        let chosen = planned(1000, k, epsilon, n, &mechanism);
        let printed = match level["level"].as_str() {
            Some("user") => drafts_as_printed::hash_bin_draft_at_user_level(k, n),
            _ => printed_level(
                level["distance"].as_f64(),
                level["delta"].as_f64(),
                k,
                epsilon,
            ),
        };
        let printed = planned(1000, k, epsilon, n, &printed);
        let error = |task: &Task| {
            predicted(task, n as f64)
                .mean_error
                .unwrap()
                .worst_case_total_error()
        };
        let in_words = |task: &Task| match task.only_question().unwrap().mechanism() {
            Mechanism::HashBin(own) => match own.privacy_level() {
                PrivacyLevel::User { clip, .. } => format!("η = {clip:.1}"),
                _ => format!("b = {}", own.bin_count()),
            },
            _ => unreachable!("it was asked for"),
        };
        let ratio = error(&printed) / error(&chosen);
        assert!(ratio >= 1.0 - 1e-9, "{ratio}");
        let said = ["distance", "delta"].map(|name| match &level[name] {
            Value::Null => String::new(),
            number => format!(", {} {number}", if name == "delta" { "δ" } else { "L" }),
        });
        rows.push(format!(
            "| {}{} | {k} | {epsilon} | {} | {} | {ratio:.2} |",
            level["level"].as_str().unwrap(),
            said.concat(),
            in_words(&printed),
            in_words(&chosen),
        ));
    }
    assert_table(
        "| level | k | ε | as printed | chosen | squared error over its |",
        &rows,
    );
}
