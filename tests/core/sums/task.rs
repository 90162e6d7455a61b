use hushbin::sample::Threshold;
use hushbin::sums::{
    BoundedVector, CellGroup, CountedKind, CountedQuestions, Message, NoiseLottery, SumTask,
    SumTaskDraft, SumTaskFields, SummedQuantity, UnitStepParameters,
};
use hushbin::task::ReportBudget;
use hushbin::upload::EncodedUpload;
use hushbin::{ErrorCode, Items, Task, UploadId, upload};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ball, choice, flags, histogram, messages, numbers, parts, questions, set, task};

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
        questions(choice(3), 1, 1, false),
        questions(set(200, 5), 64, 4, true),
        questions(flags(7), 3, 2, false),
        questions(histogram(31), 2, 3, false),
        questions(histogram(100), 2, 3, true),
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
            "7443fa999b3af2563e526d1937c89059",
            "c9838fd4c08f7369c023e1f06913d807",
            "1cc47bf5da72b3f86c09ad1f5a94b19e",
            "fd1485e1d458e6ca39b6149acac59a22",
            "5b83e79f87bb8e7c15e876d83af5645a",
            "2ed7a52a212119cdb939c2e80078ef2c",
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
        (own.message_count_range(), own.honest_people_count()),
        (10..=10, 900)
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
        "exactly one of \"numbers\", a \"vector\" and \"questions\"",
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

/// A file with this question, and messages that have room.
fn asked(questions: &Value) -> Value {
    json!({
        "id": "asked", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
        "questions": questions,
        "messages": { "draws": 2, "threshold": "4611686018427387904" },
    })
}

/// Questions are written as in tasks that have a local ε.
#[test]
fn questions_are_written_as_local_ones() {
    let read = |questions: Value| -> CountedQuestions {
        let task: SumTask = serde_json::from_value(asked(&questions)).unwrap();
        let again = serde_json::to_value(&task).unwrap();
        assert_eq!(again["questions"], questions);
        let own = task.summed_quantity().counted_questions();
        own.unwrap().clone()
    };
    let own = read(json!([{ "name": "theme", "kind": "choice", "options": ["dark", "light"] }]));
    assert_eq!(own.items().find_item("light"), Some(1));
    let set = json!([{ "name": "features", "kind": "set", "options": 9, "sparsity": 2 }]);
    assert_eq!(read(set).own_message_count(), 2);
    let two = json!([{ "name": "beta", "kind": "flag" }, { "name": "dark", "kind": "flag" }]);
    assert_eq!(*read(two).kind(), CountedKind::Flags);
    let number = json!([
        { "name": "loadMs", "kind": "number", "min": 0.0, "max": 8.0, "bins": 64, "unit": "ms" }
    ]);
    assert_eq!(read(number).cell_count(), 72);
}

#[test]
fn questions_that_are_not_right_say_why() {
    let refused = |questions: Value| {
        let error = serde_json::from_value::<SumTask>(asked(&questions)).unwrap_err();
        error.to_string()
    };
    let flag = json!({ "name": "beta", "kind": "flag" });
    let choice = json!({ "name": "theme", "kind": "choice", "options": 3 });
    let number = |bins: u32, max: f64| json!([{ "name": "n", "kind": "number", "min": 0, "max": max, "bins": bins }]);
    let set = |options: Value, sparsity: u32| json!([{ "name": "s", "kind": "set", "options": options, "sparsity": sparsity }]);
    for (questions, expected) in [
        (json!([]), "number of questions is 0, expected 1 to 64"),
        (
            json!([choice, flag]),
            "one question, or several of the kind",
        ),
        (json!([flag, flag]), "two items are named \"beta\""),
        (json!([{ "name": "", "kind": "flag" }]), "has the name \"\""),
        (
            json!([{ "name": "q", "kind": "text", "length": 4 }]),
            "unknown variant `text`, expected one of `choice`, `set`, `flag`, `number`",
        ),
        (
            json!([{ "name": "q", "kind": "choice", "options": 1 }]),
            "question \"q\": options is 1, expected 2 to",
        ),
        (
            json!([{ "name": "q", "kind": "choice", "options": "open" }]),
            "question \"q\": questions through a shuffler need \"options\" that are a list",
        ),
        (
            json!([{ "name": "q", "kind": "choice", "options": 3, "sparsity": 1 }]),
            "unknown field `sparsity`",
        ),
        (
            json!([{ "name": "n", "kind": "number", "min": 0, "max": 1 }]),
            "missing field `bins`",
        ),
        (set(json!(4), 5), "sparsity is 5, expected 1 to 4"),
        (set(json!(4), 0), "sparsity is 0, expected 1 to 4"),
        (set(json!([]), 1), "items is 0, expected 1 to"),
        (number(1, 1.0), "number of bins is 1, expected 2 to 4096"),
        (number(4097, 1.0), "number of bins is 4097"),
        (number(9, -1.0), "must be finite and ascending"),
        // Bins that floating-point numbers cannot tell apart.
        (number(4, 5e-324), "far enough apart for its \"bins\""),
    ] {
        let said = refused(questions.clone());
        assert!(said.contains(expected), "{questions}: {said}");
    }
    let with = |messages: Value| {
        let mut file = asked(&json!([choice]));
        file["messages"] = messages;
        serde_json::from_value::<SumTask>(file)
    };
    let steps = json!({ "levels": 8, "drawn": 1, "trials": 1, "threshold": "1", "noise": 2 });
    for (messages, expected) in [
        (steps, "\"questions\" need \"messages\" with \"draws\""),
        (
            json!({ "draws": 0, "threshold": "1" }),
            "draws is 0, expected 1 to 64",
        ),
        (
            json!({ "draws": 65, "threshold": "1" }),
            "draws is 65, expected 1 to 64",
        ),
        (json!({ "draws": 2 }), "missing field `threshold`"),
        (
            json!({ "threshold": "1" }),
            "those of \"questions\" need \"draws\"",
        ),
        (
            json!({ "draws": 2, "threshold": "1", "noise": 2 }),
            "those of \"questions\" need \"draws\"",
        ),
        (
            json!({ "draws": 2, "threshold": "0" }),
            "above 0 and at most 2⁶⁴",
        ),
        (
            json!({ "draws": 2, "threshold": "18446744073709551617" }),
            "above 0 and at most 2⁶⁴",
        ),
        (json!({ "draws": 2, "threshold": "01" }), "decimal digits"),
        (json!({ "draws": 2, "threshold": "+1" }), "decimal digits"),
    ] {
        let said = with(messages.clone()).unwrap_err().to_string();
        assert!(said.contains(expected), "{messages}: {said}");
    }
    // 2⁶⁴ means always.
    let always = with(json!({ "draws": 2, "threshold": "18446744073709551616" })).unwrap();
    let lottery = NoiseLottery::new(2, 1 << 64, false).unwrap();
    assert_eq!(lottery.probability(), 1.0);
    assert_eq!(*always.message_parameters(), lottery.into());
    // Messages of questions do not fit numbers.
    let error = SumTask::new(parts(numbers(1)), lottery).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCombination);
    let named = Items::Named(vec!["a".into(), "b".into()]);
    let histogram = histogram(2).kind().clone();
    assert!(CountedQuestions::new(histogram, named).is_err());
    assert!(CountedQuestions::new(CountedKind::Flags, Items::Count(2)).is_err());
}

/// A person sends s own messages, and r noise messages at most.
#[test]
fn both_numbers_of_messages_are_known() {
    for (of, own) in [
        (choice(9), 1),
        (set(40, 3), 3),
        (flags(8), 8),
        (histogram(31), 1),
        (histogram(32), 2),
    ] {
        let groups = of.cell_groups();
        let sum = |part: fn(&CellGroup) -> u32| groups.iter().map(part).sum::<u32>();
        assert_eq!(sum(|group| group.cells), of.cell_count());
        assert_eq!(
            [sum(|group| group.own_messages), own],
            [of.own_message_count(); 2]
        );
        let range = |equal| questions(of.clone(), 5, 1, equal).message_count_range();
        assert_eq!(range(false), own..=own + 5);
        assert_eq!(range(true), own + 5..=own + 5);
        // As many messages as this cannot come from fewer people.
        let least = questions(of.clone(), 5, 1, false).min_batch_messages();
        assert_eq!(least, 1000 * u64::from(own + 5));
    }
    let SummedQuantity::CountedQuestions(own) =
        questions(choice(9), 1, 1, false).summed_quantity().clone()
    else {
        unreachable!("it is a choice")
    };
    assert_eq!(own, choice(9));
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
        field(|own| own.task_fields.summed_quantity = numbers(1))
            .contains("numbers, vector or questions")
    );
    assert!(
        field(|own| own.message_parameters = Some(messages([5, 2, 1], 0.1, 4).into()))
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
    assert!(UnitStepParameters::new(1, 1, 1, half, 0).is_ok());
    let beyond = Threshold((1 << 63) + 1);
    assert_eq!(
        UnitStepParameters::new(1, 1, 1, beyond, 0)
            .unwrap_err()
            .code(),
        ErrorCode::InvalidCombination
    );
    for [levels, drawn, trials] in [[0, 1, 1], [1025, 1, 1], [1, 0, 1], [1, 1025, 1], [1, 1, 0]] {
        let error = UnitStepParameters::new(levels, drawn, trials, half, 0).unwrap_err();
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
        let _ = decoded(&questions(set(4, 2), 1, 1, false), &bytes);
    }

    /// Canonical bytes with changes that keep the beginning, so that every kind is reached.
    #[test]
    fn changed_tasks_are_refused_or_are_others(
        which in 0..9_usize,
        at in 0..400_usize,
        byte: u8,
        cut in 0..3_usize,
    ) {
        let mut bytes = all()[which].canonical_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut);
        if let Ok(task) = SumTask::from_canonical_bytes(&bytes) {
            prop_assert_eq!(task.canonical_bytes(), bytes);
        }
    }

    #[test]
    fn cells_are_read_as_they_were_written(cell in 0_u32..205, bytes: [u8; 4]) {
        // 200 options and 5 paddings.
        let task = questions(set(200, 5), 2, 1, false);
        for message in [Message::Cell(cell), Message::Blank] {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            prop_assert!(bytes.len() <= task.longest_message_bytes());
            prop_assert_eq!(task.decode_first_message(&bytes), Ok((message, bytes.len())));
        }
        if let Ok((message, length)) = task.decode_first_message(&bytes) {
            let mut again = Vec::new();
            message.encode(&mut again);
            prop_assert_eq!(&again, &bytes[..length]);
        }
    }
}
