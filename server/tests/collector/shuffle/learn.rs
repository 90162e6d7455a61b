//! What each role could learn, from all that it keeps.

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
