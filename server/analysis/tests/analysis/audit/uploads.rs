//! Leaks of uploads outside their reports, which are honest.

use hushbin::upload::upload_header;
use hushbin::{Entry, Task, UploadId};
use hushbin_analysis::audit::{AttackStatistic, EmpiricalLossBound, upload_appender};
use rand_core::Rng;

use super::{assert_leaks, honest, measured_sent, rng, typical};

const TRIALS: u64 = 4000;

/// Sends a report under an id made from the input and a random word.
fn under_id(task: &Task, id: impl Fn(&[Entry], u128) -> u128) -> EmpiricalLossBound {
    let (mut honest, mut words) = (honest(task, rng(51)), rng(52));
    let fingerprint = task.fingerprint();
    measured_sent(task, TRIALS, |input, bytes| {
        let [high, low] = [words.next_u64(), words.next_u64()].map(u128::from);
        let id = id(input, high << 64 | low);
        bytes.extend(upload_header(UploadId(id.to_le_bytes()), &fingerprint, 1));
        honest(input).encode(bytes);
    })
}

/// Ids made from the input, so that a repeated report counts once. Then ids that do so only
/// sometimes, and ids with one such bit.
#[test]
fn ids_made_from_the_input_are_caught() {
    let task = typical("collision");
    let made = |input: &[Entry]| {
        let digest = |sum: u128, entry: &Entry| {
            let value = u128::from(entry.value.to_bits());
            (sum ^ value ^ u128::from(entry.item))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
        };
        input.iter().fold(1, digest)
    };
    let found = under_id(&task, |input, _| made(input));
    assert_leaks(&task, &found);
    let found = under_id(&task, |input, random| {
        if random % 10 == 0 {
            made(input)
        } else {
            random
        }
    });
    assert_leaks(&task, &found);
    assert_eq!(found.event.statistic, AttackStatistic::Id);
    let found = under_id(&task, |input, random| {
        let negative = input.iter().any(|entry| entry.value < 0.0);
        random & !(1 << 77) | u128::from(negative) << 77
    });
    assert_leaks(&task, &found);
    assert_eq!(found.event.statistic, AttackStatistic::Parity);
}

/// Appends to an honest upload, or changes it.
fn changed(task: &Task, change: impl Fn(&[Entry], &mut Vec<u8>)) -> EmpiricalLossBound {
    let mut send = upload_appender(task, rng(53));
    measured_sent(task, TRIALS, |input, bytes| {
        send(&[input], bytes);
        change(input, bytes);
    })
}

/// A flag of clipped entries, padding that depends on the entries, another version for some people.
/// The collector refuses these bytes, but they have been sent.
#[test]
fn bytes_beside_the_reports_are_caught() {
    for mechanism in ["collision", "coco"] {
        let task = typical(mechanism);
        let more = |input: &[Entry]| input.len() > 3;
        let found = [
            changed(&task, |input, bytes| bytes.push(u8::from(more(input)))),
            changed(&task, |input, bytes| {
                bytes.resize(bytes.len() + input.len(), 0);
            }),
            changed(&task, |input, bytes| bytes[0] += u8::from(more(input))),
        ];
        for found in found {
            assert_leaks(&task, &found);
            assert_eq!(found.event.statistic, AttackStatistic::Frame);
        }
    }
}

/// People with more than s entries send two reports; then all people do.
#[test]
fn further_reports_are_caught() {
    let task = typical("coco");
    for everybody in [false, true] {
        let mut honest = honest(&task, rng(54));
        let mut ids = rng(55);
        let fingerprint = task.fingerprint();
        let found = measured_sent(&task, 10_000, |input, bytes| {
            let mut id = [0; 16];
            ids.fill_bytes(&mut id);
            let count = if everybody || input.len() > 3 { 2 } else { 1 };
            bytes.extend(upload_header(UploadId(id), &fingerprint, count));
            (0..count).for_each(|_| honest(input).encode(bytes));
        });
        assert_leaks(&task, &found);
    }
}
