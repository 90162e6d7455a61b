//! hushbin core.
#![no_std]
extern crate alloc;
