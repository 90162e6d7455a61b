//! Metrics of a running collector, in the OpenMetrics text format that Prometheus reads.
//!
//! All metrics are sums over all tasks and people. Labels never contain a task, address, user
//! agent, query or id.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::problem::Problem;
use super::refusal_log::RefusalLog;
use crate::store::{BatchState, ProcessRole, Store, now};
use crate::tokens::{TOKENS_FILE_NAME, TokenStore};

/// Prefix of all metric names.
const METRIC_NAME_PREFIX: &str = "hushbin";

/// Log line of a flood.
const FLOOD_MESSAGE: &str = "refused requests or connections of addresses with too many";

/// Metrics of a process, with the registry that encodes them.
#[derive(Default)]
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    problem_counts: Family<ProblemLabel, Counter>,
    /// Number of open connections.
    pub(crate) open_connections: Gauge,
    closed_connections: Family<CloseReasonLabel, Counter>,
    failed_accepts: Counter,
    flood_log: RefusalLog,
    unknown_shuffler_log: RefusalLog,
    unlisted_key_log: RefusalLog,
    ready: Gauge,
    queued_upload_requests: Gauge,
    data_directory_bytes: Gauge,
    open_batch_reports: Gauge,
    closed_unreleased_batches: Gauge,
    released_batches: Gauge,
    batches_awaiting_receipt: Gauge,
    oldest_batch_age_seconds: Gauge,
    /// Empty if the collector does not use TLS itself.
    certificate_expiry_seconds: Family<NoLabels, Gauge>,
    unopenable_reports: Counter,
    unopenable_blocks: Counter,
    repeated_reports: Counter,
    relayed_requests: Counter,
    forwarded_requests: Family<ForwardLabels, Counter>,
    gateway_log: RefusalLog,
    opened_store: Mutex<Option<OpenedStore>>,
}

/// Opened store. Some metrics are read from it whenever metrics are requested.
struct OpenedStore {
    store: Store,
    directory: Option<PathBuf>,
    /// Tokens of the journal, if requests need a token.
    tokens: Option<Arc<TokenStore>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProblemLabel {
    problem: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NoLabels {}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CloseReasonLabel {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ForwardLabels {
    gateway: String,
    outcome: &'static str,
}

/// Outcome of a request that a relay has forwarded to a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForwardOutcome {
    /// The gateway answered with status 200.
    Answered,
    /// The gateway answered with another status.
    Refused,
    /// The gateway could not be reached.
    Unreachable,
    /// The gateway did not answer in time.
    Late,
    /// The gateway's answer was too long or ended early.
    Invalid,
}

impl ForwardOutcome {
    const ALL_OUTCOMES: [Self; 5] = [
        Self::Answered,
        Self::Refused,
        Self::Unreachable,
        Self::Late,
        Self::Invalid,
    ];

    fn labels(self, gateway: &str) -> ForwardLabels {
        let outcome = match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Late => "late",
            Self::Invalid => "invalid",
        };
        ForwardLabels {
            gateway: gateway.to_owned(),
            outcome,
        }
    }
}

/// Reason that the collector closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionCloseReason {
    /// The peer already had the maximum number of connections.
    PeerLimitReached,
    /// The connection had waited longest for a request when all slots were taken.
    ReplacedByNewConnection,
    /// The peer did not read its responses.
    ResponsesUnread,
    /// The TLS handshake failed or took too long.
    TlsHandshakeFailed,
}

impl ConnectionCloseReason {
    const ALL_CLOSE_REASONS: [Self; 4] = [
        Self::PeerLimitReached,
        Self::ReplacedByNewConnection,
        Self::ResponsesUnread,
        Self::TlsHandshakeFailed,
    ];

    const fn label(self) -> CloseReasonLabel {
        let reason = match self {
            Self::PeerLimitReached => "peer",
            Self::ReplacedByNewConnection => "room",
            Self::ResponsesUnread => "unread",
            Self::TlsHandshakeFailed => "handshake",
        };
        CloseReasonLabel { reason }
    }
}

impl Metrics {
    /// Counts sealed reports that could not be opened and were left out.
    pub(crate) fn count_unopenable_reports(&self, reports: u64) {
        self.unopenable_reports.inc_by(reports);
    }

    /// Counts a block of which most sealed reports could not be opened.
    pub(crate) fn count_unopenable_block(&self) {
        self.unopenable_blocks.inc();
    }

    /// Counts sealed reports that had been received before and were left out.
    pub(crate) fn count_repeated_reports(&self, reports: u64) {
        self.repeated_reports.inc_by(reports);
    }

    /// Counts a request that came from a relay and was opened.
    pub(crate) fn count_relayed_request(&self) {
        self.relayed_requests.inc();
    }

    /// Counts a request that a relay has forwarded. Logs failures of gateways.
    pub(crate) fn count_forwarded_request(&self, gateway: &str, outcome: ForwardOutcome) {
        if !matches!(outcome, ForwardOutcome::Answered | ForwardOutcome::Refused) {
            self.gateway_log.record(
                "requests could not be forwarded; hushbin_requests_forwarded_total names the gateway, \
                 and hushbin doctor the cause",
            );
        }
        self.forwarded_requests
            .get_or_create(&outcome.labels(gateway))
            .inc();
    }

    /// Creates the metrics, all zero.
    pub(crate) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix(METRIC_NAME_PREFIX)),
            ..Self::default()
        };
        for closed in ConnectionCloseReason::ALL_CLOSE_REASONS {
            // Creates each series at 0, so that its first increase is visible.
            drop(metrics.closed_connections.get_or_create(&closed.label()));
        }
        metrics.register_process_metrics();
        metrics
    }

    #[rustfmt::skip]
    fn register_process_metrics(&self) {
        let mut registry = self.registry.lock();
        registry.register("build", "The program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        let start = Gauge::<i64>::default();
        start.set(saturating_i64(now()));
        registry.register_with_unit("start_time", "When it started, since 1970", Unit::Seconds, start);
        registry.register("ready", "1 if it is ready, as in /readyz", self.ready.clone());
        registry.register("problems", "Requests that were refused, by the problem that was answered", self.problem_counts.clone());
        registry.register("connections", "Connections that are open", self.open_connections.clone());
        registry.register("connections_closed", "Connections that the collector closed: too many from one peer (peer), an idle one to make room for others (room), a peer that did not read (unread), a failed or slow TLS handshake (handshake)", self.closed_connections.clone());
        registry.register("accepts_failed", "Times that no connection could be accepted, mostly for lack of file descriptors", self.failed_accepts.clone());
        registry.register_with_unit("certificate_expiry", "When the TLS certificate expires, since 1970", Unit::Seconds, self.certificate_expiry_seconds.clone());
    }

    /// Adds the metrics of an opened store, of its directory if it has one, and of its tokens if
    /// requests need one.
    #[rustfmt::skip]
    pub(crate) fn register_store_metrics(&self, store: &Store, directory: Option<PathBuf>, tokens: Option<Arc<TokenStore>>) {
        let metrics = store.writer_metrics();
        let mut registry = self.registry.lock();
        registry.register("requests_queued", "Requests with uploads that wait for the disk", self.queued_upload_requests.clone());
        registry.register_with_unit("journal", "Size of the data directory's files", Unit::Bytes, self.data_directory_bytes.clone());
        registry.register("reports_in_open_batches", "Reports in open batches", self.open_batch_reports.clone());
        registry.register("reports_undecryptable", "Sealed reports that were left out of what shufflers sent, as they cannot be opened", self.unopenable_reports.clone());
        registry.register("blocks_undecryptable", "Blocks of shufflers of which most sealed reports could not be opened, although their key was there", self.unopenable_blocks.clone());
        registry.register("reports_repeated", "Sealed reports that were left out of what shufflers sent, as they had been received before", self.repeated_reports.clone());
        registry.register("requests_relayed", "Requests that came through a relay (Oblivious HTTP), and could be opened", self.relayed_requests.clone());
        registry.register("batches_unreleased", "Batches that are closed and not released yet", self.closed_unreleased_batches.clone());
        registry.register("batches_unsent", "Batches of a shuffler that its analyser has not signed for", self.batches_awaiting_receipt.clone());
        registry.register("batches_released", "Batches that are released", self.released_batches.clone());
        registry.register_with_unit("oldest_open_batch", "Age of the oldest open batch that has reports", Unit::Seconds, self.oldest_batch_age_seconds.clone());
        registry.register("uploads_accepted", "Uploads that are on disk and were new", metrics.new_uploads.clone());
        registry.register("uploads_duplicate", "Uploads that were on disk already", metrics.duplicate_uploads.clone());
        registry.register("uploads_conflicting", "Uploads whose id was used by a different upload", metrics.conflicts.clone());
        registry.register("reports_accepted", "Reports in the uploads accepted", metrics.reports.clone());
        registry.register("clock_jumps", "Times that the machine's clock has jumped by a minute or more", metrics.clock_jumps.clone());
        registry.register("files_broken", "1 if this file of the data directory was removed, replaced or damaged while the process runs", metrics.broken_files.clone());
        registry.register("shuffled_batches_split", "Shuffled batches that were released without their last blocks, because an analyser had waited for them for too long", metrics.split_batches.clone());
        registry.register("reports_left_out", "Sealed reports that a shuffler left out of a batch, as too few were sealed to the same key", metrics.left_out_reports.clone());
        registry.register("commits_failed", "Groups of uploads that did not reach the disk", metrics.failures.clone());
        registry.register_with_unit("commit", "Time that a group of uploads takes to be on disk", Unit::Seconds, metrics.commit.clone());
        drop(registry);
        *self.opened_store.lock() = Some(OpenedStore { store: store.clone(), directory, tokens });
    }

    /// Adds the metrics of a relay with these gateways, all zero, and sets the metric `ready` to 1.
    pub(crate) fn register_relay_metrics(&self, gateways: impl Iterator<Item = String>) {
        for gateway in gateways {
            for outcome in ForwardOutcome::ALL_OUTCOMES {
                let labels = outcome.labels(&gateway);
                // Creates each series at 0, so that its first increase is visible.
                drop(self.forwarded_requests.get_or_create(&labels));
            }
        }
        let help = "Requests to gateways: answered with status 200 (answered) or another (refused), \
                    without an answer (unreachable, late), with one that is too long or ends early \
                    (invalid)";
        let requests = self.forwarded_requests.clone();
        self.registry
            .lock()
            .register("requests_forwarded", help, requests);
        self.ready.set(1);
    }

    /// Writes to the journal as a test, and sets the metric `ready` to 1 if the write succeeds, or
    /// else to 0.
    pub(crate) async fn probe_journal(&self) {
        let store = self
            .opened_store
            .lock()
            .as_ref()
            .map(|opened| opened.store.clone());
        if let Some(store) = store {
            self.ready.set(i64::from(store.probe_write().await.is_ok()));
        }
    }

    /// Reads the file of tokens again if it has changed, and sets its metric.
    pub(crate) fn check_tokens(&self) {
        if let Some(OpenedStore {
            store,
            tokens: Some(tokens),
            ..
        }) = &*self.opened_store.lock()
        {
            let broken = tokens.reload_file().is_err();
            store
                .writer_metrics()
                .set_broken_file(TOKENS_FILE_NAME, broken);
        }
    }

    /// Counts a request that was answered with this problem. Logs floods, shufflers whose key is
    /// wrong or missing, and reports that are sealed to an unknown key.
    pub(crate) fn count_problem(&self, slug: &'static str) {
        let unlisted = Problem::UnlistedSealingKey {
            key_id: String::new(),
        };
        if slug == Problem::TooManyRequests.slug() {
            self.flood_log.record(FLOOD_MESSAGE);
        } else if slug == Problem::UnknownShuffler.slug() {
            self.unknown_shuffler_log.record(
                "refused batches that were not signed by a shuffler named in --shuffler-key",
            );
        } else if slug == unlisted.slug() {
            self.unlisted_key_log.record(
                "refused uploads that are sealed to keys which the analyser has not listed",
            );
        }
        self.problem_counts
            .get_or_create(&ProblemLabel { problem: slug })
            .inc();
    }

    /// Counts a failure to accept connections.
    pub(crate) fn count_failed_accept(&self) {
        self.failed_accepts.inc();
    }

    /// Counts a connection that was closed. Logs floods.
    pub(crate) fn count_closed_connection(&self, why: ConnectionCloseReason) {
        if why == ConnectionCloseReason::PeerLimitReached {
            self.flood_log.record(FLOOD_MESSAGE);
        }
        self.closed_connections.get_or_create(&why.label()).inc();
    }

    /// Sets the time at which the TLS certificate expires, in seconds since 1970. `None` removes it.
    pub(crate) fn set_certificate_expiry(&self, expires: Option<i64>) {
        match expires {
            Some(expires) => {
                let gauge = self.certificate_expiry_seconds.get_or_create(&NoLabels {});
                gauge.set(expires);
            }
            None => self.certificate_expiry_seconds.clear(),
        }
    }

    fn set_batch_gauges(&self, store: &Store) {
        let (mut reports, mut waiting, mut released, mut unsent, mut oldest) = (0, 0, 0, 0, 0);
        let sends = store.role() == ProcessRole::Shuffler;
        for task in store.tasks() {
            for batch in task.batches().iter() {
                match batch.state {
                    BatchState::Open if batch.report_count > 0 => {
                        reports += batch.report_count;
                        oldest = oldest.max(store.open_batch_age(&task));
                    }
                    BatchState::Open => {}
                    BatchState::Closed => waiting += 1,
                    BatchState::Released => {
                        released += 1;
                        unsent += u64::from(sends && batch.reports_kept && batch.report_count > 0);
                    }
                }
            }
        }
        self.open_batch_reports.set(saturating_i64(reports));
        self.closed_unreleased_batches.set(saturating_i64(waiting));
        self.released_batches.set(saturating_i64(released));
        self.batches_awaiting_receipt.set(saturating_i64(unsent));
        self.oldest_batch_age_seconds.set(saturating_i64(oldest));
    }

    /// Returns all metrics as OpenMetrics text. Blocks, since it reads the sizes of files.
    pub(crate) fn encode_openmetrics(&self) -> String {
        if let Some(opened) = &*self.opened_store.lock() {
            self.queued_upload_requests
                .set(saturating_i64(opened.store.queued_requests() as u64));
            self.set_batch_gauges(&opened.store);
            if let Some(directory) = &opened.directory {
                self.data_directory_bytes
                    .set(saturating_i64(size_of_files(directory)));
            }
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry.lock());
        // Metrics that may be absent are families without labels.
        text.replace("{} ", " ")
    }
}

/// Converts OpenMetrics text to the text format 0.0.4 of Prometheus, which older tools read. There,
/// counters are named like their samples, and information is a gauge. Units are not declared.
pub(crate) fn openmetrics_to_prometheus(openmetrics: &str) -> String {
    let kind_of_name: HashMap<&str, &str> = openmetrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .collect();
    let mut text = String::with_capacity(openmetrics.len());
    for line in openmetrics.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            text.extend([line, "\n"]);
            continue;
        };
        let mut words = comment.splitn(3, ' ');
        let (Some(keyword @ ("HELP" | "TYPE")), Some(name), Some(rest)) =
            (words.next(), words.next(), words.next())
        else {
            continue; // The unit of a metric, or the end.
        };
        let (suffix, kind) = match kind_of_name.get(name).copied() {
            Some("counter") => ("_total", "counter"),
            Some("info") => ("_info", "gauge"),
            Some(kind) => ("", kind),
            None => ("", "untyped"),
        };
        let rest = if keyword == "TYPE" { kind } else { rest };
        text.extend(["# ", keyword, " ", name, suffix, " ", rest, "\n"]);
    }
    text
}

fn saturating_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Returns the total size in bytes of all files below a directory. A file whose size cannot be read
/// counts as 0 bytes.
fn size_of_files(directory: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of_files(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}
