//! Documentation to read before the code: architecture, glossary, design decisions.

#[doc = include_str!("architecture.md")]
pub mod architecture {}

#[doc = include_str!("glossary.md")]
pub mod glossary {}

#[doc = include_str!("design.md")]
pub mod design {}
