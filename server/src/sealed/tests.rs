use data_encoding::HEXLOWER;
use hpke::{Deserializable, OpModeR, setup_receiver};
use hushbin::sealed::SEALING_OVERHEAD_BYTES;
use hushbin::{Report, Task};
use hushbin_tests::sealing::Sealer;
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::Value;

use super::configuration::KeyConfigurationError;
use super::recipient::RecipientKeysError;
use super::*;
use crate::task::ReportOrSumTask;

/// Tasks of several mechanisms, with reports of several lengths.
const TASKS: [&str; 5] = [
    r#"{ "id": "t", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
    r#"{ "id": "t", "items": 4000, "sparsity": 3, "epsilon": 5.0, "value": "sign",
         "mechanism": { "name": "coco", "buckets": 300 } }"#,
    r#"{ "id": "t", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "real",
         "mechanism": "hash-bin" }"#,
    r#"{ "id": "t", "epsilon": 1.0, "questions": [
         { "name": "plan", "kind": "choice", "options": ["free", "pro"] },
         { "name": "query", "kind": "text", "length": 6 }] }"#,
    r#"{ "id": "other", "items": 40, "sparsity": 3, "epsilon": 1.0, "value": "sign" }"#,
];

fn task(json: &str) -> Task {
    draft(json).resolve_task().unwrap()
}

fn opener(task: &Task, keys: &[[u8; 32]]) -> ReportRecipient {
    ReportRecipient::new(task.clone().into(), keys).unwrap()
}

fn encoded(report: &Report) -> Vec<u8> {
    let mut bytes = Vec::new();
    report.encode(&mut bytes);
    bytes
}

/// Opens a report. Returns its key and its bytes, or `None` if it cannot be opened.
fn open(recipient: &ReportRecipient, sealed: &[u8]) -> Option<(KeyId, Vec<u8>)> {
    match recipient.open_report(sealed) {
        OpeningResult::Opened(report) => Some((report.key_id, report.encoded)),
        OpeningResult::MissingKey(_) | OpeningResult::Invalid => None,
    }
}

fn sealer(recipient: &ReportRecipient, key: usize) -> Sealer {
    Sealer::new(recipient.key_configurations()[key].bytes(), 1)
}

#[test]
fn opens_what_the_standard_sealed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reference/hpke.json");
    let vector: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let bytes = |value: &Value| HEXLOWER.decode(value.as_str().unwrap().as_bytes()).unwrap();
    let [kem, kdf, aead] = ["kem_id", "kdf_id", "aead_id"].map(|name| vector[name].as_u64());
    assert_eq!(kem, Some(<Kem as hpke::Kem>::KEM_ID.into()));
    assert_eq!(kdf, Some(<Kdf as hpke::kdf::Kdf>::KDF_ID.into()));
    assert_eq!(aead, Some(<Aead as hpke::aead::Aead>::AEAD_ID.into()));
    let key = bytes(&vector["skRm"]);
    assert_eq!(
        recipient::x25519_public_key(key.first_chunk().unwrap()).to_vec(),
        bytes(&vector["pkRm"])
    );
    let mut receiver = setup_receiver::<Aead, Kdf, Kem>(
        &OpModeR::Base,
        &Deserializable::from_bytes(&key).unwrap(),
        &Deserializable::from_bytes(&bytes(&vector["enc"])).unwrap(),
        &bytes(&vector["info"]),
    )
    .unwrap();
    for encryption in vector["encryptions"].as_array().unwrap() {
        let opened = receiver.open(&bytes(&encryption["ct"]), &bytes(&encryption["aad"]));
        assert_eq!(opened.unwrap(), bytes(&encryption["pt"]));
    }
}

#[test]
fn reports_of_every_kind_are_opened_and_have_one_length() {
    for json in TASKS {
        let task = task(json);
        let recipient = opener(&task, &[[1; 32]]);
        let id = recipient.key_configurations()[0].id();
        let mut sealer = sealer(&recipient, 0);
        for report in Uploads::new(&task, 1).make(100).reports {
            let sealed = sealer.seal(&encoded(&report));
            assert_eq!(
                sealed.len(),
                SEALING_OVERHEAD_BYTES + task.max_single_report_bytes()
            );
            assert_eq!(open(&recipient, &sealed), Some((id, encoded(&report))));
        }
    }
}

#[test]
fn what_was_sealed_for_another_task_or_key_is_not_opened() {
    let [one, other] = [0, 4].map(|index| task(TASKS[index]));
    // The tasks have the same shape and the same private key.
    assert_eq!(
        one.max_single_report_bytes(),
        other.max_single_report_bytes()
    );
    let [recipient, of_other] = [&one, &other].map(|task| opener(task, &[[1; 32]]));
    let another_key = opener(&one, &[[2; 32]]);
    let report = encoded(&Uploads::new(&one, 1).make(1).reports[0]);
    let sealed = sealer(&recipient, 0).seal(&report);
    assert!(open(&recipient, &sealed).is_some());
    let sealed_to = *sealed.first_chunk().unwrap();
    for stranger in [&of_other, &another_key] {
        let missing = OpeningResult::MissingKey(sealed_to);
        assert_eq!(stranger.open_report(&sealed), missing);
        // A key's id that the recipient knows is not enough.
        let mut claimed = sealed.clone();
        claimed[..4].copy_from_slice(&stranger.key_configurations()[0].id());
        assert_eq!(open(stranger, &claimed), None);
    }
}

#[test]
fn old_keys_open_while_new_ones_seal() {
    let task = task(TASKS[0]);
    let old = opener(&task, &[[1; 32]]);
    let both = opener(&task, &[[2; 32], [1; 32]]);
    assert_eq!(both.key_configurations()[1], old.key_configurations()[0]);
    let report = Uploads::new(&task, 1).make(1).reports.remove(0);
    for key in 0..2 {
        let sealed = sealer(&both, key).seal(&encoded(&report));
        let id = both.key_configurations()[key].id();
        assert_eq!(open(&both, &sealed), Some((id, encoded(&report))));
        assert_eq!(open(&old, &sealed).is_some(), key == 1);
    }
    assert!(matches!(
        ReportRecipient::new(task.into(), &[[1; 32], [1; 32]]),
        Err(RecipientKeysError::SameId(_))
    ));
}

#[test]
fn whatever_is_changed_is_not_opened() {
    let task = task(TASKS[0]);
    let recipient = opener(&task, &[[1; 32]]);
    let mut sealer = sealer(&recipient, 0);
    let report = encoded(&Uploads::new(&task, 1).make(1).reports[0]);
    let sealed = sealer.seal(&report);
    for bit in 0..8 * sealed.len() {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // X25519 ignores the highest bit of a key (RFC 7748, section 5). HPKE derives the secret
        // from the encapsulated bytes too, so that a changed bit is detected.
        assert_eq!(open(&recipient, &changed), None, "bit {bit}");
    }
    for length in 0..sealed.len() {
        assert_eq!(open(&recipient, &sealed[..length]), None);
    }
    // A byte other than zero in the padding is refused, and so are bytes that are no report.
    let mut padded = report.clone();
    padded.resize(task.max_single_report_bytes(), 0);
    assert!(open(&recipient, &sealer.seal_as_it_is(&padded)).is_some());
    padded.push(1);
    assert_eq!(open(&recipient, &sealer.seal_as_it_is(&padded)), None);
    assert_eq!(open(&recipient, &sealer.seal_as_it_is(&[0xff; 9])), None);
    assert_eq!(open(&recipient, &sealer.seal_as_it_is(&[])), None);
}

/// The id of a sealed report depends on the encapsulated key alone, and on the key that opens it.
#[test]
fn a_repeated_report_has_the_same_id_and_no_other_report_has_it() {
    let [one, other] = [0, 4].map(|index| task(TASKS[index]));
    let recipient = opener(&one, &[[1; 32]]);
    let report = encoded(&Uploads::new(&one, 1).make(1).reports[0]);
    let id = |recipient: &ReportRecipient, sealed: &[u8]| match recipient.open_report(sealed) {
        OpeningResult::Opened(report) => report.id,
        failed => panic!("{failed:?}"),
    };
    let mut sealer_of_one = sealer(&recipient, 0);
    let [first, second] = [(); 2].map(|()| sealer_of_one.seal(&report));
    assert_eq!(id(&recipient, &first), id(&recipient, &first));
    assert_ne!(id(&recipient, &first), id(&recipient, &second));
    // The sealers have the same seed, and so the same encapsulated key.
    let [another_key, another_task] = [opener(&one, &[[2; 32]]), opener(&other, &[[1; 32]])];
    for stranger in [another_key, another_task] {
        let sealed = sealer(&stranger, 0).seal(&report);
        assert_eq!(sealed[4..36], first[4..36]);
        assert_ne!(id(&stranger, &sealed), id(&recipient, &first));
    }
}

#[test]
fn a_configuration_is_for_one_task() {
    let [one, other] = [0, 4].map(|index| ReportOrSumTask::from(task(TASKS[index])));
    let own = KeyConfiguration::new(&one, &[7; 32]);
    assert_eq!(own.bytes().len(), 57);
    assert_eq!(own.bytes()[0], 1);
    assert_eq!(own.bytes()[1..17], one.fingerprint().0);
    assert_eq!(own.bytes()[17..23], [0, 0x20, 0, 1, 0, 1]);
    assert_eq!(own.bytes()[23..55], [7; 32]);
    assert_eq!(own.bytes()[55..], [0, 10]);
    assert_eq!(one.max_report_length(), 10);
    assert_eq!(
        KeyConfiguration::parse_configuration(own.bytes(), &one),
        Ok(own.clone())
    );
    assert_eq!(
        KeyConfiguration::parse_configuration(own.bytes(), &other),
        Err(KeyConfigurationError::WrongTaskOrSuite)
    );
    assert_eq!(
        KeyConfiguration::parse_configuration(&own.bytes()[..56], &one),
        Err(KeyConfigurationError::WrongLength { found: 56 })
    );
    let mut later = own.bytes().to_vec();
    later[0] = 2;
    assert_eq!(
        KeyConfiguration::parse_configuration(&later, &one).map_err(|error| error.to_string()),
        Err("it has version 2, expected 1".to_owned())
    );
}
