//! What relay and gateway could learn if they put their data together, and what a gateway that is a
//! collector learns alone.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use hushbin_tests::marks::Marks;
use hushbin_tests::memory;
use hushbin_tests::oblivious::message;

use super::learn::places;
use super::page::{PAGE, PageMarks};
use super::*;
use crate::ohttp::forward::{Relay, path_to};
use crate::ohttp::independent::ask_by_ohttp;
use crate::ohttp::{GATEWAY, Gateway};

/// Number of people, each with an address. A prime, so that steps reach all addresses.
const PEOPLE: usize = 41;

/// Address of the person whose upload has this number. They are in another order than the uploads.
fn address_of(number: usize) -> IpAddr {
    let step = 17 * number % PEOPLE;
    IpAddr::V4(Ipv4Addr::new(127, 88, 34, 1 + step as u8))
}

/// Data of a relay and a gateway, once all people have sent an upload.
struct Both {
    relay: Relay,
    /// Traffic to the relay, and from it to the gateway.
    networks: [Network; 2],
}

impl Both {
    /// Sends each upload from the address of its person, through a relay to this gateway.
    fn send(gateway: SocketAddr, uploads: &[Vec<u8>]) -> Self {
        let (_, configurations) = Client::connect(gateway).unwrap().get(GATEWAY).unwrap();
        let to_gateway = Network::to(gateway);
        let relay = Relay::to(&[to_gateway.address], &[]);
        let to_relay = Network::to(relay.address);
        let path = path_to(to_gateway.address);
        for (number, upload) in uploads.iter().enumerate() {
            let mut page = Client::connect_from(address_of(number), to_relay.address).unwrap();
            let reports = "/tasks/settings/reports";
            let message = message("POST", "gateway.example", reports, &[], upload);
            let answer = ask_by_ohttp(&mut page, &path, &configurations, &message);
            assert_eq!(answer.status, 201);
        }
        Self {
            relay,
            networks: [to_relay, to_gateway],
        }
    }

    /// Returns the address of the sender of each request that the gateway received, in order. The
    /// sender is the one whose request reached the relay last before.
    fn senders_by_time(&self) -> Vec<IpAddr> {
        let [at_relay, at_gateway] = self.networks.each_ref().map(Network::requests);
        let sender = |(time, from): &(_, IpAddr)| {
            // The gateway alone sees the relay's address.
            assert_eq!(*from, IpAddr::V4(Ipv4Addr::LOCALHOST));
            let mut earlier = at_relay.iter().rev().filter(|(own, _)| own < time);
            earlier.next().unwrap().1
        };
        at_gateway.iter().map(sender).collect()
    }

    /// Everything that passed, and that the relay has kept.
    fn all(&self) -> Vec<u8> {
        let passed = self.networks.each_ref().map(Network::passed).concat();
        let kept = [self.relay.files().concat(), self.relay.log().into_bytes()];
        [passed, kept.concat(), self.relay.metrics().into_bytes()].concat()
    }
}

/// Returns the numbers of the marks in the order in which they are in the bytes.
fn order_in<'a>(bytes: &[u8], all: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<usize> {
    let places = places(bytes, all);
    assert_eq!(places.len(), PEOPLE);
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|number| places[*number]);
    order
}

#[test]
fn relay_and_shuffler_together_know_who_sent_an_upload_and_no_report() {
    let world = World::new();
    let analyser = world.analyser();
    world.create_key("ohttp", "sealing");
    let key = world.text("ohttp.pem");
    // The batch stays open, so that the shuffler has everything that it ever has.
    let most = PEOPLE as u64 + 1;
    let (shuffler, address) = world.shuffler_of(most, &["--ohttp-key", &key]);
    let mut sealer = world.sealer(address, 1);
    let mut uploads = Uploads::new(&world.task, 1);
    let uploads: Vec<Upload> = (0..PEOPLE).map(|_| uploads.make(1)).collect();
    let sealed: Vec<Vec<u8>> = uploads
        .iter()
        .map(|own| world.seal(&mut sealer, own))
        .collect();
    let both = Both::send(address, &sealed);

    // Each upload on the shuffler's disk belongs to an address that the relay has seen.
    let disk = world.disk("shuffled");
    let order = order_in(&disk, uploads.iter().map(|own| &own.id.0[..]));
    let senders = both.senders_by_time();
    assert_eq!(senders.iter().collect::<BTreeSet<_>>().len(), PEOPLE);
    let known: Vec<(usize, IpAddr)> = order.into_iter().zip(senders).collect();
    let truth = |number| (number, address_of(number));
    assert_eq!(known, (0..PEOPLE).map(truth).collect::<Vec<_>>());

    // No report is in what both have, on disk, on the way and in memory.
    let reports: Vec<Vec<u8>> = uploads.iter().map(|own| encoded(&own.reports[0])).collect();
    let reports = Marks::of(reports.iter().map(Vec::as_slice));
    let has_sealed = |bytes: &[u8]| {
        // Version, fingerprint, id, count and the id of the key come first.
        let sealed = Marks::of(sealed.iter().map(|own| &own[38..]));
        sealed.count(bytes)
    };
    assert_eq!(has_sealed(&disk), PEOPLE);
    assert_eq!(reports.count(&[disk, both.all()].concat()), 0);
    for process in [&both.relay.process, &shuffler] {
        assert!(memory::found(process.pid(), &reports).is_empty());
    }
    drop(analyser);
}

#[test]
fn relay_and_collector_together_know_who_sent_a_report() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let task = draft(crate::support::SETTINGS).resolve_task().unwrap();
    let mut uploads = Uploads::new(&task, 1);
    let uploads: Vec<Upload> = (0..PEOPLE).map(|_| uploads.make(1)).collect();
    let bytes = uploads.iter().map(|own| own.encode(&task.fingerprint()));
    let both = Both::send(gateway.address, &bytes.collect::<Vec<_>>());
    let mut disk = Vec::new();
    add_files(gateway.directory.path(), &mut disk);
    let ids = uploads.iter().map(|own| &own.id.0[..]);
    let known: Vec<(usize, IpAddr)> = order_in(&disk, ids.clone())
        .into_iter()
        .zip(both.senders_by_time())
        .collect();
    let truth = |number| (number, address_of(number));
    assert_eq!(known, (0..PEOPLE).map(truth).collect::<Vec<_>>());
    // The report of an upload follows its id.
    for (upload, place) in uploads.iter().zip(places(&disk, ids)) {
        let after = &disk[place..][..64];
        assert!(holds(after, &encoded(&upload.reports[0])), "{after:?}");
    }
}

/// The page's address and headers stay at the relay, also in memory.
#[test]
fn a_collector_behind_a_relay_has_nothing_of_the_page_in_memory() {
    let gateway = Gateway::new(&["ohttp"], &[]);
    let relay = Relay::to(&[gateway.address], &[]);
    let (_, configurations) = gateway.client().get(GATEWAY).unwrap();
    let task = draft(crate::support::SETTINGS).resolve_task().unwrap();
    let mut uploads = Uploads::new(&task, 1);
    let mut page = Client::connect_from(IpAddr::V4(PAGE), relay.address).unwrap();
    let marks = PageMarks::new(&page);
    let path = path_to(gateway.address);
    let mut ids = Vec::new();
    for _ in 0..20 {
        let upload = uploads.make(1);
        let message = message(
            "POST",
            "collector.example",
            "/tasks/settings/reports",
            &[],
            &upload.encode(&task.fingerprint()),
        );
        let request = ohttp::ClientRequest::from_encoded_config_list(&configurations).unwrap();
        let (sealed, _) = request.encapsulate(&message).unwrap();
        let (status, _) = crate::ohttp::post_to(&mut page, &path, &marks.fields, &sealed);
        assert_eq!(status, 200);
        ids.push(upload.id.0);
    }
    let ids = Marks::of(ids.iter().map(|own| &own[..]));
    // The search finds what is there: the collector keeps ids to count uploads once.
    let found = memory::found(gateway.collector.pid(), &ids);
    assert!(!found.is_empty());
    assert_eq!(marks.found_in_memory(&gateway.collector), BTreeSet::new());

    // A page that sends directly is found.
    let page = Client::connect_from(IpAddr::V4(PAGE), gateway.address).unwrap();
    let direct = PageMarks::new(&page);
    let server = (&gateway.collector, gateway.address);
    let path = "/tasks/settings/reports";
    let found = super::page::found_during_a_request(&direct, server, path);
    for mark in ["user agent", "referer", "cookie"] {
        assert!(found.contains(mark), "{mark}: {found:?}");
    }
}
