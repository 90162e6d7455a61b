//! Several uploads back to back: all decode, each with its bytes, or none does.

use hushbin::upload::EncodedUpload;
use hushbin::{Error, ErrorCode, Task, Upload, UploadId, bounds};
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;

use crate::codec::{report, tasks};
use crate::support::generators::seeded;

/// Uploads with ids 0, 1, …, and these numbers of reports.
fn uploads(task: &Task, reports: &[usize]) -> Vec<Upload> {
    let mut rng = seeded(11);
    let upload = |(id, &count): (usize, &usize)| Upload {
        id: UploadId([id as u8; 16]),
        reports: (0..count)
            .map(|_| report(task, rng.next_u64(), rng.next_u64()))
            .collect(),
    };
    reports.iter().enumerate().map(upload).collect()
}

fn encoded(task: &Task, uploads: &[Upload]) -> Vec<Vec<u8>> {
    let encode = |upload: &Upload| upload.encode(&task.fingerprint());
    uploads.iter().map(encode).collect()
}

/// A task whose bucket takes at most two bytes.
fn plain() -> Task {
    tasks().swap_remove(3)
}

fn refused(bytes: &[u8], task: &Task) -> Error {
    EncodedUpload::read_checked_uploads(bytes, task).unwrap_err()
}

/// Decodes the reports of an upload one by one, and checks the bytes of each.
fn decoded(upload: &EncodedUpload<'_>, task: &Task) -> Upload {
    let mut reports = Vec::new();
    let mut whole: Vec<u8> = Vec::new();
    let visited = upload.for_each_report(task, |report, bytes| {
        let mut encoded = Vec::new();
        report.encode(&mut encoded);
        assert_eq!(encoded, bytes);
        whole.extend(bytes);
        reports.push(report);
    });
    visited.unwrap();
    assert_eq!(whole, upload.encoded_reports);
    assert_eq!(reports.len(), upload.report_count as usize);
    Upload {
        id: upload.id,
        reports,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_is_found_where_it_lies(
        task in proptest::sample::select(tasks()),
        // Reports with many bins are long, and prefixes need the square of the buckets.
        counts in proptest::collection::vec(1_usize..4, 1..5),
    ) {
        let uploads = uploads(&task, &counts);
        let encoded = encoded(&task, &uploads);
        let bytes = encoded.concat();
        let mut ends = vec![0];
        for (found, (upload, own)) in EncodedUpload::read_checked_uploads(&bytes, &task)
            .unwrap()
            .into_iter()
            .zip(uploads.iter().zip(&encoded))
        {
            prop_assert_eq!(&decoded(&found.0, &task), upload);
            prop_assert_eq!(&bytes[found.1.clone()], &own[..]);
            ends.push(found.1.end);
        }
        prop_assert_eq!(ends.len(), uploads.len() + 1);
        // Truncated bytes are refused, unless the cut is between two uploads. Trailing bytes are
        // refused, too.
        for end in 0..bytes.len() {
            let whole = ends[1..].contains(&end);
            prop_assert_eq!(EncodedUpload::read_checked_uploads(&bytes[..end], &task).is_ok(), whole, "{}", end);
        }
        prop_assert_eq!(refused(&[&bytes[..], &[0]].concat(), &task).code(), ErrorCode::UnsupportedVersion);
        prop_assert_eq!(refused(&[&bytes[..], &[1]].concat(), &task).code(), ErrorCode::Malformed);
    }
}

#[test]
fn one_is_decoded_as_alone() {
    for task in tasks() {
        let uploads = uploads(&task, &[3]);
        let bytes = encoded(&task, &uploads).concat();
        let alone = Upload::decode(&bytes, &task).unwrap();
        let all = EncodedUpload::read_checked_uploads(&bytes, &task).unwrap();
        let [(upload, range)] = &all[..] else {
            panic!("one upload, found {}", all.len())
        };
        assert_eq!((decoded(upload, &task), range), (alone, &(0..bytes.len())));
        let read = EncodedUpload::read_unchecked_upload(&bytes, task.fingerprint());
        assert_eq!(read.as_ref(), Ok(upload));
        assert_eq!(
            EncodedUpload::from_id_and_body(upload.id, &bytes[33..]),
            read
        );
    }
}

/// A stored upload with a wrong number of reports is refused.
#[test]
fn reports_that_are_not_as_many_as_stated_are_refused() {
    let task = plain();
    let bytes = encoded(&task, &uploads(&task, &[3])).concat();
    let upload = EncodedUpload::read_unchecked_upload(&bytes, task.fingerprint()).unwrap();
    for count in [2, 4] {
        let wrong = EncodedUpload {
            report_count: count,
            ..upload
        };
        let error = wrong.for_each_report(&task, |_, _| {}).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed, "{count}");
    }
    for body in [&[][..], &[0], &[0x81, 0x20]] {
        let error = EncodedUpload::from_id_and_body(upload.id, body).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Malformed, "{body:?}");
    }
}

/// An error states the offset among all bytes. The first error is returned.
#[test]
fn each_fault_is_named_where_it_is() {
    let task = plain();
    let [one, two] = encoded(&task, &uploads(&task, &[2, 1])).try_into().unwrap();
    let begin = one.len();
    let after = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut two = two.clone();
        change(&mut two);
        refused(&[&one[..], &two].concat(), &task)
    };
    let malformed = |words: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let error = after(change);
        assert_eq!(error.code(), ErrorCode::Malformed);
        assert!(error.to_string().contains(words), "{error}");
    };
    assert_eq!(refused(&[], &task).code(), ErrorCode::Malformed);
    assert_eq!(after(&|b| b[0] = 2).code(), ErrorCode::UnsupportedVersion);
    assert_eq!(after(&|b| b[3] ^= 1).code(), ErrorCode::FingerprintMismatch);
    let place = |offset: usize| format!("byte {}: ", begin + offset);
    malformed(&place(17), &|b| b.truncate(20));
    malformed(&place(34), &|b| b.truncate(40));
    malformed("expected 1 to 4096 reports", &|b| b[33] = 0);
}

/// The limit on reports is for all uploads together.
#[test]
fn all_together_have_as_many_reports_as_one_may_have() {
    let task = plain();
    let most = bounds::REPORTS_PER_UPLOAD_RANGE.max as usize;
    let checked = |counts: &[usize]| {
        let bytes = encoded(&task, &uploads(&task, counts)).concat();
        EncodedUpload::read_checked_uploads(&bytes, &task).map(|uploads| uploads.len())
    };
    for counts in [&[most][..], &[1, most - 1], &[most - 1, 1], &vec![1; most]] {
        assert_eq!(checked(counts), Ok(counts.len()));
    }
    for counts in [&[most + 1][..], &[1, most], &[most, 1], &vec![1; most + 1]] {
        let error = checked(counts).unwrap_err().to_string();
        assert!(error.contains("4096 reports"), "{error}");
    }
}

/// Checking an upload allocates one small list with its offsets.
#[test]
fn one_allocates_little() {
    let task = plain();
    let bytes = encoded(&task, &uploads(&task, &[1])).concat();
    let all =
        allocation_counter::measure(|| drop(EncodedUpload::read_checked_uploads(&bytes, &task)));
    assert_eq!(all.count_total, 1);
    assert!(all.bytes_total <= 64, "{all:?}");
}
