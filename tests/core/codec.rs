//! Wire format: encoded data decodes, decoded data is the only encoding, and hostile bytes give
//! typed errors.

use hushbin::hash::HashFamily;
use hushbin::mechanism::BucketReport;
use hushbin::mechanism::Mechanism;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::mechanism::hash_bin::Report as HashBinReport;
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, RandomisedResponse, SumNoiseKind};
use hushbin::upload::{EncodedUpload, upload_header};
use hushbin::{
    Entry, Error, ErrorCode, Items, Randomizer, RatingsTaskFields, Report, Task, TaskDraft, Upload,
    UploadId, ValueKind, bounds, upload,
};
use proptest::prelude::*;
use rand_chacha::rand_core::{CryptoRng, Rng};
use serde_json::{Value, json};

use crate::support::generators::{Scripted, seeded};

fn task_with(items: Items, mechanism: Mechanism) -> Task {
    Task::new(RatingsTaskFields {
        id: "codec".to_owned(),
        items,
        sparsity: 3,
        epsilon: 1.0,
        value: ValueKind::Sign,
        mechanism,
    })
    .unwrap()
}

/// A task with Collision.
fn task(buckets: u32) -> Task {
    let collision = Collision::new(
        FavouredBucketRule::Heaviest { favoured: 1 },
        HashFamily::Balanced,
        buckets,
    );
    task_with(Items::Count(100), Mechanism::Collision(collision.unwrap()))
}

/// A task with CoCo, open if there are many buckets.
fn coco_task(buckets: u32) -> Task {
    let (items, rule) = match buckets {
        ..8 => (
            Items::Count(100),
            coco::FavouredSideRule::Strongest { favoured: 1 },
        ),
        8..1000 => (
            Items::Count(100),
            coco::FavouredSideRule::RandomEntryDecides,
        ),
        _ => (
            serde_json::from_str("\"open\"").unwrap(),
            coco::FavouredSideRule::RandomEntryDecides,
        ),
    };
    let coco = Coco::new(rule, HashFamily::Independent, buckets).unwrap();
    task_with(items, Mechanism::Coco(coco))
}

fn hash_bin_task(level: PrivacyLevel, bins: u32, grid: u32, open: bool) -> Task {
    let (items, hashing) = if open {
        (
            serde_json::from_str("\"open\"").unwrap(),
            HashFamily::Independent,
        )
    } else {
        (Items::Count(100), HashFamily::Balanced)
    };
    let hash_bin = HashBin::new(level, hashing, bins, grid).unwrap();
    task_with(items, Mechanism::HashBin(hash_bin))
}

/// Tasks with signs, with one bin, with several, and with bins whose bounds take one to five bytes.
fn hash_bin_tasks() -> Vec<Task> {
    let user = |noise| PrivacyLevel::User { clip: 2.0, noise };
    let neighbouring = |distance, delta| PrivacyLevel::Neighbouring { distance, delta };
    vec![
        hash_bin_task(user(SumNoiseKind::TwoPoint), 1, 1024, false),
        hash_bin_task(user(SumNoiseKind::Laplace), 1, 1024, true),
        hash_bin_task(PrivacyLevel::Event, 3, 1, false),
        hash_bin_task(PrivacyLevel::Event, 40, 1024, true),
        hash_bin_task(neighbouring(0.5, None), 5, 4, false),
        hash_bin_task(neighbouring(2000.0, Some(1e-6)), 7, 1 << 16, true),
    ]
}

/// A task of 70 numbers, of which `drawn` are drawn, with `atoms` atoms.
fn window_task([drawn, atoms]: [u32; 2]) -> Task {
    let values: Vec<u32> = (1..=atoms / 2).collect();
    numbers_task(
        &json!({ "name": "window", "drawn": drawn, "atoms": atoms, "favoured": 1,
        "values": values }),
    )
}

fn numbers_task(mechanism: &Value) -> Task {
    let mut of = Vec::new();
    for index in 0..70 {
        of.push(json!({ "name": format!("number {index}"), "min": -1.5, "max": index }));
    }
    let task = json!({
        "id": "codec", "epsilon": 1.0,
        "questions": [{
            "name": "numbers", "kind": "numbers", "of": of,
            "mechanism": mechanism,
        }],
    });
    serde_json::from_value(task).unwrap()
}

/// A task with a pattern of `outputs` outputs, whose reports take one or two bytes.
fn pattern_task(outputs: u32) -> Task {
    let task = serde_json::json!({
        "id": "t", "epsilon": 1.0,
        "questions": [{ "name": "q", "kind": "number", "edges": [0.0, 1.0, 2.0],
            "mechanism": { "name": "pattern", "outputs": outputs, "favoured": [0] } }],
    });
    serde_json::from_value(task).unwrap()
}

/// Numbers of drawn attributes and of atoms. Their cells take one or two bytes.
const WINDOWS: [[u32; 2]; 5] = [[1, 2], [1, 127], [7, 2], [1, 129], [12, 2]];

pub(crate) fn tasks() -> Vec<Task> {
    let even = BUCKETS.iter().filter(|buckets| buckets.is_multiple_of(2));
    let coco = even.map(|&buckets| coco_task(buckets));
    let collision = BUCKETS.iter().map(|&buckets| task(buckets));
    let tasks = collision.chain(coco).chain(hash_bin_tasks());
    let patterns = [2, 128, 129, 256].map(pattern_task);
    tasks
        .chain(WINDOWS.map(window_task))
        .chain(patterns)
        .collect()
}

/// A valid report, with the response determined by `detail`: the bucket if there are enough, plus
/// if it is odd, or bins of every size.
pub(crate) fn report(task: &Task, seed: u64, detail: u64) -> Report {
    let in_bucket = |buckets: u32| {
        let bucket = (detail % u64::from(buckets)) as u32;
        BucketReport { seed, bucket }
    };
    match task.questions()[0].mechanism() {
        Mechanism::Collision(collision) => Report::Collision(in_bucket(collision.total_buckets())),
        Mechanism::Pattern(pattern) => Report::Pattern(in_bucket(pattern.output_count())),
        Mechanism::Coco(coco) => Report::Coco(in_bucket(coco.total_buckets())),
        Mechanism::HashBin(hash_bin) => {
            let sampling = hash_bin
                .response_distribution(task.questions()[0].items().item_count(), task.epsilon());
            let response = match sampling.noisy_bin_limit() {
                None => RandomisedResponse::Sign(detail % 2 == 1),
                Some(limit) => {
                    let mut rng = seeded(detail);
                    let mut bin = || {
                        let wide = (rng.next_u64() as i64) >> (rng.next_u32() % 64);
                        wide.clamp(-limit, limit)
                    };
                    RandomisedResponse::Bins((0..hash_bin.bin_count()).map(|_| bin()).collect())
                }
            };
            Report::HashBin(HashBinReport { seed, response })
        }
        Mechanism::Window(window) => Report::Window(in_bucket(window.atom_combination_count())),
    }
}

fn reports(most: usize) -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec(any::<(u64, u64)>(), 1..=most)
}

/// Numbers of buckets on either side of each varint length.
const BUCKETS: [u32; 7] = [2, 127, 128, 129, 16_384, 16_385, 1 << 22];

/// Checks that bytes decode, or are refused with an error of decoding; any other error would be
/// wrong.
///
/// A list of uploads must behave alike, and a single upload must decode alike in both ways.
fn assert_decodes_or_refuses(bytes: &[u8], task: &Task) -> bool {
    let alone = decodes_or_refuses(Upload::decode(bytes, task), bytes, |upload| {
        upload.encode(&task.fingerprint())
    });
    let all = decodes_or_refuses(
        EncodedUpload::read_checked_uploads(bytes, task),
        bytes,
        |uploads| {
            let mut end = 0;
            let mut reports = 0;
            let mut encoded = Vec::new();
            for (upload, range) in uploads {
                assert_eq!(range.start, end);
                end = range.end;
                reports += upload.report_count;
                encoded.extend(upload_header(
                    upload.id,
                    &task.fingerprint(),
                    upload.report_count,
                ));
                let visited = upload.for_each_report(task, |report, _| report.encode(&mut encoded));
                visited.unwrap();
                assert_eq!(encoded.len(), end);
            }
            assert!(f64::from(reports) <= bounds::REPORTS_PER_UPLOAD_RANGE.max);
            encoded
        },
    );
    assert!(all || !alone);
    all
}

fn decodes_or_refuses<T>(
    decoded: Result<T, Error>,
    bytes: &[u8],
    encoded: impl Fn(&T) -> Vec<u8>,
) -> bool {
    match decoded {
        Ok(decoded) => {
            assert_eq!(encoded(&decoded), bytes);
            true
        }
        Err(error) => {
            assert!(matches!(
                error.code(),
                ErrorCode::UnsupportedVersion
                    | ErrorCode::FingerprintMismatch
                    | ErrorCode::Malformed
            ));
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn uploads_survive(
        id in any::<[u8; 16]>(),
        task in proptest::sample::select(tasks()),
        reports in reports(300),
    ) {
        // Longest encoding of a report: prefixes have the square of the buckets, and bins as many
        // bytes as buckets.
        let longest = match task.questions()[0].mechanism() {
            Mechanism::Collision(_) | Mechanism::Coco(_) | Mechanism::Pattern(_) => 300,
            Mechanism::HashBin(hash_bin) => 300 / hash_bin.bin_count() as usize,
            Mechanism::Window(_) => 100,
        };
        let reports = reports.into_iter().take(longest);
        let reports = reports.map(|(seed, detail)| report(&task, seed, detail)).collect();
        let upload = Upload { id: UploadId(id), reports };
        let bytes = upload.encode(&task.fingerprint());
        prop_assert_eq!(Upload::decode(&bytes, &task), Ok(upload.clone()));

        // The same bytes result from parts, as in a browser.
        let mut encoded = Vec::new();
        upload.reports.iter().for_each(|report| report.encode(&mut encoded));
        let count = upload.reports.len() as u32;
        let header = upload::upload_header(upload.id, &task.fingerprint(), count);
        prop_assert_eq!(&[header, encoded].concat(), &bytes);

        // No proper prefix is an upload, nor is any extension.
        for end in 0..bytes.len() {
            prop_assert!(Upload::decode(&bytes[..end], &task).is_err());
        }
        let mut longer = bytes;
        longer.push(0);
        prop_assert_eq!(Upload::decode(&longer, &task).unwrap_err().code(), ErrorCode::Malformed);
    }

    #[test]
    fn no_text_panics_as_a_task(text in "\\PC{0,200}") {
        let _ = serde_json::from_str::<Task>(&text);
        let _ = serde_json::from_str::<TaskDraft>(&text);
    }
}

#[test]
fn the_format_is_this() {
    for task in [task(300), coco_task(300), coco_task(3000)] {
        the_format_is_this_of(&task);
    }
}

fn the_format_is_this_of(task: &Task) {
    let upload = Upload {
        id: UploadId(*b"0123456789abcdef"),
        reports: vec![
            report(task, 0x0102_0304_0506_0708, 5),
            report(task, u64::MAX, 299),
        ],
    };
    let mut expected = vec![1];
    expected.extend_from_slice(&task.fingerprint().0);
    expected.extend_from_slice(b"0123456789abcdef");
    expected.push(2);
    expected.extend_from_slice(&[8, 7, 6, 5, 4, 3, 2, 1, 5]);
    expected.extend_from_slice(&[255, 255, 255, 255, 255, 255, 255, 255, 0xab, 2]);
    assert_eq!(upload.encode(&task.fingerprint()), expected);
    assert_eq!(upload.id.to_string(), "30313233343536373839616263646566");
    assert_eq!(upload.id.to_string().parse(), Ok(upload.id));
}

/// Signs are a byte, bins are as many zigzag varints as the task has.
#[test]
fn the_format_of_sums_is_this() {
    let upload = |responses: Vec<RandomisedResponse>| Upload {
        id: UploadId([7; 16]),
        reports: responses
            .into_iter()
            .map(|response| {
                let seed = 0x0102_0304_0506_0708;
                Report::HashBin(HashBinReport { seed, response })
            })
            .collect(),
    };
    let body = |task: &Task, upload: &Upload| {
        let bytes = upload.encode(&task.fingerprint());
        assert_eq!(Upload::decode(&bytes, task).as_ref(), Ok(upload));
        bytes[33..].to_vec()
    };
    let user = |noise| PrivacyLevel::User { clip: 2.0, noise };
    let signs = hash_bin_task(user(SumNoiseKind::TwoPoint), 1, 1024, false);
    assert_eq!(
        body(
            &signs,
            &upload(vec![
                RandomisedResponse::Sign(true),
                RandomisedResponse::Sign(false)
            ])
        ),
        [&[2][..], &SEED, &[1], &SEED, &[0]].concat()
    );
    let three = hash_bin_task(PrivacyLevel::Event, 3, 1024, true);
    assert_eq!(
        body(
            &three,
            &upload(vec![RandomisedResponse::Bins(vec![0, -1, 1])])
        ),
        [&[1][..], &SEED, &[0, 1, 2]].concat()
    );
    // 63 takes one byte, 64 takes two; 300 is encoded as 600.
    assert_eq!(
        body(
            &three,
            &upload(vec![RandomisedResponse::Bins(vec![-64, 64, -300])])
        ),
        [&[1][..], &SEED, &[127, 0x80, 1, 0xd7, 4]].concat()
    );
}

const SEED: [u8; 8] = [8, 7, 6, 5, 4, 3, 2, 1];

/// A cell is a varint in base t, with the first attribute's atom as its most significant digit. The
/// task determines the number of digits.
#[test]
fn the_format_of_cells_is_this() {
    for (drawn, atoms, cell, encoded) in [
        (1, 2, 1, &[1][..]),
        (3, 3, 1 + 3 * (2 + 3), &[16]),
        (2, 16, 15 + 16 * 9, &[0x9f, 1]),
        (12, 2, 4095, &[0xff, 0x1f]),
    ] {
        let task = window_task([drawn, atoms]);
        let upload = |bucket| Upload {
            id: UploadId([7; 16]),
            reports: vec![Report::Window(BucketReport {
                seed: 0x0102_0304_0506_0708,
                bucket,
            })],
        };
        let bytes = upload(cell).encode(&task.fingerprint());
        assert_eq!(bytes[33..], [&[1][..], &SEED, encoded].concat());
        assert_eq!(Upload::decode(&bytes, &task), Ok(upload(cell)));
        let beyond = atoms.pow(drawn);
        let bytes = upload(beyond).encode(&task.fingerprint());
        let error = Upload::decode(&bytes, &task).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed);
    }
}

/// The limit lies 45 noise scales beyond the greatest sum of all items, or beyond the clip. Values
/// on either side are tested.
#[test]
fn bins_beyond_the_noise_are_refused() {
    for task in hash_bin_tasks() {
        let Mechanism::HashBin(hash_bin) = task.questions()[0].mechanism() else {
            unreachable!()
        };
        let sampling = hash_bin
            .response_distribution(task.questions()[0].items().item_count(), task.epsilon());
        let Some(limit) = sampling.noisy_bin_limit() else {
            continue;
        };
        let grid = i64::from(hash_bin.grid_steps());
        let values = match hash_bin.privacy_level() {
            PrivacyLevel::User { clip, .. } => clip * grid as f64,
            _ => {
                let most = task.questions()[0]
                    .items()
                    .item_count()
                    .map_or(4096.0, f64::from);
                (most.min(10.0 * most.sqrt()) * grid as f64).ceil()
            }
        };
        let reach = 45.0 * hash_bin.sensitivity() as f64 / task.achieved_report_epsilon();
        assert_eq!(limit as f64, values + reach.ceil());
        let decoded = |bin: i64| {
            let mut bins = vec![0; hash_bin.bin_count() as usize];
            *bins.last_mut().unwrap() = bin;
            let response = RandomisedResponse::Bins(bins);
            let reports = vec![Report::HashBin(HashBinReport { seed: 5, response })];
            let id = UploadId([7; 16]);
            let bytes = Upload { id, reports }.encode(&task.fingerprint());
            Upload::decode(&bytes, &task)
        };
        for good in [limit, -limit, limit - 1, 0] {
            assert!(decoded(good).is_ok(), "{good}");
        }
        for bad in [limit + 1, -limit - 1, i64::MAX, i64::MIN, i64::MIN + 1] {
            let error = decoded(bad).unwrap_err().to_string();
            assert!(error.ends_with("within the limit of noisy bins"), "{error}");
        }
    }
}

/// Every report that a randomizer makes can be decoded. A person with far more entries than s stays
/// within the limit. Noise beyond the limit, forced here by words of probability 2⁻⁶⁴, is cut to
/// it.
#[test]
fn reports_keep_to_the_limit() {
    let task = hash_bin_task(PrivacyLevel::Event, 2, 1024, true);
    let Mechanism::HashBin(hash_bin) = task.questions()[0].mechanism() else {
        unreachable!()
    };
    let sampling =
        hash_bin.response_distribution(task.questions()[0].items().item_count(), task.epsilon());
    let limit = sampling.noisy_bin_limit().unwrap();
    let mut randomizer = Randomizer::new(&task);
    let mut made = |entries: &[Entry], rng: &mut dyn CryptoRng| {
        let report = randomizer.randomize(entries, rng).unwrap().report;
        let id = UploadId([7; 16]);
        let reports = vec![report.clone()];
        let upload = Upload { id, reports };
        let bytes = upload.encode(&task.fingerprint());
        assert_eq!(Upload::decode(&bytes, &task), Ok(upload));
        let Report::HashBin(HashBinReport {
            response: RandomisedResponse::Bins(bins),
            ..
        }) = report
        else {
            unreachable!()
        };
        bins
    };
    let entries: Vec<Entry> = (0..500).map(|item| Entry { item, value: 1.0 }).collect();
    let mut rng = seeded(6);
    for _ in 0..200 {
        assert!(made(&entries, &mut rng).iter().all(|bin| bin.abs() < limit));
    }
    // A remainder of 0, kept. Then a quotient of 400 by as many successes, each with a draw of 0
    // out of 2 and of 2 out of 3, and its end. Then a sign.
    let mut words = vec![9];
    for sign in [0, 1] {
        words.extend([0, 0]);
        words.extend([0, u64::MAX].repeat(400));
        words.extend([u64::MAX, sign]);
    }
    let bins = made(&[], &mut Scripted::new(&words));
    assert_eq!(bins, [limit, -limit]);
}

#[test]
fn each_fault_is_named() {
    for task in [task(300), coco_task(300)] {
        each_fault_is_named_of(&task);
        each_fault_of_a_bucket_is_named(&task);
    }
    for task in hash_bin_tasks() {
        each_fault_is_named_of(&task);
    }
    each_fault_of_a_sign_or_a_bin_is_named();
    // Reports of another task may have the same shape, but the fingerprint differs.
    let upload = Upload {
        id: UploadId([7; 16]),
        reports: vec![report(&task(300), 9, 5)],
    };
    let bytes = upload.encode(&task(300).fingerprint());
    let error = Upload::decode(&bytes, &coco_task(300)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FingerprintMismatch);
}

/// An upload of one report, and the errors after changing its bytes.
struct Faults<'a> {
    task: &'a Task,
    report: Report,
    good: Vec<u8>,
}

impl<'a> Faults<'a> {
    fn new(task: &'a Task) -> Self {
        let report = report(task, 9, 5);
        let upload = Upload {
            id: UploadId([7; 16]),
            reports: vec![report.clone()],
        };
        let good = upload.encode(&task.fingerprint());
        assert_eq!(Upload::decode(&good, task), Ok(upload));
        Self { task, report, good }
    }

    fn refused(&self, change: impl Fn(&mut Vec<u8>)) -> Error {
        let mut bytes = self.good.clone();
        change(&mut bytes);
        Upload::decode(&bytes, self.task).unwrap_err()
    }

    fn malformed(&self, words: &str, change: impl Fn(&mut Vec<u8>)) {
        let error = self.refused(change);
        assert_eq!(error.code(), ErrorCode::Malformed);
        assert!(error.to_string().contains(words), "{error}");
    }

    /// Replaces the bytes from 42 on, after the seed.
    fn response(&self, bytes: &[u8], words: &str) {
        self.malformed(words, |b| drop(b.splice(42.., bytes.iter().copied())));
    }
}

/// Checks the faults that do not depend on the reports' shape.
fn each_fault_is_named_of(task: &Task) {
    let faults = Faults::new(task);
    let count = |number: &'static [u8], words| {
        faults.malformed(words, |b| {
            drop(b.splice(33..34, number.iter().copied()));
        });
    };
    assert_eq!(
        faults.refused(|b| b[0] = 2).code(),
        ErrorCode::UnsupportedVersion
    );
    assert_eq!(
        faults.refused(|b| b[3] ^= 1).code(),
        ErrorCode::FingerprintMismatch
    );
    faults.malformed("byte 0: expected a version byte", Vec::clear);
    faults.malformed("byte 1: expected a task fingerprint", |b| b.truncate(16));
    faults.malformed("byte 17: expected an upload id", |b| b.truncate(32));
    faults.malformed("byte 33: expected the number of reports", |b| {
        b.truncate(33);
    });
    faults.malformed("byte 34: expected a seed", |b| b.truncate(41));
    let end = faults.good.len();
    faults.malformed(&format!("byte {end}: expected the end"), |b| b.push(0));
    faults.malformed(&format!("byte {end}: expected a seed"), |b| b[33] = 2);
    count(&[0], "expected 1 to 4096 reports");
    count(&[0x81, 0], "shortest encoding");
    count(&[0xff; 5], "expected the number of reports");
    count(&[0xff, 0xff, 0xff, 0xff, 15], "1 to 4096 reports");

    let many = |count: usize| Upload {
        id: UploadId([7; 16]),
        reports: vec![faults.report.clone(); count],
    };
    let most = bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;
    let bytes = many(most).encode(&task.fingerprint());
    assert_eq!(Upload::decode(&bytes, task), Ok(many(most)));
    let bytes = many(most + 1).encode(&task.fingerprint());
    assert!(Upload::decode(&bytes, task).is_err());
}

fn each_fault_of_a_bucket_is_named(task: &Task) {
    let faults = Faults::new(task);
    faults.response(&[], "byte 34: expected a seed and a bucket");
    faults.response(&[0xac, 2], "below the task's number of buckets");
    faults.response(&[0x85, 0], "shortest encoding");
}

fn each_fault_of_a_sign_or_a_bin_is_named() {
    let user = |noise| PrivacyLevel::User { clip: 2.0, noise };
    let signs = hash_bin_task(user(SumNoiseKind::TwoPoint), 1, 1024, false);
    let faults = Faults::new(&signs);
    faults.response(&[], "byte 42: expected a sign, 0 or 1");
    faults.response(&[2], "byte 42: expected a sign, 0 or 1");
    faults.response(&[255], "byte 42: expected a sign, 0 or 1");
    faults.response(&[1, 0], "byte 43: expected the end");

    let two = hash_bin_task(PrivacyLevel::Event, 2, 1024, false);
    let faults = Faults::new(&two);
    let missing = "expected a number for each of the task's bins";
    faults.response(&[], &format!("byte 42: {missing}"));
    faults.response(&[1], &format!("byte 43: {missing}"));
    faults.response(&[1, 0x80], &format!("byte 43: {missing}"));
    faults.response(&[1, 2, 3], "byte 44: expected the end");
    faults.response(&[0x81, 0, 1], "shortest encoding");
    faults.response(
        &[1, 0xff, 0xff, 0xff, 0x7f],
        "within the limit of noisy bins",
    );
    // The least and the greatest number of 64 bits, and one that does not fit.
    let nines = [0xff; 9];
    faults.response(
        &[&[1], &nines[..], &[1]].concat(),
        "within the limit of noisy bins",
    );
    faults.response(
        &[&[1, 0xfe], &nines[1..], &[1]].concat(),
        "within the limit of noisy bins",
    );
    faults.response(&[&[1], &nines[..], &[2]].concat(), missing);
    faults.response(&[1; 400], "byte 44: expected the end");
}

/// A task may have many bins and its upload few bytes. The decoder reserves no more memory than
/// those bytes can fill.
#[test]
fn few_bytes_reserve_little() {
    let most = bounds::HASH_BIN_COUNT_RANGE.max as u32;
    let task = hash_bin_task(PrivacyLevel::Event, most, 1, true);
    let one = Upload {
        id: UploadId([7; 16]),
        reports: vec![report(&task, 9, 5)],
    };
    let mut bytes = one.encode(&task.fingerprint());
    assert_eq!(Upload::decode(&bytes, &task), Ok(one));
    // The upload claims the greatest number of reports, but not even one is whole.
    bytes.splice(33..34, [0x80, 0x20]);
    bytes.truncate(100);
    let info = allocation_counter::measure(|| {
        assert!(Upload::decode(&bytes, &task).is_err());
    });
    let reports = bounds::REPORTS_PER_UPLOAD_RANGE.max as u64 * size_of::<Report>() as u64;
    assert!(info.bytes_max <= reports + 8 * 100, "{info:?}");
}

/// Changes bytes as an attacker or a faulty connection would.
fn mutate(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let at = |rng: &mut dyn Rng, len: usize| rng.next_u32() as usize % len.max(1);
    // A fault at the front hides later ones, so most changes avoid the header.
    let place = |rng: &mut dyn Rng, len: usize| match rng.next_u32() % 8 {
        0 => at(rng, len),
        _ => (33 + at(rng, len.saturating_sub(33))).min(len.saturating_sub(1)),
    };
    match rng.next_u32() % 8 {
        0 | 1 => {
            for _ in 0..=rng.next_u32() % 3 {
                let index = place(rng, bytes.len());
                if let Some(byte) = bytes.get_mut(index) {
                    *byte ^= 1 << (rng.next_u32() % 8);
                }
            }
        }
        2 => bytes.truncate(place(rng, bytes.len())),
        3 => bytes.extend((0..=rng.next_u32() % 20).map(|i| (i * 37) as u8)),
        // An overlong or huge number replaces the count or a bucket.
        4 | 5 => {
            let index = if rng.next_u32().is_multiple_of(2) {
                33
            } else {
                place(rng, bytes.len())
            };
            let number: &[u8] = match rng.next_u32() % 6 {
                0 => &[0x80, 0],
                1 => &[0x81, 0x80, 0],
                2 => &[0xff, 0xff, 0xff, 0xff, 0x0f],
                3 => &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
                4 => &[0x80, 0x20],
                _ => &[0x80, 0x80, 0x80, 0x80, 0x80],
            };
            let end = (index + 1).min(bytes.len());
            bytes.splice(index.min(end)..end, number.iter().copied());
        }
        6 => {
            let (from, to) = (place(rng, bytes.len()), place(rng, bytes.len()));
            if from < to {
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
        }
        _ => {
            let from = place(rng, bytes.len());
            bytes[from..].fill_with(|| rng.next_u32() as u8);
        }
    }
}

#[test]
fn a_million_hostile_uploads() {
    let mut rng = seeded(4);
    let tasks = tasks();
    let (mut decoded, mut input) = (0, Vec::new());
    for round in 0..1_000_000 {
        let task = &tasks[round % tasks.len()];
        input.clear();
        if round % 16 == 0 {
            let len = rng.next_u32() as usize % 80;
            input.resize_with(len, || rng.next_u32() as u8);
        } else {
            // Half of the uploads are alone, the rest back to back.
            for place in 0..=(rng.next_u32() % 4).saturating_sub(1) {
                let reports =
                    (0..=rng.next_u32() % 4).map(|_| report(task, rng.next_u64(), rng.next_u64()));
                let reports = reports.collect();
                let id = UploadId([round as u8 ^ place as u8; 16]);
                input.extend(Upload { id, reports }.encode(&task.fingerprint()));
            }
            for _ in 0..=rng.next_u32() % 3 {
                mutate(&mut input, &mut rng);
            }
        }
        decoded += u32::from(assert_decodes_or_refuses(&input, task));
    }
    // Flipped bits of a seed or an upload id give another valid upload. Most mutations do not, but
    // both kinds are common.
    assert!((50_000..500_000).contains(&decoded), "{decoded}");
}

#[test]
fn hostile_task_files_never_panic() {
    let mut tasks = vec![task(300), coco_task(300), coco_task(2), coco_task(3000)];
    tasks.extend(hash_bin_tasks());
    let files = tasks
        .iter()
        .map(|task| serde_json::to_string(task).unwrap());
    let files: Vec<String> = files.collect();
    let pieces: [&[u8]; 12] = [
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"1e999",
        b"-1",
        b"null",
        b"\"open\"",
        b"4294967296",
        b"\\ud800",
    ];
    let mut rng = seeded(5);
    let mut accepted = 0;
    for round in 0..100_000 {
        let mut bytes = files[round % files.len()].clone().into_bytes();
        for _ in 0..=rng.next_u32() % 3 {
            let from = rng.next_u32() as usize % bytes.len();
            let to = (from + rng.next_u32() as usize % 4).min(bytes.len());
            let piece = pieces[rng.next_u32() as usize % pieces.len()];
            match rng.next_u32() % 3 {
                0 => drop(bytes.splice(from..to, piece.iter().copied())),
                1 => drop(bytes.drain(from..to)),
                _ => bytes[from] = rng.next_u32() as u8,
            }
            if bytes.is_empty() {
                break;
            }
        }
        if let Ok(task) = serde_json::from_slice::<Task>(&bytes) {
            // An accepted task is valid, and its JSON is the same again.
            assert!(task.achieved_report_epsilon() <= task.epsilon());
            let again = serde_json::to_string(&task).unwrap();
            assert_eq!(serde_json::from_str::<Task>(&again).unwrap(), task);
            accepted += 1;
        }
        let _ = serde_json::from_slice::<TaskDraft>(&bytes);
    }
    assert!(accepted > 100, "{accepted}");
}
