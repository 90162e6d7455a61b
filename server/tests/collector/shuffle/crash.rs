//! kill -9 of either role, and of the database if the journals are in one, many times under load.
//! Every acknowledged report is counted exactly once.
//!
//! `HUSHBIN_SHUFFLE_CRASH_ROUNDS` sets the number of kills.

use std::env;

use super::*;
use hushbin_tests::uploads::Uploads;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Reports per batch of the shuffler.
const BATCH: u64 = 200;

/// A page whose memory outlives the shuffler.
struct Page {
    uploads: Uploads,
    sealer: Sealer,
    acknowledged: Vec<Upload>,
    /// Upload sent at least once without an answer so far, with its exact bytes.
    open: Option<(Upload, Vec<u8>)>,
}

impl Page {
    /// Uploads until the shuffler is killed.
    fn run(&mut self, world: &World, address: SocketAddr) {
        let Ok(mut client) = Client::connect(address) else {
            return;
        };
        loop {
            let (upload, bytes) = self.open.take().unwrap_or_else(|| {
                let upload = self.uploads.make(3);
                let bytes = world.seal(&mut self.sealer, &upload);
                (upload, bytes)
            });
            match client.post("settings", &bytes) {
                Ok((200 | 201, _)) => self.acknowledged.push(upload),
                // The shuffler could not store the upload, for example without its database.
                Ok((503, _)) => {
                    self.open = Some((upload, bytes));
                    thread::sleep(Duration::from_millis(5));
                }
                Ok((status, body)) => panic!("{status}: {}", String::from_utf8_lossy(&body)),
                Err(_) => {
                    self.open = Some((upload, bytes));
                    return;
                }
            }
        }
    }
}

#[test]
fn nothing_is_lost_or_counted_twice_whoever_is_killed() {
    drill(&World::new());
}

#[test]
fn nothing_is_lost_or_counted_twice_whoever_is_killed_database_included() {
    drill(&World::over_databases());
}

fn drill(world: &World) {
    let rounds = env::var("HUSHBIN_SHUFFLE_CRASH_ROUNDS");
    let rounds: u64 = rounds.map_or(8, |text| text.parse().unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut analyser = Some(world.analyser());
    let (mut shuffler, mut address) = world.shuffler(BATCH);
    let mut pages: Vec<Page> = (0..3)
        .map(|seed| Page {
            uploads: Uploads::new(&world.task, seed),
            sealer: world.sealer(address, seed),
            acknowledged: Vec::new(),
            open: None,
        })
        .collect();
    let parties = 2 + world.servers.len() as u32;
    let mut killed = [0; 4];
    for _ in 0..rounds {
        let pause = Duration::from_millis(u64::from(rng.next_u32() % 400));
        let which = rng.next_u32() % parties;
        killed[which as usize] += 1;
        thread::scope(|scope| {
            let running: Vec<_> = pages
                .iter_mut()
                .map(|page| scope.spawn(|| page.run(world, address)))
                .collect();
            thread::sleep(pause);
            if which == 1 {
                drop(analyser.take());
                thread::sleep(pause / 2);
                analyser = Some(world.analyser());
                thread::sleep(pause / 2);
            }
            if let Some((_, server)) = world.servers.get(which.wrapping_sub(2) as usize) {
                server.kill();
                thread::sleep(pause / 2);
                server.go();
                thread::sleep(pause / 2);
            }
            shuffler.kill();
            running.into_iter().for_each(|page| page.join().unwrap());
        });
        (shuffler, address) = world.shuffler(BATCH);
    }
    // Open uploads are resent. Then batches are filled until each acknowledged report is in a
    // closed one.
    // A restarted shuffler takes reports once it has the keys of its analyser.
    world.keys(address);
    let mut client = Client::connect(address).unwrap();
    for page in &mut pages {
        if let Some((upload, bytes)) = page.open.take() {
            let (status, _) = client.post("settings", &bytes).unwrap();
            assert!(matches!(status, 200 | 201), "{status}");
            page.acknowledged.push(upload);
        }
    }
    let token = world.token("shuffled");
    let (_, answer) = ask(address, &token, "GET /tasks/settings/batches");
    let batches = answer["batches"].as_array().unwrap();
    let open = batches.iter().find(|batch| batch["state"] == "open");
    let filled = open.map_or(0, |batch| batch["reports"].as_u64().unwrap());
    if (1..BATCH).contains(&filled) {
        let page = &mut pages[0];
        let upload = page.uploads.make((BATCH - filled) as usize);
        let bytes = world.seal(&mut page.sealer, &upload);
        assert_eq!(client.post("settings", &bytes).unwrap().0, 201);
        page.acknowledged.push(upload);
    }
    let all: Vec<&Upload> = pages.iter().flat_map(|page| &page.acknowledged).collect();
    let reports: usize = all.iter().map(|upload| upload.reports.len()).sum();
    println!(
        "{killed:?} kills of the shuffler alone, with the analyser, with its \
         database and with the analyser's, \
         {reports} reports acknowledged"
    );
    let expected = expected(&world.task, all);
    assert_eq!(world.estimates(reports as u64), expected);
    drop((shuffler, analyser));
}
