//! Two analysers over one database, whose server is lost while two shufflers send to them.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::nodes::AtEnd;
use hushbin_tests::postgres::Pair;
use hushbin_tests::uploads::Uploads;

/// Reports per batch of a shuffler.
const BATCH: u64 = 40;

/// Sends whole batches until stopped. Returns the acknowledged uploads.
fn send(world: &World, address: SocketAddr, seed: u64, stop: &AtomicBool) -> Vec<Upload> {
    let mut uploads = Uploads::new(&world.task, seed);
    let mut sealer = world.sealer(address, seed);
    let mut client = Client::connect(address).unwrap();
    let mut sent = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let upload = uploads.make(BATCH as usize);
        let bytes = world.seal(&mut sealer, &upload);
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
        sent.push(upload);
        // The rate is below that of the shufflers, so that little remains at the end.
        thread::sleep(Duration::from_millis(10));
    }
    sent
}

#[test]
fn analysers_share_what_shufflers_send_and_lose_nothing_with_the_primary() {
    let pair = Pair::start(&[]);
    let mut world = World::new();
    world.store = Some(pair.database());
    let addresses = [world.analyser, free()];
    let analysers = addresses.map(|address| world.analyser_at(address, &["sealing.pem"], &[]));
    let shufflers = [0, 1].map(|own| {
        let data = ["shuffled", "shuffled-too"][own];
        world.shuffler_to(addresses[own], data, BATCH, &[])
    });
    let token = world.token("analysed");
    let stop = AtomicBool::new(false);
    let sent = thread::scope(|scope| {
        let ended = AtEnd(&stop);
        let sending = [0, 1].map(|own| {
            let (world, stop, address) = (&world, &stop, shufflers[own].1);
            scope.spawn(move || send(world, address, own as u64, stop))
        });
        let reports = || {
            let said = ask(addresses[1], &token, "GET /tasks/settings/batches").1;
            let batches = said["batches"].as_array().cloned().unwrap_or_default();
            let reports = batches
                .iter()
                .map(|batch| batch["reports"].as_u64().unwrap());
            reports.sum::<u64>()
        };
        let wait = |reports_at_least: u64| until(|| reports() >= reports_at_least);
        wait(4 * BATCH);
        pair.primary.kill();
        pair.standby.promote();
        wait(8 * BATCH);
        drop(ended);
        sending.map(|own| own.join().unwrap()).concat()
    });
    // The estimates include everything that pages sent, whichever analyser received it.
    let expected = expected(&world.task, &sent);
    assert_eq!(world.estimates(sent.len() as u64 * BATCH), expected);
    let other = ask(addresses[1], &token, "GET /tasks/settings/estimates").1;
    assert_eq!(other, expected);
    drop((shufflers, analysers));
}
