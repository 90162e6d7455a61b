//! Sealed reports through a relay: even the shuffler does not know the sender.

use hushbin_tests::oblivious::{Asker, message};
use hushbin_tests::uploads::Uploads;

use super::*;
use crate::ohttp::{GATEWAY, post, relay};

#[test]
fn a_page_reaches_a_shuffler_through_a_relay_alone() {
    let world = World::new();
    let analyser = world.analyser();
    world.create_key("ohttp", "sealing");
    let key = world.text("ohttp.pem");
    let (shuffler, address) = world.shuffler_of(20, &["--ohttp-key", &key]);
    let (relay, seen) = relay(address);
    // The shuffler has reached its analyser.
    assert_eq!(world.keys(address).len(), 1);

    let (_, configurations) = Client::connect(address).unwrap().get(GATEWAY).unwrap();
    let mut asker = Asker::new(&configurations[2..], 1);
    let mut page = Client::connect(relay).unwrap();
    let mut ask = |method: &str, path: &str, body: &[u8]| {
        let (sealed, waiting) = asker.seal(&message(method, "s.example", path, &[], body));
        let (status, answer) = post(&mut page, relay, &sealed);
        assert_eq!(status, 200);
        waiting.read(&answer)
    };
    let keys: Value =
        serde_json::from_slice(&ask("GET", "/tasks/settings/keys", b"").content).unwrap();
    let mut sealer = Sealer::new(&from_hex(keys["keys"][0].as_str().unwrap()), 1);
    let mut uploads = Uploads::new(&world.task, 1);
    let made: Vec<Upload> = (0..20).map(|_| uploads.make(1)).collect();
    for upload in &made {
        let bytes = world.seal(&mut sealer, upload);
        for status in [201, 200] {
            let answer = ask("POST", "/tasks/settings/reports", &bytes);
            assert_eq!(answer.status, status);
        }
        let pieces = seen.pieces();
        assert!(!pieces.iter().any(|piece| holds(piece, &upload.id.0)));
        assert!(!pieces.iter().any(|piece| holds(piece, &bytes[40..72])));
    }
    assert_eq!(world.estimates(20), expected(&world.task, &made));
    drop((shuffler, analyser));
}
