//! Uploads through a relay (Oblivious HTTP) to a gateway. The relay is played by this module, or is
//! the one of hushbin.

pub(crate) mod forward;
mod hostile;
pub(crate) mod independent;
mod relay;
mod standard;

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use hushbin_tests::oblivious::{Answer, Asker, message};
use hushbin_tests::process::{Client, Collector, command, hushbin};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use crate::support::SETTINGS;
pub(crate) use relay::{post, post_to, relay};

pub(crate) const GATEWAY: &str = "/.well-known/ohttp-gateway";

const REPORTS: &str = "/tasks/settings/reports";

/// Address of pages, used by nothing else.
const FROM: Ipv4Addr = Ipv4Addr::new(127, 88, 33, 201);

/// A collector that is a gateway with keys of these names, on temporary files.
pub(crate) struct Gateway {
    pub(crate) collector: Collector,
    pub(crate) address: SocketAddr,
    pub(crate) directory: tempfile::TempDir,
}

impl Gateway {
    pub(crate) fn new(keys: &[&str], more: &[&str]) -> Self {
        Self::beside(tempfile::tempdir().unwrap(), keys, more)
    }

    /// Creates a gateway in an existing directory.
    fn beside(directory: tempfile::TempDir, keys: &[&str], more: &[&str]) -> Self {
        let path = |name: &str| directory.path().join(name);
        fs::write(path("task.json"), SETTINGS).unwrap();
        let mut command = command();
        command.args(["serve", "--development", "--listen", "127.0.0.1:0"]);
        command.args(["--log", "debug"]).args(more);
        command.stderr(File::create(path("log")).unwrap());
        command.arg("--data").arg(path("data"));
        command.arg("--task").arg(path("task.json"));
        for name in keys {
            create_key(directory.path(), name);
            command.arg("--ohttp-key").arg(path(&format!("{name}.pem")));
        }
        let mut collector = Collector::start(command);
        let address = collector.address();
        Self {
            collector,
            address,
            directory,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address).unwrap()
    }

    /// Client for the key configuration at this index of the gateway's list.
    fn asker(&self, place: usize) -> Asker {
        let (status, keys) = self.client().get(GATEWAY).unwrap();
        assert_eq!(status, 200);
        let (configuration, _) = keys[43 * place..].split_at(43);
        assert_eq!(configuration[..2], [0, 41]);
        Asker::new(&configuration[2..], 1)
    }

    /// Value of the collector's metric of this name.
    fn count(&self, name: &str) -> u64 {
        let (_, text) = self.client().get("/metrics").unwrap();
        let text = String::from_utf8(text).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.map_or(0, |value| value.trim().parse().unwrap())
    }
}

/// Creates a key for requests in a file of this name, unless it exists, with its public half.
pub(crate) fn create_key(directory: &Path, name: &str) -> PathBuf {
    let private = directory.join(format!("{name}.pem"));
    if !private.exists() {
        let words = ["key", "create", "--for", "sealing"];
        let made = command().args(words).arg(&private).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        fs::write(private.with_extension("pub"), made.stdout).unwrap();
    }
    private
}

fn ask(client: &mut Client, to: SocketAddr, asker: &mut Asker, message: &[u8]) -> Answer {
    let (sealed, waiting) = asker.seal(message);
    let (status, answer) = post(client, to, &sealed);
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    waiting.read(&answer)
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Returns whether any piece contains these bytes.
fn holds(pieces: &[Vec<u8>], bytes: &[u8]) -> bool {
    pieces
        .iter()
        .any(|piece| piece.windows(bytes.len()).any(|window| window == bytes))
}

/// Bytes of all files below a directory.
fn files(directory: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap();
    let of = |entry: PathBuf| match entry.is_dir() {
        true => files(&entry),
        false => vec![fs::read(&entry).unwrap()],
    };
    entries
        .flat_map(|entry| of(entry.unwrap().path()))
        .collect()
}

#[test]
fn uploads_are_counted_once_and_neither_side_learns_what_is_the_others() {
    const UPLOADS: u64 = 40;
    let mut gateway = Gateway::new(&["ohttp"], &[]);
    let (relay, seen) = relay(gateway.address);
    let mut asker = gateway.asker(0);
    let task = draft(SETTINGS).resolve_task().unwrap();
    let fingerprint = task.fingerprint();
    let mut uploads = Uploads::new(&task, 1);
    let made: Vec<_> = (0..UPLOADS).map(|_| uploads.make(1)).collect();
    let mut page = Client::connect_from(IpAddr::V4(FROM), relay).unwrap();
    for upload in &made {
        let bytes = upload.encode(&fingerprint);
        let request = message("POST", "collector.example", REPORTS, &[], &bytes);
        // A page without an answer sends the request again, sealed with a fresh key.
        for (status, accepted) in [(201, 1), (200, 0)] {
            let answer = ask(&mut page, relay, &mut asker, &request);
            assert_eq!(answer.status, status);
            let body = json(&answer.content);
            assert_eq!(body["accepted_reports"], accepted, "{body}");
            assert_eq!(body["duplicate_uploads"], 1 - accepted, "{body}");
        }
    }
    let request = message("GET", "collector.example", "/tasks/settings", &[], b"");
    let answer = ask(&mut page, relay, &mut asker, &request);
    let (status, direct) = gateway.client().get("/tasks/settings").unwrap();
    assert_eq!((answer.status, &answer.content), (status, &direct));
    let kind = ("content-type".to_owned(), "application/json".to_owned());
    assert!(answer.fields.contains(&kind), "{:?}", answer.fields);

    // Each upload counts once, in the metrics and in the estimates.
    assert_eq!(gateway.count("hushbin_uploads_accepted_total "), UPLOADS);
    assert_eq!(gateway.count("hushbin_uploads_duplicate_total "), UPLOADS);
    let through = gateway.count("hushbin_requests_relayed_total ");
    assert_eq!(through, 2 * UPLOADS + 1);
    let (_, estimates) = gateway.client().get("/tasks/settings/estimates").unwrap();
    assert_eq!(json(&estimates)["reports"], UPLOADS);

    // The relay has seen the requests.
    let pieces = seen.pieces();
    assert!(holds(&pieces, b"message/ohttp-req"));
    assert!(pieces.len() as u64 > 4 * UPLOADS);
    for upload in &made {
        let bytes = upload.encode(&fingerprint);
        // Reports follow the 34-byte head of an upload.
        let report = &bytes[34..];
        assert!(report.len() >= 5, "{}", report.len());
        let hex = upload.id.to_string();
        for secret in [&upload.id.0[..], hex.as_bytes(), report] {
            assert!(!holds(&pieces, secret));
        }
    }
    for secret in ["settings", "/tasks", "reports", "accepted", "dark-mode"] {
        assert!(!holds(&pieces, secret.as_bytes()), "{secret}");
    }
    assert!(!holds(&pieces, &fingerprint.0));

    // The gateway keeps no trace of the page or of the request.
    gateway.collector.stop(Duration::from_secs(300));
    let log = fs::read_to_string(gateway.directory.path().join("log")).unwrap();
    assert!(log.contains("stopped"), "{log}");
    assert_eq!(log.matches("answered").count(), log.matches("GET").count());
    for secret in ["ohttp-gateway", "reports", "127.88.33.201"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    let kept = files(gateway.directory.path());
    assert!(holds(&kept, &made[0].id.0));
    assert!(!holds(&kept, b"127.88.33.201") && !holds(&kept, &FROM.octets()));
}

#[test]
fn pages_of_other_origins_and_requests_for_other_hosts_are_refused_inside() {
    let more = ["--origin", "https://page.example", "--host", "127.0.0.1"];
    let gateway = Gateway::new(&["ohttp"], &[&more[..], &["--host", "c.example"]].concat());
    let mut asker = {
        let (status, _) = gateway.client().get(GATEWAY).unwrap();
        // The gateway is not known by this name.
        assert_eq!(status, 421);
        let public = gateway.directory.path().join("ohttp.pub");
        let told = hushbin(&["key", "gateway", public.to_str().unwrap()]);
        let digits = String::from_utf8(told.stdout).unwrap();
        let digits = digits.trim_end().as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        Asker::new(&digits.map(byte).collect::<Vec<_>>(), 1)
    };
    let task = draft(SETTINGS).resolve_task().unwrap();
    let bytes = Uploads::new(&task, 1).bytes(1);
    let own = ("origin", "https://page.example");
    let other = ("origin", "https://other.example");
    let mut client = gateway.client();
    for (host, fields, status, slug) in [
        ("c.example", &[][..], 403, "origin-not-allowed"),
        ("c.example", &[other], 403, "origin-not-allowed"),
        ("other.example", &[own], 421, "misdirected"),
        ("", &[own], 421, "misdirected"),
        ("", &[own, ("host", "c.example")], 201, ""),
        ("c.example", &[own], 200, ""),
    ] {
        let request = message("POST", host, REPORTS, fields, &bytes);
        let answer = ask(&mut client, gateway.address, &mut asker, &request);
        let body = json(&answer.content);
        assert_eq!(answer.status, status, "{host:?} {fields:?}: {body}");
        if !slug.is_empty() {
            assert_eq!(body["type"], format!("urn:hushbin:problem:{slug}"));
        }
    }
    let (_, refused) = gateway.client().get(GATEWAY).unwrap();
    assert_eq!(json(&refused)["type"], "urn:hushbin:problem:misdirected");
}

#[test]
fn keys_are_changed_without_a_page_that_is_refused() {
    let get = |asker: &mut Asker, gateway: &Gateway| {
        let (sealed, waiting) = asker.ask("GET", "/tasks/settings", b"");
        let (status, body) = post(&mut gateway.client(), gateway.address, &sealed);
        match status {
            200 => waiting.read(&body).status,
            _ => {
                let kind = "https://iana.org/assignments/http-problem-types#ohttp-key";
                assert_eq!(json(&body)["type"], kind);
                status
            }
        }
    };
    let gateway = Gateway::new(&["old"], &[]);
    let mut old = gateway.asker(0);
    assert_eq!(get(&mut old, &gateway), 200);
    // First both keys, then the new one alone. One pair in 256 has equal ids, which is refused.
    let directory = gateway.directory;
    drop(gateway.collector);
    loop {
        let new = create_key(directory.path(), "new");
        let checked = command()
            .args(["serve", "--check-config", "--data"])
            .arg(directory.path().join("data"))
            .arg("--ohttp-key")
            .arg(&new)
            .arg("--ohttp-key")
            .arg(directory.path().join("old.pem"))
            .output()
            .unwrap();
        if checked.status.success() {
            break;
        }
        let said = String::from_utf8(checked.stderr).unwrap();
        assert!(
            said.contains("two keys of --ohttp-key have the id"),
            "{said}"
        );
        fs::remove_file(new).unwrap();
    }
    let gateway = Gateway::beside(directory, &["new", "old"], &[]);
    let mut new = gateway.asker(0);
    assert_eq!(get(&mut old, &gateway), 200);
    assert_eq!(get(&mut new, &gateway), 200);
    assert_eq!(get(&mut gateway.asker(1), &gateway), 200);
    let directory = gateway.directory;
    drop(gateway.collector);
    let gateway = Gateway::beside(directory, &["new"], &[]);
    assert_eq!(get(&mut new, &gateway), 200);
    assert_eq!(get(&mut old, &gateway), 400);
    assert_eq!(
        gateway.count("hushbin_problems_total{problem=\"ohttp-key\"} "),
        1
    );
}

#[test]
fn what_pages_pin_is_what_is_told() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let (status, told) = gateway.client().get(GATEWAY).unwrap();
    assert_eq!(status, 200);
    let public = gateway.directory.path().join("ohttp.pub");
    let printed = hushbin(&["key", "gateway", public.to_str().unwrap()]);
    let expected: String = told[2..].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected + "\n");
}

#[test]
fn without_a_key_there_is_no_gateway_and_wrong_keys_are_refused() {
    let gateway = Gateway::new(&[], &[]);
    assert_eq!(gateway.client().get(GATEWAY).unwrap().0, 404);
    assert_eq!(post(&mut gateway.client(), gateway.address, b"x").0, 404);

    let directory = gateway.directory.path();
    let key = create_key(directory, "ohttp");
    let public = key.with_extension("pub");
    let [key, public] = [key, public].map(|path| path.to_str().unwrap().to_owned());
    let refused = |words: &[&str]| {
        let given = ["serve", "--check-config", "--data", "d"];
        let output = hushbin(&[&given, words].concat());
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&["--ohttp-key", &key, "--ohttp-key", &key]);
    assert!(
        said.contains("two keys of --ohttp-key have the id"),
        "{said}"
    );
    let said = refused(&["--ohttp-key", &public]);
    assert!(said.contains("expected \"PRIVATE KEY\""), "{said}");
    let long = ["--ohttp-key", &key, "--max-upload-bytes", "40000000"];
    let said = refused(&long);
    assert!(said.contains("three of them with --ohttp-key"), "{said}");
    let said = refused(&["--role", "analyser", "--ohttp-key", &key]);
    assert!(
        said.contains("--ohttp-key is not for --role analyser"),
        "{said}"
    );
}
