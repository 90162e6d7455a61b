//! Comparison of hushbin with published mechanisms and bounds. This crate is for contributors and
//! is not part of releases.
//!
//! | module | contents |
//! |---|---|
//! | [`competitors`] | published mechanisms, corrected if their paper errs |
//! | `evaluate` | the experiments of the papers, run again with every mechanism |
//! | [`published`] | published bounds on the central ε of a batch, by author and year |
//! | `bounds` | curves of hushbin's privacy account and of the published bounds |
//! | `figure` | figures as SVG |
//! | [`cli`] | the command `hushbin-study`, which `npm run evaluate` runs |

mod bounds;
pub mod cli;
pub mod competitors;
mod evaluate;
mod figure;
mod output;
pub mod published;
mod roots;
