use hushbin::sample::Threshold;
use hushbin::sums::{
    BoundedVector, Message, MessageParameters, SumTask, SumTaskDraft, SumTaskFields,
};
use hushbin::task::ReportBudget;
use hushbin::upload::EncodedUpload;
use hushbin::{ErrorCode, Items, Task, UploadId, upload};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ball, messages, numbers, parts, task};

fn all() -> Vec<SumTask> {
    let weekly = SumTaskFields {
        report_budget: ReportBudget::new(7, 1, None).unwrap(),
        ..parts(numbers(3))
    };
    vec![
        task(numbers(1), messages([32, 1, 1], 0.01, 2)),
        task(numbers(300), messages([2, 100, 2], 0.01, 70)),
        task(ball(5, 2.5), messages([8, 16, 1], 0.25, 32)),
        SumTask::new(weekly, messages([8, 3, 1], 0.25, 6)).unwrap(),
    ]
}

#[test]
fn bytes_and_files_say_the_same_task() {
    for task in all() {
        let bytes = task.canonical_bytes();
        assert_eq!(SumTask::from_canonical_bytes(&bytes), Ok(task.clone()));
        let text = serde_json::to_string(&task).unwrap();
        assert_eq!(serde_json::from_str::<SumTask>(&text).unwrap(), task);
        let draft: SumTaskDraft = serde_json::from_str(&text).unwrap();
        assert_eq!(draft, SumTaskDraft::from(task.clone()));
        assert_eq!(draft.check_matches_task(&task), Ok(()));
        // A decoder of tasks with a local ε accepts neither.
        assert!(Task::from_canonical_bytes(&bytes).is_err());
        assert!(serde_json::from_str::<Task>(&text).is_err());
    }
}

#[test]
fn no_other_bytes_say_it() {
    for task in all() {
        let bytes = task.canonical_bytes();
        for length in 0..bytes.len() {
            assert!(SumTask::from_canonical_bytes(&bytes[..length]).is_err());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            if let Ok(other) = SumTask::from_canonical_bytes(&changed) {
                assert_eq!(other.canonical_bytes(), changed);
                assert_ne!(other.fingerprint(), task.fingerprint());
                assert!(SumTaskDraft::from(other).check_matches_task(&task).is_err());
            }
        }
    }
}

#[test]
fn the_fingerprint_stays() {
    let fingerprints: Vec<String> = all()
        .iter()
        .map(|task| task.fingerprint().to_string())
        .collect();
    assert_eq!(
        fingerprints,
        [
            "0d66008bbc814690f22b239f79df18ea",
            "c57e1fbb1aec017762b52b2e48ac4520",
            "a67b73b53b6231d1e3357767c367bc9d",
            "7443fa999b3af2563e526d1937c89059"
        ]
    );
}

fn file() -> Value {
    json!({
        "id": "timings", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
        "numbers": [{ "name": "load", "min": 0, "max": 10, "unit": "s" }],
        "messages": { "levels": 8, "drawn": 1, "trials": 1, "threshold": "4611686018427387904", "noise": 2 },
    })
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut file = file();
    change(&mut file);
    serde_json::from_value::<SumTask>(file)
        .unwrap_err()
        .to_string()
}

#[test]
fn files_that_are_not_right_say_why() {
    let own: SumTask = serde_json::from_value(file()).unwrap();
    assert_eq!(
        (
            own.message_parameters().message_count(),
            own.honest_people_count()
        ),
        (10, 900)
    );
    let says = |text: String, expected: &str| assert!(text.contains(expected), "{text}");
    says(refusal(|own| own["trust"] = json!("nobody")), "shuffler");
    says(
        refusal(|own| {
            own.as_object_mut().unwrap().remove("trust");
        }),
        "missing field `trust`",
    );
    says(
        refusal(|own| own["vector"] = json!({ "items": 3, "length": 1.0 })),
        "or a \"vector\"",
    );
    says(
        refusal(|own| own["people"] = json!(2)),
        "at least 2 of the \"people\"",
    );
    says(refusal(|own| own["delta"] = json!(0.5)), "delta is 0.5");
    says(
        refusal(|own| own["honest_fraction"] = json!(1.5)),
        "at most 1",
    );
    says(
        refusal(|own| own["messages"]["threshold"] = json!("0")),
        "above 0 and at most 2⁶³",
    );
    says(
        refusal(|own| own["messages"]["threshold"] = json!("07")),
        "decimal digits",
    );
    says(
        refusal(|own| own["messages"]["threshold"] = json!(7)),
        "expected a string",
    );
    says(
        refusal(|own| own["messages"]["drawn"] = json!(2)),
        "\"drawn\" exceeds",
    );
    says(
        refusal(|own| own["messages"]["levels"] = json!(0)),
        "levels is 0",
    );
    says(
        refusal(|own| own["messages"]["noise"] = json!(5000)),
        "expected 1 to 4096",
    );
    says(
        refusal(|own| own["budget"] = json!({ "reports": 2 })),
        "needs \"reports\" 1",
    );
    says(
        refusal(|own| own["budget"] = json!({ "memo": { "epsilon": 2.0, "days": 365 } })),
        "no \"memo\" and no \"cover\"",
    );
    says(
        refusal(|own| own["sparsity"] = json!(1)),
        "unknown field `sparsity`",
    );
    says(
        refusal(|own| own["messages"] = Value::Null),
        "missing field `messages`",
    );
    let named = json!([{ "name": "a", "min": 0, "max": 1 }, { "name": "a", "min": 0, "max": 1 }]);
    says(
        refusal(|own| own["numbers"] = named),
        "two items are named \"a\"",
    );
}

#[test]
fn drafts_differ_by_their_first_field() {
    let own = task(numbers(2), messages([4, 2, 1], 0.1, 4));
    let draft = SumTaskDraft::from(own.clone());
    let field = |change: fn(&mut SumTaskDraft)| {
        let mut other = draft.clone();
        change(&mut other);
        let error = other.check_matches_task(&own).unwrap_err();
        assert_eq!(error.code(), ErrorCode::TaskDiffers);
        error.to_string()
    };
    assert!(
        field(|own| own.task_fields.central_epsilon = 2.0).contains("epsilon is 2, expected 1")
    );
    assert!(field(|own| own.task_fields.min_people = 5).contains("people is 5"));
    assert!(
        field(|own| own.task_fields.summed_quantity = numbers(1)).contains("numbers or vector")
    );
    assert!(
        field(|own| own.message_parameters = Some(messages([5, 2, 1], 0.1, 4)))
            .contains("messages")
    );
    let open = SumTaskDraft {
        message_parameters: None,
        ..draft.clone()
    };
    assert_eq!(open.check_matches_task(&own), Ok(()));
}

#[test]
fn parameters_beyond_their_ranges_are_refused() {
    let half = Threshold(1 << 63);
    assert!(MessageParameters::new(1, 1, 1, half, 0).is_ok());
    let beyond = Threshold((1 << 63) + 1);
    assert_eq!(
        MessageParameters::new(1, 1, 1, beyond, 0)
            .unwrap_err()
            .code(),
        ErrorCode::InvalidCombination
    );
    for [levels, drawn, trials] in [[0, 1, 1], [1025, 1, 1], [1, 0, 1], [1, 1025, 1], [1, 1, 0]] {
        let error = MessageParameters::new(levels, drawn, trials, half, 0).unwrap_err();
        assert_eq!(error.code(), ErrorCode::OutOfRange);
    }
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(BoundedVector::new(Items::Count(4), length, 1, 2.0).is_err());
    }
    assert!(BoundedVector::new(Items::Count(513), 1.0, 1, 2.0).is_err());
    assert!(BoundedVector::new(Items::Count(4), 1.0, 1, f64::NAN).is_err());
    assert!(BoundedVector::new(serde_json::from_str("\"open\"").unwrap(), 1.0, 1, 2.0).is_err());
}

/// Messages take up to two bytes at about 64 numbers.
#[test]
fn messages_are_padded_to_the_longest() {
    let task = task(numbers(64), messages([8, 1, 1], 0.01, 2));
    let down = Message::SignedUnitStep {
        coordinate: 63,
        negative: true,
    };
    let mut bytes = Vec::new();
    task.encode_padded(&[Message::Blank, down], &mut bytes);
    assert_eq!(bytes, [0, 0, 0x80, 0x01]);
}

fn decoded(task: &SumTask, bytes: &[u8]) -> Result<(UploadId, Vec<Message>), hushbin::Error> {
    let upload = EncodedUpload::read_unchecked_upload(bytes, task.fingerprint())?;
    Ok((upload.id, task.decode_messages(&upload)?))
}

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(coordinate in 0_u32..300, negative: bool) {
        let task = task(numbers(300), messages([2, 100, 2], 0.01, 70));
        for message in [Message::SignedUnitStep { coordinate, negative }, Message::Blank] {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            prop_assert!(bytes.len() <= task.longest_message_bytes());
            prop_assert_eq!(task.decode_first_message(&bytes), Ok((message, bytes.len())));
        }
    }

    #[test]
    fn no_bytes_are_more_than_one_message(bytes: [u8; 4]) {
        let task = task(numbers(300), messages([2, 100, 2], 0.01, 70));
        if let Ok((message, length)) = task.decode_first_message(&bytes) {
            let mut again = Vec::new();
            message.encode(&mut again);
            prop_assert_eq!(&again, &bytes[..length]);
        }
    }

    /// Decoded bytes are the only encoding.
    #[test]
    fn uploads_are_read_strictly(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        count in 0_u32..6,
        genuine: bool,
    ) {
        let task = task(numbers(3), messages([2, 3, 1], 0.25, 6));
        let mut all = upload::upload_header(UploadId([9; 16]), &task.fingerprint(), count);
        match genuine {
            true => all.extend(bytes.iter().take(count as usize).map(|byte| byte % 7)),
            false => all.extend(bytes),
        }
        if let Ok((id, read)) = decoded(&task, &all) {
            prop_assert_eq!(read.len(), count as usize);
            let mut again = upload::upload_header(id, &task.fingerprint(), count);
            read.iter().for_each(|own| own.encode(&mut again));
            prop_assert_eq!(again, all);
        }
    }

    #[test]
    fn no_bytes_are_a_trap(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let own = task(numbers(3), messages([2, 3, 1], 0.25, 6));
        let _ = decoded(&own, &bytes);
        let _ = SumTask::from_canonical_bytes(&bytes);
        let _ = own.decode_first_message(&bytes);
    }
}
