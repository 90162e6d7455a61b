//! Rates and memory of shuffler and analyser for a task of shuffled sums, from sealed messages to
//! counts. They are compared with those for locally private reports from the same number of people.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hushbin::sums::{SumRandomizer, SumTask};
use hushbin::upload::EncodedUpload;
use hushbin::{Entry, Fingerprint, Randomizer, Task, UploadId};
use hushbin_analysis::sums::resolve_sum_draft;
use hushbin_tests::process::{Client, Collector, command, create_journal, hushbin};
use hushbin_tests::sealing::Sealer;
use hushbin_tests::uploads::draft;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use super::Bench;

/// Number of numerical values in each person's answer.
const NUMBERS: u32 = 16;

fn answer(person: u64) -> impl Iterator<Item = f64> {
    (0..u64::from(NUMBERS)).map(move |item| ((person * 37 + item * 11) % 101) as f64)
}

/// Task to measure, with the encoded messages or reports of each person before sealing.
struct MeasuredTask {
    name: &'static str,
    json: String,
    /// Minimum and maximum number of reports in a batch, unless the task determines them.
    batch: u64,
    fingerprint: Fingerprint,
    people: Vec<Vec<Vec<u8>>>,
}

impl MeasuredTask {
    fn for_sums(people: u64) -> Self {
        let numbers: Vec<Value> = (0..NUMBERS)
            .map(|index| json!({ "name": index.to_string(), "min": 0, "max": 100 }))
            .collect();
        let task = json!({
            "id": "bench", "trust": "shuffler", "epsilon": 1.0, "delta": 1e-6, "people": people,
            "numbers": numbers,
        });
        let task: SumTask = resolve_sum_draft(&serde_json::from_value(task).unwrap()).unwrap();
        let (mut randomizer, mut messages) = (SumRandomizer::new(&task), Vec::new());
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut person = |person: u64| {
            let answer: Vec<f64> = answer(person).collect();
            randomizer
                .randomize(&answer, &mut rng, &mut messages)
                .unwrap();
            let encoded = messages.iter().map(|message| {
                let mut bytes = Vec::new();
                message.encode(&mut bytes);
                bytes
            });
            encoded.collect()
        };
        Self {
            name: "messages of sums",
            batch: 1,
            json: serde_json::to_string(&task).unwrap(),
            fingerprint: task.fingerprint(),
            people: (0..people).map(&mut person).collect(),
        }
    }

    fn for_reports(people: u64) -> Self {
        let numbers: Vec<Value> = (0..NUMBERS)
            .map(|index| json!({ "name": index.to_string(), "min": 0, "max": 100 }))
            .collect();
        let json = json!({
            "id": "bench", "epsilon": 1.0,
            "questions": [{ "name": "numbers", "kind": "numbers", "of": numbers }],
        });
        let task: Task = draft(&json.to_string()).resolve_task().unwrap();
        let mut randomizer = Randomizer::new(&task);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let person = |person: u64| {
            let entries: Vec<Entry> = answer(person)
                .zip(0..)
                .map(|(value, item)| Entry { item, value })
                .collect();
            let made = randomizer.randomize(&entries, &mut rng).unwrap();
            let mut bytes = Vec::new();
            made.report.encode(&mut bytes);
            vec![bytes]
        };
        Self {
            name: "private reports",
            batch: people,
            json: serde_json::to_string(&task).unwrap(),
            fingerprint: task.fingerprint(),
            people: (0..people).map(person).collect(),
        }
    }

    fn message_count(&self) -> usize {
        self.people.iter().map(Vec::len).sum()
    }

    /// Seals the messages of all people on all cores. Returns one encoded upload for each person.
    fn seal_uploads(&self, key: &[u8]) -> Vec<Vec<u8>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let share = self.people.len().div_ceil(cores);
        let seal = |(part, people): (usize, &[Vec<Vec<u8>>])| {
            let mut sealer = Sealer::new(key, part as u64);
            let seal = |(own, messages): (usize, &Vec<Vec<u8>>)| {
                let sealed: Vec<u8> = messages.iter().flat_map(|own| sealer.seal(own)).collect();
                let mut id = [0; 16];
                id[..8].copy_from_slice(&((part * share + own) as u64).to_le_bytes());
                let upload = EncodedUpload {
                    id: UploadId(id),
                    report_count: messages.len() as u32,
                    encoded_reports: &sealed,
                };
                hushbin::sealed::encode_upload(&upload, &self.fingerprint)
            };
            people.iter().enumerate().map(seal).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let parts = self.people.chunks(share).enumerate();
            let sealing: Vec<_> = parts.map(|part| scope.spawn(move || seal(part))).collect();
            let sealed = sealing.into_iter().flat_map(|own| own.join().unwrap());
            sealed.collect()
        })
    }
}

/// Running shuffler and analyser, each with its address.
struct RunningRoles {
    shuffler: (Collector, SocketAddr),
    analyser: (Collector, SocketAddr),
    token: String,
}

impl RunningRoles {
    fn start(bench: &Bench, subject: &MeasuredTask) -> Self {
        let directory = bench.directory.path().join(subject.name.replace(' ', "-"));
        fs::create_dir(&directory).unwrap();
        let text = |name: &str| directory.join(name).to_str().unwrap().to_owned();
        fs::write(directory.join("task.json"), &subject.json).unwrap();
        for (name, purpose) in [("s", "signing"), ("a", "signing"), ("k", "sealing")] {
            let private = text(&format!("{name}.pem"));
            let made = hushbin(&["key", "create", "--for", purpose, &private]);
            fs::write(text(&format!("{name}.pub")), made.stdout).unwrap();
        }
        let task = text("task.json");
        let most = subject.batch.to_string();
        let batches = ["--batch-least", &most, "--batch-most", &most];
        let start = |words: &[&str], data: &str, ready: &str| {
            create_journal(&directory.join(data));
            let mut command = command();
            command
                .args(words)
                .args(["--task", &task, "--log", "error"]);
            command.args(["--data", &text(data), "--listen", "127.0.0.1:0"]);
            command.args(batches);
            let mut started = Collector::start(command);
            let address = started.address_after(ready);
            (started, address)
        };
        let [signing, of_shuffler, sealing] = ["a.pem", "s.pub", "k.pem"].map(text);
        let words = [
            "serve",
            "--role",
            "analyser",
            "--signing-key",
            &signing,
            "--shuffler-key",
            &of_shuffler,
            "--sealing-key",
            &sealing,
        ];
        let analyser = start(&words, "analysed", "hushbin analysing");
        let url = format!("http://{}", analyser.1);
        let [signing, of_analyser] = ["s.pem", "a.pub"].map(text);
        let words = [
            "serve",
            "--role",
            "shuffler",
            "--analyser",
            &url,
            "--analyser-key",
            &of_analyser,
            "--signing-key",
            &signing,
        ];
        let shuffler = start(&words, "shuffled", "hushbin shuffling");
        Self {
            token: create_token(&directory.join("analysed")),
            shuffler,
            analyser,
        }
    }

    /// Waits until the shuffler has the key configuration that messages are sealed to, and returns
    /// this configuration.
    fn wait_for_key(&self) -> Vec<u8> {
        let mut client = Client::connect(self.shuffler.1).unwrap();
        loop {
            let (status, body) = client.get("/tasks/bench/keys").unwrap();
            if status == 200 {
                let body: Value = serde_json::from_slice(&body).unwrap();
                let digits = body["keys"][0].as_str().unwrap().as_bytes();
                let byte =
                    |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
                return digits.chunks(2).map(byte).collect();
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_released(&self) -> bool {
        let mut client = Client::connect(self.analyser.1).unwrap();
        let (host, token) = (self.analyser.1, &self.token);
        let head = format!(
            "GET /tasks/bench/batches HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        client.write(head.as_bytes()).unwrap();
        let (_, body) = client.read().unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["batches"][0]["state"] == "released"
    }
}

fn create_token(data: &Path) -> String {
    let data = data.to_str().unwrap();
    let words = [
        "token", "create", "--role", "admin", "--name", "bench", "--data", data,
    ];
    let made = hushbin(&words);
    String::from_utf8(made.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

/// Number of connections over which uploads are sent.
const CONNECTIONS: usize = 8;

fn measure(bench: &Bench, subject: &MeasuredTask) {
    let messages = subject.message_count();
    let roles = RunningRoles::start(bench, subject);
    let sealed = subject.seal_uploads(&roles.wait_for_key());
    let bytes: usize = sealed.iter().map(Vec::len).sum();
    let begun = Instant::now();
    thread::scope(|scope| {
        for part in sealed.chunks(sealed.len().div_ceil(CONNECTIONS)) {
            let address = roles.shuffler.1;
            scope.spawn(move || {
                let mut client = Client::connect(address).unwrap();
                for upload in part {
                    assert_eq!(client.post("bench", upload).unwrap().0, 201);
                }
            });
        }
    });
    let taken = begun.elapsed();
    while !roles.is_released() {
        thread::sleep(Duration::from_millis(20));
    }
    let counted = begun.elapsed() - taken;
    let rate = |time: Duration| messages as f64 / time.as_secs_f64();
    let cpu = |collector: &Collector| 1e6 * collector.usage().cpu.as_secs_f64() / messages as f64;
    println!(
        "{:17} {:7} {:10} {:9.0} {:12.0} {:12.0} {:10.1} {:10.1} {:9.0} {:9.0}",
        subject.name,
        subject.people.len(),
        messages,
        bytes as f64 / subject.people.len() as f64,
        rate(taken),
        rate(counted),
        cpu(&roles.shuffler.0),
        cpu(&roles.analyser.0),
        roles.shuffler.0.peak_memory() as f64 / f64::from(1 << 20),
        roles.analyser.0.peak_memory() as f64 / f64::from(1 << 20),
    );
}

pub(crate) fn run(bench: &Bench) {
    let people = bench.environment_number("HUSHBIN_BENCH_PEOPLE", 10_000, 300);
    println!(
        "subject            people   messages   bytes/p.   taken/s  opened/s µs shuffl. µs analys. \
         MB shuf. MB anal."
    );
    for subject in [
        MeasuredTask::for_reports(people),
        MeasuredTask::for_sums(people),
    ] {
        measure(bench, &subject);
    }
}
