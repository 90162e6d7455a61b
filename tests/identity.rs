//! The same generator state and input give the same bytes everywhere: this
//! file runs natively and, by `wasm-pack test`, in a browser.
//!
//! `HUSHBIN_WRITE_VECTORS=1 cargo test --test identity` writes the vectors
//! anew; they change only with the wire format or the order of draws.

#![allow(clippy::unwrap_used, missing_docs)]

use hushbin::{Entry, Randomizer, Task, Upload, UploadId};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

const VECTORS: &str = include_str!("vectors/identity.json");

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    task: Task,
    /// Of ChaCha20, by `seed_from_u64`.
    generator_seed: u64,
    /// Entries (item, value) by person. In open tasks items are names.
    people: Vec<Vec<(String, f64)>>,
    fingerprint: String,
    sampled_down: usize,
    /// The upload with all reports, under the id 00 01 02 … 0f, in hexadecimal.
    upload: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the vector must say, computed here and now.
fn compute(vector: &Vector) -> (String, usize, String) {
    let task = &vector.task;
    let mut rng = ChaCha20Rng::seed_from_u64(vector.generator_seed);
    let mut randomizer = Randomizer::new(task);
    let mut sampled_down = 0;
    let mut reports = Vec::new();
    for person in &vector.people {
        let entries: Vec<Entry> = person
            .iter()
            .map(|&(ref name, value)| Entry {
                item: task.items().resolve(name).unwrap(),
                value,
            })
            .collect();
        let made = randomizer.randomize(&entries, &mut rng).unwrap();
        sampled_down += usize::from(made.sampled_down);
        reports.push(made.report);
    }
    let upload = Upload {
        id: UploadId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        reports,
    };
    let fingerprint = task.fingerprint();
    let bytes = upload.encode(&fingerprint);
    assert_eq!(Upload::decode(&bytes, task).unwrap(), upload);
    (fingerprint.to_string(), sampled_down, hex(&bytes))
}

#[test]
fn bytes_are_identical() {
    let vectors: Vec<Vector> = serde_json::from_str(VECTORS).unwrap();
    #[cfg(not(target_arch = "wasm32"))]
    if std::env::var_os("HUSHBIN_WRITE_VECTORS").is_some() {
        return write(vectors);
    }
    assert!(vectors.len() >= 8);
    for vector in vectors {
        let (fingerprint, sampled_down, upload) = compute(&vector);
        let id = vector.task.id();
        assert_eq!(fingerprint, vector.fingerprint, "fingerprint of {id}");
        assert_eq!(sampled_down, vector.sampled_down, "inputs of {id}");
        assert_eq!(upload, vector.upload, "bytes of {id}");
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn write(mut vectors: Vec<Vector>) {
    for vector in &mut vectors {
        (vector.fingerprint, vector.sampled_down, vector.upload) = compute(vector);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/identity.json");
    let lines: Vec<String> = vectors
        .iter()
        .map(|vector| serde_json::to_string(vector).unwrap())
        .collect();
    std::fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
}
