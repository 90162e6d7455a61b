//! Information that each role could learn from all its data.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::SystemTime;

use super::page::{self, PAGE, PageMarks};
use super::*;
use hushbin_tests::marks::{Mark, Marks, holds_time, mark};
use hushbin_tests::memory;
use hushbin_tests::sealing::Opener;
use hushbin_tests::uploads::Uploads;

/// Uploads in order of arrival, and the marks of each upload and report.
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
        let uploads: Vec<Upload> = (0..count).map(|_| uploads.make(REPORTS)).collect();
        let reports = uploads.iter().flat_map(|upload| &upload.reports);
        let encoded: Vec<Vec<u8>> = reports.map(encoded).collect();
        Self {
            reports: Marks::of(encoded.iter().map(Vec::as_slice)),
            ids: Marks::of(uploads.iter().map(|upload| &upload.id.0[..])),
            uploads,
            encoded,
        }
    }
}

/// Reports in an upload.
const REPORTS: usize = 2;

/// Head of an upload as a browser sends it, with everything that identifies a page.
fn head_of(page: &PageMarks, bytes: &[u8]) -> String {
    format!(
        "POST /tasks/settings/reports HTTP/1.1\r\nhost: test\r\n{}content-length: {}\r\n\r\n",
        page.fields,
        bytes.len()
    )
}

/// Connects a page to a shuffler.
fn connect(address: SocketAddr) -> (Client, PageMarks) {
    let client = Client::connect_from(IpAddr::V4(PAGE), address).unwrap();
    let marks = PageMarks::new(&client);
    (client, marks)
}

/// Returns true if bytes identify the page.
fn tells_of(page: &PageMarks, bytes: &[u8]) -> bool {
    let marks = [&b"A page's agent"[..], b"page.test"];
    !page.found_in(bytes).is_empty() || marks.iter().any(|mark| holds(bytes, mark))
}

#[test]
fn each_party_learns_what_the_table_says() {
    learn(World::new());
}

#[test]
fn each_party_learns_what_the_table_says_with_a_database_too() {
    learn(World::over_databases());
}

/// Checks what each party can learn from the data that it keeps or forwards.
fn learn(mut world: World) {
    const UPLOADS: usize = 150;
    const COUNT: usize = REPORTS * UPLOADS;
    world.network = Some(Network::to(world.analyser));
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(COUNT as u64);
    let mut sealer = world.sealer(address, 1);
    let people = People::new(&world, UPLOADS);
    let (mut client, page) = connect(address);
    let mut send = |upload: &Upload| {
        let bytes = world.seal(&mut sealer, upload);
        client.write(head_of(&page, &bytes).as_bytes()).unwrap();
        client.write(&bytes).unwrap();
        assert_eq!(client.read().unwrap().0, 201);
        // These bytes follow version, fingerprint, id and count. Only the page that sealed them
        // knows them.
        let begin = bytes.len() - REPORTS * world.sealed_bytes();
        let sealed = bytes[begin..].chunks_exact(world.sealed_bytes());
        sealed.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (last, most) = people.uploads.split_last().unwrap();
    let mut sealed = send(&most[0]);
    // The time at which a batch is opened may be kept. It is the second of the first upload.
    thread::sleep(Duration::from_millis(1100));
    let begin = SystemTime::now();
    sealed.extend(most[1..].iter().flat_map(&mut send));
    let end = SystemTime::now();

    // The shuffler knows no report and no sender. Until it sends, it knows the order of arrival.
    let shuffled = world.disk("shuffled");
    assert_eq!(people.reports.count(&shuffled), 0, "reports in clear");
    assert!(!tells_of(&page, &shuffled));
    // A database writes the time of each commit into its log. The search finds it there.
    assert_eq!(holds_time(&shuffled, begin, end), !world.servers.is_empty());
    // The search itself works.
    assert_eq!(people.ids.count(&shuffled), UPLOADS - 1);
    assert!(tells_of(&page, head_of(&page, b"").as_bytes()));
    let came = places(&shuffled, most.iter().map(|upload| &upload.id.0[..]));
    if world.servers.is_empty() {
        assert!((rank_correlation(&came) - 1.0).abs() < 1e-12);
        // The reports of an upload are next to each other.
        let pairs = pair_places(&shuffled, sealed.iter().map(|own| &own[4..]));
        assert_eq!(mean_distance(&pairs), 1.0);
    }
    // Together, the shuffler's disk and the analyser's key reveal each report in order of arrival.
    let sealed_before = sealed_marks(&sealed);
    let opener = Opener::new(&world.keys(address)[0], &world.private("sealing"));
    for (own, report) in sealed.iter().zip(&people.encoded) {
        assert!(world.server("shuffled").is_some() || holds(&shuffled, own));
        assert_eq!(&opener.open(own)[..report.len()], &report[..]);
    }
    sealed.extend(send(last));
    world.estimates_kept(COUNT as u64);

    // The network between them learns that a batch was sent, and its size.
    let passed = world.network.as_ref().unwrap().passed();
    assert_eq!(people.reports.count(&passed), 0, "reports in clear");
    assert_eq!(people.ids.count(&passed), 0, "ids of uploads");
    assert!(!tells_of(&page, &passed));
    assert_eq!(
        sealed_before.count(&passed),
        COUNT - REPORTS,
        "all that was sealed"
    );
    let sent = places(&passed, sealed.iter().map(|own| &own[4..]));
    assert_unordered(&sent);
    assert_apart(&pair_places(&passed, sealed.iter().map(|own| &own[4..])));

    // The analyser knows each report, but neither its sender, nor the order, nor which reports came
    // together. This is checked before the shuffler deletes the order of arrival.
    let analysed = world.disk("analysed");
    assert_eq!(people.ids.count(&analysed), 0, "ids of uploads");
    assert!(!tells_of(&page, &analysed));
    let kept = places(&analysed, people.encoded.iter().map(Vec::as_slice));
    assert_unordered(&kept);
    assert_apart(&pair_places(
        &analysed,
        people.encoded.iter().map(Vec::as_slice),
    ));

    // After sending, the shuffler keeps nothing of the batch.
    let forgotten = || match world.server("shuffled") {
        None => sealed_before.count(&world.disk("shuffled")) == 0,
        Some(server) => {
            let left = "SELECT (SELECT count(*) FROM hushbin.upload) \
                + (SELECT count(*) FROM hushbin.block) + (SELECT count(*) FROM hushbin.slot)";
            server.ask("postgres", left) == "0"
        }
    };
    until(forgotten);
    drop((shuffler, analyser));
}

/// Marks of sealed reports, after the key's name, which is the same for all.
fn sealed_marks(sealed: &[Vec<u8>]) -> Marks {
    Marks::of(sealed.iter().map(|own| &own[4..]))
}

/// First location of each mark in the bytes. Nearly all marks must be found: a database splits long
/// values and its log into pages, some of them within a mark.
pub(super) fn places<'a>(bytes: &[u8], all: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<usize> {
    pair_places(bytes, all).into_iter().flatten().collect()
}

/// As [`places`], with `None` for each mark that is not found.
fn pair_places<'a>(
    bytes: &[u8],
    all: impl Iterator<Item = &'a [u8]> + Clone,
) -> Vec<Option<usize>> {
    let mut found: HashMap<Mark, usize> = HashMap::new();
    Marks::of(all.clone()).look(bytes, |place, mark| {
        found.entry(mark).or_insert(place);
    });
    let places: Vec<_> = all.map(|own| found.get(&mark(own)).copied()).collect();
    let (there, count) = (places.iter().flatten().count(), places.len());
    assert!(20 * there >= 19 * count, "{there} of {count}");
    places
}

/// Checks that the locations are independent of the order of arrival.
fn assert_unordered(places: &[usize]) {
    let rank = rank_correlation(places);
    // For n ranks in random order the correlation has the standard deviation 1/√(n − 1). It exceeds
    // 4.5 of them with probability 7·10⁻⁶.
    let most = 4.5 / (places.len() as f64 - 1.0).sqrt();
    assert!(rank.abs() < most, "{rank}");
}

/// Checks that reports of one upload are as far from each other as any two reports. The locations
/// are of all reports, in order of arrival.
fn assert_apart(places: &[Option<usize>]) {
    let count = places.iter().flatten().count() as f64;
    // Two of n ranks in random order have the mean distance (n + 1)/3, with a standard deviation of
    // less than n/√18 + 1. At least 0.45·n pairs are found. Their mean exceeds 4.5 of its own
    // standard deviations with probability 7·10⁻⁶.
    let most = 4.5 * (count / f64::sqrt(18.0) + 1.0) / (0.45 * count).sqrt();
    let mean = mean_distance(places);
    assert!((mean - (count + 1.0) / 3.0).abs() < most, "{mean}");
}

/// Mean difference of the ranks of the two reports of each upload, if both are found. The locations
/// are in order of arrival.
fn mean_distance(places: &[Option<usize>]) -> f64 {
    let mut sorted: Vec<usize> = places.iter().flatten().copied().collect();
    sorted.sort_unstable();
    let rank = |place: usize| sorted.binary_search(&place).unwrap() as f64;
    let pairs = places.as_chunks::<REPORTS>().0.iter();
    let both = pairs.filter_map(|[one, other]| Some((rank((*one)?) - rank((*other)?)).abs()));
    let distances: Vec<f64> = both.collect();
    distances.iter().sum::<f64>() / distances.len() as f64
}

/// The shuffler's memory has no report in clear, and the analyser's no upload id and nothing of a
/// page. No log line of either identifies a report, an upload or a page.
#[test]
fn neither_memory_nor_logs_tell_more() {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(40);
    let mut sealer = world.sealer(address, 1);
    let people = People::new(&world, 20);
    let (mut client, page) = connect(address);
    let mut send = |upload: &Upload| {
        let bytes = world.seal(&mut sealer, upload);
        let head = head_of(&page, &bytes);
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
    // No request comes after the batch, which would overwrite it in memory.
    world.wait_until_sent(address);
    let found = page.found_in_memory(&analyser);
    assert!(found.is_empty(), "{found:?}");
    let found = memory::found(analyser.pid(), &people.ids);
    assert!(found.is_empty(), "{found:?}");
    let found = memory::found(analyser.pid(), &people.reports);
    assert_eq!(found.len(), 40);
    let found = memory::found(shuffler.pid(), &people.reports);
    assert!(found.is_empty(), "{found:?}");
    // The shuffler sees who sends.
    let path = "/tasks/settings/reports";
    let found = page::found_during_a_request(&page, (&shuffler, address), path);
    assert!(
        found.contains("user agent") && found.contains("referer"),
        "{found:?}"
    );

    drop((shuffler, analyser));
    for log in ["shuffled.log", "analysed.log"] {
        let log = fs::read_to_string(world.path(log)).unwrap();
        assert!(!log.is_empty());
        assert!(!tells_of(&page, log.as_bytes()), "{log}");
        for mark in people.reports.iter().chain(people.ids.iter()) {
            let digits: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(!log.to_lowercase().contains(&digits), "{log}");
        }
    }
}

impl World {
    /// Waits until the shuffler at this address has a receipt for its first batch. Asks nothing of
    /// the analyser.
    pub(super) fn wait_until_sent(&self, shuffler: SocketAddr) {
        let token = self.token("shuffled");
        let batches = || ask(shuffler, &token, "GET /tasks/settings/batches").1;
        until(|| batches()["batches"][0]["reports_kept"] == false);
    }

    /// Waits until the analyser has `reports` reports in its open batch.
    fn estimates_kept(&self, reports: u64) {
        let token = self.token("analysed");
        let batches = || ask(self.analyser, &token, "GET /tasks/settings/batches").1;
        until(|| batches()["batches"][0]["reports"] == reports);
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
