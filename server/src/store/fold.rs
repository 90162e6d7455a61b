//! Counts stored reports.

use hushbin::Task;
use hushbin::upload::EncodedUpload;
use hushbin_analysis::estimate::Totals;

use super::error::OpenError;

/// Folds the reports of a released block into totals, each as soon as it is decoded.
///
/// # Errors
/// When the block is not an upload of the task.
pub(super) fn fold_block(task: &Task, bytes: &[u8], totals: &mut Totals) -> Result<(), OpenError> {
    let upload = EncodedUpload::read(bytes, task.fingerprint());
    let folded =
        upload.and_then(|upload| upload.for_each_report(task, |report, _| totals.fold(&report)));
    folded.map_err(|source| invalid_upload(task.id(), source))
}

/// Error for a stored upload that is not an upload of the task.
pub(super) fn invalid_upload(task: &str, source: hushbin::Error) -> OpenError {
    OpenError::StoredUpload {
        id: task.to_owned(),
        source,
    }
}
