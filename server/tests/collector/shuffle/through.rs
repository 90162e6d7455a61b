//! What each party can learn of reports that pages send through the relay of hushbin to a shuffler:
//! one test for each cell of the table in the book. Requests are sealed by the crate `ohttp`, and
//! reports by `ring`.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::OnceLock;

use hushbin_tests::marks::Marks;
use hushbin_tests::memory;
use hushbin_tests::oblivious::message;
use hushbin_tests::uploads::Uploads;
use ohttp::ClientRequest;

use super::page::{self, PAGE, PageMarks};
use super::ring_sealer::seal_report;
use super::*;
use crate::ohttp::forward::{Relay, path_to};
use crate::ohttp::{GATEWAY, post_to};

const PEOPLE: usize = 40;

/// Data of one party.
struct Traces {
    /// Files that the party has written.
    disk: Vec<u8>,
    /// Log at the level debug, and metrics.
    told: String,
}

impl Traces {
    fn hold(&self, bytes: &[u8]) -> bool {
        holds(&self.disk, bytes) || holds(self.told.as_bytes(), bytes)
    }

    /// Panics if anything names the page.
    #[track_caller]
    fn assert_no_page(&self) {
        for mark in marks_of_page() {
            assert!(!self.hold(mark), "{}", String::from_utf8_lossy(mark));
        }
        assert!(!holds(&self.disk, &PAGE.octets()));
    }
}

/// Part of what is in the memory of a party.
#[derive(Debug, Default)]
struct Memory {
    /// Names of the page's marks.
    page: BTreeSet<&'static str>,
    /// Numbers of ids of uploads, and of reports.
    ids: usize,
    reports: usize,
}

/// Everything that the parties had of the reports of all people.
struct Told {
    relay: Traces,
    shuffler: Traces,
    analyser: Traces,
    /// Bytes that passed between page and relay, in both directions.
    at_relay: Vec<u8>,
    /// Bytes that passed between relay and shuffler, in both directions.
    at_shuffler: Vec<u8>,
    /// Memory of the relay, the shuffler and the analyser.
    in_memory: [Memory; 3],
    /// Marks of upload ids, of sealed reports and of reports.
    ids: Marks,
    sealed: Marks,
    reports: Marks,
}

/// Byte strings by which somebody could recognise the page.
fn marks_of_page() -> impl Iterator<Item = &'static [u8]> {
    let marks: [&[u8]; 7] = [
        b"127.88.33.201",
        b"A page's agent",
        b"a-page-of-somebody",
        b"page.test",
        b"page-token",
        b"page-language",
        b"forwarded: for",
    ];
    marks.into_iter()
}

/// Sends the reports of all people once, for all tests. No process outlives this function.
fn told() -> &'static Told {
    static TOLD: OnceLock<Told> = OnceLock::new();
    TOLD.get_or_init(send_all)
}

/// A page that seals its requests, and keeps what passes.
struct Page {
    client: Client,
    marks: PageMarks,
    path: String,
    configurations: Vec<u8>,
    passed: Vec<u8>,
}

impl Page {
    fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let request = ClientRequest::from_encoded_config_list(&self.configurations).unwrap();
        let message = message(method, "shuffler.example", path, &[], body);
        let (sealed, waiting) = request.encapsulate(&message).unwrap();
        let (status, answer) = post_to(&mut self.client, &self.path, &self.marks.fields, &sealed);
        assert_eq!(status, 200);
        self.passed.extend([&sealed[..], &answer].concat());
        let answer = waiting.decapsulate(&answer).unwrap();
        let answer = hushbin_tests::oblivious::Answer::parse(&answer);
        (answer.status, answer.content)
    }
}

fn send_all() -> Told {
    let mut world = World::new();
    world.logged = true;
    let mut analyser = world.analyser();
    world.create_key("ohttp", "sealing");
    let key = world.text("ohttp.pem");
    let (mut shuffler, address) = world.shuffler_of(PEOPLE as u64, &["--ohttp-key", &key]);
    world.keys(address);
    let network = Network::to(address);
    let mut relay = Relay::to(&[network.address], &["--max-reports-per-peer", "1000"]);

    let (_, configurations) = Client::connect(address).unwrap().get(GATEWAY).unwrap();
    let client = Client::connect_from(IpAddr::V4(PAGE), relay.address).unwrap();
    let marks = PageMarks::new(&client);
    let mut page = Page {
        client,
        path: path_to(network.address),
        configurations,
        passed: marks.fields.clone().into_bytes(),
        marks,
    };
    let (status, keys) = page.ask("GET", "/tasks/settings/keys", b"");
    assert_eq!(status, 200);
    let keys: Value = serde_json::from_slice(&keys).unwrap();
    let configuration = from_hex(keys["keys"][0].as_str().unwrap());
    let mut uploads = Uploads::new(&world.task, 1);
    let uploads: Vec<Upload> = (0..PEOPLE).map(|_| uploads.make(1)).collect();
    let reports: Vec<Vec<u8>> = uploads.iter().map(|own| encoded(&own.reports[0])).collect();
    let seal = |report: &Vec<u8>| seal_report(&configuration, report);
    let sealed: Vec<Vec<u8>> = reports.iter().map(seal).collect();
    let marks = |all: &[Vec<u8>], begin: usize| Marks::of(all.iter().map(|own| &own[begin..]));
    let ids: Vec<Vec<u8>> = uploads.iter().map(|own| own.id.0.to_vec()).collect();
    let (ids, reports) = (marks(&ids, 0), marks(&reports, 0));
    let mut shuffled = Vec::new();
    let mut before = Memory::default();
    for (place, (upload, sealed)) in uploads.iter().zip(&sealed).enumerate() {
        if place + 1 == PEOPLE {
            // With the last report, the batch is sent and deleted.
            shuffled = world.disk("shuffled");
            before = in_memory(&shuffler, &page.marks, &ids, &reports);
        }
        let bytes = world.sealed(upload.id, 1, sealed);
        for expected in [201, 200] {
            let (status, body) = page.ask("POST", "/tasks/settings/reports", &bytes);
            assert_eq!(status, expected, "{}", String::from_utf8_lossy(&body));
        }
    }
    // No request comes after the batch, which would overwrite it in memory.
    world.wait_until_sent(address);
    let mut in_memory = [&relay.process, &shuffler, &analyser]
        .map(|own| in_memory(own, &page.marks, &ids, &reports));
    in_memory[1].page.append(&mut before.page);
    in_memory[1].reports += before.reports;
    let during =
        page::found_during_a_request(&page.marks, (&relay.process, relay.address), &page.path);
    in_memory[0].page.extend(during);
    // What another implementation sealed is counted, each report once.
    assert_eq!(
        world.estimates(PEOPLE as u64),
        expected(&world.task, &uploads)
    );

    let metrics = |address: SocketAddr| {
        let (_, text) = Client::connect(address).unwrap().get("/metrics").unwrap();
        String::from_utf8(text).unwrap()
    };
    let mut metrics = [relay.address, address, world.analyser].map(metrics);
    for process in [&mut relay.process, &mut shuffler, &mut analyser] {
        process.stop(Duration::from_secs(300));
    }
    metrics[0] += &relay.log();
    for (text, name) in metrics[1..].iter_mut().zip(["shuffled", "analysed"]) {
        *text += &fs::read_to_string(world.path(&format!("{name}.log"))).unwrap();
    }
    let [of_relay, of_shuffler, of_analyser] = metrics;
    Told {
        relay: Traces {
            disk: relay.files().concat(),
            told: of_relay,
        },
        shuffler: Traces {
            disk: shuffled,
            told: of_shuffler,
        },
        analyser: Traces {
            disk: world.disk("analysed"),
            told: of_analyser,
        },
        at_relay: page.passed,
        at_shuffler: network.passed(),
        in_memory,
        ids,
        // The id of the key is the same for all.
        sealed: marks(&sealed, 4),
        reports,
    }
}

fn in_memory(process: &Collector, page: &PageMarks, ids: &Marks, reports: &Marks) -> Memory {
    let [ids, reports] = [ids, reports].map(|own| memory::found(process.pid(), own).len());
    let page = page.found_in_memory(process);
    Memory { page, ids, reports }
}

#[test]
fn the_relay_keeps_nothing_of_who_sends() {
    let Told {
        relay,
        at_relay,
        in_memory: [memory, _, _],
        ..
    } = told();
    // The relay receives these headers and the address, and counts the requests.
    assert!(holds(at_relay, b"A page's agent"));
    for mark in ["user agent", "referer", "cookie", "address"] {
        assert!(memory.page.contains(mark), "{mark}: {memory:?}");
    }
    let requests = 2 * PEOPLE + 1;
    let counted = format!("outcome=\"answered\"}} {requests}\n");
    assert!(relay.told.contains(&counted), "{}", relay.told);
    assert!(relay.told.contains("stopped"), "{}", relay.told);
    relay.assert_no_page();
    assert!(relay.disk.is_empty());
    assert!(!relay.told.contains("gateways/") && !relay.told.contains("POST"));
}

#[test]
fn the_relay_sees_neither_task_nor_path() {
    let Told {
        relay, at_relay, ..
    } = told();
    for secret in [
        &b"/tasks"[..],
        b"settings",
        b"/reports",
        b"accepted_reports",
        b"shuffler.example",
    ] {
        let name = String::from_utf8_lossy(secret);
        assert!(!holds(at_relay, secret), "{name}");
        assert!(!relay.hold(secret), "{name}");
    }
}

#[test]
fn the_relay_sees_no_upload_and_no_report() {
    let told = told();
    for marks in [&told.ids, &told.sealed, &told.reports] {
        assert_eq!(marks.iter().count(), PEOPLE);
        assert_eq!(marks.count(&told.at_relay), 0);
    }
    let [memory, _, _] = &told.in_memory;
    assert_eq!([memory.ids, memory.reports], [0; 2]);
}

#[test]
fn the_shuffler_sees_nothing_of_who_sends() {
    let told = told();
    // The search works: this is all that the relay sends.
    for line in [
        "POST /.well-known/ohttp-gateway HTTP/1.1\r\n",
        "message/ohttp-req",
    ] {
        assert!(holds(&told.at_shuffler, line.as_bytes()));
    }
    for mark in marks_of_page() {
        let name = String::from_utf8_lossy(mark);
        assert!(!holds(&told.at_shuffler, mark), "{name}");
    }
    told.shuffler.assert_no_page();
    let [_, memory, _] = &told.in_memory;
    assert_eq!(memory.page, BTreeSet::new());
}

#[test]
fn the_shuffler_sees_uploads_and_no_report() {
    let told = told();
    // The last upload came after this copy of the disk.
    assert_eq!(told.ids.count(&told.shuffler.disk), PEOPLE - 1);
    assert_eq!(told.sealed.count(&told.shuffler.disk), PEOPLE - 1);
    assert_eq!(told.reports.count(&told.shuffler.disk), 0);
    assert_eq!(told.reports.count(&told.at_shuffler), 0);
    let [_, memory, _] = &told.in_memory;
    assert!(memory.ids > 0, "{memory:?}");
    assert_eq!(memory.reports, 0);
    // The directory of the task names it.
    assert!(holds(&told.shuffler.disk, b"settings"));
    assert!(
        told.shuffler
            .told
            .contains("hushbin_requests_relayed_total")
    );
}

#[test]
fn the_analyser_sees_nothing_of_who_sends() {
    let Told {
        analyser,
        ids,
        in_memory: [_, _, memory],
        ..
    } = told();
    analyser.assert_no_page();
    assert_eq!(memory.page, BTreeSet::new());
    assert_eq!(memory.ids, 0);
    assert_eq!(ids.count(&analyser.disk), 0);
    assert!(analyser.told.contains("stopped"), "{}", analyser.told);
}

#[test]
fn the_analyser_sees_the_reports() {
    let Told {
        analyser,
        reports,
        in_memory: [_, _, memory],
        ..
    } = told();
    assert_eq!(reports.count(&analyser.disk), PEOPLE);
    assert!(memory.reports > 0, "{memory:?}");
    assert!(holds(&analyser.disk, b"settings"));
}
