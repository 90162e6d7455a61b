//! Settings as they are given: which there are, and how they are laid over each other.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::cli::output::Error;
use crate::cli::serve::config::{LogFormat, LogLevel};
use crate::store::Role;
use crate::text;

/// Gives an option its environment variable: `HUSHBIN_`, and its key in a file. Lists of tasks are
/// too long for one, and --check-config is no setting.
fn with_variable(option: Arg) -> Arg {
    let key = option.get_id().as_str();
    if ["tasks", "check_config"].contains(&key) {
        return option;
    }
    let variable = format!("HUSHBIN_{}", key.to_uppercase());
    option.env(&*variable.leak())
}

/// What is set; a test holds the defaults named here to those that there are.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[command(mut_args = with_variable)]
pub(in crate::cli::serve) struct Settings {
    /// Directory of the journal; created when there is none
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Database of the journal in place of a directory, PostgreSQL's, such as
    /// postgres://hushbin@db1,db2/hushbin?target_session_attrs=read-write: for several processes
    /// of one role, which share it. A password is best in the environment or the file
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(super) store: Option<String>,
    /// What the process does: take reports from pages and estimate from them, or only one of the
    /// two, so that whoever learns who sends cannot read what, and whoever reads it cannot learn
    /// who sent it [default: collector]
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Option<Role>,
    /// Private key for signing (PEM), of a shuffler or an analyser: hushbin key create --for
    /// signing
    #[arg(long, value_name = "FILE")]
    pub(super) signing_key: Option<PathBuf>,
    /// Where the shuffler sends batches, such as https://analyser.example.org
    #[arg(long, value_name = "URL")]
    pub(super) analyser: Option<String>,
    /// The analyser's public key for signing (PEM), of a shuffler
    #[arg(long, value_name = "FILE")]
    pub(super) analyser_key: Option<PathBuf>,
    /// Private key that pages seal reports to (PEM), of an analyser: hushbin key create --for
    /// sealing. May be repeated: pages that trust it seal to the first, and what was sealed to
    /// others is still opened
    #[arg(long = "sealing-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) sealing_keys: Option<Vec<PathBuf>>,
    /// Public key for signing (PEM) of a shuffler that the analyser takes batches from; may be
    /// repeated
    #[arg(long = "shuffler", value_name = "FILE", value_delimiter = ',')]
    pub(super) shufflers: Option<Vec<PathBuf>>,
    /// Private key that requests through a relay are sealed to (PEM), of a collector or a
    /// shuffler: hushbin key create --for sealing. It is then an Oblivious HTTP gateway, at
    /// /.well-known/ohttp-gateway. May be repeated: the first is named first, and what was sealed
    /// to others is still opened
    #[arg(long = "ohttp-key", value_name = "FILE", value_delimiter = ',')]
    pub(super) ohttp_keys: Option<Vec<PathBuf>>,
    /// Write nothing to the journal: what is released can be read, uploads and changes are
    /// refused. For a disk that is read-only, or a copy [default: false]
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) read_only: Option<bool>,
    /// Task file (JSON); may be repeated. Tasks of earlier runs are served as well
    #[arg(long = "task", value_name = "FILE")]
    pub(super) tasks: Option<Vec<PathBuf>>,
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:8686]
    #[arg(long, value_name = "ADDR")]
    pub(super) listen: Option<SocketAddr>,
    /// Certificate, with those that it is signed by behind it (PEM): HTTPS and no HTTP, for a
    /// collector without a proxy
    #[arg(long, value_name = "FILE")]
    pub(super) tls_certificate: Option<PathBuf>,
    /// Private key of that certificate (PEM), which nobody may read but the file's owner and group
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<PathBuf>,
    /// Name that the collector has in requests, without port; may be repeated. Requests for
    /// other names are refused, but for /livez and /readyz [default: any name]
    #[arg(long = "host", value_name = "NAME", value_delimiter = ',')]
    pub(super) hosts: Option<Vec<String>>,
    /// How much to log. Uploads are never logged [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub(super) log: Option<LogLevel>,
    /// How to log: lines for people, or JSON objects [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) log_format: Option<LogFormat>,
    /// Longest body of uploads that is read [default: 1048576]
    #[arg(long, value_name = "BYTES")]
    pub(super) max_upload_bytes: Option<usize>,
    /// Memory for uploads between socket and disk, with one request for each 8 KiB; more are asked
    /// to come back [default: 67108864]
    #[arg(long, value_name = "BYTES")]
    pub(super) queue_bytes: Option<usize>,
    /// Connections served at once; when all are taken, those make room that have waited
    /// longest for a request [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<usize>,
    /// Connections of one IPv4 address, or of one IPv6 network of 64 bits; 0 for any number, as a
    /// proxy on another machine needs [default: 256, or 0 where --listen names this machine alone]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections_per_peer: Option<usize>,
    /// Requests a minute of one such address or network, /livez and /readyz apart; more are
    /// asked to come back. 0 for any number, as a proxy on another machine needs [default:
    /// 600, or 0 where --listen names this machine alone]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_requests_per_peer: Option<u32>,
    /// Seconds in which whoever asked has to take 512 KiB of an answer, or all that is
    /// left of it [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(super) write_timeout: Option<u64>,
    /// Seconds that a request may take [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(super) request_timeout: Option<u64>,
    /// Seconds that requests under way have left after SIGTERM [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub(super) drain_timeout: Option<u64>,
    /// Reports that a batch needs to be closed, and so to be released: a person is to hide
    /// among them [default: 1000]
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_least: Option<u64>,
    /// Reports with which a batch is closed [default: 100000]
    #[arg(long, value_name = "REPORTS")]
    pub(super) batch_most: Option<u64>,
    /// Hours after which a batch is closed that has as many reports as it needs; 0 for never
    /// [default: 24]
    #[arg(long, value_name = "HOURS")]
    pub(super) batch_hours: Option<u32>,
    /// Days after which the reports of a released batch are deleted; 0 for never. Totals are
    /// kept, but texts are searched for, and items of questions without a list are estimated,
    /// from reports alone [default: 0]
    #[arg(long, value_name = "DAYS")]
    pub(super) keep_reports_days: Option<u32>,
    /// Origin of pages that may send reports, such as https://example.org; may be repeated
    /// [default: any]
    #[arg(long = "origin", value_name = "ORIGIN", value_delimiter = ',')]
    pub(super) origins: Option<Vec<String>>,
    /// Reports that one upload may have: a page sends each in one of its own; 0 for any number
    /// [default: 0]
    #[arg(long, value_name = "REPORTS")]
    pub(super) upload_reports: Option<u32>,
    /// For development: anybody may ask, and asking for estimates releases what has come,
    /// however little, so that nobody is hidden among others [default: false]
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub(super) development: Option<bool>,
}

/// What can be changed while the collector runs.
pub(in crate::cli::serve) const CHANGEABLE: [&str; 4] =
    ["hosts", "log", "tls_certificate", "tls_key"];

impl Settings {
    /// Those of a file. Its relative paths begin at its directory.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, or has a key that does not exist; the message
    /// names the file, the line and the keys that do.
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

    /// These, and those of `other` where these say nothing.
    ///
    /// # Errors
    /// Where a path is not text.
    pub(in crate::cli::serve) fn over(&self, other: &Self) -> Result<Self, Error> {
        let mut all = other.table()?;
        all.extend(self.table()?);
        Ok(all.try_into()?)
    }

    /// Names of what is set otherwise here than there.
    ///
    /// # Errors
    /// Where a path is not text.
    pub(in crate::cli::serve) fn differences(&self, other: &Self) -> Result<Vec<String>, Error> {
        let [ours, theirs] = [self.table()?, other.table()?];
        let mut names: Vec<_> = ours.keys().chain(theirs.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| ours.get(name) != theirs.get(name));
        Ok(names)
    }

    /// Takes over what can be changed.
    pub(in crate::cli::serve) fn keep(&mut self, other: Self) {
        self.hosts = other.hosts;
        self.log = other.log;
        self.tls_certificate = other.tls_certificate;
        self.tls_key = other.tls_key;
    }

    fn table(&self) -> Result<Table, Error> {
        Ok(Table::try_from(self)?)
    }
}
