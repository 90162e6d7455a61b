//! The hushbin collector as a library, for applications that embed it.
//!
//! It takes randomised uploads over HTTP, journals each one durably before
//! acknowledging it, and estimates totals with error bars from what it holds.
//!
//! | room | holds |
//! |---|---|
//! | [`store`] | one journal, in a directory or a database: its tasks, batches and their totals |
//! | [`task`] | a collected task and its file |
//! | [`http`] | the interface over a store, as a router |
//! | `export` | files of randomised reports: written, and read again |
//! | [`audit`] | how much a report gives away, measured |
//! | [`cli`] | the command `hushbin`: collect, plan, account, simulate, audit |
//!
//! Arrows point inward: `cli` and `http` use `store`, all use the crate
//! [`hushbin_analysis`], which is pure, and the core crate [`hushbin`].
//!
//! ```no_run
//! use hushbin_server::http::{Limits, router};
//! use hushbin_server::store::{Store, StoreOptions};
//!
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! let draft: hushbin::TaskDraft = serde_json::from_str(&std::fs::read_to_string("task.json")?)?;
//! let store = Store::open("data".as_ref(), &[draft.into()], StoreOptions::DEFAULT)?;
//! let collector = router(store.clone(), Limits::DEFAULT);
//! let app = axum::Router::new().nest("/telemetry", collector);
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, app).await?;
//! store.close().await?;
//! # Ok(())
//! # }
//! ```

pub mod audit;
pub mod cli;
mod estimates;
mod export;
mod format_version;
pub mod http;
mod keys;
mod left_out;
mod ohttp;
mod role;
mod sealed;
mod simulate;
pub mod store;
pub mod task;
mod text;
#[cfg(feature = "tls")]
mod tls_roots;
mod tokens;

pub use left_out::LeftOut;
