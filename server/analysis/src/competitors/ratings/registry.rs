//! The one list of these mechanisms.

use hushbin::Error;

use super::harmony::Harmony;
use super::oracle::{Oracle, Setting};

/// What a report's ε is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protects {
    /// Everything that a person has.
    User,
    /// One entry: neighbouring inputs differ in one.
    Event,
}

/// A mechanism by its name.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// As figures name it.
    pub name: &'static str,
    /// What ε is about.
    pub protects: Protects,
    /// Where it is from, and what of it is not as published.
    pub source: &'static str,
    /// Its parameters chosen.
    pub build: fn(&Setting) -> Result<Box<dyn Oracle>, Error>,
}

/// All of them.
pub const ORACLES: &[Named] = &[Named {
    name: "Harmony",
    protects: Protects::User,
    source: "Nguyên et al. 2016",
    build: |setting| Ok(Box::new(Harmony::new(setting)?)),
}];
