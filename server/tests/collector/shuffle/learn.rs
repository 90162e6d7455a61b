//! Information that each role could learn from all its data.

#[cfg(target_os = "linux")]
use std::net::Ipv4Addr;

use super::marks::{Mark, Marks, mark};
use super::*;
use hushbin_tests::sealing::Opener;
use hushbin_tests::uploads::Uploads;

/// People with one report per upload, in order of arrival, and the marks of each.
struct People {
    uploads: Vec<Upload>,
    /// Encoded reports. Seeds are random, so the first bytes identify a report.
    encoded: Vec<Vec<u8>>,
    reports: Marks,
    ids: Marks,
}

impl People {
    fn new(world: &World, count: usize) -> Self {
        let mut uploads = Uploads::new(&world.task, 1);
        let uploads: Vec<Upload> = (0..count).map(|_| uploads.make(1)).collect();
        let encoded: Vec<Vec<u8>> = uploads
            .iter()
            .map(|upload| encoded(&upload.reports[0]))
            .collect();
        Self {
            reports: Marks::of(encoded.iter().map(Vec::as_slice)),
            ids: Marks::of(uploads.iter().map(|upload| &upload.id.0[..])),
            uploads,
            encoded,
        }
    }
}

/// Source address of pages, whose bytes occur nowhere else.
const PAGE: [u8; 4] = [127, 0, 0, 9];

/// Head of an upload as a browser sends it, with everything that identifies a page.
fn head_of(bytes: &[u8]) -> String {
    format!(
        "POST /tasks/settings/reports HTTP/1.1\r\nhost: test\r\nuser-agent: A page's agent\r\n\
         referer: http://page.test/\r\ncontent-length: {}\r\n\r\n",
        bytes.len()
    )
}

/// Returns whether bytes identify a page.
fn tells_of_a_page(bytes: &[u8]) -> bool {
    let marks = [&b"127.0.0.9"[..], b"A page's agent", b"page.test"];
    marks.iter().any(|mark| holds(bytes, mark))
}

#[test]
fn each_party_learns_what_the_table_says() {
    learn(World::new());
}

#[cfg(target_os = "linux")]
#[test]
fn each_party_learns_what_the_table_says_with_a_database_too() {
    learn(World::over_databases());
}

/// Checks what each party can learn from the data that it keeps or forwards.
fn learn(mut world: World) {
    const COUNT: usize = 300;
    world.network = Some(Network::to(world.analyser));
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(COUNT as u64);
    let mut sealer = world.sealer(address, 1);
    let people = People::new(&world, COUNT);
    let mut client = Client::connect_from(std::net::Ipv4Addr::from(PAGE).into(), address).unwrap();
    let mut send = |upload: &Upload| {
        let bytes = world.seal(&mut sealer, upload);
        client.write(head_of(&bytes).as_bytes()).unwrap();
        client.write(&bytes).unwrap();
        assert_eq!(client.read().unwrap().0, 201);
        // These bytes follow version, fingerprint, id and count. Only the page that sealed them
        // knows them.
        let begin = bytes.len() - world.sealed_bytes();
        bytes[begin..].to_vec()
    };
    let (last, most) = people.uploads.split_last().unwrap();
    let mut sealed: Vec<Vec<u8>> = most.iter().map(&mut send).collect();

    // The shuffler knows no report and no sender. Until it sends, it knows the order of arrival.
    let shuffled = world.disk("shuffled");
    assert_eq!(people.reports.count(&shuffled), 0, "reports in clear");
    assert!(!tells_of_a_page(&shuffled));
    // The search itself works.
    assert_eq!(people.ids.count(&shuffled), COUNT - 1);
    let came = places(&shuffled, most.iter().map(|upload| &upload.id.0[..]));
    if world.servers.is_empty() {
        assert!((rank_correlation(&came) - 1.0).abs() < 1e-12);
    }
    // Together, the shuffler's disk and the analyser's key reveal each report in order of arrival.
    let sealed_before = sealed_marks(&sealed);
    let opener = Opener::new(&world.keys(address)[0], &world.private("sealing"));
    for (own, report) in sealed.iter().zip(&people.encoded) {
        assert!(world.server("shuffled").is_some() || holds(&shuffled, own));
        assert_eq!(&opener.open(own)[..report.len()], &report[..]);
    }
    sealed.push(send(last));
    world.estimates_kept(COUNT as u64);

    // The network between them learns that a batch was sent, and its size.
    let passed = world.network.as_ref().unwrap().passed();
    assert_eq!(people.reports.count(&passed), 0, "reports in clear");
    assert_eq!(people.ids.count(&passed), 0, "ids of uploads");
    assert!(!tells_of_a_page(&passed));
    assert_eq!(
        sealed_before.count(&passed),
        COUNT - 1,
        "all that was sealed"
    );
    let sent = places(&passed, sealed.iter().map(|own| &own[4..]));
    assert_unordered(&sent);

    // The analyser knows each report, but neither its sender, nor the order, nor which reports came
    // together. This is checked before the shuffler deletes the order of arrival.
    let analysed = world.disk("analysed");
    assert_eq!(people.ids.count(&analysed), 0, "ids of uploads");
    assert!(!tells_of_a_page(&analysed));
    let kept = places(&analysed, people.encoded.iter().map(Vec::as_slice));
    assert_unordered(&kept);

    // After sending, the shuffler keeps nothing of the batch.
    let forgotten = || match world.server("shuffled") {
        None => sealed_before.count(&world.disk("shuffled")) == 0,
        Some(server) => {
            let left = "SELECT (SELECT count(*) FROM hushbin.upload) \
                + (SELECT count(*) FROM hushbin.block) + (SELECT count(*) FROM hushbin.slot)";
            server.ask("postgres", left) == "0"
        }
    };
    while !forgotten() {
        thread::sleep(Duration::from_millis(20));
    }
    drop((shuffler, analyser));
}

/// Marks of sealed reports, after the key's name, which is the same for all.
fn sealed_marks(sealed: &[Vec<u8>]) -> Marks {
    Marks::of(sealed.iter().map(|own| &own[4..]))
}

/// First location of each mark in the bytes. Nearly all marks must be found: a database splits long
/// values and its log into pages, some of them within a mark.
fn places<'a>(bytes: &[u8], all: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<usize> {
    let mut found: std::collections::HashMap<Mark, usize> = std::collections::HashMap::new();
    Marks::of(all.clone()).look(bytes, |place, mark| {
        found.entry(mark).or_insert(place);
    });
    let count = all.clone().count();
    let there: Vec<usize> = all
        .filter_map(|own| found.get(&mark(own)).copied())
        .collect();
    assert!(20 * there.len() >= 19 * count, "{} of {count}", there.len());
    there
}

/// Checks that the locations are independent of the order of arrival.
fn assert_unordered(places: &[usize]) {
    let rank = rank_correlation(places);
    // For n ranks in random order the correlation has the standard deviation 1/√(n − 1). It exceeds
    // 4.5 of them with probability 7·10⁻⁶.
    let most = 4.5 / (places.len() as f64 - 1.0).sqrt();
    assert!(rank.abs() < most, "{rank}");
}

/// The shuffler's memory has no report in clear, and the analyser's no upload id. No log line of
/// either identifies a report, an upload or a page.
#[cfg(target_os = "linux")]
#[test]
fn neither_memory_nor_logs_tell_more() {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(40);
    let mut sealer = world.sealer(address, 1);
    let people = People::new(&world, 40);
    let mut client = Client::connect_from(Ipv4Addr::from(PAGE).into(), address).unwrap();
    let mut send = |upload: &Upload| {
        let bytes = world.seal(&mut sealer, upload);
        let head = head_of(&bytes);
        client.write(&[head.as_bytes(), &bytes].concat()).unwrap();
        assert_eq!(client.read().unwrap().0, 201);
    };
    let (last, most) = people.uploads.split_last().unwrap();
    for upload in most {
        send(upload);
    }
    let found = memory::found(shuffler.pid(), &people.reports);
    assert!(found.is_empty(), "{found:?}");
    // The search finds what is there: the shuffler keeps ids to count uploads once.
    assert!(!memory::found(shuffler.pid(), &people.ids).is_empty());
    send(last);
    world.estimates_kept(40);
    let found = memory::found(shuffler.pid(), &people.reports);
    assert!(found.is_empty(), "{found:?}");
    let found = memory::found(analyser.pid(), &people.ids);
    assert!(found.is_empty(), "{found:?}");

    drop((shuffler, analyser));
    for log in ["shuffled.log", "analysed.log"] {
        let log = fs::read_to_string(world.path(log)).unwrap();
        assert!(!log.is_empty());
        assert!(!tells_of_a_page(log.as_bytes()), "{log}");
        for mark in people.reports.iter().chain(people.ids.iter()) {
            let digits: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(!log.to_lowercase().contains(&digits), "{log}");
        }
    }
}

impl World {
    /// Waits until the analyser has `reports` reports in its open batch.
    fn estimates_kept(&self, reports: u64) {
        let token = self.token("analysed");
        while ask(self.analyser, &token, "GET /tasks/settings/batches").1["batches"][0]["reports"]
            != reports
        {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Length of a sealed report in bytes.
    fn sealed_bytes(&self) -> usize {
        hushbin::sealed::SEALING_OVERHEAD_BYTES + self.task.max_single_report_bytes()
    }

    /// Private key in the file of this name: its last 32 bytes (RFC 8410).
    fn private(&self, name: &str) -> [u8; 32] {
        let text = fs::read(self.path(&format!("{name}.pem"))).unwrap();
        let key = pem::parse(text).unwrap();
        *key.contents().last_chunk().unwrap()
    }
}

/// Spearman's rank correlation between locations and order of arrival.
fn rank_correlation(places: &[usize]) -> f64 {
    let count = places.len() as f64;
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let rank = |place: &usize| sorted.binary_search(place).unwrap() as f64;
    let squares = places.iter().enumerate().map(|(came, place)| {
        let distance = rank(place) - came as f64;
        distance * distance
    });
    1.0 - 6.0 * squares.sum::<f64>() / (count * (count * count - 1.0))
}
