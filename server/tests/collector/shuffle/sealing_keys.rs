//! Reports whose sealing key the analyser lacks, or does not list.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::*;
use crate::operate::metrics::values;

/// Has a shuffler send 10 reports to an analyser that lacks their key. Returns the reports, the id
/// of the key, and the shuffler, once the analyser has refused the batch.
fn refused_batch(world: &World) -> (Upload, String, (Collector, SocketAddr)) {
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(10);
    let key_id = HEXLOWER.encode(&Sha256::digest(&world.keys(address)[0])[..4]);
    let mut sealer = world.sealer(address, 1);
    analyser.kill();
    let upload = Uploads::new(&world.task, 1).make(10);
    let bytes = world.seal(&mut sealer, &upload);
    let mut client = Client::connect(address).unwrap();
    assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
    world.create_key("newer", "sealing");
    let analyser = world.analyser_of(&["newer.pem"]);
    let refusals = "hushbin_problems_total{problem=\"missing-sealing-key\"}";
    let found = || values(&mut Client::connect(world.analyser).unwrap());
    until(|| found().contains_key(refusals));
    // Nothing was opened, and nothing was left out.
    assert_eq!(found()["hushbin_reports_undecryptable_total"], 0.0);
    analyser.kill();
    let token = world.token("shuffled");
    let (_, batches) = ask(address, &token, "GET /tasks/settings/batches");
    assert_eq!(batches["batches"][0]["reports_kept"], true, "{batches}");
    (upload, key_id, (shuffler, address))
}

/// The key is missing for a while. The shuffler keeps the batch also over its own restart.
fn check_lost_key(world: &World) {
    let (upload, _, (shuffler, _)) = refused_batch(world);
    shuffler.kill();
    let (_shuffler, _) = world.shuffler(10);
    let _analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    assert_eq!(world.estimates(10), expected(&world.task, [&upload]));
}

#[test]
fn an_analyser_without_a_key_loses_no_report() {
    check_lost_key(&World::new());
}

#[test]
fn an_analyser_without_a_key_loses_no_report_in_databases() {
    check_lost_key(&World::over_databases());
}

/// A batch whose key is missing waits. Later batches do not wait behind it.
#[test]
fn a_batch_without_a_key_does_not_delay_later_ones() {
    let world = World::new();
    let (first, _, (_shuffler, address)) = refused_batch(&world);
    let analyser = world.analyser_of(&["newer.pem"]);
    let second = Uploads::new(&world.task, 2).make(10);
    let bytes = world.seal(&mut world.sealer(world.analyser, 2), &second);
    world.post_once_listed(address, &bytes);
    assert_eq!(world.estimates(10), expected(&world.task, [&second]));
    let token = world.token("shuffled");
    let (_, batches) = ask(address, &token, "GET /tasks/settings/batches");
    assert_eq!(batches["batches"][0]["reports_kept"], true, "{batches}");
    analyser.kill();
    let _analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    assert_eq!(
        world.estimates(20),
        expected(&world.task, [&first, &second])
    );
}

/// An operator gives up a lost key. Other reports are then counted.
#[test]
fn reports_to_a_lost_key_are_left_out_only_if_the_operator_says_so() {
    let world = World::new();
    let (_, lost, (_shuffler, address)) = refused_batch(&world);
    let words = ["--lost-sealing-key", &lost];
    let _analyser = world.analyser_at(world.analyser, &["newer.pem"], &words);
    let found = || values(&mut Client::connect(world.analyser).unwrap());
    until(|| found()["hushbin_reports_undecryptable_total"] == 10.0);
    let mut sealer = world.sealer(world.analyser, 2);
    let upload = Uploads::new(&world.task, 2).make(10);
    let bytes = world.seal(&mut sealer, &upload);
    world.post_once_listed(address, &bytes);
    assert_eq!(world.estimates(10), expected(&world.task, [&upload]));
}

#[test]
fn a_shuffler_refuses_reports_to_keys_that_its_analyser_does_not_list() {
    let world = World::new();
    let _analyser = world.analyser();
    let (_shuffler, address) = world.shuffler(10);
    let upload = Uploads::new(&world.task, 1).make(2);
    let mut bytes = world.seal(&mut world.sealer(address, 1), &upload);
    let length = (bytes.len() - 34) / 2;
    // The second report names another key.
    bytes[34 + length] ^= 1;
    let id = HEXLOWER.encode(&bytes[34 + length..][..4]);
    let mut client = Client::connect(address).unwrap();
    let (status, body) = client.post("settings", &bytes).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 503, "{body}");
    assert_eq!(body["type"], "urn:hushbin:problem:unlisted-sealing-key");
    assert_eq!(body["key_id"], id);
    let token = world.token("shuffled");
    let (_, batches) = ask(address, &token, "GET /tasks/settings/batches");
    assert_eq!(batches["batches"][0]["reports"], 0, "{batches}");
}
