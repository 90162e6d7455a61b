//! Settings of `hushbin serve`, and the merging of flags, environment variables and a file.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{Arg, Args};
use serde::{Deserialize, Deserializer, Serialize, de};
use toml::Table;

use crate::cli::output::Error;
use crate::cli::serve::config::{LogFormat, LogLevel, ServerRole};
use crate::text_file;

/// Adds the environment variable of an option. Its name is `HUSHBIN_` and the key of the option in
/// the file.
fn option_with_env_variable(option: Arg) -> Arg {
    let key = option.get_id().as_str();
    // Lists of tasks are too long for a variable, and --check-config is not a setting.
    if ["tasks", "check_config"].contains(&key) {
        return option;
    }
    let variable = format!("HUSHBIN_{}", key.to_uppercase());
    option.env(&*variable.leak())
}

/// Reads an address to listen on: an IP address or `localhost`, and a port. Without an address, the
/// server listens on all addresses of IPv4.
fn read_listen_address(text: &str) -> Result<SocketAddr, String> {
    let known = match text.rsplit_once(':') {
        Some(("", port)) => format!("{}:{port}", Ipv4Addr::UNSPECIFIED),
        Some(("localhost", port)) => format!("{}:{port}", Ipv4Addr::LOCALHOST),
        _ => text.to_owned(),
    };
    let expected = "expected an IP address and a port, such as 127.0.0.1:8686 or [::1]:8686";
    known.parse().map_err(|_| expected.to_owned())
}

/// Reads the address to listen on from a configuration file.
fn read_listen_setting<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let read = read_listen_address(&text);
    read.map(Some)
        .map_err(|error| de::Error::custom(format!("invalid address {text:?}: {error}")))
}

/// Settings, each `None` if it is not given. A test compares the defaults in the help texts with
/// the real defaults.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(mut_args = option_with_env_variable)]
pub(in crate::cli::serve) struct ServeSettings {
    /// Directory that contains the journal, made by 'hushbin journal create'. With --development,
    /// it is created if missing
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// PostgreSQL database that contains the journal, instead of --data, such as
    /// postgres://hushbin@db1,db2/hushbin or 'host=/var/run/postgresql dbname=hushbin'. Several
    /// processes of one role can share the database. If the address has a password, put it into the
    /// environment variable or the configuration file
    #[arg(long, value_name = "ADDRESS", hide_env_values = true)]
    pub(super) database: Option<String>,
    /// Role of the server. A 'shuffler' sees who sends reports, but not the contents of reports. An
    /// 'analyser' sees the contents, but not the senders. A 'collector' sees both. A 'relay' sees
    /// who sends requests, and nothing of their contents (default collector)
    #[arg(long, value_name = "ROLE", ignore_case = true)]
    pub(super) role: Option<ServerRole>,
    /// URL of an Oblivious HTTP gateway to which this relay forwards requests, such as
    /// https://telemetry.example.org; may be repeated. Without a path, /.well-known/ohttp-gateway is
    /// added. Pages send the requests to /gateways/HOST on the relay, where HOST is the host of the
    /// URL, with its port if the URL has one
    #[arg(long = "gateway", value_name = "URL", value_delimiter = ',')]
    pub(super) gateways: Option<Vec<String>>,
    /// Private signing key (PEM) of this server, made by 'hushbin key create --for signing'. It signs
    /// the task log, and the messages between shuffler and analyser, which must have a key
    #[arg(long, value_name = "FILE")]
    pub(super) signing_key: Option<PathBuf>,
    /// URL of the analyser to which this shuffler sends batches, such as
    /// https://analyser.example.org
    #[arg(long, value_name = "URL")]
    pub(super) analyser: Option<String>,
    /// Public signing key (PEM) of the analyser to which this shuffler sends batches
    #[arg(long, value_name = "FILE")]
    pub(super) analyser_key: Option<PathBuf>,
    /// Private sealing key (PEM) of this analyser, made by 'hushbin key create --for sealing'; may
    /// be repeated. A page seals reports to the first of these keys whose pin the page lists, so
    /// put a new key before the old ones. Reports sealed to an old key are still opened
    #[arg(long = "sealing-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) sealing_keys: Option<Vec<PathBuf>>,
    /// Id of a sealing key that this analyser has lost, as the log names it; may be repeated.
    /// Reports sealed to a lost key are left out, instead of waiting at the shuffler
    #[arg(long = "lost-sealing-key", value_name = "ID", value_delimiter = ',')]
    pub(super) lost_sealing_keys: Option<Vec<String>>,
    /// Public signing key (PEM) of a shuffler from which this analyser accepts batches; may be
    /// repeated
    #[arg(long = "shuffler-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) shuffler_keys: Option<Vec<PathBuf>>,
    /// Private sealing key (PEM), made by 'hushbin key create --for sealing'; may be repeated. This
    /// option makes a collector or a shuffler an Oblivious HTTP gateway, at
    /// /.well-known/ohttp-gateway. The gateway lists its public keys in the order of these options,
    /// and clients should take the first, so put a new key before the old ones. Requests sealed to
    /// an old key are still opened
    #[arg(long = "ohttp-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) ohttp_keys: Option<Vec<PathBuf>>,
    /// Serve the journal without writing to it, for example from a copy or a disk that cannot be
    /// written. Released estimates can be read, while uploads and changes are refused (default
    /// false)
    #[arg(long, num_args = 0, default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(super) read_only: Option<bool>,
    /// Task file (JSON) of a task to serve, or directory whose .json files are all task files; may
    /// be repeated. Tasks that are already in the journal are served too
    #[arg(long = "task", value_name = "PATH")]
    pub(super) tasks: Option<Vec<PathBuf>>,
    /// IP address or localhost, and port, to listen on. Without an address, as in :8686, the server
    /// listens on all IPv4 addresses. With port 0, the system chooses a free port (default
    /// 127.0.0.1:8686)
    #[arg(long, value_name = "ADDR", value_parser = read_listen_address)]
    #[serde(deserialize_with = "read_listen_setting")]
    pub(super) listen: Option<SocketAddr>,
    /// Certificate chain (PEM), with the server's own certificate first. The server then accepts
    /// only HTTPS, and needs no proxy
    #[arg(long, value_name = "FILE")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// Private key (PEM) of --tls-certificate. Only the owner and the group of the file may have
    /// access to it
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,
    /// Host name, without port, that requests must be addressed to; may be repeated. Requests for
    /// other host names are refused, except for /livez and /readyz (default any name)
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',')]
    pub(super) hosts: Option<Vec<String>>,
    /// Lowest severity of messages that are logged. Uploads are never logged (default info)
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub(super) log: Option<LogLevel>,
    /// Format of the log: 'text' for lines of text, 'json' for one JSON object per line (default
    /// text)
    #[arg(long, value_name = "FORMAT", ignore_case = true)]
    pub(super) log_format: Option<LogFormat>,
    /// Maximum size of an upload, in bytes, 64 to 67108864 (default 1048576)
    #[arg(long, value_name = "BYTES")]
    pub(super) max_upload_bytes: Option<usize>,
    /// Memory for uploads that wait for the disk or for a gateway, in bytes: at least
    /// --max-upload-bytes, or three times --max-upload-bytes with --ohttp-key or --gateway; at most
    /// 1099511627776. At most one request waits for the disk per 8 KiB of this memory. When the memory is full, clients are asked to retry later (default
    /// 67108864)
    #[arg(long, value_name = "BYTES")]
    pub(super) queue_bytes: Option<usize>,
    /// Maximum number of open connections, 1 to 1048576. If there are more, the connections that
    /// have waited longest for a request are closed. Fewer are accepted if the process may open too
    /// few files (default 4096)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<usize>,
    /// Maximum number of open connections from one IPv4 address or IPv6 /64 network; 0 means no
    /// limit. Set it to 0 if a proxy on another machine forwards the requests (default 256, or 0 if
    /// --listen is a loopback address)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections_per_peer: Option<usize>,
    /// Maximum number of reports per minute from one IPv4 address or IPv6 /64 network; 0 means no
    /// limit. A request without reports counts as one report, except for /livez and /readyz. If
    /// there are more, the client is asked to retry later. Set it to 0 if a proxy on another
    /// machine forwards the requests (default 3000, or 0 if --listen is a loopback address)
    #[arg(long, value_name = "COUNT")]
    pub(super) max_reports_per_peer: Option<u32>,
    /// Time limit in seconds, 1 to 3600, within which a client has to receive each 512 KiB of a
    /// response, or the end of a response if less is left (default 20)
    #[arg(long, value_name = "SECONDS")]
    pub(super) write_timeout: Option<u64>,
    /// Time limit in seconds, 1 to 3600, from the start of a request until the server begins its
    /// response (default 30)
    #[arg(long, value_name = "SECONDS")]
    pub(super) request_timeout: Option<u64>,
    /// Time limit in seconds, 1 to 3600, for finishing the current requests after SIGTERM or SIGINT
    /// (default 20)
    #[arg(long, value_name = "SECONDS")]
    pub(super) drain_timeout: Option<u64>,
    /// Minimum number of reports in a released batch, 1 to 1000000. Each person is hidden among the
    /// people of the batch (default 1000)
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_least: Option<u64>,
    /// Number of reports at which a batch is closed: at least --batch-least, at most 1000000
    /// (default 100000)
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_most: Option<u64>,
    /// Age in hours at which a batch is closed if it has at least --batch-least reports; 0 means
    /// that its age never closes a batch (default 24)
    #[arg(long, value_name = "HOURS")]
    pub(super) batch_hours: Option<u32>,
    /// Age in minutes, 0 to 1440, that a batch must have before it is closed. An attacker who
    /// fills a batch with reports cannot choose whose other reports are in it. Until then, a batch
    /// takes at most 1000000 reports: half of them may come at once, and the rest evenly over that
    /// time. With --development, the default is 0 (default 60)
    #[arg(long, value_name = "MINUTES")]
    pub(super) batch_min_minutes: Option<u32>,
    /// Number of days after which the reports of a released batch are deleted; 0 means never. The
    /// totals of the batch are always kept. Without reports, texts cannot be searched for, and
    /// items that the task does not list cannot be estimated (default 90)
    #[arg(long, value_name = "DAYS")]
    pub(super) keep_reports_days: Option<u32>,
    /// Origin of the pages that may send reports, such as https://example.org; may be repeated
    /// (default any origin)
    #[arg(long = "origin", value_name = "ORIGIN", value_delimiter = ',')]
    pub(super) origins: Option<Vec<String>>,
    /// Maximum number of reports in one request; 0 means no limit. Pages send at most 64. With
    /// --development, the default is 0 (default 256)
    #[arg(long, value_name = "REPORTS")]
    pub(super) max_reports_per_request: Option<u32>,
    /// Mode for development only: anyone may read estimates without a token, and each reading first
    /// releases all reports received so far, even a few. No person is then hidden in a batch
    /// (default false)
    #[arg(long, num_args = 0, default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(super) development: Option<bool>,
}

/// Keys of the settings that can change while the collector runs.
pub(in crate::cli::serve) const RUNTIME_CHANGEABLE_KEYS: [&str; 5] =
    ["hosts", "log", "tasks", "tls_certificate", "tls_key"];

impl ServeSettings {
    /// Reads a configuration file. Relative paths in the file start at the directory of the file.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or has an unknown key. The message names the
    /// file, the line and the known keys.
    pub(in crate::cli::serve) fn read_config_file(path: &Path) -> Result<Self, Error> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = text_file::read_text_file(path).map_err(|error| named(&error))?;
        let mut settings: Self = toml::from_str(&text).map_err(|error| named(&error))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let lists = [
            &mut settings.tasks,
            &mut settings.sealing_keys,
            &mut settings.shuffler_keys,
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

    /// Returns these settings, with each missing setting taken from `other`.
    ///
    /// # Errors
    /// When a path is not valid UTF-8.
    pub(in crate::cli::serve) fn with_missing_settings_from(
        &self,
        other: &Self,
    ) -> Result<Self, Error> {
        let mut all = other.to_table()?;
        all.extend(self.to_table()?);
        Ok(all.try_into()?)
    }

    /// Returns the keys whose values differ between these settings and `other`.
    ///
    /// # Errors
    /// When a path is not valid UTF-8.
    pub(in crate::cli::serve) fn differing_keys(&self, other: &Self) -> Result<Vec<String>, Error> {
        let [ours, theirs] = [self.to_table()?, other.to_table()?];
        let mut names: Vec<_> = ours.keys().chain(theirs.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| ours.get(name) != theirs.get(name));
        Ok(names)
    }

    /// Copies from `other` the settings that can change while the collector runs.
    pub(in crate::cli::serve) fn adopt_changeable_settings(&mut self, other: Self) {
        self.hosts = other.hosts;
        self.log = other.log;
        self.tasks = other.tasks;
        self.tls_certificate = other.tls_certificate;
        self.tls_key = other.tls_key;
    }

    fn to_table(&self) -> Result<Table, Error> {
        Ok(Table::try_from(self)?)
    }
}
