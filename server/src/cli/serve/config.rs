//! The collector's configuration, validated.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::http::{Hosts, Limits, ServerOptions, Tls};
use crate::ohttp::Gateway;
use crate::role::Peers;
use crate::store::{BatchSettings, Location, StoreOptions, TaskSetup};

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
#[derive(Clone)]
pub(crate) struct Config {
    /// Where the journal is.
    pub(crate) location: Location,
    /// Whether nothing is written there.
    pub(crate) read_only: bool,
    /// The tasks of all task files.
    pub(crate) tasks: Vec<TaskSetup>,
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
    /// Keys and peers of its role, which `store` has.
    pub(crate) peers: Peers,
    /// What opens requests that come through relays, where any may.
    pub(crate) gateway: Option<Arc<Gateway>>,
    /// Bounds of one request.
    pub(crate) limits: Limits,
    /// Bounds of the server.
    pub(crate) server: ServerOptions,
    /// Bounds of the store.
    pub(crate) store: StoreOptions,
}

/// The numbers that an option may have.
pub(crate) struct Bounds {
    /// Its name in a file.
    key: &'static str,
    pub(crate) range: RangeInclusive<u64>,
    /// The same in words, and what another option has to do with it.
    expected: &'static str,
}

const fn from_to(key: &'static str, range: RangeInclusive<u64>, expected: &'static str) -> Bounds {
    Bounds {
        key,
        range,
        expected,
    }
}

/// Of every option that may not have any number.
const BOUNDS: [Bounds; 8] = [
    from_to("max_upload_bytes", 64..=64 << 20, "64 bytes to 64 MiB"),
    from_to(
        "queue_bytes",
        64..=1 << 40,
        "at least the longest upload, or three of them with --ohttp-key, at most 1 TiB",
    ),
    from_to("max_connections", 1..=1 << 20, "1 to 1048576"),
    from_to("write_timeout", SECONDS, "1 to 3600 seconds"),
    from_to("request_timeout", SECONDS, "1 to 3600 seconds"),
    from_to("drain_timeout", SECONDS, "1 to 3600 seconds"),
    from_to("batch_least", REPORTS, "1 to 1000000 reports"),
    from_to("batch_most", REPORTS, "--batch-least to 1000000 reports"),
];
const SECONDS: RangeInclusive<u64> = 1..=3600;
const REPORTS: RangeInclusive<u64> = 1..=BatchSettings::MOST_REPORTS;

/// Those of the option that has this name in a file, if it has any.
pub(crate) fn bounds(key: &str) -> Option<&'static Bounds> {
    BOUNDS.iter().find(|bounds| bounds.key == key)
}

/// A number that an option cannot have.
#[derive(Debug, thiserror::Error)]
#[error("--{} is {value}, expected {expected}", key.replace('_', "-"))]
pub(crate) struct OutOfRange {
    key: &'static str,
    value: u64,
    expected: &'static str,
}

/// `value` when it is one that the option may have.
pub(crate) fn count<T: Copy + TryInto<u64>>(key: &str, value: T) -> Result<T, OutOfRange> {
    count_from(key, 0, value)
}

/// The same, of an option that another bounds from below, too.
pub(crate) fn count_from<T: Copy + TryInto<u64>>(
    key: &str,
    least: u64,
    value: T,
) -> Result<T, OutOfRange> {
    let bounds = bounds(key).expect("the option that is asked for has bounds");
    let number = value.try_into().unwrap_or(u64::MAX);
    if number >= least && bounds.range.contains(&number) {
        Ok(value)
    } else {
        Err(OutOfRange {
            key: bounds.key,
            value: number,
            expected: bounds.expected,
        })
    }
}

/// Seconds that an option may name, or the time that it means when left out.
pub(crate) fn seconds(
    key: &str,
    value: Option<u64>,
    default: Duration,
) -> Result<Duration, OutOfRange> {
    match value {
        None => Ok(default),
        Some(value) => count(key, value).map(Duration::from_secs),
    }
}
