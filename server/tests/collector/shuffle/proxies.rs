//! The shipped files of nginx and Caddy, used by the programs: in front of a relay, of a shuffler that
//! is a gateway, and of an analyser.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc;

use hushbin_tests::oblivious::message;

use super::*;
use crate::ohttp::GATEWAY;
use crate::ohttp::forward::{REVEALING_FIELDS, Relay, path_to};
use crate::ohttp::independent::ask_by_ohttp;
use crate::operate::proxies::ROUTES;
use crate::support::proxy::{Certificate, Proxy, ProxyKind};

const KINDS: [ProxyKind; 2] = [ProxyKind::Nginx, ProxyKind::Caddy];
const PEOPLE: usize = 20;

/// Address of a page, used by nothing else.
const PAGE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 88, 34, 7));

/// Sealed reports pass a relay, a shuffler and an analyser, each behind a proxy.
#[test]
fn reports_pass_a_proxy_before_each_party() {
    for kind in KINDS {
        let certificate = Certificate::new();
        let mut world = World::new();
        world.certificates = Some(certificate.file());
        let _analyser = world.analyser();
        let before_analyser = Proxy::start(kind, world.analyser, &certificate, false);
        world.create_key("ohttp", "sealing");
        let key = world.text("ohttp.pem");
        let more = ["--ohttp-key", &key];
        let to = before_analyser.address;
        let (_shuffler, shuffler) = world.shuffler_to(to, "shuffled", PEOPLE as u64, &more);
        let before_shuffler = Proxy::start(kind, shuffler, &certificate, true);
        let relay = Relay::over_tls(before_shuffler.address, &certificate.file());
        let before_relay = Proxy::start(kind, relay.address, &certificate, true);

        let mut sealer = world.sealer(shuffler, 1);
        let (_, configurations) = Client::connect(shuffler).unwrap().get(GATEWAY).unwrap();
        let mut uploads = Uploads::new(&world.task, 1);
        let uploads: Vec<Upload> = (0..PEOPLE).map(|_| uploads.make(1)).collect();
        let mut page = before_relay.connect().unwrap();
        let path = path_to(before_shuffler.address);
        for upload in &uploads {
            let sealed = world.seal(&mut sealer, upload);
            let reports = "/tasks/settings/reports";
            let message = message("POST", "shuffler.example", reports, &[], &sealed);
            let answer = ask_by_ohttp(&mut page, &path, &configurations, &message);
            assert_eq!(answer.status, 201, "{kind:?}");
        }
        let found = world.estimates(PEOPLE as u64);
        let expected = expected(&world.task, &uploads);
        assert_eq!(found["estimates"], expected["estimates"], "{kind:?}");
        // The proxy of a relay writes no log by nginx. Caddy's block `log` has to be removed.
        if kind == ProxyKind::Nginx {
            assert_eq!(before_relay.read("log"), "");
            assert!(
                before_analyser
                    .read("log")
                    .contains(" POST /tasks/settings/blocks 20")
            );
        }
    }
}

/// A stranger reaches what pages, shufflers and relays need, and gets 403 for all other paths.
#[test]
fn proxies_refuse_the_paths_of_analysts_and_operators() {
    let certificate = Certificate::new();
    let world = World::new();
    let _analyser = world.analyser();
    for (kind, for_relays) in KINDS
        .into_iter()
        .flat_map(|kind| [(kind, false), (kind, true)])
    {
        let proxy = Proxy::start(kind, world.analyser, &certificate, for_relays);
        let mut stranger = proxy.connect().unwrap();
        for (route, who, is_public) in ROUTES {
            let path = route
                .replace("{id}", "settings")
                .replace("{host}", "gateway.test");
            let (status, _) = get(&mut stranger, proxy.address, &path);
            let is_for_relays = who.contains("relay");
            let allowed = is_public || for_relays && is_for_relays;
            assert_eq!(
                status != 403,
                allowed,
                "{kind:?}, {for_relays}: {route} gave {status}"
            );
        }
        for path in [
            "/elsewhere",
            "/tasks/settings/blocks/1",
            "/tasks/a/b/reports",
        ] {
            let (status, _) = get(&mut stranger, proxy.address, path);
            assert_eq!(status, 403, "{kind:?}: {path}");
        }
    }
    // Caddy limits bodies, too, but Debian's version reports that as a failure of the collector.
    let proxy = Proxy::start(ProxyKind::Nginx, world.analyser, &certificate, false);
    let mut stranger = proxy.connect().unwrap();
    let path = "/tasks/settings/reports";
    stranger
        .write(&head_of("POST", proxy.address, path, (1 << 20) + 1))
        .unwrap();
    assert_eq!(stranger.read().unwrap().0, 413);
}

/// The collector gets no header that names the client, and the log has nothing of the client.
#[test]
fn proxies_remove_and_log_nothing_of_the_client() {
    let certificate = Certificate::new();
    for kind in KINDS {
        let (upstream, heads) = upstream();
        let proxy = Proxy::start(kind, upstream, &certificate, false);
        let mut page = proxy.connect_from(PAGE);
        let path = "/tasks/settings/reports?secret=1";
        let fields = REVEALING_FIELDS.replace("127.88.33.201", &PAGE.to_string());
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\n{fields}\r\n",
            proxy.address
        );
        page.write(request.as_bytes()).unwrap();
        assert_eq!(page.read().unwrap().0, 200);
        let head = heads.recv().unwrap().to_lowercase();
        for field in head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
        {
            let own = match field.0 {
                "host" | "content-length" | "connection" => true,
                // Caddy's library states itself in place of the client.
                "user-agent" => field.1 == "go-http-client/1.1",
                "accept-encoding" => kind == ProxyKind::Caddy,
                // The collector needs the first two, and ignores the others.
                name => [
                    "origin",
                    "authorization",
                    "accept-language",
                    "forwarded",
                    "via",
                ]
                .contains(&name),
            };
            assert!(own, "{kind:?}: {field:?}");
        }
        // The log is written when the answer was sent.
        until(|| proxy.read("log").ends_with('\n'));
        let log = proxy.read("log");
        assert!(log.contains("/tasks/settings/reports"), "{kind:?}: {log}");
        for secret in [&PAGE.to_string(), "secret", "agent", "somebody", "page"] {
            assert!(
                !log.to_lowercase().contains(secret),
                "{kind:?}: {secret} in {log}"
            );
        }
    }
}

/// nginx limits uploads of one client, and no blocks of a shuffler. Caddy has no limits.
#[test]
fn nginx_limits_uploads_and_no_blocks() {
    const MANY: usize = 200;
    let (upstream, _heads) = upstream();
    let certificate = Certificate::new();
    let proxy = Proxy::start(ProxyKind::Nginx, upstream, &certificate, false);
    let statuses = |path: &str| {
        let mut client = proxy.connect().unwrap();
        let request = head_of("POST", proxy.address, path, 0);
        client.write(&request.repeat(MANY)).unwrap();
        let statuses: Vec<u16> = (0..MANY).map(|_| client.read().unwrap().0).collect();
        statuses
    };
    assert_eq!(statuses("/tasks/settings/blocks"), [200; MANY]);
    while !statuses("/tasks/settings/reports").contains(&429) {}
}

fn head_of(method: &str, host: SocketAddr, path: &str, length: usize) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n\r\n").into()
}

fn get<S: std::io::Read + Write>(
    client: &mut Client<S>,
    host: SocketAddr,
    path: &str,
) -> (u16, Vec<u8>) {
    client.write(&head_of("GET", host, path, 0)).unwrap();
    client.read().unwrap()
}

/// A server that answers every request without a body with 200. Returns the heads of requests.
fn upstream() -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, heads) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (BufReader::new(stream.unwrap()), sender.clone());
            thread::spawn(move || {
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if stream.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    if stream.get_mut().write_all(answer).is_err() || sender.send(head).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, heads)
}
