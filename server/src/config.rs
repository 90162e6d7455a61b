//! The collector's configuration, validated.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::http::{Hosts, Limits, ServerOptions, Tls};
use crate::ohttp::Gateway;
use crate::role::Part;
use crate::store::{Collected, Place, StoreOptions};

/// Where to listen by default: only this machine can connect.
pub(crate) const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8686);

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Everything that `hushbin serve` needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Where the journal is.
    pub(crate) place: Place,
    /// Whether nothing is written there.
    pub(crate) read_only: bool,
    /// The tasks of all task files.
    pub(crate) tasks: Vec<Collected>,
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// What connections are encrypted with, unless a proxy does that.
    pub(crate) tls: Option<Tls>,
    /// Names that it answers to.
    pub(crate) hosts: Hosts,
    /// How much to log.
    pub(crate) log: LogLevel,
    /// How to log it.
    pub(crate) log_format: LogFormat,
    /// What it does, beside keeping a journal.
    pub(crate) part: Arc<Part>,
    /// What opens requests that come through relays, where any may.
    pub(crate) gateway: Option<Arc<Gateway>>,
    /// Bounds of one request.
    pub(crate) limits: Limits,
    /// Bounds of the server.
    pub(crate) server: ServerOptions,
    /// Bounds of the store.
    pub(crate) store: StoreOptions,
}

/// A number that an option cannot have.
#[derive(Debug, thiserror::Error)]
#[error("--{option} is {value}, expected {expected}")]
pub(crate) struct OutOfRange {
    option: &'static str,
    value: u64,
    expected: &'static str,
}

/// `value` when it lies in the range, which `expected` says in words.
pub(crate) fn count<T: PartialOrd + Copy + TryInto<u64>>(
    option: &'static str,
    value: T,
    range: RangeInclusive<T>,
    expected: &'static str,
) -> Result<T, OutOfRange> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(OutOfRange {
            option,
            value: value.try_into().unwrap_or(u64::MAX),
            expected,
        })
    }
}

/// Seconds that an option may name, or the time that it means when left out.
pub(crate) fn seconds(
    option: &'static str,
    value: Option<u64>,
    default: Duration,
) -> Result<Duration, OutOfRange> {
    match value {
        None => Ok(default),
        Some(value @ 1..=3600) => Ok(Duration::from_secs(value)),
        Some(value) => Err(OutOfRange {
            option,
            value,
            expected: "1 to 3600 seconds",
        }),
    }
}
