//! Adds stored reports to totals.

use hushbin::Task;
use hushbin::upload::EncodedUpload;
use hushbin_analysis::estimate::Totals;

use super::error::JournalError;

/// Decodes the reports of a released block one by one, and adds each report to the totals.
///
/// # Errors
/// When the block is not an upload of the task.
pub(super) fn add_block_to_totals(
    task: &Task,
    bytes: &[u8],
    totals: &mut Totals,
) -> Result<(), JournalError> {
    let upload = EncodedUpload::read_unchecked_upload(bytes, task.fingerprint());
    let folded = upload
        .and_then(|upload| upload.for_each_report(task, |report, _| totals.add_report(&report)));
    folded.map_err(|source| invalid_upload_error(task.id(), source))
}

/// Returns the error for a stored upload that is not an upload of the task.
pub(super) fn invalid_upload_error(task: &str, source: hushbin::Error) -> JournalError {
    JournalError::StoredUpload {
        id: task.to_owned(),
        source,
    }
}
