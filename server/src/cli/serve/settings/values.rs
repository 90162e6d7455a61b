//! The settings, and how those of flags, variables and a file are merged.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::cli::output::Error;
use crate::cli::serve::config::{LogFormat, LogLevel};
use crate::store::Role;
use crate::text;

/// Adds the environment variable of an option: `HUSHBIN_` and its key in the file.
fn with_variable(option: Arg) -> Arg {
    let key = option.get_id().as_str();
    // Lists of tasks are too long for a variable, and --check-config is not a setting.
    if ["tasks", "check_config"].contains(&key) {
        return option;
    }
    let variable = format!("HUSHBIN_{}", key.to_uppercase());
    option.env(&*variable.leak())
}

/// Settings, each `None` if missing. A test compares the defaults in the help with the real ones.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(mut_args = with_variable)]
pub(in crate::cli::serve) struct Settings {
    /// Directory of the journal; created if missing
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// PostgreSQL database of the journal, instead of --data, such as
    /// postgres://hushbin@db1,db2/hushbin?target_session_attrs=read-write. Several processes of
    /// one role can share it. Keep a password in the environment or the file
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(super) store: Option<String>,
    /// Role of the server. A shuffler sees who sends reports, but not their contents. An analyser
    /// sees the contents, but not the senders. A collector does both jobs (default collector)
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Option<Role>,
    /// Private signing key (PEM) of a shuffler or an analyser, made by
    /// `hushbin key create --for signing`
    #[arg(long, value_name = "FILE")]
    pub(super) signing_key: Option<PathBuf>,
    /// URL of the analyser that a shuffler sends batches to, such as https://analyser.example.org
    #[arg(long, value_name = "URL")]
    pub(super) analyser: Option<String>,
    /// Public signing key (PEM) of the analyser that a shuffler sends batches to
    #[arg(long, value_name = "FILE")]
    pub(super) analyser_key: Option<PathBuf>,
    /// Private sealing key (PEM) of an analyser, made by `hushbin key create --for sealing`; may be
    /// repeated. Pages seal reports to the first key that they trust. Reports sealed to the other
    /// keys are still opened
    #[arg(long = "sealing-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) sealing_keys: Option<Vec<PathBuf>>,
    /// Public signing key (PEM) of a shuffler that an analyser accepts batches from; may be repeated
    #[arg(long = "shuffler", value_name = "FILE", value_delimiter = ',')]
    pub(super) shufflers: Option<Vec<PathBuf>>,
    /// Private sealing key (PEM) that makes a collector or shuffler an Oblivious HTTP gateway, at
    /// /.well-known/ohttp-gateway; may be repeated. `hushbin key create --for sealing` makes it.
    /// The first key is announced first. Requests sealed to the other keys are still opened
    #[arg(long = "ohttp-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) ohttp_keys: Option<Vec<PathBuf>>,
    /// Write nothing to the journal, for a copy or a read-only disk. Released estimates can be
    /// read; uploads and changes are refused (default false)
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) read_only: Option<bool>,
    /// Task file (JSON); may be repeated. Tasks of earlier runs are served too
    #[arg(long = "task", value_name = "FILE")]
    pub(super) tasks: Option<Vec<PathBuf>>,
    /// IP address and port to listen on; port 0 takes a free one (default 127.0.0.1:8686)
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<SocketAddr>,
    /// Certificate chain (PEM), the server's own certificate first. The server then speaks HTTPS
    /// only, and needs no proxy
    #[arg(long, value_name = "FILE")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// Private key (PEM) of --tls-certificate. Only the file's owner and group may have access to it
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,
    /// Host name that requests must use, without port; may be repeated. Requests for other names
    /// are refused, except for /livez and /readyz (default any name)
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',')]
    pub(super) hosts: Option<Vec<String>>,
    /// Lowest severity that is logged. Uploads are never logged (default info)
    #[arg(long, value_name = "LEVEL")]
    pub(super) log: Option<LogLevel>,
    /// Format of the log: lines of text, or JSON objects (default text)
    #[arg(long, value_name = "FORMAT")]
    pub(super) log_format: Option<LogFormat>,
    /// Maximum size of an upload, in bytes, 64 to 67108864 (default 1048576)
    #[arg(long, value_name = "BYTES")]
    pub(super) max_upload_bytes: Option<usize>,
    /// Memory for uploads that wait for the disk, in bytes, at one request per 8 KiB. Beyond it,
    /// clients are asked to retry later (default 67108864)
    #[arg(long, value_name = "BYTES")]
    pub(super) queue_bytes: Option<usize>,
    /// Maximum number of open connections, 1 to 1048576. Beyond it, connections that have waited
    /// longest for a request are closed (default 4096)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<usize>,
    /// Maximum number of open connections of one IPv4 address or IPv6 /64 network. 0 means no
    /// limit, which a proxy on another machine needs (default 256, or 0 if --listen is a loopback
    /// address)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections_per_peer: Option<usize>,
    /// Maximum number of requests a minute of one IPv4 address or IPv6 /64 network, besides /livez
    /// and /readyz. Beyond it, clients are asked to retry later. 0 means no limit, which a proxy on
    /// another machine needs (default 600, or 0 if --listen is a loopback address)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_requests_per_peer: Option<u32>,
    /// Time limit for a client to receive 512 KiB of an answer, or the rest of it, in seconds, 1 to
    /// 3600 (default 20)
    #[arg(long, value_name = "SECONDS")]
    pub(super) write_timeout: Option<u64>,
    /// Time limit for receiving and answering a request, in seconds, 1 to 3600 (default 30)
    #[arg(long, value_name = "SECONDS")]
    pub(super) request_timeout: Option<u64>,
    /// Time limit for finishing current requests after SIGTERM, in seconds, 1 to 3600 (default 20)
    #[arg(long, value_name = "SECONDS")]
    pub(super) drain_timeout: Option<u64>,
    /// Minimum number of reports in a released batch, 1 to 1000000. Each person hides among them
    /// (default 1000)
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_least: Option<u64>,
    /// Number of reports at which a batch closes, --batch-least to 1000000 (default 100000)
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_most: Option<u64>,
    /// Time after which a batch with at least --batch-least reports closes, in hours; 0 means never
    /// (default 24)
    #[arg(long, value_name = "HOURS")]
    pub(super) batch_hours: Option<u32>,
    /// Time after which the reports of a released batch are deleted, in days; 0 means never. Totals
    /// are kept. Searching for texts and estimating unlisted items need the reports (default 0)
    #[arg(long, value_name = "DAYS")]
    pub(super) keep_reports_days: Option<u32>,
    /// Origin of pages that may send reports, such as https://example.org; may be repeated
    /// (default any)
    #[arg(long = "origin", value_name = "ORIGIN", value_delimiter = ',')]
    pub(super) origins: Option<Vec<String>>,
    /// Maximum number of reports in one upload; 0 means no limit. Pages send one report per upload
    /// (default 0)
    #[arg(long, value_name = "REPORTS")]
    pub(super) upload_reports: Option<u32>,
    /// For development only: anyone may read estimates, and reading them releases all reports so
    /// far, however few. Reports are then not hidden in a batch (default false)
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) development: Option<bool>,
}

/// Keys that can change while the collector runs.
pub(in crate::cli::serve) const CHANGEABLE: [&str; 4] =
    ["hosts", "log", "tls_certificate", "tls_key"];

impl Settings {
    /// Reads a file. Relative paths in it start at its directory.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, or has an unknown key. The message names the file, the
    /// line and the known keys.
    pub(in crate::cli::serve) fn read(path: &Path) -> Result<Self, Error> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = text::read(path).map_err(|error| named(&error))?;
        let mut settings: Self = toml::from_str(&text).map_err(|error| named(&error))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let lists = [
            &mut settings.tasks,
            &mut settings.sealing_keys,
            &mut settings.shufflers,
            &mut settings.ohttp_keys,
        ];
        let paths = lists.into_iter().flatten().flatten();
        for path in paths
            .chain(&mut settings.data)
            .chain(&mut settings.tls_certificate)
            .chain(&mut settings.tls_key)
            .chain(&mut settings.signing_key)
            .chain(&mut settings.analyser_key)
        {
            *path = directory.join(&path);
        }
        Ok(settings)
    }

    /// Returns these settings, completed with those of `other`.
    ///
    /// # Errors
    /// When a path is not valid UTF-8.
    pub(in crate::cli::serve) fn completed_with(&self, other: &Self) -> Result<Self, Error> {
        let mut all = other.table()?;
        all.extend(self.table()?);
        Ok(all.try_into()?)
    }

    /// Returns the keys whose values differ.
    ///
    /// # Errors
    /// When a path is not valid UTF-8.
    pub(in crate::cli::serve) fn differences(&self, other: &Self) -> Result<Vec<String>, Error> {
        let [ours, theirs] = [self.table()?, other.table()?];
        let mut names: Vec<_> = ours.keys().chain(theirs.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| ours.get(name) != theirs.get(name));
        Ok(names)
    }

    /// Copies the settings that can change while the collector runs.
    pub(in crate::cli::serve) fn adopt_changeable(&mut self, other: Self) {
        self.hosts = other.hosts;
        self.log = other.log;
        self.tls_certificate = other.tls_certificate;
        self.tls_key = other.tls_key;
    }

    fn table(&self) -> Result<Table, Error> {
        Ok(Table::try_from(self)?)
    }
}
