//! Each failure that an operator has to know of shows in a metric and in the log.
//!
//! The table provokes each failure in a real process. A second test holds the metrics against the
//! shipped alerts and the book.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use hushbin_tests::postgres::Server;
use hushbin_tests::process::Client;
use hushbin_tests::uploads::{Uploads, draft};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use super::Operated;
use super::metrics::values;
use crate::access::create_token;
use crate::disk::limit_files;
use crate::nodes::{Nodes, ask};
use crate::shuffle::{World, sums};
use crate::support::{SETTINGS, tls};

const RULES: &str = include_str!("../../../deploy/prometheus-rules.yml");
const INCIDENTS: &str = include_str!("../../../../www/docs/src/operate/incidents.md");
const BOOK: &str = include_str!("../../../../www/docs/src/operate/watch.md");

/// Time limit for a failure to be reported. Far above what is expected, for slow machines.
const BACKSTOP: Duration = Duration::from_secs(300);

/// A failure, and what has to show it.
struct Failure {
    name: &'static str,
    /// Condition on a sample, as in an alert: `sample == number`, `> number` or `< number`.
    metric: &'static str,
    /// Part of a line of the log.
    log: &'static str,
    provoke: fn() -> Running,
}

const FAILURES: [Failure; 28] = [
    Failure {
        name: "a frozen database",
        metric: "hushbin_ready == 0",
        log: "the journal does not answer",
        provoke: frozen_database,
    },
    Failure {
        name: "a clock that jumps",
        metric: "hushbin_clock_jumps_total > 0",
        log: "the clock has jumped forwards",
        provoke: jumping_clock,
    },
    Failure {
        name: "a lost lock",
        metric: "hushbin_files_broken{file=\"lock\"} == 1",
        log: "checking the file lock fails",
        provoke: || broken(|data| fs::remove_file(data.join("lock")).unwrap()),
    },
    Failure {
        name: "a lost list of tasks",
        metric: "hushbin_files_broken{file=\"tasks.json\"} == 1",
        log: "checking the file tasks.json fails",
        provoke: || broken(|data| fs::remove_file(data.join("tasks.json")).unwrap()),
    },
    Failure {
        name: "a lost task log",
        metric: "hushbin_files_broken{file=\"task-log.json\"} == 1",
        log: "checking the file task-log.json fails",
        provoke: || broken(|data| fs::remove_file(data.join("task-log.json")).unwrap()),
    },
    Failure {
        name: "damaged tokens",
        metric: "hushbin_files_broken{file=\"tokens.json\"} == 1",
        log: "reading the tokens fails",
        provoke: || broken(|data| fs::write(data.join("tokens.json"), "{").unwrap()),
    },
    Failure {
        name: "a damaged released batch",
        metric: "hushbin_files_broken{file=\"batch\"} == 1",
        log: "a released batch is damaged",
        provoke: damaged_batch,
    },
    Failure {
        name: "a removed log",
        metric: "hushbin_ready == 0",
        log: "a test write to the journal fails",
        provoke: || broken(|data| fs::remove_file(first_task(data).join("00000001.log")).unwrap()),
    },
    Failure {
        name: "a removed task directory",
        metric: "hushbin_ready == 0",
        log: "a test write to the journal fails",
        provoke: || broken(|data| fs::remove_dir_all(first_task(data)).unwrap()),
    },
    Failure {
        name: "files that may not grow",
        metric: "hushbin_ready == 0",
        log: "a test write to the journal fails",
        provoke: limited_files,
    },
    Failure {
        name: "uploads that do not reach the disk",
        metric: "hushbin_commits_failed_total > 0",
        log: "taking uploads fails",
        provoke: limited_files,
    },
    Failure {
        name: "a batch of one task that cannot be released",
        metric: "hushbin_batches_unreleased == 1",
        log: "releasing a batch fails",
        provoke: failed_release,
    },
    Failure {
        name: "an expired certificate",
        // 2023.
        metric: "hushbin_certificate_expiry_seconds < 1700000000",
        log: "the TLS certificate has expired",
        provoke: expired_certificate,
    },
    Failure {
        name: "descriptors that are used up",
        metric: "hushbin_accepts_failed_total > 0",
        log: "cannot accept connections",
        provoke: no_descriptors,
    },
    Failure {
        name: "a flood of requests",
        metric: "hushbin_problems_total{problem=\"too-many-requests\"} > 0",
        log: "refused requests or connections of addresses with too many",
        provoke: flood_of_requests,
    },
    Failure {
        name: "a flood of connections",
        metric: "hushbin_connections_closed_total{reason=\"peer\"} > 0",
        log: "refused requests or connections of addresses with too many",
        provoke: flood_of_connections,
    },
    Failure {
        name: "a flood that fills a batch",
        metric: "hushbin_problems_total{problem=\"overloaded\"} > 0",
        log: "the open batch fills too fast for its minimum time",
        provoke: flooded_batch,
    },
    Failure {
        name: "guessed tokens",
        metric: "hushbin_problems_total{problem=\"unauthorized\"} > 0",
        log: "refused requests with unknown or revoked tokens",
        provoke: guessed_tokens,
    },
    Failure {
        name: "a shuffler without reports enough to one key",
        metric: "hushbin_reports_left_out_total > 0",
        log: "left out: too few reports were sealed to this key",
        provoke: left_out_by_a_shuffler,
    },
    Failure {
        name: "the same, if nothing of a batch is left",
        metric: "hushbin_reports_left_out_total > 0",
        log: "left out: a whole batch",
        provoke: left_out_by_a_shuffler,
    },
    Failure {
        name: "reports that an analyser cannot open",
        metric: "hushbin_reports_undecryptable_total > 0",
        log: "left out: sealed reports that cannot be opened",
        provoke: || unopened(2, 1),
    },
    Failure {
        name: "a block of which an analyser can open less than half",
        metric: "hushbin_blocks_undecryptable_total > 0",
        log: "ERROR request{method=POST route=\"/tasks/{id}/blocks\"}: left out: most sealed reports of a block cannot be opened",
        provoke: || unopened(1, 2),
    },
    Failure {
        name: "a lost sealing key, as the analyser sees it",
        metric: "hushbin_problems_total{problem=\"missing-sealing-key\"} > 0",
        log: "refused: a block is sealed to keys that this analyser lacks",
        provoke: || lost_key().1,
    },
    Failure {
        name: "the same, as the shuffler sees it",
        metric: "hushbin_batches_unsent > 0",
        log: "missing-sealing-key",
        provoke: || lost_key().0,
    },
    Failure {
        name: "reports sealed to a key that the analyser does not list",
        metric: "hushbin_problems_total{problem=\"unlisted-sealing-key\"} > 0",
        log: "refused uploads that are sealed to keys which the analyser has not listed",
        provoke: unlisted_key,
    },
    Failure {
        name: "reports that are sent more than once",
        metric: "hushbin_reports_repeated_total > 0",
        log: "left out: repeated sealed reports",
        provoke: repeated,
    },
    Failure {
        name: "a shuffler with a wrong key, as the analyser sees it",
        metric: "hushbin_problems_total{problem=\"unknown-shuffler\"} > 0",
        log: "refused batches that were not signed by a shuffler named in --shuffler-key",
        provoke: || wrong_key().1,
    },
    Failure {
        name: "the same, as the shuffler sees it",
        metric: "hushbin_batches_unsent > 0",
        log: "batches wait for the analyser",
        provoke: || wrong_key().0,
    },
];

/// A process under observation.
struct Running {
    metrics: Box<dyn Fn() -> BTreeMap<String, f64>>,
    log: PathBuf,
    _kept: Box<dyn Any>,
}

impl Running {
    /// Watches a process without TLS. `kept` is dropped at the end.
    fn new(address: SocketAddr, log: PathBuf, kept: impl Any) -> Self {
        Self {
            metrics: Box::new(move || values(&mut Client::connect(address).unwrap())),
            log,
            _kept: Box::new(kept),
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl From<Operated> for Running {
    fn from(operated: Operated) -> Self {
        let log = operated.directory.path().join("log");
        Self::new(operated.address, log, operated)
    }
}

impl Failure {
    fn sample(&self) -> &str {
        self.metric.split(' ').next().unwrap()
    }

    /// Returns true if the metric shows the failure.
    fn is_raised(&self, found: &BTreeMap<String, f64>) -> bool {
        let [sample, sign, limit] = self
            .metric
            .split(' ')
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let limit: f64 = limit.parse().unwrap();
        // A series of a label begins with its first event.
        found.get(sample).is_some_and(|&value| match sign {
            "==" => value == limit,
            ">" => value > limit,
            "<" => value < limit,
            _ => panic!("{sign}"),
        })
    }

    /// Provokes the failure, and waits until it is reported.
    fn check(&self) {
        let running = (self.provoke)();
        let begin = Instant::now();
        loop {
            let found = (running.metrics)();
            let (raised, log) = (self.is_raised(&found), running.log());
            let logged = log.contains(self.log);
            if raised && logged {
                return;
            }
            let late = begin.elapsed() > BACKSTOP;
            assert!(!late, "{}: {raised}, {logged}: {found:?} {log}", self.name);
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn the_book_says_what_to_do_for_each_alert() {
    let lines = || RULES.lines().map(str::trim);
    let alerts: Vec<&str> = lines()
        .filter_map(|line| line.strip_prefix("- alert: "))
        .collect();
    assert!(!alerts.is_empty());
    for alert in alerts {
        assert!(INCIDENTS.contains(&format!("| `{alert}` |")), "{alert}");
    }
    for summary in lines().filter_map(|line| line.strip_prefix("summary: ")) {
        // In a text without quotes, a colon ends the value, and Prometheus loads no rule.
        assert!(
            summary.starts_with('"') && summary.ends_with('"'),
            "{summary}"
        );
    }
}

#[test]
fn each_failure_shows_in_a_metric_and_in_the_log() {
    thread::scope(|scope| {
        for failure in &FAILURES {
            scope.spawn(|| failure.check());
        }
    });
}

/// Otherwise the table would prove nothing.
#[test]
fn nothing_of_the_table_shows_while_all_is_well() {
    let operated = Operated::new("batch_least = 1");
    let admin = admin(&operated);
    release(operated.address, &admin, "settings");
    let found = values(&mut operated.client());
    for failure in &FAILURES {
        assert!(!failure.is_raised(&found), "{}: {found:?}", failure.name);
        assert!(!operated.log().contains(failure.log), "{}", failure.name);
    }
}

#[test]
fn each_metric_of_the_table_is_in_an_alert_or_in_the_book() {
    for failure in &FAILURES {
        let name = failure.sample().split('{').next().unwrap();
        let named = [RULES, BOOK].iter().any(|text| text.contains(name));
        assert!(named, "{name}");
    }
}

fn first_task(data: &Path) -> PathBuf {
    data.join("tasks/00000001")
}

/// Creates an admin's token, and sends a report.
fn admin(operated: &Operated) -> String {
    let bytes = operated.uploads().bytes(1);
    assert_eq!(operated.client().post("settings", &bytes).unwrap().0, 201);
    create_token(&operated.directory.path().join("data"), "admin")
}

/// Waits until a task has a released batch.
fn release(address: SocketAddr, admin: &str, task: &str) {
    let batches = format!("/tasks/{task}/batches");
    let (status, answer) = ask(address, admin, &format!("POST {batches}"), "");
    assert_eq!(status, 202, "{answer}");
    let begin = Instant::now();
    let first = || ask(address, admin, &format!("GET {batches}"), "").1["batches"][0].clone();
    while first()["state"] != "released" {
        assert!(begin.elapsed() < BACKSTOP, "{}", first());
        thread::sleep(Duration::from_millis(20));
    }
}

/// A collector whose data directory is broken while it runs.
fn broken(break_it: impl FnOnce(&Path)) -> Running {
    let operated = Operated::new("");
    admin(&operated);
    break_it(&operated.directory.path().join("data"));
    operated.into()
}

fn frozen_database() -> Running {
    let server = Server::start(&[]);
    let nodes = Nodes::over(server.database());
    let (collector, address, _) = nodes.logging_collector(&nodes.store);
    server.freeze();
    let log = nodes.path("log");
    Running::new(address, log, (collector, server, nodes))
}

/// Library that moves the date of a process by an hour as soon as a file exists. Only root could
/// move the date of the machine, and it would move for everyone.
const DATE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME && access(getenv("TEST_JUMP"), F_OK) == 0)
        time->tv_sec += 3600;
    return result;
}
"#;

fn jumping_clock() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let [source, library, jump] =
        ["date.c", "date.so", "jump"].map(|name| directory.path().join(name));
    fs::write(&source, DATE).unwrap();
    // Rust needs the same program to link.
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    let compiled = compiler.arg(&source).arg("-ldl").output().unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let variables = [("LD_PRELOAD", &library), ("TEST_JUMP", &jump)];
    let variables = variables.map(|(name, path)| (name, path.to_str().unwrap()));
    let operated = Operated::with_environment("", &variables);
    fs::write(&jump, "").unwrap();
    let log = operated.directory.path().join("log");
    Running::new(operated.address, log, (operated, directory))
}

fn damaged_batch() -> Running {
    let operated = Operated::new("batch_least = 1");
    let admin = admin(&operated);
    release(operated.address, &admin, "settings");
    let data = operated.directory.path().join("data");
    let path = first_task(&data).join("00000001.batch");
    let flipped: Vec<u8> = fs::read(&path)
        .unwrap()
        .iter()
        .map(|byte| byte ^ 1)
        .collect();
    fs::write(&path, flipped).unwrap();
    let (status, _) = ask(
        operated.address,
        &admin,
        "GET /tasks/settings/estimates",
        "",
    );
    assert_eq!(status, 500);
    operated.into()
}

fn limited_files() -> Running {
    let operated = Operated::new("");
    let mut uploads = operated.uploads();
    limit_files(operated.collector.pid(), Some(4096));
    let mut client = operated.client();
    let mut post = || client.post("settings", &uploads.bytes(5)).unwrap().0;
    let refused = (0..10_000).map(|_| post()).find(|status| *status != 201);
    assert_eq!(refused, Some(503));
    operated.into()
}

/// The other task's batch is released all the same.
fn failed_release() -> Running {
    let operated = Operated::new("batch_least = 1");
    let address = operated.address;
    let admin = admin(&operated);
    let data = operated.directory.path().join("data");
    fs::create_dir(first_task(&data).join("00000001.batch")).unwrap();
    let (status, _) = ask(address, &admin, "POST /tasks/settings/batches", "");
    assert_eq!(status, 202);
    let other = SETTINGS.replacen("settings", "other", 1);
    let (status, answer) = ask(address, &admin, "POST /tasks", &other);
    assert_eq!(status, 201, "{answer}");
    let task = draft(&other).resolve_task().unwrap();
    let bytes = Uploads::new(&task, 1).bytes(1);
    assert_eq!(operated.client().post("other", &bytes).unwrap().0, 201);
    release(address, &admin, "other");
    operated.into()
}

fn expired_certificate() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let expired = tls::issue_until(directory.path(), 2020);
    let operated = Operated::beside(directory, tls::FILES);
    let (address, trusting) = (operated.address, tls::living_in_2019(&expired));
    Running {
        metrics: Box::new(move || values(&mut tls::connect(address, &trusting).unwrap())),
        ..operated.into()
    }
}

fn no_descriptors() -> Running {
    let operated = Operated::new("");
    let pid = Pid::from_raw(operated.collector.pid().cast_signed());
    let limit = Rlimit {
        current: Some(100),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    prlimit(pid, Resource::Nofile, limit).unwrap();
    let address = operated.address;
    let connect = |_| TcpStream::connect(address).unwrap();
    let sockets: Vec<TcpStream> = (0..200).map(connect).collect();
    let log = operated.directory.path().join("log");
    Running::new(address, log, (operated, sockets))
}

/// Another address than that of the requests for metrics, which are limited as well.
const GREEDY: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

fn flood_of_requests() -> Running {
    let operated = Operated::new("max_reports_per_peer = 5");
    let mut client = Client::connect_from(GREEDY, operated.address).unwrap();
    let mut get = || client.get("/tasks/settings").unwrap().0;
    assert!((0..10_000).any(|_| get() == 429));
    operated.into()
}

fn flood_of_connections() -> Running {
    let operated = Operated::new("max_connections_per_peer = 1");
    let connect = || Client::connect_from(GREEDY, operated.address).unwrap();
    let mut first = connect();
    assert_eq!(first.get("/livez").unwrap().0, 200);
    assert!(connect().get("/livez").is_err());
    operated.into()
}

fn flooded_batch() -> Running {
    let operated = Operated::with_environment(
        "max_reports_per_request = 0",
        &[("HUSHBIN_BATCH_MIN_MINUTES", "60")],
    );
    let task = draft(SETTINGS).resolve_task().unwrap();
    let mut upload = operated.uploads().make(4096);
    let mut client = operated.client();
    // The same reports under other ids, as a flood need not be honest.
    let mut post = |number| {
        upload.id.0[0] = number;
        let bytes = upload.encode(&task.fingerprint());
        client.post("settings", &bytes).unwrap().0
    };
    let refused = (0..=255).map(&mut post).find(|status| *status != 201);
    assert_eq!(refused, Some(503));
    operated.into()
}

fn guessed_tokens() -> Running {
    let operated = Operated::new("");
    admin(&operated);
    let (status, _) = ask(operated.address, "hushbin_guessed", "GET /tasks", "");
    assert_eq!(status, 401);
    operated.into()
}

fn left_out_by_a_shuffler() -> Running {
    let task = sums::sums();
    let people = task.min_people();
    let mut world = sums::world(&task);
    world.logged = true;
    world.create_key("newer", "sealing");
    let analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    let (shuffler, address) = world.shuffler(1);
    let [newer, older] = world.keys(address).try_into().unwrap();
    // All people together are enough for a batch, but those of neither key are.
    sums::send(&task, address, &older, 0..4);
    sums::send(&task, address, &newer, 4..people);
    let log = world.path("shuffled.log");
    Running::new(address, log, (analyser, shuffler, world))
}

/// Some reports that can be opened and some that cannot, in one block.
fn unopened(valid: u8, invalid: u8) -> Running {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler((valid + invalid).into());
    let mut client = Client::connect(address).unwrap();
    let upload = Uploads::new(&world.task, 1).make(valid.into());
    let bytes = world.seal(&mut world.sealer(address, 1), &upload);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    let mut bytes = world.unopenable(address);
    for id in 0..invalid {
        // The id of the upload, and the key to which the report was sealed.
        bytes[17] = id;
        bytes[1 + 16 + 16 + 1 + 4] ^= id;
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    }
    let log = world.path("analysed.log");
    Running::new(world.analyser, log, (analyser, shuffler, world))
}

/// A report that is sent twice, in one batch.
fn repeated() -> Running {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(2);
    let mut bytes = world.seal(
        &mut world.sealer(address, 1),
        &Uploads::new(&world.task, 1).make(1),
    );
    let mut client = Client::connect(address).unwrap();
    for id in [1, 2] {
        bytes[17] = id;
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    }
    let log = world.path("analysed.log");
    Running::new(world.analyser, log, (analyser, shuffler, world))
}

/// A report that names another key than that of the analyser.
fn unlisted_key() -> Running {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(1);
    let mut bytes = world.unopenable(address);
    // The report follows version, fingerprint, id and number of reports.
    bytes[1 + 16 + 16 + 1] ^= 1;
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 503);
    let log = world.path("shuffled.log");
    Running::new(address, log, (analyser, shuffler, world))
}

/// A shuffler with a batch that is sealed to a lost key, and an analyser that lacks the key.
fn lost_key() -> (Running, Running) {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(1);
    let mut sealer = world.sealer(address, 1);
    analyser.kill();
    let bytes = world.seal(&mut sealer, &Uploads::new(&world.task, 1).make(1));
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    world.create_key("newer", "sealing");
    let analyser = world.analyser_of(&["newer.pem"]);
    both(world, address, (shuffler, analyser))
}

/// Watches a shuffler at this address, and its analyser.
fn both(world: World, address: SocketAddr, kept: impl Any) -> (Running, Running) {
    let [shuffled, analysed] = ["shuffled.log", "analysed.log"].map(|name| world.path(name));
    let at = world.analyser;
    let kept = Rc::new((kept, world));
    (
        Running::new(address, shuffled, Rc::clone(&kept)),
        Running::new(at, analysed, kept),
    )
}

/// A shuffler that signs with a key that its analyser does not know, and the analyser.
fn wrong_key() -> (Running, Running) {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    fs::copy(world.path("other.pem"), world.path("shuffler.pem")).unwrap();
    let (shuffler, address) = world.shuffler(1);
    let mut sealer = world.sealer(address, 1);
    let bytes = world.seal(&mut sealer, &Uploads::new(&world.task, 1).make(1));
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    both(world, address, (analyser, shuffler))
}
