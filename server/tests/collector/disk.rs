//! A disk that fills up or becomes read-only. Uploads are refused and later resent, nothing
//! acknowledged is lost, releases stay readable, and the log has one line per change.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hushbin_tests::process::{self, Collector};
use hushbin_tests::uploads::{Uploads, draft};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::Value;

use crate::access::create_token;
use crate::support::SETTINGS;

/// Timeout of every wait.
const NEVER: Duration = Duration::from_secs(300);

/// A private file system in memory, at a path that this process can use.
struct Mount {
    shell: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    inside: PathBuf,
    outside: PathBuf,
    _directory: tempfile::TempDir,
}

impl Mount {
    /// Mounts the file system. `None` if this user may not mount, as in some containers.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut shell = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let inside = directory.path().to_owned();
        let root = PathBuf::from(format!("/proc/{}/root", shell.id()));
        let mut mount = Self {
            commands: shell.stdin.take().unwrap(),
            answers: BufReader::new(shell.stdout.take().unwrap()),
            shell,
            outside: root.join(inside.strip_prefix("/").unwrap()),
            inside,
            _directory: directory,
        };
        let there = mount.mount("-t tmpfs -o size=256k none") && mount.outside.is_dir();
        if !there {
            println!("no file system can be mounted here");
        }
        there.then_some(mount)
    }

    fn mount(&mut self, options: &str) -> bool {
        let command = format!(
            "mount {options} '{}' && echo done || echo no\n",
            self.inside.display()
        );
        let mut answer = String::new();
        let asked = self.commands.write_all(command.as_bytes());
        asked.is_ok() && self.answers.read_line(&mut answer).is_ok() && answer == "done\n"
    }

    fn data(&self) -> PathBuf {
        self.outside.join("data")
    }

    fn ballast(&self) -> PathBuf {
        self.outside.join("ballast")
    }

    /// Fills the file system.
    fn fill(&self) {
        let mut ballast = File::create(self.ballast()).unwrap();
        while ballast.write_all(&[1; 4096]).is_ok() {}
    }

    /// Frees some bytes.
    fn spare(&self, bytes: u64) {
        let ballast = OpenOptions::new().write(true).open(self.ballast()).unwrap();
        let length = ballast.metadata().unwrap().len();
        ballast.set_len(length - bytes).unwrap();
    }

    fn empty(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Checks that the response is this problem with a `Retry-After`, and returns it.
    #[track_caller]
    fn problem(&self, slug: &str) -> Value {
        let problem = self.json();
        assert_eq!(self.status, 503, "{problem}");
        assert_eq!(problem["type"], format!("urn:hushbin:problem:{slug}"));
        assert!(self.head.contains("retry-after: "), "{}", self.head);
        assert!(
            self.head.contains("application/problem+json"),
            "{}",
            self.head
        );
        problem
    }
}

/// A collector with its log in a file, and the uploads that it acknowledged.
struct Served {
    collector: Collector,
    address: SocketAddr,
    log: PathBuf,
    token: String,
    uploads: Uploads,
    acknowledged: Vec<Vec<u8>>,
    /// Uploads that were refused.
    refused: Vec<Vec<u8>>,
    /// Number of changes from refusing to accepting, and back.
    recoveries: usize,
    failures: usize,
    refusing: bool,
}

fn serve(data: &Path, log: &Path, more: &[&str]) -> Collector {
    process::create_journal(data);
    let mut command = process::command();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .args(more)
        .stderr(
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(log)
                .unwrap(),
        );
    Collector::start(command)
}

impl Served {
    fn new(data: &Path, files: &Path) -> Self {
        let task = files.join("task.json");
        fs::write(&task, SETTINGS).unwrap();
        let task = task.to_str().unwrap();
        let log = files.join("log");
        let mut collector = serve(data, &log, &["--task", task, "--batch-least", "3"]);
        Self {
            address: collector.address(),
            collector,
            log,
            token: create_token(data, "admin"),
            uploads: Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1),
            acknowledged: Vec::new(),
            refused: Vec::new(),
            recoveries: 0,
            failures: 0,
            refusing: false,
        }
    }

    fn ask(&self, line: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(NEVER)).unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: test\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
             content-length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let head = String::from_utf8(answer[..end].to_vec())
            .unwrap()
            .to_lowercase();
        Answer {
            status: head[9..12].parse().unwrap(),
            body: answer[end + 4..].to_vec(),
            head,
        }
    }

    fn post(&mut self, bytes: Vec<u8>) {
        let answer = self.ask("POST /tasks/settings/reports", &bytes);
        if answer.status == 201 {
            self.recoveries += usize::from(self.refusing);
            self.refusing = false;
            self.acknowledged.push(bytes);
        } else {
            answer.problem("storage");
            self.failures += usize::from(!self.refusing);
            self.refusing = true;
            self.refused.push(bytes);
        }
    }

    /// Sends uploads until `count` are refused, and resends acknowledged ones between them.
    fn post_until_refused(&mut self, count: usize) {
        let before = self.refused.len();
        while self.refused.len() < before + count {
            let bytes = self.uploads.bytes(1);
            self.post(bytes);
            let again = self.ask("POST /tasks/settings/reports", &self.acknowledged[0]);
            assert_eq!(again.status, 200);
        }
    }

    /// Resends the refused uploads, all of which must be accepted.
    fn post_refused(&mut self) {
        for bytes in std::mem::take(&mut self.refused) {
            self.post(bytes);
        }
        assert!(self.refused.is_empty());
    }

    /// Reads the first release, byte by byte.
    fn read(&self) -> Vec<Vec<u8>> {
        ["estimates?batches=1", "influence?batches=1"]
            .map(|path| {
                let answer = self.ask(&format!("GET /tasks/settings/{path}"), b"");
                assert_eq!(answer.status, 200);
                answer.body
            })
            .to_vec()
    }

    fn batches(&self) -> Vec<Value> {
        let answer = self.ask("GET /tasks/settings/batches", b"").json();
        answer["batches"].as_array().unwrap().clone()
    }

    fn wait_for(&self, state: &str, batch: usize) {
        let begin = Instant::now();
        while self.batches()[batch - 1]["state"] != state {
            assert!(begin.elapsed() < NEVER, "never {state}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends some uploads in a batch and releases it.
    fn release_some(&mut self) {
        for _ in 0..20 {
            let bytes = self.uploads.bytes(2);
            self.post(bytes);
        }
        assert_eq!(self.ask("POST /tasks/settings/batches", b"").status, 202);
        self.wait_for("released", 1);
    }

    fn not_ready(&self) -> Value {
        assert_eq!(self.ask("GET /livez", b"").status, 200);
        let mut problem = self.ask("GET /readyz", b"").problem("not-ready");
        let metrics = String::from_utf8(self.ask("GET /metrics", b"").body).unwrap();
        assert!(metrics.contains("hushbin_ready 0\n"), "{metrics}");
        problem["reason"].take()
    }

    /// Files that the metric of broken files names.
    fn broken_files(&self) -> Vec<String> {
        let metrics = String::from_utf8(self.ask("GET /metrics", b"").body).unwrap();
        let lines = metrics.lines().filter_map(|line| {
            let rest = line.strip_prefix("hushbin_files_broken{file=\"")?;
            rest.strip_suffix("\"} 1")
        });
        lines.map(str::to_owned).collect()
    }

    /// Counts the lines of the log that contain `part`.
    fn lines(&self, part: &str) -> usize {
        let log = fs::read_to_string(&self.log).unwrap();
        log.lines().filter(|line| line.contains(part)).count()
    }

    /// Checks that each change of state was logged once.
    fn log_is_short(&self) {
        let said = [
            self.lines("taking uploads fails"),
            self.lines("taking uploads works again"),
        ];
        assert_eq!(said, [self.failures, self.recoveries]);
        assert!(self.failures < 5, "{}", self.failures);
    }

    /// Checks that every acknowledged upload is counted once.
    fn all_is_there(&self, data: &Path) {
        for bytes in &self.acknowledged {
            assert_eq!(self.ask("POST /tasks/settings/reports", bytes).status, 200);
        }
        let reports = |batch: &Value| batch["reports"].as_u64().unwrap();
        let there: u64 = self.batches().iter().map(reports).sum();
        // The first twenty uploads had two reports each.
        assert_eq!(there, self.acknowledged.len() as u64 + 20);
        let mut check = process::command();
        check.args(["journal", "check", "--data"]).arg(data);
        assert!(check.status().unwrap().success());
    }
}

/// Limits the length of the files that a process may write from now on.
pub(crate) fn limit_files(pid: u32, bytes: Option<u64>) {
    let pid = Pid::from_raw(pid.cast_signed());
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit {
        current: bytes.or(maximum),
        maximum,
    };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}

#[test]
fn files_that_may_not_grow_are_a_full_disk_and_not_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let before = served.read();
    limit_files(served.collector.pid(), Some(4096));
    served.post_until_refused(100);
    assert_eq!(served.read(), before);
    // The limit stops the log, and not the file that the health check writes.
    assert_eq!(served.not_ready(), "no-room");
    limit_files(served.collector.pid(), Some(10));
    assert_eq!(served.not_ready(), "no-room");
    assert_eq!(served.not_ready(), "no-room");
    assert_eq!(
        served.lines("a test write to the journal fails"),
        1,
        "later the log may not grow either"
    );
    limit_files(served.collector.pid(), None);
    served.post_refused();
    assert_eq!(served.ask("GET /readyz", b"").status, 200);
    served.log_is_short();
    assert_eq!(served.read(), before);
    served.all_is_there(&data);
}

#[test]
fn a_log_that_is_removed_or_moved_is_noticed() {
    for break_it in [
        |task: &Path| fs::remove_file(task.join("00000002.log")).unwrap(),
        |task: &Path| fs::rename(task, task.with_extension("moved")).unwrap(),
        |task: &Path| fs::remove_dir_all(task).unwrap(),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let mut served = Served::new(&data, directory.path());
        served.release_some();
        break_it(&data.join("tasks/00000001"));
        assert_eq!(served.not_ready(), "failed");
        assert_eq!(served.lines("a test write to the journal fails"), 1);
        let bytes = served.uploads.bytes(1);
        served.post(bytes);
        assert_eq!((served.failures, served.not_ready()), (1, "failed".into()));
        // A second task can take uploads, so the process is ready.
        let other = SETTINGS.replacen("settings", "other", 1);
        assert_eq!(served.ask("POST /tasks", other.as_bytes()).status, 201);
        assert_eq!(served.ask("GET /readyz", b"").status, 200);
        served.collector.kill();
    }
}

/// A second process can start once the lock was removed or replaced, so the first one stops writing.
#[test]
fn a_lost_lock_ends_all_writing() {
    for replace in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let mut served = Served::new(&data, directory.path());
        served.release_some();
        let before = served.read();
        for _ in 0..3 {
            let bytes = served.uploads.bytes(1);
            served.post(bytes);
        }
        assert!(served.broken_files().is_empty());
        fs::remove_file(data.join("lock")).unwrap();
        if replace {
            fs::write(data.join("lock"), "").unwrap();
        }
        let bytes = served.uploads.bytes(1);
        served.post(bytes);
        for _ in 0..2 {
            assert_eq!((served.failures, served.not_ready()), (1, "failed".into()));
        }
        assert_eq!(served.broken_files(), ["lock"]);
        assert_eq!(served.lines("checking the file lock fails"), 1);
        let task = SETTINGS.replacen("settings", "other", 1);
        assert_ne!(served.ask("POST /tasks", task.as_bytes()).status, 201);
        served
            .ask("POST /tasks/settings/batches", b"")
            .problem("storage");
        assert_eq!(served.read(), before, "releases can still be read");

        let mut other = serve(&data, &directory.path().join("other"), &[]);
        let files = (other.address(), snapshot(&data));
        served.collector.stop(NEVER);
        assert!(snapshot(&data) == files.1, "the first process has written");
        (served.address, served.collector) = (files.0, other);
        served.post_refused();
        assert!(served.broken_files().is_empty());
        served.all_is_there(&data);
    }
}

#[test]
fn a_lost_list_of_tasks_is_noticed_until_it_is_back() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let list = data.join("tasks.json");
    let text = fs::read(&list).unwrap();
    let other = tempfile::tempdir().unwrap();
    process::create_journal(&other.path().join("new"));
    let empty = fs::read(other.path().join("new/tasks.json")).unwrap();
    for wrong in [None, Some(&empty[..]), Some(&text[1..]), Some(b"")] {
        match wrong {
            None => fs::remove_file(&list).unwrap(),
            Some(wrong) => fs::write(&list, wrong).unwrap(),
        }
        let bytes = served.uploads.bytes(1);
        served.post(bytes);
        assert_eq!(served.not_ready(), "failed");
        assert_eq!(served.broken_files(), ["tasks.json"]);
        // A new task does not overwrite what somebody else has written.
        let task = SETTINGS.replacen("settings", "other", 1);
        assert_ne!(served.ask("POST /tasks", task.as_bytes()).status, 201);
        assert_eq!(fs::read(&list).ok().as_deref(), wrong);
        fs::write(&list, &text).unwrap();
        assert_eq!(served.ask("GET /readyz", b"").status, 200);
        served.post_refused();
        assert!(served.broken_files().is_empty());
    }
    assert_eq!(served.lines("checking the file tasks.json fails"), 4);
    assert_eq!(served.lines("checking the file tasks.json works again"), 4);
    served.all_is_there(&data);
}

#[test]
fn another_cause_of_a_lost_file_is_logged_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let served = Served::new(&data, directory.path());
    for name in ["lock", "tasks.json"] {
        let path = data.join(name);
        let text = fs::read(&path).unwrap();
        fs::rename(&path, data.join("moved")).unwrap();
        served.not_ready();
        served.not_ready();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        served.not_ready();
        served.not_ready();
        fs::rename(data.join("moved"), &path).unwrap();
        let fails = format!("checking the file {name} fails");
        assert_eq!(served.lines(&fails), 2, "{name}");
    }
    assert_eq!(served.ask("GET /readyz", b"").status, 200);
}

#[test]
fn a_damaged_batch_is_named_and_the_others_are_served() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let bytes = served.uploads.bytes(5);
    served.post(bytes);
    assert_eq!(served.ask("POST /tasks/settings/batches", b"").status, 202);
    served.wait_for("released", 2);
    let path = data.join("tasks/00000001/00000002.batch");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    for byte in &mut flipped {
        *byte ^= 1;
    }
    for wrong in [Some(flipped), Some(Vec::new()), None] {
        match &wrong {
            Some(wrong) => fs::write(&path, wrong).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        for query in ["", "?batches=2"] {
            let answer = served.ask(&format!("GET /tasks/settings/estimates{query}"), b"");
            let problem = answer.json();
            assert_eq!(answer.status, 500, "{problem}");
            assert_eq!(problem["type"], "urn:hushbin:problem:damaged-batch");
            assert_eq!(problem["batch"], 2);
            assert!(problem["detail"].as_str().unwrap().contains("?batches="));
            assert!(!answer.head.to_lowercase().contains("\r\nretry-after: "));
        }
    }
    assert_eq!(served.broken_files(), ["batch"]);
    assert!(served.lines("00000002.batch") >= 4);
    served.read();
    assert_eq!(served.ask("GET /readyz", b"").status, 200);
    fs::write(&path, whole).unwrap();
    assert_eq!(served.ask("GET /tasks/settings/estimates", b"").status, 200);
}

#[test]
fn damaged_tokens_let_nobody_in_and_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let tokens = data.join("tokens.json");
    let text = fs::read(&tokens).unwrap();
    for wrong in [&text[..text.len() / 2], b"", b"null"] {
        fs::write(&tokens, wrong).unwrap();
        for _ in 0..3 {
            let refused = served.ask("GET /tasks", b"").problem("storage");
            assert!(refused["detail"].as_str().unwrap().contains("tokens"));
        }
        assert_eq!(served.broken_files(), ["tokens.json"]);
        // Pages need no token.
        let bytes = served.uploads.bytes(1);
        served.post(bytes);
        assert_eq!(served.ask("GET /readyz", b"").status, 200);
        fs::write(&tokens, &text).unwrap();
        assert_eq!(served.ask("GET /tasks", b"").status, 200);
        assert!(served.broken_files().is_empty());
    }
    assert_eq!(served.lines("reading the tokens fails"), 3);
    assert_eq!(served.lines("reading the tokens works again"), 3);
    fs::remove_file(&tokens).unwrap();
    assert_eq!(served.ask("GET /tasks", b"").status, 401);
    assert_eq!(served.lines("no token is valid"), 1);
}

#[test]
fn a_full_disk_refuses_and_recovers_by_itself() {
    let Some(mount) = Mount::new() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut served = Served::new(&mount.data(), directory.path());
    served.release_some();
    let before = served.read();
    mount.fill();
    served.post_until_refused(100);
    assert_eq!(served.not_ready(), "no-room");
    assert_eq!(served.not_ready(), "no-room");
    assert_eq!(served.lines("a test write to the journal fails"), 1);
    served
        .ask("POST /tasks/settings/batches", b"")
        .problem("storage");
    assert_eq!(served.read(), before);
    // There is room for the next log, but not for the release.
    mount.spare(2 * 4096);
    assert_eq!(served.ask("POST /tasks/settings/batches", b"").status, 202);
    while served.lines("releasing a batch fails") == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(served.batches()[1]["state"], "closed");
    served.post_until_refused(10);
    served.log_is_short();
    // The collector restarts.
    served.collector.stop(NEVER);
    served.collector = serve(&mount.data(), &served.log, &[]);
    served.address = served.collector.address();
    assert_eq!(served.not_ready(), "no-room");
    assert_eq!(served.read(), before);
    served.post_until_refused(10);
    mount.empty();
    served.post_refused();
    assert_eq!(served.ask("GET /readyz", b"").status, 200);
    served.wait_for("released", 2);
    assert_eq!(served.read(), before);
    served.all_is_there(&mount.data());
}

#[test]
fn a_log_that_cannot_be_written_is_not_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.collector.stop(NEVER);
    served.collector = serve(&data, Path::new("/dev/full"), &["--log", "debug"]);
    served.address = served.collector.address();
    limit_files(served.collector.pid(), Some(10));
    let bytes = Uploads::new(&draft(SETTINGS).resolve_task().unwrap(), 1).bytes(1);
    for _ in 0..3 {
        served
            .ask("POST /tasks/settings/reports", &bytes)
            .problem("storage");
        assert_eq!(served.not_ready(), "no-room");
    }
    limit_files(served.collector.pid(), None);
    assert_eq!(
        served.ask("POST /tasks/settings/reports", &bytes).status,
        201
    );
    served.collector.stop(NEVER);
}

/// Names, bytes and times of all files.
fn snapshot(directory: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let changed = fs::metadata(&path).unwrap().modified().unwrap();
        if path.is_dir() {
            all.push((path.clone(), Vec::new(), changed));
            all.extend(snapshot(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.push((path, bytes, changed));
        }
    }
    all.sort();
    all
}

/// Serves the directory read-only, and checks that every write is refused.
fn serves_to_be_read(mut served: Served, data: &Path, before: &[Vec<u8>]) {
    let files = snapshot(data);
    served.collector = serve(data, &served.log, &["--read-only"]);
    served.address = served.collector.address_after("hushbin serving read-only");
    assert_eq!(served.read(), before);
    assert_eq!(served.batches().len(), 2);
    let settings = br#"{ "batch": { "least": 5, "most": 50, "hours": 1 } }"#;
    let task = SETTINGS.replace("\"settings\"", "\"other\"");
    let task = format!("{{ \"task\": {task} }}");
    let bytes = served.uploads.bytes(1);
    for (line, body) in [
        ("POST /tasks/settings/reports", &bytes[..]),
        ("POST /tasks/settings/batches", b""),
        ("PUT /tasks/settings/settings", settings),
        ("POST /tasks", task.as_bytes()),
        ("DELETE /tasks/settings", b""),
    ] {
        served.ask(line, body).problem("read-only");
    }
    assert_eq!(served.not_ready(), "read-only");
    // A second read-only process runs at the same time; no process writes.
    let mut other = serve(data, &served.log, &["--read-only"]);
    other.address_after("hushbin serving read-only");
    other.kill();
    served.collector.stop(NEVER);
    assert!(snapshot(data) == files, "something was written");
}

/// Returns the message of a start that must fail.
fn refusal(data: &Path, more: &[&str]) -> String {
    let mut command = process::command();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .args(more);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "it must not say that it is ready");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_journal_is_served_without_a_change_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let bytes = served.uploads.bytes(2);
    served.post(bytes);
    let before = served.read();
    let said = refusal(&data, &["--read-only"]);
    assert!(said.contains("in use by another hushbin process"), "{said}");
    served.collector.stop(NEVER);
    serves_to_be_read(served, &data, &before);
    let said = refusal(&directory.path().join("none"), &["--read-only"]);
    assert!(said.contains("no journal in "), "{said}");
    assert!(!directory.path().join("none").exists());
    let task = directory.path().join("other.json");
    fs::write(&task, SETTINGS.replace("\"settings\"", "\"other\"")).unwrap();
    let said = refusal(&data, &["--read-only", "--task", task.to_str().unwrap()]);
    assert!(
        said.contains("task \"other\" is not in the journal"),
        "{said}"
    );
}

#[test]
fn a_disk_that_takes_no_writes_is_named_and_can_be_read() {
    let Some(mut mount) = Mount::new() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let data = mount.data();
    let mut served = Served::new(&data, directory.path());
    served.release_some();
    let before = served.read();
    // The file system becomes read-only while the collector runs, so writes to its open files fail.
    served.collector.stop(NEVER);
    assert!(mount.mount("-o remount,ro"));
    let said = refusal(&data, &[]);
    assert!(said.contains("Read-only file system"), "{said}");
    assert!(said.contains("--read-only"), "{said}");
    serves_to_be_read(served, &data, &before);
    assert!(mount.mount("-o remount,rw"));
    let mut collector = serve(&data, &directory.path().join("log"), &[]);
    collector.address();
}
