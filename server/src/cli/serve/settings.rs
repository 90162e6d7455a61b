//! What may be set of a collector: by a file, by the environment and by flags.
//!
//! One structure is all three: its fields are the file's keys, its attributes name flags
//! and variables. What is set nowhere has its default in [`Config`].

use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hyper::Uri;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::cli::Error;
use crate::config::{self, Config, LogFormat, LogLevel, OutOfRange};
use crate::http::{Hosts, Limits, ServerOptions, Tls, TlsError};
use crate::keys::{self, Algorithm};
use crate::ohttp::Gateway;
use crate::role::{Analyser, Part, Role, Shuffler};
use crate::store::{BatchSettings, Collected, Place, Settings as Collection, StoreOptions};
use crate::task_file::AnyTaskFile;

/// What is set; a test holds the defaults named here to those that there are.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Settings {
    /// Directory of the journal; created when there is none
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: Option<PathBuf>,
    /// Database of the journal in place of a directory, PostgreSQL's, such as
    /// postgres://hushbin@db1,db2/hushbin?target_session_attrs=read-write: for several processes
    /// of one role, which share it. A password is best in the environment or the file
    #[arg(
        long,
        value_name = "URL",
        env = "HUSHBIN_STORE",
        hide_env_values = true
    )]
    store: Option<String>,
    /// What the process does: take reports from pages and estimate from them, or only one of the
    /// two, so that whoever learns who sends cannot read what, and whoever reads it cannot learn
    /// who sent it. hushbin shuffle is serve --role shuffler [default: collector]
    #[arg(long, value_name = "ROLE", env = "HUSHBIN_ROLE")]
    role: Option<Role>,
    /// Private key for signing (PEM), of a shuffler or an analyser: hushbin key create --for
    /// signing
    #[arg(long, value_name = "FILE", env = "HUSHBIN_SIGNING_KEY")]
    signing_key: Option<PathBuf>,
    /// Where the shuffler sends batches, such as https://analyser.example.org
    #[arg(long, value_name = "URL", env = "HUSHBIN_ANALYSER")]
    analyser: Option<String>,
    /// The analyser's public key for signing (PEM), of a shuffler
    #[arg(long, value_name = "FILE", env = "HUSHBIN_ANALYSER_KEY")]
    analyser_key: Option<PathBuf>,
    /// Private key that pages seal reports to (PEM), of an analyser: hushbin key create --for
    /// sealing. May be repeated: pages that trust it seal to the first, and what was sealed to
    /// others is still opened
    #[arg(
        long = "sealing-key",
        value_name = "FILE",
        env = "HUSHBIN_SEALING_KEYS",
        value_delimiter = ','
    )]
    sealing_keys: Option<Vec<PathBuf>>,
    /// Public key for signing (PEM) of a shuffler that the analyser takes batches from; may be
    /// repeated
    #[arg(
        long = "shuffler",
        value_name = "FILE",
        env = "HUSHBIN_SHUFFLERS",
        value_delimiter = ','
    )]
    shufflers: Option<Vec<PathBuf>>,
    /// Private key that requests through a relay are sealed to (PEM), of a collector or a
    /// shuffler: hushbin key create --for sealing. It is then an Oblivious HTTP gateway, at
    /// /.well-known/ohttp-gateway. May be repeated: the first is named first, and what was sealed
    /// to others is still opened
    #[arg(
        long = "ohttp-key",
        value_name = "FILE",
        env = "HUSHBIN_OHTTP_KEYS",
        value_delimiter = ','
    )]
    ohttp_keys: Option<Vec<PathBuf>>,
    /// Write nothing to the journal: what is released can be read, uploads and changes are
    /// refused. For a disk that is read-only, or a copy [default: false]
    #[arg(
        long,
        num_args = 0,
        default_missing_value = "true",
        env = "HUSHBIN_READ_ONLY"
    )]
    read_only: Option<bool>,
    /// Task file (JSON); may be repeated. Tasks of earlier runs are served as well
    #[arg(long = "task", value_name = "FILE")]
    tasks: Option<Vec<PathBuf>>,
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:8686]
    #[arg(long, value_name = "ADDR", env = "HUSHBIN_LISTEN")]
    listen: Option<SocketAddr>,
    /// Certificate, with those that it is signed by behind it (PEM): HTTPS and no HTTP, for a
    /// collector without a proxy
    #[arg(long, value_name = "FILE", env = "HUSHBIN_TLS_CERTIFICATE")]
    tls_certificate: Option<PathBuf>,
    /// Private key of that certificate (PEM), which nobody may read but the file's owner and
    /// group
    #[arg(long, value_name = "FILE", env = "HUSHBIN_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Name that the collector has in requests, without port; may be repeated. Requests for
    /// other names are refused, but for /livez and /readyz [default: any name]
    #[arg(
        long = "host",
        value_name = "NAME",
        env = "HUSHBIN_HOSTS",
        value_delimiter = ','
    )]
    hosts: Option<Vec<String>>,
    /// How much to log. Uploads are never logged [default: info]
    #[arg(long, value_name = "LEVEL", env = "HUSHBIN_LOG")]
    log: Option<LogLevel>,
    /// How to log: lines for people, or JSON objects [default: text]
    #[arg(long, value_name = "FORMAT", env = "HUSHBIN_LOG_FORMAT")]
    log_format: Option<LogFormat>,
    /// Longest body of uploads that is read [default: 1048576]
    #[arg(long, value_name = "BYTES", env = "HUSHBIN_MAX_UPLOAD_BYTES")]
    max_upload_bytes: Option<usize>,
    /// Requests with uploads that may wait for the disk; more are asked to come back
    /// [default: 8192]
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_QUEUE_UPLOADS")]
    queue_uploads: Option<usize>,
    /// Memory for uploads between socket and disk [default: 67108864]
    #[arg(long, value_name = "BYTES", env = "HUSHBIN_QUEUE_BYTES")]
    queue_bytes: Option<usize>,
    /// Connections served at once; when all are taken, those make room that have waited
    /// longest for a request [default: 4096]
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_MAX_CONNECTIONS")]
    max_connections: Option<usize>,
    /// Connections of one IPv4 address, or of one IPv6 network of 64 bits; 0 for any
    /// number, as a proxy on another machine needs [default: 256, or 0 where --listen
    /// names this machine alone]
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_MAX_CONNECTIONS_PER_PEER")]
    max_connections_per_peer: Option<usize>,
    /// Requests a minute of one such address or network, /livez and /readyz apart; more are
    /// asked to come back. 0 for any number, as a proxy on another machine needs [default:
    /// 600, or 0 where --listen names this machine alone]
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_MAX_REQUESTS_PER_PEER")]
    max_requests_per_peer: Option<u32>,
    /// Seconds in which whoever asked has to take 512 KiB of an answer, or all that is
    /// left of it [default: 20]
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_WRITE_TIMEOUT")]
    write_timeout: Option<u64>,
    /// Seconds that a request may take [default: 30]
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_REQUEST_TIMEOUT")]
    request_timeout: Option<u64>,
    /// Seconds that requests under way have left after SIGTERM [default: 20]
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_DRAIN_TIMEOUT")]
    drain_timeout: Option<u64>,
    /// Reports that a batch needs to be closed, and so to be released: a person is to hide
    /// among them [default: 1000]
    #[arg(long, value_name = "REPORTS", env = "HUSHBIN_BATCH_LEAST")]
    batch_least: Option<u64>,
    /// Reports with which a batch is closed [default: 100000]
    #[arg(long, value_name = "REPORTS", env = "HUSHBIN_BATCH_MOST")]
    batch_most: Option<u64>,
    /// Hours after which a batch is closed that has as many reports as it needs; 0 for never
    /// [default: 24]
    #[arg(long, value_name = "HOURS", env = "HUSHBIN_BATCH_HOURS")]
    batch_hours: Option<u32>,
    /// Days after which the reports of a released batch are deleted; 0 for never. Totals are
    /// kept, but texts are searched for, and items of questions without a list are estimated,
    /// from reports alone [default: 0]
    #[arg(long, value_name = "DAYS", env = "HUSHBIN_KEEP_REPORTS_DAYS")]
    keep_reports_days: Option<u32>,
    /// Origin of pages that may send reports, such as https://example.org; may be repeated
    /// [default: any]
    #[arg(
        long = "origin",
        value_name = "ORIGIN",
        env = "HUSHBIN_ORIGINS",
        value_delimiter = ','
    )]
    origins: Option<Vec<String>>,
    /// Reports that one upload may have: a page sends each in one of its own; 0 for any number
    /// [default: 0]
    #[arg(long, value_name = "REPORTS", env = "HUSHBIN_UPLOAD_REPORTS")]
    upload_reports: Option<u32>,
    /// For development: anybody may ask, and asking for estimates releases what has come,
    /// however little, so that nobody is hidden among others [default: false]
    #[arg(
        long,
        num_args = 0,
        default_missing_value = "true",
        env = "HUSHBIN_DEVELOPMENT"
    )]
    development: Option<bool>,
}

/// Where an analyser is, by its address.
fn analyser(text: &str) -> Result<Uri, Error> {
    let uri = text.parse::<Uri>().ok().filter(|uri| {
        let scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        scheme && uri.query().is_none()
    });
    let expected = "an address such as https://analyser.example.org";
    Ok(uri.ok_or_else(|| format!("--analyser is {text:?}, expected {expected}"))?)
}

/// What this role cannot do without.
fn needed<'a, T>(given: &'a Option<T>, option: &str, role: Role) -> Result<&'a T, Error> {
    let missing = || format!("{option} is missing, of --role {}", role.name());
    Ok(given.as_ref().ok_or_else(missing)?)
}

/// What can be changed while the collector runs.
pub(super) const CHANGEABLE: [&str; 4] = ["hosts", "log", "tls_certificate", "tls_key"];

impl Settings {
    /// Those of a file. Its relative paths begin at its directory.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, or has a key that does not exist; the message
    /// names the file, the line and the keys that do.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| named(&error))?;
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
    pub(super) fn over(&self, other: &Self) -> Result<Self, Error> {
        let mut all = other.table()?;
        all.extend(self.table()?);
        Ok(all.try_into()?)
    }

    /// Names of what is set otherwise here than there.
    ///
    /// # Errors
    /// Where a path is not text.
    pub(super) fn differences(&self, other: &Self) -> Result<Vec<String>, Error> {
        let [ours, theirs] = [self.table()?, other.table()?];
        let mut names: Vec<_> = ours.keys().chain(theirs.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| ours.get(name) != theirs.get(name));
        Ok(names)
    }

    /// Takes over what can be changed.
    pub(super) fn keep(&mut self, other: Self) {
        self.hosts = other.hosts;
        self.log = other.log;
        self.tls_certificate = other.tls_certificate;
        self.tls_key = other.tls_key;
    }

    fn table(&self) -> Result<Table, Error> {
        Ok(Table::try_from(self)?)
    }

    /// The configuration, files of tasks and of the certificate read.
    ///
    /// # Errors
    /// When there is no data directory, a value is out of range, or a file cannot be read.
    pub(super) fn config(&self) -> Result<Config, Error> {
        let tasks = self.tasks.iter().flatten();
        let collection = self.collection()?;
        Ok(Config {
            listen: self.listen(),
            tls: self.tls()?,
            hosts: self.hosts()?,
            log: self.log(),
            log_format: self.log_format.unwrap_or(LogFormat::Text),
            limits: self.limits()?,
            server: self.server()?,
            store: self.store_options()?,
            read_only: self.read_only.unwrap_or(false),
            gateway: self.gateway()?,
            part: Arc::new(self.part()?),
            tasks: tasks
                .map(|path| {
                    Ok(Collected {
                        draft: AnyTaskFile::read(path)?.draft,
                        settings: Some(collection.clone()),
                    })
                })
                .collect::<Result<_, Error>>()?,
            place: Place::of(self.data.as_deref(), self.store.as_deref())?,
        })
    }

    /// These, of a process of this role.
    ///
    /// # Errors
    /// When they are for another.
    pub(super) fn of_role(mut self, role: Role) -> Result<Self, Error> {
        match self.role.replace(role) {
            Some(other) if other != role => {
                Err(format!("--role is {}, expected {}", other.name(), role.name()).into())
            }
            _ => Ok(self),
        }
    }

    /// What the process does, its keys read.
    fn part(&self) -> Result<Part, Error> {
        let role = self.role.unwrap_or_default();
        let others = [
            ("--analyser", self.analyser.is_some(), Role::Shuffler),
            (
                "--analyser-key",
                self.analyser_key.is_some(),
                Role::Shuffler,
            ),
            ("--sealing-key", self.sealing_keys.is_some(), Role::Analyser),
            ("--shuffler", self.shufflers.is_some(), Role::Analyser),
        ];
        let foreign = others
            .into_iter()
            .find(|&(_, given, of)| given && of != role);
        if let Some((option, ..)) = foreign {
            return Err(format!("{option} is not for --role {}", role.name()).into());
        }
        if role == Role::Collector {
            return match self.signing_key {
                Some(_) => Err("--signing-key is not for --role collector".into()),
                None => Ok(Part::Collector),
            };
        }
        if self.development == Some(true) {
            return Err(format!("--development is not for --role {}", role.name()).into());
        }
        let signing = needed(&self.signing_key, "--signing-key", role)?;
        let signing = || keys::read_private(signing, Algorithm::Ed25519);
        if role == Role::Shuffler {
            let address = needed(&self.analyser, "--analyser", role)?;
            let key = needed(&self.analyser_key, "--analyser-key", role)?;
            let key = keys::read_public(key, Algorithm::Ed25519)?;
            let shuffler = Shuffler::new(analyser(address)?, &signing()?, key);
            return Ok(Part::Shuffler(shuffler));
        }
        let sealing = needed(&self.sealing_keys, "--sealing-key", role)?.iter();
        let shufflers = needed(&self.shufflers, "--shuffler", role)?.iter();
        let sealing = sealing.map(|path| keys::read_private(path, Algorithm::X25519));
        let shufflers = shufflers.map(|path| keys::read_public(path, Algorithm::Ed25519));
        let sealing = sealing.collect::<Result<_, _>>()?;
        let shufflers = shufflers.collect::<Result<Vec<_>, _>>()?;
        let analyser = Analyser::new(sealing, &signing()?, shufflers);
        Ok(Part::Analyser(analyser))
    }

    /// What opens requests that come through relays, its keys read.
    fn gateway(&self) -> Result<Option<Arc<Gateway>>, Error> {
        let Some(files) = &self.ohttp_keys else {
            return Ok(None);
        };
        if self.role == Some(Role::Analyser) {
            return Err("--ohttp-key is not for --role analyser".into());
        }
        let keys = files.iter();
        let keys = keys.map(|path| keys::read_private(path, Algorithm::X25519));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Arc::new(Gateway::new(&keys)?)))
    }

    fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(config::LISTEN)
    }

    /// How much is logged.
    pub(super) fn log(&self) -> LogLevel {
        self.log.unwrap_or(LogLevel::Info)
    }

    /// Names that the collector answers to.
    ///
    /// # Errors
    /// When one is more than a name, or none.
    pub(super) fn hosts(&self) -> Result<Hosts, Error> {
        let names = self.hosts.iter().flatten().map(String::as_str);
        Ok(Hosts::new(names)?)
    }

    /// What connections are encrypted with.
    fn tls(&self) -> Result<Option<Tls>, TlsError> {
        let alone = |given, missing| Err(TlsError::Alone { given, missing });
        match (&self.tls_certificate, &self.tls_key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Tls::read(certificate, key).map(Some),
            (Some(_), None) => alone("tls-certificate", "tls-key"),
            (None, Some(_)) => alone("tls-key", "tls-certificate"),
        }
    }

    /// How the tasks of all task files are collected.
    fn collection(&self) -> Result<Collection, Error> {
        let default = BatchSettings::default();
        let least = self.batch_least.unwrap_or(default.least);
        let most = self.batch_most.unwrap_or(default.most.max(least));
        let collection = Collection {
            batch: BatchSettings {
                least: config::count("batch_least", least)?,
                most: config::count_from("batch_most", least, most)?,
                hours: self.batch_hours.unwrap_or(default.hours),
            },
            keep_reports_days: self.keep_reports_days.filter(|days| *days > 0),
            origins: self.origins.clone(),
            upload_reports: self.upload_reports.filter(|reports| *reports > 0),
        };
        collection.check()?;
        Ok(collection)
    }

    fn limits(&self) -> Result<Limits, OutOfRange> {
        let default = Limits::DEFAULT;
        Ok(Limits {
            upload_bytes: config::count(
                "max_upload_bytes",
                self.max_upload_bytes.unwrap_or(default.upload_bytes),
            )?,
            request_timeout: config::seconds(
                "request_timeout",
                self.request_timeout,
                default.request_timeout,
            )?,
            release_on_read: self.development.unwrap_or(default.release_on_read),
            ..default
        })
    }

    fn store_options(&self) -> Result<StoreOptions, OutOfRange> {
        let default = StoreOptions::DEFAULT;
        // Through a relay an upload comes in an envelope, and is answered in one.
        let copies = if self.ohttp_keys.is_some() { 3 } else { 1 };
        Ok(StoreOptions {
            form: self.role.unwrap_or_default().form(),
            queue_bytes: config::count_from(
                "queue_bytes",
                (copies * self.limits()?.upload_bytes) as u64,
                self.queue_bytes.unwrap_or(default.queue_bytes),
            )?,
            queue_uploads: config::count(
                "queue_uploads",
                self.queue_uploads.unwrap_or(default.queue_uploads),
            )?,
            ..default
        })
    }

    fn server(&self) -> Result<ServerOptions, OutOfRange> {
        let default = ServerOptions::DEFAULT;
        let of_peer = match self.max_connections_per_peer {
            None => ServerOptions::default_connections_of_peer(self.listen().ip()),
            Some(0) => None,
            Some(count) => Some(count),
        };
        Ok(ServerOptions {
            connections: config::count(
                "max_connections",
                self.max_connections.unwrap_or(default.connections),
            )?,
            connections_of_peer: of_peer,
            requests_of_peer: match self.max_requests_per_peer {
                None => ServerOptions::default_requests_of_peer(self.listen().ip()),
                Some(count) => NonZeroU32::new(count),
            },
            write_timeout: config::seconds(
                "write_timeout",
                self.write_timeout,
                default.write_timeout,
            )?,
            drain_timeout: config::seconds(
                "drain_timeout",
                self.drain_timeout,
                default.drain_timeout,
            )?,
            ..default
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use clap::Command;

    use super::*;

    const FULL: &str = include_str!("../../../config/full.toml");
    const MINIMAL: &str = include_str!("../../../config/minimal.toml");
    const SHUFFLER: &str = include_str!("../../../config/shuffler.toml");
    const ANALYSER: &str = include_str!("../../../config/analyser.toml");
    const NODE: &str = include_str!("../../../config/node.toml");

    /// Keys of the full sample that have no default, or another value than it.
    const EXAMPLES: [&str; 7] = [
        "data",
        "hosts",
        "ohttp_keys",
        "origins",
        "tasks",
        "tls_certificate",
        "tls_key",
    ];

    fn full() -> Table {
        FULL.parse().unwrap()
    }

    fn parsed(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    /// Help by the key in a file.
    fn helps() -> BTreeMap<String, String> {
        let command = Settings::augment_args(Command::new("serve"));
        let help = |argument: &clap::Arg| argument.get_help().unwrap().to_string();
        command
            .get_arguments()
            .map(|argument| (argument.get_id().to_string(), help(argument)))
            .collect()
    }

    #[test]
    fn the_full_samples_have_every_key() {
        let mut all = full();
        for other in [SHUFFLER, ANALYSER, NODE] {
            all.extend(other.parse::<Table>().unwrap());
        }
        let keys: Vec<String> = all.keys().cloned().collect();
        assert_eq!(keys, helps().into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn halves_need_their_own_keys_and_no_others() {
        let part = |text: &str| parsed(text).part().map(|part| part.role());
        let refused = |text: &str| part(text).unwrap_err().to_string();
        assert_eq!(part("").unwrap(), Role::Collector);
        for (half, keys) in [
            (SHUFFLER, &["analyser", "analyser_key", "signing_key"][..]),
            (ANALYSER, &["sealing_keys", "shufflers", "signing_key"]),
        ] {
            let whole: Table = half.parse().unwrap();
            let role = whole["role"].as_str().unwrap();
            for key in keys {
                let mut without = whole.clone();
                without.remove(*key).unwrap();
                let said = refused(&without.to_string());
                let option = format!("--{}", key.replace('_', "-").trim_end_matches('s'));
                assert_eq!(said, format!("{option} is missing, of --role {role}"));
                without = Table::from_iter([((*key).to_owned(), whole[*key].clone())]);
                let said = refused(&without.to_string());
                assert_eq!(said, format!("{option} is not for --role collector"));
            }
            let said = refused(&format!("{half}\ndevelopment = true"));
            assert!(said.starts_with("--development is not for"), "{said}");
        }
    }

    #[test]
    fn the_full_sample_and_the_help_have_the_defaults() {
        let mut sample = full();
        sample.retain(|key, _| !EXAMPLES.contains(&key));
        for (key, value) in &sample {
            let value = match value {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let help = &helps()[key];
            let said = if key.ends_with("_per_peer") {
                format!("or {value} where --listen names this machine alone]")
            } else {
                format!("[default: {value}]")
            };
            assert!(help.replace('\n', " ").contains(&said), "{key}: {help}");
        }
        let config = |settings: Settings| {
            let data = parsed("data = 'd'");
            settings.over(&data).unwrap().config().unwrap()
        };
        let sampled = config(sample.try_into().unwrap());
        let default = config(Settings::default());
        assert_eq!(sampled.listen, default.listen);
        assert_eq!(sampled.limits, default.limits);
        assert_eq!(sampled.server, default.server);
        assert_eq!(sampled.store, default.store);
        assert_eq!(sampled.read_only, default.read_only);
        assert_eq!(sampled.log, default.log);
        assert_eq!(sampled.log_format, default.log_format);
    }

    #[test]
    fn the_minimal_sample_has_what_is_needed() {
        let mut minimal: Table = MINIMAL.parse().unwrap();
        let settings = |table: Table| -> Settings { table.try_into().unwrap() };
        minimal.insert("tasks".to_owned(), toml::Value::Array(Vec::new()));
        settings(minimal.clone()).config().unwrap();
        minimal.remove("data").unwrap();
        let error = settings(minimal).config().unwrap_err();
        assert!(error.to_string().contains("no data directory"), "{error}");
    }

    #[test]
    fn a_journal_is_in_a_directory_or_in_a_database() {
        let place = |text: &str| {
            let settings = parsed(text);
            settings.config().map(|config| config.place)
        };
        let refused = |text: &str| place(text).unwrap_err().to_string();
        let node = NODE.replace(r#""settings.json""#, "");
        let Place::Database(database) = place(&node).unwrap() else {
            panic!("it is a directory");
        };
        // Whoever logs it tells nobody the password.
        let shown = format!("{database:?}");
        assert!(shown.contains("db2.example.org"), "{shown}");
        assert!(!shown.contains("password"), "{shown}");
        let two = refused("data = 'd'\nstore = 'postgres://h/d'");
        assert!(two.contains("expected --data or --store"), "{two}");
        for (address, expected) in [
            ("mysql://h/d", "does not begin with postgres://"),
            ("postgres://h/d?port=x", "cannot be read"),
            ("postgres://h/d?mode=x", "cannot be read"),
        ] {
            let said = refused(&format!("store = '{address}'"));
            assert!(said.contains(expected), "{said}");
            assert!(said.contains("expected an address such as"), "{said}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_those_known() {
        let error = toml::from_str::<Settings>("log = 'info'\nlisen = 'x'").unwrap_err();
        let said = error.to_string();
        assert!(said.contains("line 2"), "{said}");
        assert!(said.contains("unknown field `lisen`"), "{said}");
        for key in helps().keys() {
            assert!(said.contains(&format!("`{key}`")), "{key}: {said}");
        }
    }

    #[test]
    fn flags_go_over_the_file() {
        let file = parsed("log = 'warn'\nmax_connections = 7\nhosts = ['a', 'b']");
        let flags = parsed("log = 'debug'\nhosts = ['c']");
        let both = flags.over(&file).unwrap();
        assert_eq!(both, parsed("log='debug'\nmax_connections=7\nhosts=['c']"));
        assert_eq!(both.differences(&file).unwrap(), ["hosts", "log"]);
        assert!(both.differences(&both).unwrap().is_empty());
    }

    #[test]
    fn what_can_be_changed_exists() {
        for key in CHANGEABLE {
            assert!(helps().contains_key(key), "{key}");
        }
    }
}
