//! Conversion of settings into a configuration: checks them, and reads the files that they name.

use std::fs::{self, Metadata};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::option_parsing::{parse_key_id, parse_server_url};
use super::values::ServeSettings;
use crate::cli::output::Error;
use crate::cli::serve::config::{
    self, JournalConfig, LogFormat, LogLevel, OptionOutOfRange, RelayConfig, RoleConfig,
    ServerConfig,
};
use crate::http::{AllowedHosts, RequestLimits, ServerOptions, Tls, TlsError};
use crate::keys::{self, KeyAlgorithm};
use crate::ohttp::OhttpGateway;
use crate::role::signature::Signer;
use crate::role::{AnalyserKeys, RelayedGateway, RoleKeysAndPeers, ShufflerKeys};
use crate::store::{
    BatchSettings, JournalLocation, ProcessRole, StoreOptions, TaskSettings as Collection,
    TaskSetup,
};
use crate::task::task_file::TaskFile;

/// Keys of the settings that a relay may have.
const RELAY_KEYS: [&str; 16] = [
    "drain_timeout",
    "gateways",
    "hosts",
    "listen",
    "log",
    "log_format",
    "max_connections",
    "max_connections_per_peer",
    "max_reports_per_peer",
    "max_upload_bytes",
    "queue_bytes",
    "request_timeout",
    "role",
    "tls_certificate",
    "tls_key",
    "write_timeout",
];

/// Returns the value of an option that the role requires, or an error if the option is missing.
fn required_option<'a, T>(given: &'a Option<T>, option: &str, role: &str) -> Result<&'a T, Error> {
    let missing = || format!("--role {role} needs {option}");
    Ok(given.as_ref().ok_or_else(missing)?)
}

impl ServeSettings {
    /// Returns the configuration, after reading the files of tasks, keys and the certificate.
    ///
    /// # Errors
    /// When there is no journal, a value is out of range, or a file cannot be read.
    pub(in crate::cli::serve) fn load_config(&self) -> Result<ServerConfig, Error> {
        Ok(ServerConfig {
            listen_address: self.listen_address(),
            tls: self.read_tls()?,
            allowed_hosts: self.allowed_hosts()?,
            log_level: self.log_level(),
            log_format: self.log_format.unwrap_or(LogFormat::Text),
            request_limits: self.request_limits()?,
            is_max_connections_set: self.max_connections.is_some(),
            server_options: self.server_options()?,
            role: match self.role.unwrap_or_default().journal_role() {
                Some(role) => RoleConfig::WithJournal(self.load_journal_config(role)?),
                None => RoleConfig::Relay(self.relay_config()?),
            },
        })
    }

    /// Returns the configuration of a relay.
    fn relay_config(&self) -> Result<RelayConfig, Error> {
        let given = self.differing_keys(&Self::default())?;
        if let Some(key) = given.iter().find(|key| !RELAY_KEYS.contains(&key.as_str())) {
            return Err(format!("the setting {key} is not for --role relay").into());
        }
        let urls = required_option(&self.gateways, "--gateway", "relay")?;
        let mut gateways: Vec<RelayedGateway> = Vec::new();
        for text in urls {
            let url = parse_server_url("--gateway", text, "https://telemetry.example.org")?;
            let gateway = RelayedGateway::new(&url)?;
            if gateways.iter().any(|own| own.name == gateway.name) {
                let name = gateway.name;
                return Err(format!("two of --gateway have the host {name}, expected one").into());
            }
            gateways.push(gateway);
        }
        let queue_bytes = self.queue_bytes()?;
        Ok(RelayConfig {
            gateways,
            queue_bytes,
        })
    }

    fn load_journal_config(&self, role: ProcessRole) -> Result<JournalConfig, Error> {
        if self.gateways.is_some() {
            return Err(format!("--gateway is not for --role {}", role.name()).into());
        }
        let collection = self.task_settings()?;
        Ok(JournalConfig {
            store_options: self.store_options(role)?,
            read_only: self.read_only.unwrap_or(false),
            development: self.development.unwrap_or(false),
            ohttp_gateway: self.read_ohttp_gateway_keys(role)?,
            role_keys: self.read_role_keys(role)?,
            tasks: self.read_task_setups(&collection)?,
            journal_location: JournalLocation::from_options(
                self.data.as_deref(),
                self.database.as_deref(),
            )?,
            task_settings: collection,
        })
    }

    /// Returns the tasks of all task files, which are collected with the given settings.
    fn read_task_setups(&self, collection: &Collection) -> Result<Vec<TaskSetup>, Error> {
        let mut tasks = Vec::new();
        for path in self.task_files()? {
            for draft in TaskFile::read(&path)?.into_drafts() {
                tasks.push(TaskSetup {
                    draft,
                    settings: Some(collection.clone()),
                });
            }
        }
        Ok(tasks)
    }

    /// Returns the paths of all task files. A directory contributes its `.json` files, sorted by
    /// path.
    fn task_files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        for path in self.tasks.iter().flatten() {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let error = |error: io::Error| format!("{}: {error}", path.display());
            let entries = fs::read_dir(path).map_err(error)?;
            let entries = entries.map(|entry| entry.map(|own| own.path()));
            let mut inside = entries.collect::<Result<Vec<_>, _>>().map_err(error)?;
            inside.retain(|file| file.extension().is_some_and(|end| end == "json"));
            inside.sort_unstable();
            files.append(&mut inside);
        }
        Ok(files)
    }

    /// Reads the keys of the server's role, and checks that no option of another role is given.
    pub(super) fn read_role_keys(&self, role: ProcessRole) -> Result<RoleKeysAndPeers, Error> {
        let others = [
            ("--analyser", self.analyser.is_some(), ProcessRole::Shuffler),
            (
                "--analyser-key",
                self.analyser_key.is_some(),
                ProcessRole::Shuffler,
            ),
            (
                "--sealing-key",
                self.sealing_keys.is_some(),
                ProcessRole::Analyser,
            ),
            (
                "--lost-sealing-key",
                self.lost_sealing_keys.is_some(),
                ProcessRole::Analyser,
            ),
            (
                "--shuffler-key",
                self.shuffler_keys.is_some(),
                ProcessRole::Analyser,
            ),
        ];
        let foreign = others
            .into_iter()
            .find(|&(_, given, of)| given && of != role);
        if let Some((option, ..)) = foreign {
            return Err(format!("{option} is not for --role {}", role.name()).into());
        }
        if role == ProcessRole::Collector {
            return Ok(RoleKeysAndPeers {
                log_signer: self.read_log_signer()?,
                ..RoleKeysAndPeers::default()
            });
        }
        if self.development == Some(true) {
            return Err(format!("--development is not for --role {}", role.name()).into());
        }
        let signing = required_option(&self.signing_key, "--signing-key", role.name())?;
        if role == ProcessRole::Shuffler {
            let address = required_option(&self.analyser, "--analyser", role.name())?;
            let address = parse_server_url("--analyser", address, "https://analyser.example.org")?;
            let key = required_option(&self.analyser_key, "--analyser-key", role.name())?;
            let key = keys::read_public_key(key, KeyAlgorithm::Ed25519)?;
            let signing = keys::read_private_key(signing, KeyAlgorithm::Ed25519)?;
            let shuffler = ShufflerKeys::new(address, &signing, key);
            return Ok(RoleKeysAndPeers {
                shuffler_keys: Some(Arc::new(shuffler)),
                analyser_keys: None,
                log_signer: self.read_log_signer()?,
            });
        }
        Ok(RoleKeysAndPeers {
            shuffler_keys: None,
            analyser_keys: Some(Arc::new(self.read_analyser_keys(signing)?)),
            log_signer: self.read_log_signer()?,
        })
    }

    /// Reads the key that signs the task log, if there is one.
    fn read_log_signer(&self) -> Result<Option<Arc<Signer>>, Error> {
        let Some(path) = &self.signing_key else {
            return Ok(None);
        };
        let private = keys::read_private_key(path, KeyAlgorithm::Ed25519)?;
        Ok(Some(Arc::new(Signer::new(&private))))
    }

    /// Reads the keys of an analyser, which signs with the key in the file `signing`.
    fn read_analyser_keys(&self, signing: &Path) -> Result<AnalyserKeys, Error> {
        let role = ProcessRole::Analyser.name();
        let sealing = required_option(&self.sealing_keys, "--sealing-key", role)?.iter();
        let shufflers = required_option(&self.shuffler_keys, "--shuffler-key", role)?.iter();
        let signing = keys::read_private_key(signing, KeyAlgorithm::Ed25519)?;
        let sealing = sealing.map(|path| keys::read_private_key(path, KeyAlgorithm::X25519));
        let shufflers = shufflers.map(|path| keys::read_public_key(path, KeyAlgorithm::Ed25519));
        let sealing = sealing.collect::<Result<_, _>>()?;
        let shufflers = shufflers.collect::<Result<Vec<_>, _>>()?;
        let lost = self.lost_sealing_keys.iter().flatten();
        let lost = lost.map(|id| parse_key_id(id)).collect::<Result<_, _>>()?;
        Ok(AnalyserKeys::new(sealing, lost, &signing, shufflers))
    }

    /// Reads the keys of the gateway, if there is one.
    fn read_ohttp_gateway_keys(
        &self,
        role: ProcessRole,
    ) -> Result<Option<Arc<OhttpGateway>>, Error> {
        let Some(files) = &self.ohttp_keys else {
            return Ok(None);
        };
        if role == ProcessRole::Analyser {
            return Err("--ohttp-key is not for --role analyser".into());
        }
        let keys = files.iter();
        let keys = keys.map(|path| keys::read_private_key(path, KeyAlgorithm::X25519));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Arc::new(OhttpGateway::new(&keys)?)))
    }

    /// Checks that the collector's user can read the certificate and its key. That user is the owner
    /// of the data directory. Returns a sentence about the first file that this user cannot read.
    /// Only root asks: any other user has read the files already.
    pub(in crate::cli::serve) fn unreadable_for_collector(&self) -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let user = fs::metadata(self.data.as_ref()?).ok()?;
        let permits = |path: &Path, bits: u32| {
            let permits = |found: Metadata| {
                let shift = match (found.uid() == user.uid(), found.gid() == user.gid()) {
                    (true, _) => 6,
                    (false, true) => 3,
                    (false, false) => 0,
                };
                found.mode() >> shift & bits == bits
            };
            user.uid() == 0 || fs::metadata(path).is_ok_and(permits)
        };
        let files = [&self.tls_certificate, &self.tls_key];
        files.into_iter().flatten().find_map(|path| {
            let whole = fs::canonicalize(path).ok()?;
            // The file must be readable (4), and all directories above it searchable (1).
            let mut above = whole.ancestors().skip(1);
            let readable = permits(&whole, 4) && above.all(|directory| permits(directory, 1));
            (!readable).then(|| {
                format!(
                    "user {}, who owns the data directory, cannot read {}, unless as a member of \
                     another group; give that user access",
                    user.uid(),
                    path.display()
                )
            })
        })
    }

    fn listen_address(&self) -> SocketAddr {
        self.listen.unwrap_or(config::DEFAULT_LISTEN_ADDRESS)
    }

    /// Returns the lowest severity that is logged.
    pub(in crate::cli::serve) fn log_level(&self) -> LogLevel {
        self.log.unwrap_or(LogLevel::Info)
    }

    /// Returns the host names that requests may use.
    ///
    /// # Errors
    /// When a name is not a host name.
    pub(in crate::cli::serve) fn allowed_hosts(&self) -> Result<AllowedHosts, Error> {
        let names = self.hosts.iter().flatten().map(String::as_str);
        Ok(AllowedHosts::new(names)?)
    }

    /// Reads the certificate and its key, if they are given.
    fn read_tls(&self) -> Result<Option<Tls>, TlsError> {
        let alone = |given, missing| Err(TlsError::CertificateOrKeyMissing { given, missing });
        match (&self.tls_certificate, &self.tls_key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => {
                Tls::read_certificate_and_key(certificate, key).map(Some)
            }
            (Some(_), None) => alone("tls-certificate", "tls-key"),
            (None, Some(_)) => alone("tls-key", "tls-certificate"),
        }
    }

    /// Reads the certificate and its key, if they are given, and removes both settings.
    ///
    /// # Errors
    /// When a file cannot be read or has other content, or the key does not match.
    pub(in crate::cli::serve) fn take_tls(&mut self) -> Result<Option<Tls>, TlsError> {
        let read = self.read_tls();
        (self.tls_certificate, self.tls_key) = (None, None);
        read
    }

    /// Returns the settings for collecting the tasks of all task files.
    pub(in crate::cli::serve) fn task_settings(&self) -> Result<Collection, Error> {
        let Collection {
            batch: default,
            keep_reports_days,
            max_reports_per_request,
            ..
        } = Collection::default();
        let in_production = !self.development.unwrap_or_default();
        let least = self.batch_least.unwrap_or(default.least);
        // A --batch-least above the default of --batch-most raises that default.
        let most = self.batch_most.unwrap_or(default.most.max(least));
        let collection = Collection {
            batch: BatchSettings {
                least: config::check_option_range("batch_least", least)?,
                most: config::check_option_at_least("batch_most", least, most)?,
                hours: self.batch_hours.unwrap_or(default.hours),
                min_minutes: config::check_option_range(
                    "batch_min_minutes",
                    self.batch_min_minutes.unwrap_or(if in_production {
                        default.min_minutes
                    } else {
                        0
                    }),
                )?,
            },
            keep_reports_days: self.keep_reports_days.unwrap_or(keep_reports_days),
            origins: self.origins.clone(),
            max_reports_per_request: self.max_reports_per_request.unwrap_or(if in_production {
                max_reports_per_request
            } else {
                0
            }),
        };
        collection.check()?;
        Ok(collection)
    }

    fn request_limits(&self) -> Result<RequestLimits, OptionOutOfRange> {
        let default = RequestLimits::DEFAULT;
        Ok(RequestLimits {
            max_upload_bytes: config::check_option_range(
                "max_upload_bytes",
                self.max_upload_bytes.unwrap_or(default.max_upload_bytes),
            )?,
            request_timeout: config::seconds_or_default(
                "request_timeout",
                self.request_timeout,
                default.request_timeout,
            )?,
            release_on_read: self.development.unwrap_or(default.release_on_read),
            ..default
        })
    }

    /// Returns the memory for uploads that wait for the disk, or for a relay's gateway, in bytes.
    fn queue_bytes(&self) -> Result<usize, OptionOutOfRange> {
        // Through a relay, an upload arrives in an envelope, and the answer leaves in another.
        let relayed = self.ohttp_keys.is_some() || self.gateways.is_some();
        let copies = if relayed { 3 } else { 1 };
        config::check_option_at_least(
            "queue_bytes",
            (copies * self.request_limits()?.max_upload_bytes) as u64,
            self.queue_bytes
                .unwrap_or(StoreOptions::DEFAULT.queue_bytes),
        )
    }

    fn store_options(&self, role: ProcessRole) -> Result<StoreOptions, OptionOutOfRange> {
        Ok(StoreOptions {
            role,
            create_journal: self.development.unwrap_or(false),
            queue_bytes: self.queue_bytes()?,
            ..StoreOptions::DEFAULT
        })
    }

    fn server_options(&self) -> Result<ServerOptions, OptionOutOfRange> {
        let default = ServerOptions::DEFAULT;
        let per_peer = match self.max_connections_per_peer {
            None => ServerOptions::default_max_connections_per_peer(self.listen_address().ip()),
            Some(0) => None,
            Some(count) => Some(count),
        };
        Ok(ServerOptions {
            max_connections: config::check_option_range(
                "max_connections",
                self.max_connections.unwrap_or(default.max_connections),
            )?,
            max_connections_per_peer: per_peer,
            max_peer_reports_per_minute: match self.max_reports_per_peer {
                None => ServerOptions::default_peer_reports_per_minute(self.listen_address().ip()),
                Some(count) => NonZeroU32::new(count),
            },
            write_timeout: config::seconds_or_default(
                "write_timeout",
                self.write_timeout,
                default.write_timeout,
            )?,
            drain_timeout: config::seconds_or_default(
                "drain_timeout",
                self.drain_timeout,
                default.drain_timeout,
            )?,
            ..default
        })
    }
}
