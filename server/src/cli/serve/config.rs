//! Validated configuration of the collector.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::http::{AllowedHosts, RequestLimits, ServerOptions, Tls};
use crate::ohttp::OhttpGateway;
use crate::role::{RelayedGateway, RoleKeysAndPeers};
use crate::store::{
    BatchSettings, JournalLocation, ProcessRole, StoreOptions, TaskSettings, TaskSetup,
    stored_task_ids,
};

/// Default address, which only this machine can connect to.
pub(crate) const DEFAULT_LISTEN_ADDRESS: SocketAddr =
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8686);

/// Lowest severity that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Role of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServerRole {
    /// Receives reports from pages, and serves estimates
    #[default]
    Collector,
    /// Receives sealed reports from pages, shuffles the reports of a batch, and sends the batch to
    /// an analyser
    Shuffler,
    /// Receives batches from shufflers, and serves estimates
    Analyser,
    /// Forwards sealed requests (Oblivious HTTP) to gateways, without the addresses of the senders
    Relay,
}

impl ServerRole {
    /// Returns the role of the server's journal, or `None` for a relay, which has no journal.
    pub(crate) const fn journal_role(self) -> Option<ProcessRole> {
        match self {
            Self::Collector => Some(ProcessRole::Collector),
            Self::Shuffler => Some(ProcessRole::Shuffler),
            Self::Analyser => Some(ProcessRole::Analyser),
            Self::Relay => None,
        }
    }
}

/// Validated configuration of `hushbin serve`.
#[derive(Clone)]
pub(crate) struct ServerConfig {
    /// Address to listen on.
    pub(crate) listen_address: SocketAddr,
    /// Certificate and key of the server; `None` behind a proxy that encrypts.
    pub(crate) tls: Option<Tls>,
    /// Host names that requests may use.
    pub(crate) allowed_hosts: AllowedHosts,
    /// Lowest severity that is logged.
    pub(crate) log_level: LogLevel,
    /// Format of the log.
    pub(crate) log_format: LogFormat,
    /// Limits of one request.
    pub(crate) request_limits: RequestLimits,
    /// True if the operator has set the maximum number of connections.
    pub(crate) is_max_connections_set: bool,
    /// Limits of the whole server.
    pub(crate) server_options: ServerOptions,
    /// Part that depends on the role.
    pub(crate) role: RoleConfig,
}

/// Part of the configuration that depends on the role.
#[derive(Clone)]
pub(crate) enum RoleConfig {
    /// Collector, shuffler or analyser, which have a journal.
    WithJournal(JournalConfig),
    /// Relay, which has none.
    Relay(RelayConfig),
}

/// Configuration of a server with a journal.
#[derive(Clone)]
pub(crate) struct JournalConfig {
    /// Location of the journal.
    pub(crate) journal_location: JournalLocation,
    /// True if the server must not write to the journal.
    pub(crate) read_only: bool,
    /// True for development: no request needs a token.
    pub(crate) development: bool,
    /// Tasks of all task files.
    pub(crate) tasks: Vec<TaskSetup>,
    /// Keys and peers of the server's role. The role itself is in `store_options`.
    pub(crate) role_keys: RoleKeysAndPeers,
    /// Gateway for requests that come through relays, if there is one.
    pub(crate) ohttp_gateway: Option<Arc<OhttpGateway>>,
    /// Role and limits of the store.
    pub(crate) store_options: StoreOptions,
    /// Settings of new tasks, unless a request for a task has its own.
    pub(crate) task_settings: TaskSettings,
}

/// Configuration of a relay.
#[derive(Clone)]
pub(crate) struct RelayConfig {
    /// Gateways to which requests are forwarded.
    pub(crate) gateways: Vec<RelayedGateway>,
    /// Memory for requests that wait for a gateway, in bytes.
    pub(crate) queue_bytes: usize,
}

impl JournalConfig {
    /// Returns a warning if so few reports close a batch that they hardly hide a person.
    pub(crate) fn few_reports_warning(&self) -> Option<String> {
        let least = self.task_settings.batch.least;
        let few = least < FEW_REPORTS && !self.development;
        few.then(|| {
            format!(
                "batch_least is {least}, so a person is hidden among {least} reports only; the \
                 default is {}",
                BatchSettings::default().least
            )
        })
    }
}

/// Number of reports in a batch below which the operator is warned. It is a tenth of the default.
const FEW_REPORTS: u64 = 100;

/// Permitted range of a numeric option.
pub(crate) struct OptionRange {
    /// Name of the option in a configuration file.
    option_key: &'static str,
    pub(crate) permitted_range: RangeInclusive<u64>,
    /// Range in words, which also states the limits that other options set.
    range_in_words: &'static str,
}

const fn new_option_range(
    key: &'static str,
    range: RangeInclusive<u64>,
    expected: &'static str,
) -> OptionRange {
    OptionRange {
        option_key: key,
        permitted_range: range,
        range_in_words: expected,
    }
}

/// Permitted range of each numeric option that has one.
const OPTION_RANGES: [OptionRange; 9] = [
    new_option_range("max_upload_bytes", 64..=64 << 20, "64 bytes to 64 MiB"),
    new_option_range(
        "queue_bytes",
        64..=1 << 40,
        "at least the longest upload, or three of them with --ohttp-key or --gateway, at most 1 TiB",
    ),
    new_option_range("max_connections", 1..=1 << 20, "1 to 1048576"),
    new_option_range("write_timeout", TIMEOUT_SECONDS_RANGE, "1 to 3600 seconds"),
    new_option_range(
        "request_timeout",
        TIMEOUT_SECONDS_RANGE,
        "1 to 3600 seconds",
    ),
    new_option_range("drain_timeout", TIMEOUT_SECONDS_RANGE, "1 to 3600 seconds"),
    new_option_range(
        "batch_least",
        BATCH_REPORT_COUNT_RANGE,
        "1 to 1000000 reports",
    ),
    new_option_range(
        "batch_most",
        BATCH_REPORT_COUNT_RANGE,
        "--batch-least to 1000000 reports",
    ),
    new_option_range(
        "batch_min_minutes",
        0..=BatchSettings::MAX_MIN_MINUTES as u64,
        "0 to 1440 minutes",
    ),
];
const TIMEOUT_SECONDS_RANGE: RangeInclusive<u64> = 1..=3600;
const BATCH_REPORT_COUNT_RANGE: RangeInclusive<u64> = 1..=BatchSettings::MOST_REPORTS;

/// Returns the permitted range of the option with this key in a configuration file, or `None` if
/// every number is permitted.
pub(crate) fn range_of_option(key: &str) -> Option<&'static OptionRange> {
    OPTION_RANGES.iter().find(|bounds| bounds.option_key == key)
}

/// Error for a number outside the permitted range of its option.
#[derive(Debug, thiserror::Error)]
#[error("--{} is {value}, expected {expected}", key.replace('_', "-"))]
pub(crate) struct OptionOutOfRange {
    key: &'static str,
    value: u64,
    expected: &'static str,
}

/// Returns `value` if it is in the range of the option.
pub(crate) fn check_option_range<T: Copy + TryInto<u64>>(
    key: &str,
    value: T,
) -> Result<T, OptionOutOfRange> {
    check_option_at_least(key, 0, value)
}

/// Returns `value` if it is in the range of the option and at least `least`.
pub(crate) fn check_option_at_least<T: Copy + TryInto<u64>>(
    key: &str,
    least: u64,
    value: T,
) -> Result<T, OptionOutOfRange> {
    let bounds = range_of_option(key).expect("the option that is asked for has bounds");
    let number = value.try_into().unwrap_or(u64::MAX);
    if number >= least && bounds.permitted_range.contains(&number) {
        Ok(value)
    } else {
        Err(OptionOutOfRange {
            key: bounds.option_key,
            value: number,
            expected: bounds.range_in_words,
        })
    }
}

impl JournalConfig {
    /// Returns the ids of the tasks of the journal and of task files. A journal that cannot be read
    /// counts as empty, since its error is reported where it is opened. This call blocks.
    pub(crate) fn task_ids(&self) -> BTreeSet<String> {
        let given = self.tasks.iter().map(|setup| setup.draft.id().to_owned());
        let stored = stored_task_ids(&self.journal_location).unwrap_or_default();
        given.chain(stored).collect()
    }
}

/// Returns the duration that an option gives in seconds, or the default if the option is missing.
pub(crate) fn seconds_or_default(
    key: &str,
    value: Option<u64>,
    default: Duration,
) -> Result<Duration, OptionOutOfRange> {
    match value {
        None => Ok(default),
        Some(value) => check_option_range(key, value).map(Duration::from_secs),
    }
}
