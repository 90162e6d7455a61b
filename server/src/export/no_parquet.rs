//! Parquet, in a build without the feature `parquet`: it is refused.
//!
//! Neither type has a value, so code that handles Parquet compiles and is never reached.

use std::convert::Infallible;
use std::fs::File;
use std::ops::ControlFlow;

use super::description::Description;
use super::error::ExportError;
use super::row::Row;
use super::rows::Rows;
use crate::left_out::LeftOut;

const LEFT_OUT: LeftOut = LeftOut {
    what: "Parquet",
    feature: "parquet",
};

pub(super) struct ParquetRows(Infallible);

impl ParquetRows {
    pub(super) fn new(_: File, _: &Description) -> Result<Self, ExportError> {
        Err(LEFT_OUT.into())
    }
}

impl Rows for ParquetRows {
    fn write(&mut self, _: Row<'_>) -> Result<(), ExportError> {
        match self.0 {}
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        match self.0 {}
    }
}

pub(super) struct ParquetFile(Infallible);

impl ParquetFile {
    pub(super) fn open(_: File) -> Result<Self, LeftOut> {
        Err(LEFT_OUT)
    }

    pub(super) fn has_columns(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn description(&self) -> Option<&str> {
        match self.0 {}
    }

    pub(super) fn for_each<B>(
        self,
        _: &mut dyn FnMut(Result<Row<'_>, String>) -> ControlFlow<B>,
    ) -> Result<Option<B>, LeftOut> {
        match self.0 {}
    }
}
