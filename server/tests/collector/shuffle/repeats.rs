//! Reports that are sent more than once, to make one person visible in the estimates.

use super::blocks::{block_of_batch, send_signed};
use super::*;
use crate::operate::metrics::values;

/// Reports of a batch. Half of them repeat one person's report.
const BATCH: usize = 200;

/// Sends the report of `victim` in half of the uploads of a batch, each under a new upload id.
/// Returns the other half of the uploads.
fn send_batch(world: &World, address: SocketAddr, victim: &[u8], seed: u8) -> Vec<Upload> {
    let mut sealer = world.sealer(address, seed.into());
    let mut uploads = Uploads::new(&world.task, seed.into());
    let made: Vec<Upload> = (0..BATCH / 2).map(|_| uploads.make(1)).collect();
    let mut client = Client::connect(address).unwrap();
    let mut post = |bytes: &[u8]| assert_eq!(client.post("settings", bytes).unwrap().0, 201);
    for (number, upload) in (0..).zip(&made) {
        post(&world.seal(&mut sealer, upload));
        let mut id = [seed; 16];
        id[0] = number;
        post(&world.sealed(UploadId(id), 1, victim));
    }
    made
}

/// Sends four batches with repeats of one report: in one batch, in several, by two shufflers, and
/// after a restart of the analyser. The estimates must be as if the report had come once.
fn check_repeats(world: &World) {
    world.create_key("second", "signing");
    let second_key = world.text("second.pub");
    let start = || {
        let shufflers = ["--shuffler-key", &second_key];
        world.analyser_at(world.analyser, &["sealing.pem"], &shufflers)
    };
    let analyser = start();
    let (_first, first) = world.shuffler(BATCH as u64);
    // The second shuffler signs with its own key.
    let kept = fs::read(world.path("shuffler.pem")).unwrap();
    fs::copy(world.path("second.pem"), world.path("shuffler.pem")).unwrap();
    let (_second, second) = world.shuffler_to(world.analyser, "shuffled-2", BATCH as u64, &[]);
    fs::write(world.path("shuffler.pem"), kept).unwrap();

    let own = Uploads::new(&world.task, 99).make(1);
    let victim = world.seal(&mut world.sealer(first, 99), &own)[34..].to_vec();
    let mut counted = vec![own];
    let repeated = || {
        let found = values(&mut Client::connect(world.analyser).unwrap());
        found["hushbin_reports_repeated_total"]
    };
    let mut check = |address, seed| {
        counted.extend(send_batch(world, address, &victim, seed));
        let expected = expected(&world.task, &counted);
        assert_eq!(world.estimates(counted.len() as u64), expected);
    };
    check(first, 1);
    assert_eq!(repeated(), 99.0);
    check(first, 2);
    assert_eq!(repeated(), 199.0);
    check(second, 3);
    assert_eq!(repeated(), 299.0);
    analyser.kill();
    let _analyser = start();
    check(second, 4);
    assert_eq!(repeated(), 100.0);
}

#[test]
fn repeated_reports_change_no_estimate() {
    check_repeats(&World::new());
}

#[test]
fn repeated_reports_change_no_estimate_in_databases() {
    check_repeats(&World::over_databases());
}

#[test]
fn repeats_in_an_open_batch_are_left_out() {
    let world = World::new();
    let _analyser = world.analyser();
    let (_shuffler, address) = world.shuffler(BATCH as u64);
    let own = Uploads::new(&world.task, 99).make(1);
    let victim = world.seal(&mut world.sealer(address, 99), &own)[34..].to_vec();
    let mut counted = vec![own];
    for seed in [1, 2] {
        counted.extend(send_batch(&world, address, &victim, seed));
    }
    let expected = expected(&world.task, &counted);
    assert_eq!(world.estimates(counted.len() as u64), expected);
}

/// A block that is sent again is no repeat, unlike the same reports from another shuffler or batch.
/// What a block omits is counted once, however often it is sent.
fn check_replays(world: &World) {
    world.create_key("second", "signing");
    let second_key = world.text("second.pub");
    let start = || {
        let shufflers = ["--shuffler-key", &second_key];
        world.analyser_at(world.analyser, &["sealing.pem"], &shufflers)
    };
    let analyser = start();
    let mut sealer = world.sealer(world.analyser, 1);
    let upload = Uploads::new(&world.task, 1).make(5);
    let reports = upload.reports.iter();
    let mut sealed: Vec<Vec<u8>> = reports.map(|own| sealer.seal(&encoded(own))).collect();
    let batch = |id: u8, reports: &[Vec<u8>]| {
        let count = reports.len() as u64;
        let fingerprint = world.task.fingerprint();
        block_of_batch(UploadId([id; 16]), &fingerprint, [count, count, 0], reports)
    };
    let first = batch(1, &sealed);
    // The second shuffler sends one report more, which its key does not open.
    let mut broken = sealed[0].clone();
    *broken.last_mut().unwrap() ^= 1;
    sealed.push(broken);
    let [second, third] = [2, 3].map(|id| batch(id, &sealed));
    let check = |key: &str, block: &[u8], repeated: u32, unopenable: u32| {
        let (status, answer) = send_signed(world, key, block).unwrap();
        assert_eq!(status, 200, "{answer}");
        let found = values(&mut Client::connect(world.analyser).unwrap());
        let found = ["repeated", "undecryptable"]
            .map(|name| found[&format!("hushbin_reports_{name}_total")]);
        assert_eq!(found, [repeated, unopenable].map(f64::from));
    };
    check("shuffler.pem", &first, 0, 0);
    check("shuffler.pem", &first, 0, 0);
    check("second.pem", &second, 5, 1);
    check("second.pem", &second, 5, 1);
    assert_eq!(world.estimates(5), expected(&world.task, [&upload]));
    check("second.pem", &third, 10, 2);
    check("second.pem", &third, 10, 2);
    analyser.kill();
    let _analyser = start();
    // The stored origin shows that the first block was counted.
    check("shuffler.pem", &first, 0, 0);
    check("second.pem", &third, 5, 1);
    assert_eq!(world.estimates(5), expected(&world.task, [&upload]));
}

#[test]
fn replayed_blocks_are_counted_as_repeats() {
    check_replays(&World::new());
}

#[test]
fn replayed_blocks_are_counted_as_repeats_in_databases() {
    check_replays(&World::over_databases());
}
