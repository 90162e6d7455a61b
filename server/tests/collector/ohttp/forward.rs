//! The relay of hushbin: what it forwards, what it answers, and what it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::*;

/// Head of a page's request that names the page in every header that proxies and browsers know.
pub(crate) const REVEALING_FIELDS: &str = "user-agent: A page's agent\r\n\
    cookie: session=a-page-of-somebody\r\nreferer: http://page.test/\r\norigin: http://page.test\r\n\
    authorization: Bearer page-token\r\naccept-language: page-language\r\n\
    x-forwarded-for: 127.88.33.201\r\nforwarded: for=127.88.33.201\r\nvia: 1.1 page.test\r\n";

/// A relay, whose current directory is empty.
pub(crate) struct Relay {
    pub(crate) process: Collector,
    pub(crate) address: SocketAddr,
    directory: tempfile::TempDir,
}

impl Relay {
    pub(crate) fn to(gateways: &[SocketAddr], more: &[&str]) -> Self {
        let urls: Vec<String> = gateways.iter().map(|own| format!("http://{own}")).collect();
        let mut words = vec!["--listen", "127.0.0.1:0", "--log", "debug"];
        for url in &urls {
            words.extend(["--gateway", url]);
        }
        words.extend(more);
        Self::with(&words)
    }

    /// Starts a relay to a gateway that has this certificate.
    pub(crate) fn over_tls(gateway: SocketAddr, certificate: &Path) -> Self {
        let url = format!("https://{gateway}");
        let words = [
            "--listen",
            "127.0.0.1:0",
            "--log",
            "debug",
            "--gateway",
            &url,
        ];
        Self::with_environment(&words, &[("SSL_CERT_FILE", certificate)])
    }

    fn with(words: &[&str]) -> Self {
        Self::with_environment(words, &[])
    }

    fn with_environment(words: &[&str], variables: &[(&str, &Path)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        let mut command = relay_command("serve");
        command
            .args(words)
            .current_dir(home)
            .envs(variables.iter().copied());
        command.stderr(File::create(directory.path().join("log")).unwrap());
        let mut process = Collector::start(command);
        let address = process.address_after("hushbin relaying");
        Self {
            process,
            address,
            directory,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }

    pub(crate) fn metrics(&self) -> String {
        let (status, text) = self.client().get("/metrics").unwrap();
        assert_eq!(status, 200);
        String::from_utf8(text).unwrap()
    }

    /// Number of requests to a gateway with this outcome.
    pub(crate) fn forwarded(&self, gateway: SocketAddr, outcome: &str) -> u64 {
        let labels = format!("{{gateway=\"{gateway}\",outcome=\"{outcome}\"}} ");
        let begin = format!("hushbin_requests_forwarded_total{labels}");
        let metrics = self.metrics();
        let value = metrics.lines().find_map(|line| line.strip_prefix(&begin));
        value
            .unwrap_or_else(|| panic!("{metrics}"))
            .parse()
            .unwrap()
    }

    /// Bytes of the files that the relay has created.
    pub(crate) fn files(&self) -> Vec<Vec<u8>> {
        files(&self.directory.path().join("home"))
    }
}

/// Returns a command of a relay. It has no settings of batches.
fn relay_command(name: &str) -> process::Command {
    let mut command = command();
    command.env_remove("HUSHBIN_BATCH_MIN_MINUTES");
    command.args([name, "--role", "relay"]);
    command
}

/// Path at which a relay forwards to a gateway.
pub(crate) fn path_to(gateway: SocketAddr) -> String {
    format!("/gateways/{gateway}")
}

/// A gateway that gives every request this answer, which may break the protocol. Returns its address
/// and its requests.
fn gateway_with(answer: Vec<u8>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let keeps = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if stream.read_line(&mut head).unwrap() == 0 {
                    break;
                }
            }
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            stream.read_exact(&mut body).unwrap();
            head += str::from_utf8(&body).unwrap();
            keeps.lock().unwrap().push(head);
            // The relay may have enough of the answer.
            let _ = stream.get_mut().write_all(&answer);
        }
    });
    (address, seen)
}

/// Sends a request, and returns the whole response as text.
fn exchange(relay: &Relay, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(relay.address).unwrap();
    let request = format!("{head} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{body}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Sends a sealed request with the headers that name a page.
fn forward(relay: &Relay, gateway: SocketAddr) -> String {
    let fields = format!("{REVEALING_FIELDS}content-type: message/ohttp-req; page=1\r\n");
    let body = format!("{fields}content-length: 6\r\n\r\nsealed");
    exchange(relay, &format!("POST {}", path_to(gateway)), &body)
}

/// Names of the headers of a response, sorted.
fn field_names(answer: &str) -> Vec<&str> {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    let lines = head.lines().skip(1);
    let mut names: Vec<_> = lines.map(|line| line.split_once(':').unwrap().0).collect();
    names.sort_unstable();
    names
}

/// Status of a response, and the last part of its problem's type.
fn problem(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let kind = json(body.as_bytes())["type"].as_str().unwrap().to_owned();
    let slug = kind.strip_prefix("urn:hushbin:problem:").unwrap();
    (status, slug.to_owned())
}

#[test]
fn only_the_body_goes_on_and_only_status_type_and_body_come_back() {
    let answer = "HTTP/1.1 418 Own words\r\ncontent-type: message/ohttp-res\r\n\
        set-cookie: a=b\r\nserver: gateway\r\netag: \"mark\"\r\nretry-after: 7\r\n\
        access-control-allow-origin: http://page.test\r\ncontent-length: 6\r\n\r\nanswer";
    let (gateway, seen) = gateway_with(answer.as_bytes().to_vec());
    let relay = Relay::to(&[gateway], &[]);
    let answer = forward(&relay, gateway);
    assert!(answer.starts_with("HTTP/1.1 418 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nanswer"), "{answer}");
    for line in [
        "content-type: message/ohttp-res",
        "cache-control: no-store",
        "access-control-allow-origin: *",
    ] {
        assert!(answer.contains(&format!("\r\n{line}\r\n")), "{answer}");
    }
    // The rest is of the relay itself.
    let of_relay = [
        "access-control-allow-origin",
        "access-control-expose-headers",
        "cache-control",
        "connection",
        "content-length",
        "content-type",
        "date",
        "x-content-type-options",
    ];
    assert_eq!(field_names(&answer), of_relay);

    let seen = seen.lock().unwrap();
    let (head, body) = seen[0].split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    lines.sort_unstable();
    let host = format!("host: {gateway}");
    let expected = [
        "POST /.well-known/ohttp-gateway HTTP/1.1",
        "content-length: 6",
        "content-type: message/ohttp-req",
        &host,
    ];
    assert_eq!((lines, body), (expected.to_vec(), "sealed"));
}

#[test]
fn redirects_are_not_followed() {
    let (other, visits) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec());
    let answer =
        format!("HTTP/1.1 307 Elsewhere\r\nlocation: http://{other}/\r\ncontent-length: 0\r\n\r\n");
    let (gateway, seen) = gateway_with(answer.into_bytes());
    let relay = Relay::to(&[gateway], &[]);
    let answer = forward(&relay, gateway);
    assert!(answer.starts_with("HTTP/1.1 307 "), "{answer}");
    assert!(!field_names(&answer).contains(&"location"), "{answer}");
    assert_eq!(seen.lock().unwrap().len(), 1);
    assert_eq!(visits.lock().unwrap().len(), 0);
    assert_eq!(relay.forwarded(gateway, "refused"), 1);
}

#[test]
fn failures_of_gateways_are_told_apart_and_harm_no_other_gateway() {
    // Nothing listens on this port.
    let closed = SocketAddr::from(([127, 0, 0, 1], 1));
    // The system accepts connections that this listener never reads.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = listener.local_addr().unwrap();
    let (long, _) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 1500000\r\n\r\n".to_vec());
    let (cut, _) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec());
    let (other, _) = gateway_with(b"SSH-2.0-nothing\r\n".to_vec());
    let (good, _) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec());
    let gateways = [closed, silent, long, cut, other, good];
    let relay = Relay::to(&gateways, &["--request-timeout", "2"]);
    for (gateway, status, slug, outcome) in [
        (closed, 502, "gateway-unreachable", "unreachable"),
        (silent, 504, "gateway-timeout", "late"),
        (long, 502, "gateway-answer", "invalid"),
        (cut, 502, "gateway-answer", "invalid"),
        (other, 502, "gateway-unreachable", "unreachable"),
    ] {
        assert_eq!(relay.forwarded(gateway, outcome), 0);
        let answer = forward(&relay, gateway);
        assert_eq!(problem(&answer), (status, slug.to_owned()));
        assert_eq!(relay.forwarded(gateway, outcome), 1, "{slug}");
        let answer = forward(&relay, good);
        assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    }
    assert_eq!(relay.forwarded(good, "answered"), 5);
    drop(listener);
    // One line a minute, without the requests.
    let log = relay.log();
    assert_eq!(log.matches("could not be forwarded").count(), 1, "{log}");
    assert!(!log.contains("gateways/"), "{log}");
}

#[test]
fn what_is_no_sealed_request_to_a_gateway_is_refused() {
    let (gateway, seen) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec());
    let more = ["--max-upload-bytes", "64", "--request-timeout", "2"];
    let relay = Relay::to(&[gateway], &more);
    let own = path_to(gateway);
    let sealed = "content-type: message/ohttp-req\r\n";
    let post = |path: &str, fields: &str| {
        let answer = exchange(&relay, &format!("POST {path}"), fields);
        problem(&answer)
    };
    let most = 64 + (16 << 10);
    for (path, fields, status, slug) in [
        (
            "/gateways/none",
            "content-length: 0",
            404,
            "unknown-gateway",
        ),
        ("/gateways/%FF", "content-length: 0", 404, "not-found"),
        ("/gateways/", "content-length: 0", 404, "not-found"),
        (GATEWAY, "content-length: 0", 404, "not-found"),
        (REPORTS, "content-length: 0", 404, "not-found"),
        (&own, "content-length: 0", 415, "not-sealed"),
        (
            &own,
            "content-type: text/plain\r\ncontent-length: 0",
            415,
            "not-sealed",
        ),
        (
            &own,
            &format!("{sealed}content-encoding: gzip\r\ncontent-length: 0"),
            415,
            "not-sealed",
        ),
        (
            &own,
            &format!("{sealed}content-length: {}", most + 1),
            413,
            "too-large",
        ),
        // The body never comes.
        (&own, &format!("{sealed}content-length: 9"), 408, "timeout"),
    ] {
        let found = post(path, &format!("{fields}\r\n\r\n"));
        assert_eq!(found, (status, slug.to_owned()), "{path} {fields}");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let answer = exchange(&relay, &format!("{method} {own}"), "\r\n");
        assert_eq!(problem(&answer), (405, "method-not-allowed".to_owned()));
    }
    // A gateway sees none of these.
    assert_eq!(seen.lock().unwrap().len(), 0);
    let body = "x".repeat(most);
    let fields = format!("{sealed}content-length: {most}\r\n\r\n{body}");
    let answer = exchange(&relay, &format!("POST {own}"), &fields);
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[test]
fn pages_of_any_origin_may_send_sealed_requests() {
    let (gateway, seen) = gateway_with(Vec::new());
    let relay = Relay::to(&[gateway], &[]);
    let asks = "origin: https://page.test\r\naccess-control-request-method: POST\r\n\
        access-control-request-headers: content-type\r\n\r\n";
    let answer = exchange(&relay, &format!("OPTIONS {}", path_to(gateway)), asks);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for line in [
        "access-control-allow-origin: *",
        "access-control-allow-headers: *",
        "access-control-max-age: 86400",
    ] {
        assert!(answer.contains(&format!("\r\n{line}\r\n")), "{answer}");
    }
    assert_eq!(seen.lock().unwrap().len(), 0);
}

#[test]
fn requests_of_an_address_are_limited_in_memory_only() {
    let (gateway, seen) = gateway_with(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".to_vec());
    let relay = Relay::to(&[gateway], &["--max-reports-per-peer", "2"]);
    let from = |last: u8| {
        let source = IpAddr::V4(Ipv4Addr::new(127, 88, 33, last));
        let mut client = Client::connect_from(source, relay.address).unwrap();
        let path = path_to(gateway);
        move || post_to(&mut client, &path, REVEALING_FIELDS, b"sealed").0
    };
    let (mut first, mut second) = (from(201), from(202));
    assert_eq!([0; 3].map(|_| first()), [200, 200, 429]);
    assert_eq!(second(), 200);
    assert_eq!(seen.lock().unwrap().len(), 3);
    let told = relay.log() + &relay.metrics();
    assert!(told.contains("hushbin_problems_total{problem=\"too-many-requests\"} 1"));
    assert!(told.contains("addresses with too many"), "{told}");
    assert!(!told.contains("127.88"), "{told}");
}

#[test]
fn it_has_no_journal_and_reloads_and_stops_like_other_roles() {
    let (gateway, _) = gateway_with(Vec::new());
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("relay.toml");
    let text = format!("listen = '127.0.0.1:0'\ngateways = ['http://{gateway}']\n");
    fs::write(&config, &text).unwrap();
    let mut relay = Relay::with(&["--config", config.to_str().unwrap()]);
    let mut client = relay.client();
    for (path, status) in [("/livez", "live"), ("/readyz", "ready")] {
        let (code, body) = client.get(path).unwrap();
        assert_eq!((code, &json(&body)["status"]), (200, &status.into()));
    }
    let metrics = relay.metrics();
    assert!(metrics.contains("hushbin_ready 1\n"), "{metrics}");
    for other in ["journal", "batch", "reports_", "uploads"] {
        assert!(!metrics.contains(other), "{other}: {metrics}");
    }

    fs::write(&config, text + "log = 'debug'\ndrain_timeout = 3\n").unwrap();
    for times in 1..=2 {
        relay.process.signal("-HUP");
        while relay.log().matches("configuration read").count() < times {
            assert!(relay.process.is_running());
            thread::sleep(Duration::from_millis(10));
        }
    }
    assert!(relay.log().contains("need a restart"), "{}", relay.log());
    drop(client);
    relay.process.stop(Duration::from_secs(300));
    assert!(relay.log().contains("stopped"), "{}", relay.log());
    assert_eq!(relay.files(), Vec::<Vec<u8>>::new());
}

#[test]
fn settings_and_gateways_are_checked() {
    let run = |name: &str, words: &[&str]| {
        let output = relay_command(name).args(words).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    };
    let own = Gateway::new(&["ohttp"], &[]);
    let without_keys = Gateway::new(&[], &[]);
    let url = |address: SocketAddr| format!("http://{address}");
    let [own, without_keys] = [own.address, without_keys.address].map(url);
    let checked = run("serve", &["--check-config", "--gateway", &own]);
    assert_eq!(checked, (true, "the configuration is valid\n".to_owned()));
    let (valid, said) = run("serve", &["--check-config"]);
    assert!(
        !valid && said.contains("--role relay needs --gateway"),
        "{said}"
    );

    let (sound, said) = run("doctor", &["--gateway", &own]);
    assert!(sound, "{said}");
    let host = own.strip_prefix("http://").unwrap();
    let line = format!("ok       gateway: {host} answer and have keys\n");
    assert!(said.contains(&line), "{said}");
    for (url, expected) in [
        (&*without_keys, "answers 404 Not Found and no keys"),
        ("http://127.0.0.1:1", "cannot be reached"),
    ] {
        let (sound, said) = run("doctor", &["--gateway", &own, "--gateway", url]);
        let line = said.lines().find(|line| line.contains("gateway: "));
        let line = line.unwrap();
        assert!(!sound && line.starts_with("error"), "{said}");
        assert!(line.contains(expected), "{said}");
    }
}
