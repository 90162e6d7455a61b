//! Parquet in a build without the feature `parquet`: every use returns an error.
//!
//! [`ParquetFile`] has no values, so code that reads Parquet compiles and is never reached.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

use super::atomic_file::display_path;
use super::description::ReportsDescription;
use super::error::{ExportError, ReadError};
use super::row::ReportRow;
use super::row_writer::RowWriter;
use crate::missing_feature::MissingFeature;

const PARQUET_NOT_COMPILED: MissingFeature = MissingFeature {
    functionality: "Parquet",
    feature: "parquet",
};

pub(crate) fn parquet_writer(
    _: &File,
    _: &ReportsDescription,
) -> Result<Box<dyn RowWriter>, ExportError> {
    Err(PARQUET_NOT_COMPILED.into())
}

pub(super) struct ParquetFile(Infallible);

impl ParquetFile {
    pub(super) fn open(path: &Path, _: File) -> Result<Self, ReadError> {
        Err(ReadError::Parquet {
            path: display_path(path),
            source: PARQUET_NOT_COMPILED,
        })
    }

    pub(super) fn description(&self) -> Option<&str> {
        match self.0 {}
    }

    pub(super) fn rows(
        &self,
    ) -> Result<std::iter::Empty<Result<ReportRow, String>>, MissingFeature> {
        match self.0 {}
    }
}
