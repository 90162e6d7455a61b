//! Time and memory in which a shuffler puts a batch of sealed messages in a new order. The messages
//! are random bytes, as sealed ones look, because sealing takes longer than shuffling.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use hushbin::codec::append_varint;
use hushbin::sums::SumTask;
use hushbin_analysis::sums::resolve_sum_draft;
use hushbin_server::store::{FilesEngine, StorageEngine, UploadRecord};
use hushbin_tests::process::{Client, Collector, command, create_journal, hushbin};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;

use super::Bench;

/// Number of messages of each person.
const MESSAGES_PER_PERSON: u64 = 20;

/// Number of people whose uploads are written in one commit.
const PEOPLE_PER_COMMIT: u64 = 1000;

pub(crate) fn run(bench: &Bench) {
    let messages = bench.environment_number("HUSHBIN_BENCH_MESSAGES", 10_000_000, 100_000);
    let directory = bench.directory.path().join("shuffle");
    fs::create_dir(&directory).unwrap();
    let text = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let task = json!({
        "id": "bench", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": 1000,
        "numbers": [{ "name": "load", "min": 0, "max": 100 }],
    });
    let task: SumTask = resolve_sum_draft(&serde_json::from_value(task).unwrap()).unwrap();
    fs::write(text("task.json"), serde_json::to_string(&task).unwrap()).unwrap();
    for name in ["own", "analyser"] {
        let made = hushbin(&[
            "key",
            "create",
            "--for",
            "signing",
            &text(&format!("{name}.pem")),
        ]);
        fs::write(text(&format!("{name}.pub")), made.stdout).unwrap();
    }
    create_journal(&directory.join("data"));
    let start = || {
        let mut serve = command();
        // No analyser listens there, so the released batch stays.
        serve.args([
            "serve",
            "--role",
            "shuffler",
            "--analyser",
            "http://127.0.0.1:1",
        ]);
        serve.args([
            "--analyser-key",
            &text("analyser.pub"),
            "--signing-key",
            &text("own.pem"),
        ]);
        serve.args(["--data", &text("data"), "--task", &text("task.json")]);
        serve.args(["--listen", "127.0.0.1:0", "--log", "error"]);
        let mut started = Collector::start(serve);
        let address = started.address_after("hushbin shuffling");
        (started, address)
    };
    let (mut first, _) = start();
    first.stop(Duration::from_secs(60));
    let length = hushbin::sealed::SEALING_OVERHEAD_BYTES + task.longest_message_bytes();
    fill_and_close_batch(
        &directory.join("data"),
        messages / MESSAGES_PER_PERSON,
        length,
    );

    let begun = Instant::now();
    let (mut shuffler, address) = start();
    let started = begun.elapsed();
    let mut client = Client::connect(address).unwrap();
    while !is_released(&mut client) {
        thread::sleep(Duration::from_millis(20));
    }
    let released = begun.elapsed() - started;
    let bytes = messages * length as u64;
    println!("messages  sealed MB  start s  shuffle s  messages/s  peak MB");
    println!(
        "{messages:8}  {:9.0}  {:7.1}  {:9.1}  {:10.0}  {:7.0}",
        bytes as f64 / 1e6,
        started.as_secs_f64(),
        released.as_secs_f64(),
        messages as f64 / released.as_secs_f64(),
        shuffler.peak_memory() as f64 / 1e6,
    );
    shuffler.stop(Duration::from_secs(60));
}

/// Writes the uploads of `people` people to the open batch, and closes it.
fn fill_and_close_batch(data: &std::path::Path, people: u64, length: usize) {
    let mut engine = FilesEngine::open(data).unwrap();
    let task = engine.tasks().unwrap()[0].key;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut record = |_| {
        let (mut id, mut body) = ([0; 16], Vec::new());
        rng.fill_bytes(&mut id);
        append_varint(&mut body, MESSAGES_PER_PERSON);
        let mut sealed = vec![0; MESSAGES_PER_PERSON as usize * length];
        rng.fill_bytes(&mut sealed);
        // All are sealed to one key.
        for message in sealed.chunks_mut(length) {
            message[..hushbin::sealed::KEY_ID_BYTES].fill(7);
        }
        body.extend(sealed);
        UploadRecord {
            id,
            report_count: MESSAGES_PER_PERSON as u32,
            body,
        }
    };
    for begin in (0..people).step_by(PEOPLE_PER_COMMIT as usize) {
        let group: Vec<_> = (begin..people.min(begin + PEOPLE_PER_COMMIT))
            .map(&mut record)
            .collect();
        engine.append_uploads(task, &group).unwrap();
    }
    engine.close_batch(task, 1, 0).unwrap();
}

/// Returns true if the shuffler's batch waits for the analyser.
fn is_released(client: &mut Client) -> bool {
    let (status, metrics) = client.get("/metrics").unwrap();
    assert_eq!(status, 200);
    let metrics = String::from_utf8(metrics).unwrap();
    let unsent = metrics
        .lines()
        .find_map(|line| line.strip_prefix("hushbin_batches_unsent "));
    unsent.unwrap() != "0"
}
