//! hushbin's mechanisms and published ones, under one interface.

pub(super) mod contestant;
pub(super) mod dense;
pub(super) mod listen;
pub(super) mod prepared;
pub(super) mod protocol;
