//! What each role could learn, from all that it keeps.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
#[cfg(target_os = "linux")]
use std::net::Ipv4Addr;

use super::*;
use hushbin_tests::uploads::Uploads;

/// Nothing of a report is on the shuffler's disk or in what it sends; neither the order in which
/// they came, nor which came together, nor ids of uploads are on the analyser's.
#[test]
fn the_shuffler_cannot_read_and_the_analyser_cannot_link() {
    let world = World::new();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(300);
    let mut sealer = world.sealer(address, 1);
    let mut uploads = Uploads::new(&world.task, 1);
    // One each, so that their order is that in which people came.
    let made: Vec<Upload> = (0..300).map(|_| uploads.make(1)).collect();
    let mut client = Client::connect(address).unwrap();
    let (last, most) = made.split_last().unwrap();
    for upload in most {
        let bytes = world.seal(&mut sealer, upload);
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    }
    let shuffled = world.path("shuffled");
    for upload in most {
        // Seeds are random: a report is known by its own.
        let report = encoded(&upload.reports[0]);
        assert!(!is_below(&shuffled, &report[..8]), "a report in clear");
        // It is looked for rightly.
        assert!(is_below(&shuffled, &upload.id.0));
    }
    let bytes = world.seal(&mut sealer, last);
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    world.estimates_kept(300);

    let analysed = world.path("analysed");
    for upload in &made {
        assert!(!is_below(&analysed, &upload.id.0), "an upload's id");
    }
    // Before it is released, while the order of arrival is still there: it is the shuffler's.
    let log = world.log("analysed");
    let place = |upload: &Upload| {
        let report = encoded(&upload.reports[0]);
        log.windows(8)
            .position(|window| window == &report[..8])
            .unwrap()
    };
    let places: Vec<usize> = made.iter().map(place).collect();
    let rank = rank_correlation(&places);
    // Of 300 ranks in an order of their own it has standard deviation 1/√299: 4.5 of them are
    // passed with probability 7·10⁻⁶.
    assert!(rank.abs() < 4.5 / 299_f64.sqrt(), "{rank}");
    // That of the shuffler's own journal would tell.
    let sorted: Vec<usize> = (0..300).collect();
    assert!((rank_correlation(&sorted) - 1.0).abs() < 1e-12);
    drop((shuffler, analyser));
}

/// The memory of the shuffler holds no report in clear, that of the analyser no id of an upload,
/// and no line of either's log tells of a report, an upload or a page.
#[cfg(target_os = "linux")]
#[test]
fn neither_memory_nor_logs_tell_more() {
    let mut world = World::new();
    world.logged = true;
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(40);
    let mut sealer = world.sealer(address, 1);
    let mut uploads = Uploads::new(&world.task, 1);
    let made: Vec<Upload> = (0..40).map(|_| uploads.make(1)).collect();
    let eight = |bytes: &[u8]| *bytes.first_chunk::<8>().unwrap();
    let reports: HashSet<[u8; 8]> = made
        .iter()
        .map(|upload| eight(&encoded(&upload.reports[0])))
        .collect();
    let ids: HashSet<[u8; 8]> = made.iter().map(|upload| eight(&upload.id.0)).collect();
    let page = Ipv4Addr::new(127, 0, 0, 9);
    let mut client = Client::connect_from(page.into(), address).unwrap();
    let mut send = |upload: &Upload| {
        let bytes = world.seal(&mut sealer, upload);
        let head = format!(
            "POST /tasks/settings/reports HTTP/1.1\r\nhost: test\r\nuser-agent: A page's agent\r\n\
             referer: http://page.test/\r\ncontent-length: {}\r\n\r\n",
            bytes.len()
        );
        client.write(&[head.as_bytes(), &bytes].concat()).unwrap();
        assert_eq!(client.read().unwrap().0, 201);
    };
    let (last, most) = made.split_last().unwrap();
    most.iter().for_each(&mut send);
    let found = memory::found(shuffler.pid(), &reports);
    assert!(found.is_empty(), "{found:?}");
    // What is there is found: by their ids the shuffler counts uploads once.
    assert!(!memory::found(shuffler.pid(), &ids).is_empty());
    send(last);
    world.estimates_kept(40);
    let found = memory::found(shuffler.pid(), &reports);
    assert!(found.is_empty(), "{found:?}");
    let found = memory::found(analyser.pid(), &ids);
    assert!(found.is_empty(), "{found:?}");

    drop((shuffler, analyser));
    for log in ["shuffled.log", "analysed.log"] {
        let log = fs::read_to_string(world.path(log)).unwrap();
        assert!(!log.is_empty());
        for mark in ["127.0.0.9", "agent", "page.test"] {
            assert!(!log.contains(mark), "{mark}: {log}");
        }
        for mark in reports.iter().chain(&ids) {
            let digits: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(!log.to_lowercase().contains(&digits), "{log}");
        }
    }
}

impl World {
    /// Waits until the analyser has so many reports in its open batch.
    fn estimates_kept(&self, reports: u64) {
        let token = self.token("analysed");
        while ask(self.analyser, &token, "GET /tasks/settings/batches").1["batches"][0]["reports"]
            != reports
        {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything in the files of a journal's open batches.
    fn log(&self, data: &str) -> Vec<u8> {
        let mut all = Vec::new();
        for task in fs::read_dir(self.path(data).join("tasks")).unwrap() {
            let mut files: Vec<PathBuf> = fs::read_dir(task.unwrap().path())
                .unwrap()
                .map(|file| file.unwrap().path())
                .collect();
            files.sort();
            for file in files {
                all.extend(fs::read(file).unwrap());
            }
        }
        all
    }
}

/// Spearman's, of places that stand in the order in which their owners came.
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
