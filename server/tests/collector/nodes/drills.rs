//! Drills: three nodes, one fault, and clients that upload to the surviving nodes all the time.
//!
//! Each drill ends with a release of everything. The estimates of every node are then those of
//! exactly the acknowledged uploads: none is lost, and none counts twice. While the fault lasts,
//! batches are closed through a surviving node, since this needs the locks of all nodes.
//!
//! The tests assert counts, and that uploads go on. `HUSHBIN_DRILL_SECONDS` sets the time that each
//! fault lasts, in seconds (default 0: until uploads go on). The longest interruption of
//! acknowledgements at a surviving node is printed; the goal is 10 seconds. For the whole table:
//!
//! ```text
//! HUSHBIN_DRILL_SECONDS=30 cargo test -p hushbin-server --test collector -- drills \
//!     --nocapture --test-threads 1
//! ```

use std::env;
use std::sync::{Mutex, Once};
use std::time::Instant;

use hushbin_tests::cable::Cable;
use hushbin_tests::postgres::{Pair, Server};

use super::*;

/// Longest wait for any state. Far above what is expected, for slow machines.
const BACKSTOP: Duration = Duration::from_secs(180);

/// Pause of a client after a refusal. It is far shorter than `Retry-After`, so that interruptions
/// are those of the collector.
const CLIENT_PAUSE: Duration = Duration::from_millis(20);

/// Number of uploads that each surviving node has to acknowledge before, during and after a fault.
const ENOUGH: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// SIGKILL of a node.
    NodeKilled,
    /// SIGSTOP of a node.
    NodeFrozen,
    /// Packets between a node and the database vanish.
    NodeCutOff,
    /// SIGKILL of the only database server, which is started again at once.
    PrimaryKilled,
    /// SIGKILL of the primary; its standby is promoted at once.
    StandbyPromoted,
    /// Packets between all nodes and the primary vanish; its standby is promoted at once.
    PrimaryCutOff,
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::NodeKilled => "node killed",
            Self::NodeFrozen => "node frozen",
            Self::NodeCutOff => "node's cable pulled",
            Self::PrimaryKilled => "primary killed and restarted",
            Self::StandbyPromoted => "primary killed, standby promoted",
            Self::PrimaryCutOff => "primary's cable pulled, standby promoted",
        }
    }

    /// Index of the first surviving node.
    fn first_survivor(self) -> usize {
        match self {
            Self::NodeKilled | Self::NodeFrozen | Self::NodeCutOff => 1,
            Self::PrimaryKilled | Self::StandbyPromoted | Self::PrimaryCutOff => 0,
        }
    }
}

/// Acknowledgements of one node.
struct Acknowledgements {
    count: usize,
    last: Instant,
    longest_pause: Duration,
}

impl Acknowledgements {
    fn observe(&mut self) {
        let now = Instant::now();
        self.longest_pause = self.longest_pause.max(now - self.last);
        self.last = now;
    }
}

/// Waits until the condition is true.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    until(|| {
        assert!(begin.elapsed() < BACKSTOP, "{what}: still not so");
        is_so()
    });
}

/// Sends to one node until stopped.
fn send_to(
    sender: &mut Sender,
    task: &Task,
    address: SocketAddr,
    acknowledged: &Mutex<Acknowledgements>,
    stop: &AtomicBool,
) {
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut client) = Client::connect(address) {
            client.patience(BACKSTOP);
            while !stop.load(Ordering::Relaxed) && sender.send(task, &mut client) {
                let mut own = acknowledged.lock().unwrap();
                own.observe();
                own.count += 1;
            }
        }
        thread::sleep(CLIENT_PAUSE);
    }
}

/// Sends to all nodes in turn until stopped. An upload without an answer goes to the next node.
fn send_around(sender: &mut Sender, task: &Task, addresses: &[SocketAddr], stop: &AtomicBool) {
    for address in addresses.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(mut client) = Client::connect(*address) {
            client.patience(Duration::from_secs(1));
            while !stop.load(Ordering::Relaxed) && sender.send(task, &mut client) {}
        }
        thread::sleep(CLIENT_PAUSE);
    }
}

/// Causes a fault until a node is caught in the middle of a transaction, so that it holds locks.
fn catch_in_transaction(server: &Server, cause: impl Fn(), undo: impl Fn()) {
    let caught = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' \
        AND state_change < now() - interval '50 ms' AND query ~ 'hushbin.(slot|counted)'";
    // Without luck, the fault hits an idle node.
    for _ in 0..200 {
        cause();
        thread::sleep(Duration::from_millis(100));
        if server.ask("postgres", caught) != "0" {
            return;
        }
        undo();
        thread::sleep(Duration::from_millis(10));
    }
    cause();
}

/// Sends an upload to a node that is cut off from its database. Returns the head of the response and
/// the time that it took.
pub(super) fn refusal(task: &Task, address: SocketAddr, upload: &Upload) -> (String, Duration) {
    use std::io::{Read, Write};

    let body = upload.encode(&task.fingerprint());
    let begin = Instant::now();
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(BACKSTOP)).unwrap();
    let length = body.len();
    let head = format!(
        "POST /tasks/{}/reports HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n",
        task.id()
    );
    socket
        .write_all(&[head.as_bytes(), &body].concat())
        .unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    (response.to_ascii_lowercase(), begin.elapsed())
}

fn drill(fault: Fault) {
    let lasting = env::var("HUSHBIN_DRILL_SECONDS").map_or(0, |text| text.parse().unwrap());
    let lasting = Duration::from_secs(lasting);
    // The database or databases, and an address for all nodes.
    let pair = matches!(fault, Fault::StandbyPromoted | Fault::PrimaryCutOff);
    let (primary, standby, address) = if pair {
        let pair = Pair::start(&[]);
        let address = pair.database();
        (pair.primary, Some(pair.standby), address)
    } else {
        let server = Server::start(&[]);
        let address = server.database();
        (server, None, address)
    };
    let cable = Cable::to(SocketAddr::from(([127, 0, 0, 1], primary.port())));
    let direct = format!(":{}", primary.port());
    let cabled = address.replace(&direct, &format!(":{}", cable.address().port()));
    let nodes = Nodes::over(match fault {
        Fault::PrimaryCutOff => cabled.clone(),
        _ => address,
    });
    let first_store = match fault {
        Fault::NodeCutOff => &cabled,
        _ => &nodes.store,
    };
    let mut running = vec![nodes.collector_at(first_store, &[])];
    running.extend((1..3).map(|_| nodes.collector(&[])));
    let addresses: Vec<SocketAddr> = running.iter().map(|(_, address)| *address).collect();
    let survivors = fault.first_survivor()..3;
    let token = nodes.token("admin");
    let stop = AtomicBool::new(false);
    let acknowledged: Vec<_> = survivors
        .clone()
        .map(|_| {
            Mutex::new(Acknowledgements {
                count: 0,
                last: Instant::now(),
                longest_pause: Duration::ZERO,
            })
        })
        .collect();
    let mut senders: Vec<Sender> = (0..8).map(|seed| Sender::new(&nodes.task, seed)).collect();
    let mut refused = Vec::new();
    let mut late = Sender::new(&nodes.task, 9);

    thread::scope(|scope| {
        let _ended = AtEnd(&stop);
        let (task, stop) = (&nodes.task, &stop);
        for (own, sender) in senders.iter_mut().enumerate() {
            // Two clients know all nodes, among them the one that fails.
            if own < 2 {
                let addresses = &addresses;
                scope.spawn(move || send_around(sender, task, addresses, stop));
            } else {
                let (to, acknowledged) = (own % survivors.len(), &acknowledged);
                let address = addresses[survivors.start + to];
                scope.spawn(move || send_to(sender, task, address, &acknowledged[to], stop));
            }
        }
        let closer = (addresses[2], &token);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let (address, token) = closer;
                let (status, said) = ask(address, token, "POST /tasks/settings/batches", "");
                assert!(matches!(status, 202 | 409 | 503), "{status}: {said}");
                thread::sleep(Duration::from_millis(200));
            }
        });
        let go_on = |what: &str| {
            let counts = || acknowledged.iter().map(|own| own.lock().unwrap().count);
            let before: Vec<usize> = counts().collect();
            wait_for(what, || {
                counts()
                    .zip(&before)
                    .all(|(now, before)| now >= before + ENOUGH)
            });
        };
        go_on("uploads before the fault");
        for own in &acknowledged {
            own.lock().unwrap().longest_pause = Duration::ZERO;
        }
        let begin = Instant::now();
        match fault {
            Fault::NodeKilled => running.remove(0).0.kill(),
            Fault::NodeFrozen => catch_in_transaction(
                &primary,
                || running[0].0.signal("-STOP"),
                || running[0].0.signal("-CONT"),
            ),
            Fault::NodeCutOff => catch_in_transaction(&primary, || cable.pull(), || cable.plug()),
            Fault::PrimaryKilled => {
                primary.kill();
                primary.go();
            }
            Fault::StandbyPromoted => {
                primary.kill();
                standby.as_ref().unwrap().promote();
            }
            Fault::PrimaryCutOff => {
                cable.pull();
                standby.as_ref().unwrap().promote();
            }
        }
        go_on("uploads during the fault");
        while fault == Fault::NodeCutOff && (refused.is_empty() || begin.elapsed() < lasting) {
            let upload = late.open.take().unwrap_or_else(|| late.uploads.make(1));
            refused.push(refusal(task, addresses[0], &upload));
            late.open = Some(upload);
        }
        while begin.elapsed() < lasting {
            thread::sleep(CLIENT_PAUSE);
        }
        for own in &acknowledged {
            own.lock().unwrap().observe();
        }
        match fault {
            Fault::NodeFrozen => running[0].0.signal("-CONT"),
            Fault::NodeCutOff => cable.plug(),
            // Whoever promotes a standby makes sure that the old primary takes no writes.
            Fault::PrimaryCutOff => primary.kill(),
            Fault::NodeKilled | Fault::PrimaryKilled | Fault::StandbyPromoted => {}
        }
        go_on("uploads after the fault");
    });
    // A node that was killed is replaced.
    if running.len() < 3 {
        running.push(nodes.collector(&[]));
    }
    senders.push(late);
    for sender in &mut senders {
        wait_for("an upload without an answer", || {
            sender.open.is_none()
                || sender.send(&nodes.task, &mut Client::connect(addresses[2]).unwrap())
        });
    }
    // A node that was frozen or cut off takes uploads again.
    let mut again = Sender::new(&nodes.task, 10);
    for (_, address) in &running {
        wait_for("an upload to every node", || {
            again.send(&nodes.task, &mut Client::connect(*address).unwrap())
        });
    }
    senders.push(again);
    nodes.release(addresses[2], &token);
    let all: Vec<&Upload> = senders.iter().flat_map(|own| &own.acknowledged).collect();
    let expected = nodes.expected(all.iter().copied());
    let reports: usize = all.iter().map(|upload| upload.reports.len()).sum();
    assert_eq!(expected["reports"], reports);
    for (_, address) in &running {
        let (status, found) = ask(*address, &token, "GET /tasks/settings/estimates", "");
        assert_eq!((status, &found), (200, &expected), "{}", fault.name());
    }
    for (head, _) in &refused {
        assert!(head.starts_with("http/1.1 503"), "{head}");
        assert!(head.contains("retry-after: "), "{head}");
    }
    print_row(fault, &acknowledged, reports, &refused);
    drop(running);
}

/// Prints the longest interruption and the longest wait for a refusal, as a row of a table.
fn print_row(
    fault: Fault,
    acknowledged: &[Mutex<Acknowledgements>],
    reports: usize,
    refused: &[(String, Duration)],
) {
    static HEAD: Once = Once::new();
    HEAD.call_once(|| {
        println!("\n| fault | reports | longest interruption | longest wait for a refusal |");
        println!("|---|---|---|---|");
    });
    let pauses = acknowledged
        .iter()
        .map(|own| own.lock().unwrap().longest_pause);
    let refusal = refused.iter().map(|(_, time)| *time).max();
    println!(
        "| {} | {reports} | {:.1} s | {} |",
        fault.name(),
        pauses.max().unwrap().as_secs_f64(),
        refusal.map_or("–".to_owned(), |time| format!(
            "{:.1} s",
            time.as_secs_f64()
        ))
    );
}

#[test]
fn a_killed_node_stops_no_uploads() {
    drill(Fault::NodeKilled);
}

#[test]
fn a_frozen_node_stops_no_uploads() {
    drill(Fault::NodeFrozen);
}

#[test]
fn a_node_that_is_cut_off_stops_no_uploads() {
    drill(Fault::NodeCutOff);
}

#[test]
fn a_killed_primary_loses_no_uploads() {
    drill(Fault::PrimaryKilled);
}

#[test]
fn a_promoted_standby_has_all_uploads() {
    drill(Fault::StandbyPromoted);
}

#[test]
fn a_primary_that_is_cut_off_is_left_for_its_standby() {
    drill(Fault::PrimaryCutOff);
}
