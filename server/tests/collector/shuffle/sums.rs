//! Sums hidden by a shuffler alone: from messages to counts.

use super::*;
use crate::openapi::document::Document;
use crate::operate::metrics::values;
use hushbin::sums::{Message, SumRandomizer, SumTask, SumTaskDraft};
use hushbin_analysis::sums::{SumEstimates, SumInfluence, SumQuery, SumTotals, resolve_sum_draft};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// A task of 16 numbers. A batch has 400 people unless the environment sets another number.
pub(crate) fn sums() -> SumTask {
    let people = std::env::var("HUSHBIN_SUMS_PEOPLE");
    sums_of(people.map_or(400, |people| people.parse().unwrap()))
}

pub(crate) fn sums_of(people: u64) -> SumTask {
    let numbers: Vec<Value> = (0..16)
        .map(|index| serde_json::json!({ "name": format!("n{index}"), "min": 0, "max": 100 }))
        .collect();
    let draft: SumTaskDraft = serde_json::from_value(serde_json::json!({
        "id": "settings", "trust": "shuffler", "epsilon": 4.0, "delta": 1e-6, "people": people,
        "numbers": numbers,
    }))
    .unwrap();
    resolve_sum_draft(&draft).unwrap()
}

/// Gives both roles this task.
pub(crate) fn world(task: &SumTask) -> World {
    with_task(World::new(), task)
}

pub(super) fn with_task(world: World, task: &SumTask) -> World {
    let text = serde_json::to_string(task).unwrap();
    fs::write(world.path("task.json"), text).unwrap();
    world
}

/// Answer of a person; the means over many people are known.
fn answer(person: u64) -> Vec<f64> {
    let number = |item: u64| ((person * 37 + item * 11) % 101) as f64;
    (0..16).map(number).collect()
}

/// Option that a person chooses in a task of questions.
fn choice(person: u64) -> Vec<f64> {
    vec![(person % 4 * (person % 2)) as f64]
}

/// Returns an upload of these messages, each sealed separately.
pub(super) fn upload(
    task: &SumTask,
    sealer: &mut Sealer,
    id: u64,
    messages: &[Message],
) -> Vec<u8> {
    let sealed: Vec<u8> = messages
        .iter()
        .flat_map(|message| {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            sealer.seal(&bytes)
        })
        .collect();
    let mut own = [7; 16];
    own[..8].copy_from_slice(&id.to_le_bytes());
    let upload = EncodedUpload {
        id: UploadId(own),
        report_count: messages.len() as u32,
        encoded_reports: &sealed,
    };
    sealed::encode_upload(&upload, &task.fingerprint())
}

/// Sends the answers of these people by two clients. Returns the sum of all messages.
pub(crate) fn send(
    task: &SumTask,
    address: SocketAddr,
    key: &[u8],
    people: std::ops::Range<u64>,
) -> SumTotals {
    let half = people.start.midpoint(people.end);
    let client = |people: std::ops::Range<u64>| {
        let mut totals = SumTotals::new(task);
        let mut sealer = Sealer::new(key, people.start);
        let mut client = Client::connect(address).unwrap();
        let (mut randomizer, mut messages) = (SumRandomizer::new(task), Vec::new());
        let mut rng = ChaCha20Rng::seed_from_u64(people.start);
        totals.add_people(people.end - people.start);
        for person in people {
            let answer = match task.summed_quantity().counted_questions() {
                Some(_) => choice(person),
                None => answer(person),
            };
            let made = randomizer.randomize(&answer, &mut rng, &mut messages);
            made.unwrap();
            messages.iter().for_each(|own| totals.add_message(*own));
            let bytes = upload(task, &mut sealer, person, &messages);
            let (status, body) = client.post("settings", &bytes).unwrap();
            assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
        }
        totals
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| client(half..people.end));
        let mut totals = client(people.start..half);
        totals.merge(&other.join().unwrap());
        totals
    })
}

pub(crate) fn expected(task: &SumTask, totals: &SumTotals) -> Value {
    let query = SumQuery::new(task, &EstimateOptions::default()).unwrap();
    serde_json::to_value(SumEstimates::new(task, totals, &query).unwrap()).unwrap()
}

/// Returns a response of an analyser, checked against its OpenAPI document.
fn described(address: SocketAddr, token: &str, path: &str) -> Value {
    let (_, document) = ask(address, token, "GET /openapi.json");
    let document = Document::new(document);
    let (status, answer) = ask(address, token, &format!("GET /tasks/settings{path}"));
    assert_eq!(status, 200, "{answer}");
    let schema = match path {
        "" => "sum-task-shown".to_owned(),
        path => format!("sum-{}", path.trim_start_matches('/')),
    };
    let schema = match schema.as_str() {
        "sum-privacy" | "sum-influence" => schema + "-shown",
        _ => schema,
    };
    let schema = serde_json::json!({ "$ref": format!("#/components/schemas/{schema}") });
    document.faults(&schema, &answer).unwrap();
    answer
}

fn post(address: SocketAddr, token: &str) -> (u16, Value) {
    ask(address, token, "POST /tasks/settings/batches")
}

/// Estimates match the messages, within the intervals. A batch with too few people to hide each
/// other is not sent.
#[test]
fn messages_become_sums_and_too_few_are_kept_back() {
    let task = sums();
    let people = task.min_people();
    let world = world(&task);
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(1);
    let key = world.keys(address).remove(0);
    let mut totals = send(&task, address, &key, 0..people - 1);

    let [token, at_analyser] = ["shuffled", "analysed"].map(|data| world.token(data));
    let (status, refused) = post(address, &token);
    assert_eq!(status, 409, "{refused}");
    assert_eq!(refused["type"], "urn:hushbin:problem:batch-too-small");
    assert_eq!(refused["min_reports"], people);
    assert_eq!(refused["reports"], people - 1);
    let (status, nothing) = ask(
        world.analyser,
        &at_analyser,
        "GET /tasks/settings/estimates",
    );
    assert_eq!((status, &nothing["reports"]), (409, &0.into()), "{nothing}");

    // The last person completes the batch; more people would do as well.
    totals.merge(&send(&task, address, &key, people..people + 1));
    let found = world.estimates(people);
    assert_eq!(found, expected(&task, &totals));
    assert_eq!(found["people"], people);
    for (item, own) in found["estimates"].as_array().unwrap().iter().enumerate() {
        let everybody = (0..people - 1).chain([people]);
        let mean = everybody.map(|person| answer(person)[item]).sum::<f64>() / people as f64;
        let [estimate, error] =
            ["estimate", "standard_error"].map(|name| own["mean"][name].as_f64().unwrap());
        // All 16 estimates are within 5.5 σ, except with a probability below one in a million.
        assert!((estimate - mean).abs() < 5.5 * error, "{own}, {mean}");
    }
    let shown = described(world.analyser, &at_analyser, "");
    assert_eq!(shown["task"], serde_json::to_value(&task).unwrap());
    assert_eq!(described(world.analyser, &at_analyser, "/estimates"), found);
    let privacy = described(world.analyser, &at_analyser, "/privacy");
    assert_eq!(privacy["smallest_batch_suffices"], true, "{privacy}");
    assert_eq!(privacy["smallest_batch"], people);
    assert_eq!(privacy["people"], people);
    assert_eq!(privacy["privacy"]["central_epsilon"], 4.0);
    let influence = described(world.analyser, &at_analyser, "/influence");
    let of_all = SumInfluence::for_task(&task, people as f64);
    assert_eq!(
        influence["influence"],
        serde_json::to_value(of_all).unwrap()
    );
    let path = "GET /tasks/settings/heavy-hitters";
    let (status, refused) = ask(world.analyser, &at_analyser, path);
    assert_eq!(
        (status, &refused["type"]),
        (404, &"urn:hushbin:problem:not-for-sums".into())
    );
    // Neither role keeps what was sent on.
    for (at, token) in [(address, &token), (world.analyser, &at_analyser)] {
        let (_, batches) = ask(at, token, "GET /tasks/settings/batches");
        assert_eq!(batches["batches"][0]["reports_kept"], false, "{batches}");
    }
    drop((shuffler, analyser));

    // Journal commands keep the counts, too.
    let journal = |words: &[&str]| {
        let said = hushbin(&[&["journal"], words].concat());
        assert!(said.status.success(), "{said:?}");
    };
    let [analysed, damaged] = ["analysed", "damaged"].map(|name| world.text(name));
    journal(&["check", "--data", &analysed]);
    fs::rename(&analysed, &damaged).unwrap();
    journal(&["salvage", "--data", &damaged, &analysed]);
    let _again = world.analyser();
    assert_eq!(described(world.analyser, &at_analyser, "/estimates"), found);
}

/// Every upload has the same number of messages, and no more.
#[test]
fn an_upload_has_the_messages_of_one_person() {
    let task = sums();
    let world = world(&task);
    let _analyser = world.analyser();
    let (_shuffler, address) = world.shuffler(1);
    let mut sealer = world.sealer(address, 1);
    let mut client = Client::connect(address).unwrap();
    let count = *task.message_count_range().end() as usize;
    for have in [1, count - 1, count + 1] {
        let bytes = upload(&task, &mut sealer, 1, &vec![Message::Blank; have]);
        let (status, body) = client.post("settings", &bytes).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &body["messages"]), (400, &have.into()), "{body}");
        assert_eq!(body["type"], "urn:hushbin:problem:message-count");
        assert_eq!([&body["min_messages"], &body["max_messages"]], [count; 2]);
    }
    let bytes = upload(&task, &mut sealer, 1, &vec![Message::Blank; count]);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
}

/// A person who sends the maximum moves a sum exactly by the stated influence.
#[test]
fn influence_is_what_is_said() {
    let task = sums();
    let (people, each) = (
        task.min_people(),
        u64::from(*task.message_count_range().end()),
    );
    let world = world(&task);
    let _analyser = world.analyser();
    let (_shuffler, address) = world.shuffler(1);
    let key = world.keys(address).remove(0);
    let honest = send(&task, address, &key, 0..people - 1);
    let up = Message::SignedUnitStep {
        coordinate: 3,
        negative: false,
    };
    let all = vec![up; each as usize];
    let mut client = Client::connect(address).unwrap();
    let bytes = upload(&task, &mut Sealer::new(&key, 9), people, &all);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    let found = world.estimates(people);
    let without = expected(&task, &honest);
    // Measured from the middle of the range, because one more person is counted.
    let from_middle = |estimates: &Value, item: usize| {
        let sum = &estimates["estimates"][item]["sum"]["estimate"];
        sum.as_f64().unwrap() - 50.0 * estimates["people"].as_f64().unwrap()
    };
    for (item, said) in SumInfluence::for_task(&task, people as f64)
        .iter()
        .enumerate()
    {
        let moved = from_middle(&found, item) - from_middle(&without, item);
        let expected = if item == 3 {
            said.dishonest_change
        } else {
            0.0
        };
        assert!((moved - expected).abs() < 1e-6, "{item}: {moved}, {said:?}");
    }
}

/// The analyser sees which key a message was sealed to. So messages of too few people with one key
/// are not sent. This loss is counted and logged, and that of a whole batch is an error.
#[test]
fn people_of_one_key_hide_each_other_or_are_left_out() {
    let task = sums();
    let people = task.min_people();
    let mut world = world(&task);
    world.logged = true;
    world.create_key("newer", "sealing");
    let _analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    let (shuffler, address) = world.shuffler(1);
    let [newer, older] = world.keys(address).try_into().unwrap();
    send(&task, address, &older, 0..4);
    let totals = send(&task, address, &newer, 4..people);
    // All people together are enough, but those of neither key are.
    let token = world.token("shuffled");
    let sent = || ask(address, &token, "GET /tasks/settings/batches").1["batches"][0].clone();
    until(|| sent()["state"] == "released");
    assert_eq!(sent()["reports_kept"], false);
    // The second key now has enough people, so its batch is sent with the above.
    let enough = send(&task, address, &newer, people..2 * people);
    assert_eq!(world.estimates(people), expected(&task, &enough));
    drop(totals);
    let check_losses = |address: SocketAddr, left_out: u64, keys: usize, batches: usize| {
        let found = values(&mut Client::connect(address).unwrap());
        assert_eq!(found["hushbin_reports_left_out_total"], left_out as f64);
        let log = fs::read_to_string(world.path("shuffled.log")).unwrap();
        let lines = |words: &str| log.matches(words).count();
        assert_eq!(lines("WARN left out: too few reports"), keys, "{log}");
        assert_eq!(lines("ERROR left out: a whole batch"), batches, "{log}");
    };
    check_losses(address, people, 2, 1);
    drop(shuffler);

    // A larger batch. Only the few people of the older key are left out.
    let each = u64::from(*task.message_count_range().end());
    let (_shuffler, address) = world.shuffler((people + 4) * each);
    world.keys(address);
    send(&task, address, &older, 2 * people..2 * people + 4);
    let mut all = send(&task, address, &newer, 2 * people + 4..3 * people + 4);
    all.merge(&enough);
    assert_eq!(world.estimates(2 * people), expected(&task, &all));
    check_losses(address, 4, 1, 0);
}

#[test]
fn a_collector_that_does_not_shuffle_takes_no_such_task() {
    let task = sums();
    let world = world(&task);
    create_journal(&world.path("data"));
    let [data, file] = ["data", "task.json"].map(|name| world.text(name));
    let words = [
        "serve",
        "--data",
        &data,
        "--task",
        &file,
        "--listen",
        "127.0.0.1:0",
    ];
    let refused = hushbin(&words);
    let said = String::from_utf8(refused.stderr).unwrap();
    let why = "needs a shuffler";
    assert!(!refused.status.success() && said.contains(why), "{said}");
}

/// A task file with a false claim about hiding people is refused by both roles.
#[test]
fn a_promise_that_does_not_hold_is_refused() {
    let task = sums();
    let world = world(&task);
    let text = serde_json::to_string(&task).unwrap();
    let text = text.replace("\"delta\":1e-6", "\"delta\":1e-7");
    fs::write(world.path("task.json"), text).unwrap();
    create_journal(&world.path("data"));
    let [data, file, key, public] =
        ["data", "task.json", "shuffler.pem", "analyser.pub"].map(|name| world.text(name));
    let words = [
        "serve",
        "--role",
        "shuffler",
        "--data",
        &data,
        "--task",
        &file,
        "--listen",
        "127.0.0.1:0",
        "--analyser",
        "http://127.0.0.1:9",
        "--analyser-key",
        &public,
        "--signing-key",
        &key,
    ];
    let refused = hushbin(&words);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && said.contains("ε of the messages is 4."),
        "{said}"
    );
}
