//! The hushbin collector as a library, for applications that embed it.
//!
//! A collector receives randomised uploads over HTTP. It writes each upload to a durable journal
//! before acknowledging it. From the stored reports it estimates totals with error bars.
//!
//! | module | contents |
//! |---|---|
//! | [`store`] | the journal, in a directory or a database, with tasks, batches and totals |
//! | [`task`] | tasks that are collected, and task files |
//! | [`http`] | the HTTP interface of a store, as a router |
//! | `export` | writing and reading of files of randomised reports |
//! | [`cli`] | the command `hushbin` with its subcommands, such as `serve` and `plan` |
//!
//! Dependencies point inward: `cli` and `http` use `store`. All modules use the core crate
//! [`hushbin`] and the pure crate [`hushbin_analysis`].
//!
//! ```no_run
//! use hushbin_server::http::{RequestLimits, unrestricted_router};
//! use hushbin_server::store::{Store, StoreOptions};
//!
//! # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
//! let draft: hushbin::TaskDraft = serde_json::from_str(&std::fs::read_to_string("task.json")?)?;
//! let store = Store::open("data".as_ref(), &[draft.into()], StoreOptions::DEFAULT)?;
//! let collector = unrestricted_router(store.clone(), RequestLimits::DEFAULT);
//! let app = axum::Router::new().nest("/telemetry", collector);
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, app).await?;
//! store.close().await?;
//! # Ok(())
//! # }
//! ```

pub mod cli;
mod estimates;
mod export;
mod format_version;
pub mod http;
mod keys;
mod missing_feature;
mod ohttp;
mod role;
mod sealed;
mod simulate;
pub mod store;
pub mod task;
mod text_file;
#[cfg(feature = "tls")]
mod tls_roots;
mod tokens;

pub use missing_feature::MissingFeature;
