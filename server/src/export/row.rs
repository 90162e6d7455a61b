//! Row of a file of reports.

use std::borrow::Cow;

use hushbin::{Report, Task};
use hushbin_analysis::estimate::csv_text_cell;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use data_encoding::HEXLOWER;

/// Report of a batch, in columns. All columns except `batch` are computed from `report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "parquet", derive(parquet_derive::ParquetRecordWriter))]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportRow {
    pub(crate) batch: u64,
    pub(super) question: String,
    #[serde(serialize_with = "write_seed", deserialize_with = "read_seed")]
    pub(super) seed: u64,
    #[serde(deserialize_with = "read_bucket")]
    pub(super) bucket: Option<u32>,
    pub(super) report: String,
}

/// Names of the columns, in order.
pub(super) const REPORT_COLUMNS: [&str; 5] = ["batch", "question", "seed", "bucket", "report"];

fn write_seed<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(seed)
}

fn read_seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| D::Error::custom(format!("seed is {text:?}, expected 0 to {}", u64::MAX)))
}

/// Deserializes `bucket`. A custom function makes the field required, though its value may be
/// `null`.
fn read_bucket<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Option::deserialize(deserializer)
}

impl ReportRow {
    pub(crate) fn new(task: &Task, batch: u64, report: &Report) -> Self {
        let mut bytes = Vec::new();
        report.encode(&mut bytes);
        let question = match task.only_question() {
            Some(sole) => sole,
            None => &task.questions()[task
                .question_selector()
                .question_index_for_seed(report.seed())],
        };
        Self {
            batch,
            question: question.name().to_owned(),
            seed: report.seed(),
            bucket: match report {
                Report::Collision(report) => Some(report.bucket),
                Report::Coco(report) => Some(report.bucket),
                _ => None,
            },
            report: HEXLOWER.encode(&bytes),
        }
    }

    /// Decodes the report and checks that all columns agree with it.
    ///
    /// # Errors
    /// Message that names the mistake and the expected value.
    pub(crate) fn decode(&self, task: &Task) -> Result<Report, String> {
        let bytes = HEXLOWER.decode(self.report.as_bytes()).map_err(|_| {
            let report = &self.report;
            format!("report is {report:?}, expected pairs of hexadecimal digits, 0 to 9 and a to f")
        })?;
        let report = task
            .decode_report(&bytes)
            .map_err(|error| error.to_string())?;
        // The row is built again from the report, and each column must equal the stored one.
        let own = ReportRow::new(task, self.batch, &report);
        let differs = |column: &str, found: &dyn ToString, expected: &dyn ToString| {
            let (found, expected) = (found.to_string(), expected.to_string());
            Err(format!(
                "{column} is {found:?}, expected {expected:?} as in the report"
            ))
        };
        let bucket = |bucket: Option<u32>| bucket.map_or_else(String::new, |own| own.to_string());
        // A file that a tool converted from CSV may have the name as CSV cell.
        if self.question != own.question && self.question != csv_text_cell(&own.question) {
            return differs("question", &self.question, &own.question);
        }
        if self.seed != own.seed {
            return differs("seed", &self.seed, &own.seed);
        }
        if self.bucket != own.bucket {
            return differs("bucket", &bucket(self.bucket), &bucket(own.bucket));
        }
        Ok(report)
    }
}
