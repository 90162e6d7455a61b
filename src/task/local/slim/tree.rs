//! In the place of trees.

use alloc::vec::Vec;

use crate::canonical::CanonicalReader;
use crate::error::Error;
use crate::mechanism::contract::left_out;

/// No tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {}

impl Tree {
    pub(in crate::task) fn new(_: u32, _: Vec<u32>) -> Result<Self, Error> {
        Err(left_out("tree"))
    }

    pub(in crate::task) fn read_branches(_: &mut CanonicalReader<'_>) -> Result<Vec<u32>, Error> {
        Err(left_out("tree"))
    }

    pub(in crate::task) fn nodes(&self) -> u32 {
        match *self {}
    }

    pub(in crate::task) fn node(&self, _: usize, _: u32) -> u32 {
        match *self {}
    }

    pub(in crate::task) fn drawn(&self, _: u64) -> usize {
        match *self {}
    }
}
