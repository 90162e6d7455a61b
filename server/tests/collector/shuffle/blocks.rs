//! Blocks of a shuffled batch of messages: what a shuffler states of them, and uploads that differ
//! in length.

use std::io;

use data_encoding::{BASE64, HEXLOWER};
use hushbin::sums::{Message, SumRandomizer, SumTask, SumTaskDraft};
use hushbin_analysis::sums::{SumTotals, resolve_sum_draft};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::signature::{Ed25519KeyPair, KeyPair};
use sha2::{Digest, Sha256};

use super::*;
use crate::formats::copy;
use crate::operate::metrics::values;

const OPTIONS: usize = 4;

/// A choice of four options. A person sends one message of the answer, and perhaps noise.
fn theme() -> SumTask {
    let draft = serde_json::json!({
        "id": "settings", "trust": "shuffler", "epsilon": 4.0, "delta": 1e-6, "people": 60,
        "questions": [{ "name": "theme", "kind": "choice", "options": OPTIONS }],
    });
    let draft: SumTaskDraft = serde_json::from_value(draft).unwrap();
    let task = resolve_sum_draft(&draft).unwrap();
    assert_eq!(*task.message_count_range().start(), 1);
    assert!(*task.message_count_range().end() > 1);
    task
}

/// A group of messages that are sealed to one key, as a shuffler has it.
struct Group {
    people: u64,
    sealed: Vec<Vec<u8>>,
    totals: SumTotals,
    /// Number of messages about each option.
    counts: [u64; OPTIONS],
}

impl Group {
    fn new(task: &SumTask, key: &[u8], people: u64, seed: u64) -> Self {
        let mut group = Self {
            people,
            sealed: Vec::new(),
            totals: SumTotals::new(task),
            counts: [0; OPTIONS],
        };
        group.totals.add_people(people);
        let (mut randomizer, mut messages) = (SumRandomizer::new(task), Vec::new());
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut sealer = Sealer::new(key, seed);
        for person in 0..people {
            let answer = [(person % 3) as f64];
            randomizer
                .randomize(&answer, &mut rng, &mut messages)
                .unwrap();
            for message in &messages {
                let Message::Cell(cell) = *message else {
                    panic!("a blank message")
                };
                group.counts[cell as usize] += 1;
                group.totals.add_message(*message);
                let mut bytes = Vec::new();
                message.encode(&mut bytes);
                group.sealed.push(sealer.seal(&bytes));
            }
        }
        group.sealed.sort();
        group
    }

    fn len(&self) -> u64 {
        self.sealed.len() as u64
    }

    /// Block of the messages in a range, with the statement that is true.
    fn block(&self, task: &SumTask, range: std::ops::Range<u64>) -> Vec<u8> {
        let stated = [self.people, self.len(), range.start];
        let messages = &self.sealed[range.start as usize..range.end as usize];
        block(task, stated, messages)
    }
}

/// Block of these messages. `stated` has the numbers of people, of messages, and of messages in
/// earlier blocks.
fn block(task: &SumTask, stated: [u64; 3], messages: &[Vec<u8>]) -> Vec<u8> {
    block_of_batch(UploadId([5; 16]), &task.fingerprint(), stated, messages)
}

/// Block of these reports or messages, from the shuffled batch `id`.
pub(super) fn block_of_batch(
    id: UploadId,
    fingerprint: &hushbin::Fingerprint,
    stated: [u64; 3],
    messages: &[Vec<u8>],
) -> Vec<u8> {
    let upload = EncodedUpload {
        id,
        report_count: messages.len() as u32,
        encoded_reports: &messages.concat(),
    };
    let upload = sealed::encode_upload(&upload, fingerprint);
    [stated.map(u64::to_le_bytes).concat(), upload].concat()
}

/// Sends a block to the analyser, signed by the shuffler. Fails if the analyser is killed.
fn send(world: &World, block: &[u8]) -> io::Result<(u16, Value)> {
    send_signed(world, "shuffler.pem", block)
}

/// Sends a block that is signed with the key of this name.
pub(super) fn send_signed(world: &World, key: &str, block: &[u8]) -> io::Result<(u16, Value)> {
    let pem = fs::read_to_string(world.path(key)).unwrap();
    let lines: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let pkcs8 = BASE64.decode(lines.as_bytes()).unwrap();
    let pair = Ed25519KeyPair::from_seed_unchecked(pkcs8.last_chunk::<32>().unwrap()).unwrap();
    let id = HEXLOWER.encode(&Sha256::digest(pair.public_key().as_ref())[..8]);
    let signature = pair.sign(&[b"hushbin block\0", block].concat());
    let signature = format!("{id}:{}", HEXLOWER.encode(signature.as_ref()));
    let head = format!(
        "POST /tasks/settings/blocks HTTP/1.1\r\nhost: {}\r\nhushbin-signature: {signature}\r\n\
         content-length: {}\r\n\r\n",
        world.analyser,
        block.len()
    );
    let mut client = Client::connect(world.analyser)?;
    client.write(&[head.as_bytes(), block].concat())?;
    let (status, body) = client.read()?;
    Ok((status, serde_json::from_slice(&body).unwrap()))
}

#[track_caller]
fn send_as(world: &World, block: &[u8], expected: u16) -> Value {
    let (status, body) = send(world, block).unwrap();
    assert_eq!(status, expected, "{body}");
    body
}

fn open_reports(world: &World, token: &str) -> Value {
    let (_, batches) = ask(world.analyser, token, "GET /tasks/settings/batches");
    let open = batches["batches"].as_array().unwrap().last().unwrap();
    assert_eq!(open["state"], "open");
    open["reports"].clone()
}

/// The analyser is killed between two blocks. It counts the first one once, and keeps the batch
/// open for the second one.
fn check_cut(world: &World) {
    let task = theme();
    let mut analyser = world.analyser();
    let token = world.token("analysed");
    let key = world.keys(world.analyser).remove(0);
    let group = Group::new(&task, &key, 2 * task.min_people(), 1);
    let cut = group.len() * 3 / 4;
    let first = group.block(&task, 0..cut);
    for _ in 0..2 {
        send_as(world, &first, 200);
        send_as(world, &first, 200);
        assert_eq!(
            open_reports(world, &token),
            group.people * cut / group.len()
        );
        // There are enough people, but not all messages of them.
        let (status, refused) = ask(world.analyser, &token, "POST /tasks/settings/batches");
        assert_eq!(status, 409, "{refused}");
        assert_eq!(refused["type"], "urn:hushbin:problem:batch-incomplete");
        analyser.kill();
        analyser = world.analyser();
    }
    send_as(world, &group.block(&task, cut..group.len()), 200);
    assert_eq!(open_reports(world, &token), group.people);
    let found = world.estimates(group.people);
    assert_eq!(found, sums::expected(&task, &group.totals));
    assert_eq!(
        [&found["people"], &found["messages"]],
        [group.people, group.len()]
    );
    // Each person has one own message, and the noise is known.
    let noise = (group.len() - group.people) as f64 / OPTIONS as f64;
    for (own, count) in found["estimates"]
        .as_array()
        .unwrap()
        .iter()
        .zip(group.counts)
    {
        let estimate = own["sum"]["estimate"].as_f64().unwrap();
        assert!((estimate - (count as f64 - noise)).abs() < 1e-9, "{own}");
    }
    // A retry after the release counts nothing, either.
    send_as(world, &first, 200);
    assert_eq!(open_reports(world, &token), 0);
    let mut client = Client::connect(world.analyser).unwrap();
    let metrics = String::from_utf8(client.get("/metrics").unwrap().1).unwrap();
    assert!(
        metrics.contains("hushbin_shuffled_batches_split_total 0\n"),
        "{metrics}"
    );
    drop(analyser);
}

#[test]
fn a_batch_is_not_cut_between_two_blocks() {
    check_cut(&sums::with_task(World::new(), &theme()));
}

#[test]
fn a_batch_in_a_database_is_not_cut_between_two_blocks() {
    check_cut(&sums::with_task(World::over_databases(), &theme()));
}

/// The analyser loses a block that it has acknowledged. It refuses the blocks after that one, so the
/// shuffler sends all blocks again.
#[test]
fn a_lost_block_is_sent_again() {
    let task = theme();
    let world = sums::with_task(World::new(), &task);
    let analyser = world.analyser();
    let token = world.token("analysed");
    let key = world.keys(world.analyser).remove(0);
    let group = Group::new(&task, &key, 2 * task.min_people(), 1);
    let blocks = [0..30, 30..60, 60..group.len()].map(|range| group.block(&task, range));
    send_as(&world, &blocks[0], 200);
    analyser.kill();
    let [data, earlier] = ["analysed", "earlier"].map(|name| world.path(name));
    copy(&data, &earlier);
    let analyser = world.analyser();
    send_as(&world, &blocks[1], 200);
    analyser.kill();
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&earlier, &data).unwrap();

    let _analyser = world.analyser();
    let counted = open_reports(&world, &token);
    let refused = send_as(&world, &blocks[2], 400);
    assert_eq!(refused["type"], "urn:hushbin:problem:invalid-block");
    let said = refused["detail"].as_str().unwrap();
    assert!(said.contains("send them again from the first"), "{said}");
    assert_eq!(open_reports(&world, &token), counted);
    blocks
        .iter()
        .for_each(|own| drop(send_as(&world, own, 200)));
    assert_eq!(
        world.estimates(group.people),
        sums::expected(&task, &group.totals)
    );
}

/// A shuffler is trusted for the number of people, but not to contradict itself.
#[test]
fn a_block_that_cannot_be_true_is_refused() {
    let task = theme();
    let world = sums::with_task(World::new(), &task);
    world.create_key("newer", "sealing");
    let _analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    let token = world.token("analysed");
    let [key, other] = world.keys(world.analyser).try_into().unwrap();
    let group = Group::new(&task, &key, 100, 1);
    let (people, all, cut) = (group.people, group.len(), 50);
    let most = u64::from(*task.message_count_range().end());
    let refuse = |block: &[u8], detail: &str| {
        let refused = send_as(&world, block, 400);
        assert_eq!(refused["type"], "urn:hushbin:problem:invalid-block");
        let said = refused["detail"].as_str().unwrap();
        assert!(said.contains(detail), "{said}");
    };
    let begin = &group.sealed[..cut];
    refuse(
        &block(&task, [all + 1, all, 0], begin),
        "people, expected 1 to",
    );
    refuse(
        &block(&task, [1, most + 1, 0], begin),
        "people, expected 1 to",
    );
    refuse(
        &block(&task, [people, all, all - 49], begin),
        "more reports than",
    );
    let mixed = [&begin[..1], &Group::new(&task, &other, 1, 2).sealed[..1]].concat();
    refuse(&block(&task, [people, all, 0], &mixed), "several keys");
    let short = send_as(&world, &[0; 23], 400);
    assert_eq!(short["type"], "urn:hushbin:problem:bad-request");
    assert_eq!(open_reports(&world, &token), 0);

    send_as(&world, &group.block(&task, 0..cut as u64), 200);
    let counted = open_reports(&world, &token);
    let rest = &group.sealed[cut..];
    for stated in [
        [people - 1, all, cut as u64],
        [people, all + 1, cut as u64],
        // The last message of the first block is stated again.
        [people, all, cut as u64 - 1],
    ] {
        refuse(&block(&task, stated, rest), "contradicts an earlier block");
    }
    refuse(
        &block(&task, [people, all, 0], &group.sealed[..cut - 1]),
        "contradicts an earlier block",
    );
    assert_eq!(open_reports(&world, &token), counted);
    send_as(&world, &group.block(&task, cut as u64..all), 200);
    assert_eq!(
        world.estimates(people),
        sums::expected(&task, &group.totals)
    );
}

/// Some people send messages that cannot be opened, or that repeat those of honest people. The
/// shuffler counts them as people. Estimates allow for the missing messages.
fn check_left_out(world: &World) {
    let task = theme();
    let _analyser = world.analyser();
    let token = world.token("analysed");
    let key = world.keys(world.analyser).remove(0);
    let group = Group::new(&task, &key, 2 * task.min_people(), 1);
    let noise = group.len() - group.people;
    // The messages of the dishonest people outnumber all noise.
    let dishonest = 2 * (noise / 2 + 10);
    let mut messages = group.sealed.clone();
    for (number, message) in (0..dishonest).zip(&group.sealed) {
        let mut bytes = message.clone();
        if number % 2 == 0 {
            *bytes.last_mut().unwrap() ^= 1;
        }
        messages.push(bytes);
    }
    messages.sort();
    let all = messages.len() as u64;
    let (stated, cut) = (group.people + dishonest, 50);
    for _ in 0..2 {
        let (first, second) = messages.split_at(cut);
        send_as(world, &block(&task, [stated, all, 0], first), 200);
        send_as(world, &block(&task, [stated, all, cut as u64], second), 200);
    }
    let mut totals = group.totals.clone();
    totals.add_people(dishonest);
    totals.add_left_out_messages(dishonest);
    let found = world.estimates(stated);
    assert_eq!(found, sums::expected(&task, &totals));
    assert_eq!(found["missing_messages"], dishonest);
    assert_eq!(
        [&found["people"], &found["messages"]],
        [stated, group.len()]
    );
    let own = |option: u64| (0..group.people).filter(|own| own % 3 == option).count() as f64;
    for (option, found) in (0..).zip(found["estimates"].as_array().unwrap()) {
        let [low, high] = [0, 1].map(|end| found["sum"]["simultaneous_interval"][end].as_f64());
        let inside = low.unwrap() <= own(option) && own(option) <= high.unwrap();
        assert!(inside, "{option}: {found}");
    }
    // The retries of the blocks count nothing.
    let metrics = values(&mut Client::connect(world.analyser).unwrap());
    for name in ["undecryptable", "repeated"] {
        let count = metrics[&format!("hushbin_reports_{name}_total")];
        assert_eq!(count, (dishonest / 2) as f64, "{name}");
    }
    let (_, privacy) = ask(world.analyser, &token, "GET /tasks/settings/privacy");
    assert_eq!(privacy["smallest_batch_suffices"], true, "{privacy}");
    assert_eq!(privacy["people"], stated);
}

#[test]
fn messages_that_are_left_out_widen_intervals() {
    check_left_out(&sums::with_task(World::new(), &theme()));
}

#[test]
fn messages_that_are_left_out_widen_intervals_in_databases() {
    check_left_out(&sums::with_task(World::over_databases(), &theme()));
}

/// One page sends its message again and again, each time under a new upload id. The shuffler cannot
/// know that. The analyser does, and claims no crowd.
#[test]
fn repeated_messages_are_no_crowd() {
    let task = theme();
    let world = sums::with_task(World::new(), &task);
    let _analyser = world.analyser();
    let token = world.token("analysed");
    let key = world.keys(world.analyser).remove(0);
    let group = Group::new(&task, &key, 10, 1);
    assert!(group.len() < task.min_people());
    let mut messages = group.sealed.clone();
    messages.resize(300, group.sealed[0].clone());
    messages.sort();
    let stated = 10 + 300 - group.len();
    send_as(&world, &block(&task, [stated, 300, 0], &messages), 200);
    assert_eq!(
        world.estimates(stated)["missing_messages"],
        300 - group.len()
    );
    let (_, privacy) = ask(world.analyser, &token, "GET /tasks/settings/privacy");
    assert_eq!(privacy["smallest_batch"], group.len(), "{privacy}");
    assert_eq!(privacy["smallest_batch_suffices"], false, "{privacy}");
}

/// Uploads of different lengths, sealed to two keys that enough people used.
#[test]
fn uploads_of_different_lengths_are_counted_as_people() {
    let task = theme();
    let (people, each) = (task.min_people(), *task.message_count_range().end());
    let world = sums::with_task(World::new(), &task);
    world.create_key("newer", "sealing");
    let _analyser = world.analyser_of(&["newer.pem", "sealing.pem"]);
    let (_shuffler, address) = world.shuffler(2 * people * u64::from(each));
    let [newer, older] = world.keys(address).try_into().unwrap();

    let (mut own, mut others) = (Sealer::new(&newer, 1), Sealer::new(&older, 2));
    let mut client = Client::connect(address).unwrap();
    let mut refuse = |bytes: &[u8], problem: &str| {
        let (status, body) = client.post("settings", bytes).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (status, body["type"].as_str()),
            (400, Some(problem)),
            "{body}"
        );
    };
    for count in [0, each as usize + 1] {
        let bytes = sums::upload(&task, &mut own, 1, &vec![Message::Cell(0); count]);
        let problem = match count {
            0 => "urn:hushbin:problem:malformed-upload",
            _ => "urn:hushbin:problem:message-count",
        };
        refuse(&bytes, problem);
    }
    let mut bytes = sums::upload(&task, &mut own, 1, &[Message::Cell(0); 2]);
    let others = sums::upload(&task, &mut others, 1, &[Message::Cell(0)]);
    let sealed = others.len() - 34;
    let at = bytes.len() - sealed;
    bytes[at..].copy_from_slice(&others[34..]);
    refuse(&bytes, "urn:hushbin:problem:malformed-upload");

    let mut totals = sums::send(&task, address, &older, 0..people);
    totals.merge(&sums::send(&task, address, &newer, people..2 * people));
    let found = world.estimates(2 * people);
    assert_eq!(found, sums::expected(&task, &totals));
    let messages = found["messages"].as_u64().unwrap();
    assert!((2 * people + 1..2 * people * u64::from(each)).contains(&messages));
    let token = world.token("analysed");
    let (_, privacy) = ask(world.analyser, &token, "GET /tasks/settings/privacy");
    assert_eq!(privacy["smallest_batch"], people, "{privacy}");
    assert_eq!(privacy["smallest_batch_suffices"], true, "{privacy}");
}
