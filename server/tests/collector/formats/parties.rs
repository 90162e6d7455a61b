//! Data of a shuffler and an analyser: sealed reports, shuffled reports, and sums.

use hushbin_analysis::sums::SumTotals;
use hushbin_tests::process::Client;
use hushbin_tests::uploads::Uploads;

use super::*;
use crate::nodes::until;
use crate::shuffle::{self, World, sums};

/// The first ten uploads are sent on, four wait, and the remaining ones come later.
fn people(world: &World) -> Vec<Upload> {
    let mut uploads = Uploads::new(&world.task, 1);
    (0..20).map(|_| uploads.make(1)).collect()
}

fn send(world: &World, address: SocketAddr, uploads: &[Upload], expected: u16) {
    let mut sealer = world.sealer(address, uploads[0].id.0[0].into());
    let mut client = Client::connect(address).unwrap();
    for upload in uploads {
        let bytes = world.seal(&mut sealer, upload);
        let (status, said) = client.post("settings", &bytes).unwrap();
        assert_eq!(status, expected, "{}", String::from_utf8_lossy(&said));
    }
}

/// Waits until the shuffler knows that the analyser has all batches except the open one.
fn wait_until_sent(world: &World, address: SocketAddr) {
    let token = world.token("shuffled");
    until(|| {
        let (_, said) = shuffle::ask(address, &token, "GET /tasks/settings/batches");
        let batches = said["batches"].as_array().unwrap().clone();
        let gone = |own: &Value| own["state"] == "open" || own["reports_kept"] == false;
        batches.iter().all(gone)
    });
}

/// Writes an analyser with shuffled reports and sums, and a shuffler with waiting reports.
pub(super) fn write(fixture: &Fixture) {
    let world = World::new();
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(10);
    send(&world, address, &people(&world)[..14], 201);
    let found = world.estimates(10);
    wait_until_sent(&world, address);
    drop((shuffler, analyser));
    keep(&world, fixture, "parties", &found);

    let task = sums::sums_of(20);
    let world = sums::world(&task);
    let analyser = world.analyser();
    let (shuffler, address) = world.shuffler(1);
    let key = world.keys(address).remove(0);
    sums::send(&task, address, &key, 0..20);
    let found = world.estimates(20);
    wait_until_sent(&world, address);
    drop((shuffler, analyser));
    keep(&world, fixture, "sums", &found);
}

fn keep(world: &World, fixture: &Fixture, name: &str, answer: &Value) {
    let to = fixture.path(name);
    fs::create_dir(&to).unwrap();
    copy(&world.path(""), &to);
    write_lines(&to.join("answer.json"), answer);
}

#[test]
fn a_shuffler_and_an_analyser_go_on() {
    for fixture in all() {
        let world = World::over(fixture.copy("parties"));
        let recorded = fixture.json("parties/answer.json");
        let all = people(&world);
        assert_eq!(recorded, shuffle::expected(&world.task, &all[..10]));
        let analyser = world.analyser();
        let (shuffler, address) = world.shuffler(10);
        assert_eq!(world.estimates(10), recorded);
        // Acknowledged uploads that were sent on are still known.
        send(&world, address, &all[..10], 200);
        send(&world, address, &all[14..], 201);
        assert_eq!(world.estimates(20), shuffle::expected(&world.task, &all));
        wait_until_sent(&world, address);
        drop((shuffler, analyser));
        for name in ["analysed", "shuffled"] {
            let [task] = &frozen::read(&world.path(name))[..] else {
                panic!("one task")
            };
            let reports: u64 = task.batches.values().map(|own| own.reports).sum();
            assert_eq!(reports, 20, "{name}");
            // The fixture's analyser stored a block of ten reports as one upload. An analyser now
            // stores each report under an id.
            let ids = if name == "shuffled" { 20 } else { 1 + 10 };
            assert_eq!(task.ids.len(), ids);
        }
    }
}

#[test]
fn sums_go_on() {
    for fixture in all() {
        let world = World::over(fixture.copy("sums"));
        let text = fs::read(world.path("task.json")).unwrap();
        let task: hushbin::sums::SumTask = serde_json::from_slice(&text).unwrap();
        let analyser = world.analyser();
        let (shuffler, address) = world.shuffler(1);
        let recorded = fixture.json("sums/answer.json");
        assert_eq!(world.estimates(20), recorded);
        let key = world.keys(address).remove(0);
        sums::send(&task, address, &key, 20..40);
        let found = world.estimates(40);
        assert_eq!(found["people"], 40);
        drop((shuffler, analyser));
        // Counts of both versions are kept, and add up.
        let [own] = &frozen::read(&world.path("analysed"))[..] else {
            panic!("one task")
        };
        let mut totals = SumTotals::new(&task);
        for batch in own.batches.values().filter(|own| own.reports > 0) {
            let bytes = batch.totals.as_ref().unwrap();
            // The numbers of reports by origin follow: 28 bytes and a number each.
            let (rest, count) = bytes.split_last_chunk::<8>().unwrap();
            let origins = u64::from_le_bytes(*count) as usize * 36;
            let part = SumTotals::decode(&task, &rest[..rest.len() - origins]).unwrap();
            assert_eq!(part.people_count(), batch.reports);
            assert!(batch.bodies.is_empty());
            totals.merge(&part);
        }
        assert_eq!(found, sums::expected(&task, &totals));
    }
}
