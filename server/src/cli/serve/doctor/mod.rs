//! `hushbin doctor`: checks what a collector needs around it, and changes nothing.

mod finding;
mod network;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::Args;
use hyper::Uri;
use indicatif::HumanBytes;
use rustix::fs::{Access, access, statvfs};
use rustix::io::Errno;
use tokio::runtime::Runtime;

use crate::cli::output::Error;
use crate::cli::serve::config::{JournalConfig, RoleConfig, ServerConfig};
use crate::cli::serve::descriptors::{
    count_role_descriptors, max_connections_under_limit, open_file_limit_maximum,
};
use crate::cli::serve::options::ServeCommandOptions;
use crate::cli::serve::settings::ServeSettings;
use crate::http::{EXPIRY_WARNING_DAYS, Tls, TlsError};
use crate::store::{
    self, DatabaseDiagnosis, EARLIEST_DATE, EngineError, JournalLocation,
    MAX_GAP_SINCE_STORED_DATE, Store, now,
};
use crate::tokens::{self, TOKENS_FILE_NAME, TOKENS_LOCK_FILE_NAME, TokenRole};
use finding::{Checked, PeerClock, Trouble};
use network::{check_analyser, check_gateways, check_proxy};

/// Largest difference between two clocks that is no error. Time servers keep it far smaller.
const MAX_CLOCK_DIFFERENCE: u64 = 60;

/// Free space on the disk below which the check warns, in bytes.
const LOW_DISK_BYTES: u64 = 1 << 30;

/// Check what a collector needs around it, without changing anything
///
/// Takes the settings of 'hushbin serve'. Prints one line for each check: ok, warning or error, and
/// what to do. The command fails if there is an error. A collector may run at the same time.
#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorCommandOptions {
    /// Configuration file (TOML), as for 'hushbin serve'
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    flags: ServeSettings,
    /// Public URL of the collector, such as https://telemetry.example.org. A request to this URL
    /// shows whether it arrives, and while the collector is stopped, also which headers the proxy
    /// hands on
    #[arg(long, value_name = "URL")]
    public_url: Option<Uri>,
}

/// Checks everything, and prints the results.
///
/// # Errors
/// When the settings cannot be read, or a check finds an error.
pub(in crate::cli) fn run_doctor_command(
    options: DoctorCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let DoctorCommandOptions {
        config,
        flags,
        public_url,
    } = options;
    let mut settings = ServeCommandOptions::new(config, flags).read_settings()?;
    let mut results = Vec::new();
    let unreadable = settings.unreadable_for_collector();
    // Checked apart, so that a wrong certificate does not hide everything else.
    let certificate = settings.take_tls();
    let has_tls = !matches!(certificate, Ok(None));
    let certificate = check_certificate(certificate).and_then(|text| match unreadable {
        None => Ok(text),
        Some(unreadable) => Err(Trouble::Warning(unreadable)),
    });
    results.push(("certificate", certificate));
    match settings.load_config() {
        Ok(config) => {
            let runtime = Runtime::new()?;
            results.extend(check_all(&config, public_url.as_ref(), has_tls, &runtime));
        }
        Err(error) => results.push(("settings", Err(Trouble::Error(error.to_string())))),
    }
    let grades = |of: fn(&Trouble) -> bool| {
        let troubles = results
            .iter()
            .filter_map(|(_, result)| result.as_ref().err());
        troubles.filter(|trouble| of(trouble)).count()
    };
    let errors = grades(|trouble| matches!(trouble, Trouble::Error(_)));
    let warnings = grades(|trouble| matches!(trouble, Trouble::Warning(_)));
    writeln!(out, "errors: {errors}, warnings: {warnings}")?;
    let denied = io::Error::from_raw_os_error(libc::EACCES).to_string();
    for (name, result) in results {
        let (grade, text) = match result {
            Ok(text) => ("ok", text),
            Err(Trouble::Warning(text)) => ("warning", text),
            Err(Trouble::Error(text)) => ("error", text),
        };
        let remedy = match text.ends_with(&denied) {
            true => "; run this as the collector's user",
            false => "",
        };
        writeln!(out, "{grade:<8} {name}: {text}{remedy}")?;
    }
    match errors {
        0 => Ok(()),
        _ => Err("a check has found an error".into()),
    }
}

/// Checks everything but the certificate. Blocks, so it must not run on a thread of `runtime`.
fn check_all(
    config: &ServerConfig,
    url: Option<&Uri>,
    has_tls: bool,
    runtime: &Runtime,
) -> Vec<(&'static str, Checked)> {
    let mut results = Vec::new();
    let mut clocks: Vec<PeerClock> = Vec::new();
    let mut newest = None;
    let limit = open_file_limit_maximum();
    let descriptors = ("descriptors", check_descriptors(config, limit));
    match &config.role {
        RoleConfig::WithJournal(journal) => {
            newest = check_journal(journal, &mut results, &mut clocks);
            results.push(descriptors);
            if let Some(shuffler) = &journal.role_keys.shuffler_keys {
                let tasks = journal.task_ids();
                let checked = check_analyser(&tasks, shuffler, &mut clocks);
                results.push(("analyser", runtime.block_on(checked)));
            }
        }
        RoleConfig::Relay(relay) => {
            results.push(("settings", Ok("the settings are valid".to_owned())));
            results.push(descriptors);
            let checked = check_gateways(&relay.gateways, &mut clocks);
            results.push(("gateway", runtime.block_on(checked)));
        }
    }
    if let Some(url) = url {
        let checked = check_proxy(config, url, has_tls, &mut clocks);
        results.push(("proxy", runtime.block_on(checked)));
    }
    results.push(("clock", check_clock(now(), newest, &clocks)));
    results
}

/// Checks the journal, its tasks and its tokens. Returns the newest time in the journal, in seconds
/// since 1970.
fn check_journal(
    config: &JournalConfig,
    results: &mut Vec<(&'static str, Checked)>,
    clocks: &mut Vec<PeerClock>,
) -> Option<u64> {
    results.push(("settings", check_settings(config)));
    let mut newest = None;
    let mut may_have_tokens = true;
    match &config.journal_location {
        JournalLocation::Directory(data) => {
            newest = newest_change(data);
            let least = config.store_options.queue_bytes as u64;
            results.push(("disk", check_disk(data, least)));
            results.push(("lock", check_lock(data)));
        }
        JournalLocation::Database(database) => {
            let diagnosis = store::diagnose_database(database);
            if let Ok(found) = &diagnosis {
                newest = found.newest;
                may_have_tokens = found.has_tables;
                clocks.push(("the database".to_owned(), found.date));
            }
            results.push(("database", check_database(diagnosis)));
        }
    }
    results.push(("tokens", check_tokens(config, may_have_tokens)));
    newest
}

fn check_settings(config: &JournalConfig) -> Checked {
    let location = &config.journal_location;
    Store::check_tasks(
        location,
        &config.tasks,
        config.store_options,
        config.read_only,
    )?;
    match config.few_reports_warning() {
        Some(warning) => Err(Trouble::Warning(warning)),
        None => Ok(
            "the settings, and the tasks of the journal and of task files, are valid".to_owned(),
        ),
    }
}

/// Compares the clock `now` with the newest time in the journal and with other clocks. All are in
/// seconds since 1970.
fn check_clock(now: u64, newest: Option<u64>, clocks: &[PeerClock]) -> Checked {
    let wrong = |what: String| {
        Err(Trouble::Error(format!(
            "{what}; set the clock, and keep it right with a time server"
        )))
    };
    if now < EARLIEST_DATE {
        return wrong("the clock is before 2026".to_owned());
    }
    let newest = newest.unwrap_or(now);
    if newest > now + MAX_CLOCK_DIFFERENCE {
        let seconds = newest - now;
        return wrong(format!(
            "the clock is {seconds} s behind the newest time in the journal"
        ));
    }
    let differs = |(_, date): &&PeerClock| date.abs_diff(now) > MAX_CLOCK_DIFFERENCE;
    if let Some((peer, date)) = clocks.iter().find(differs) {
        let seconds = date.abs_diff(now);
        return wrong(format!(
            "the clock differs by {seconds} s from that of {peer}"
        ));
    }
    let days = (now - newest.min(now)) / 86_400;
    if now - newest.min(now) > MAX_GAP_SINCE_STORED_DATE.as_secs() {
        return Err(Trouble::Warning(format!(
            "the newest time in the journal is {days} days ago; check the clock"
        )));
    }
    let mut peers: Vec<&str> = clocks.iter().map(|(peer, _)| &**peer).collect();
    peers.dedup();
    Ok(match peers.is_empty() {
        true => "not behind the journal".to_owned(),
        false => format!("not behind the journal, and that of {}", peers.join(", ")),
    })
}

/// Returns the newest time at which a file of the journal was changed, in seconds since 1970.
fn newest_change(data: &Path) -> Option<u64> {
    let paths = store::journal_paths(data).ok()?.into_iter();
    let found = paths.filter_map(|path| fs::symlink_metadata(path).ok());
    let files = found.filter(|found| !found.is_dir());
    files.filter_map(|file| file.mtime().try_into().ok()).max()
}

/// Returns the trouble with a path that cannot be used.
fn unusable(path: &Path, error: impl Into<io::Error>) -> Trouble {
    let error = error.into();
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "create it, or mount the volume that holds it",
        _ => "give the collector's user access to it, and run this as that user",
    };
    Trouble::Error(format!("{}: {error}; {remedy}", path.display()))
}

/// Checks that the journal's files and directories can be written, and belong to the owner of the
/// data directory.
fn check_access(data: &Path, owner: u32) -> Result<(), Trouble> {
    let tokens = [TOKENS_FILE_NAME, TOKENS_LOCK_FILE_NAME].map(|name| data.join(name));
    for path in store::journal_paths(data)?.into_iter().chain(tokens) {
        let found = match fs::symlink_metadata(&path) {
            // A collector may have removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(|error| unusable(&path, error))?,
        };
        if found.uid() != owner {
            return Err(Trouble::Error(format!(
                "{} belongs to user {}, and the data directory to user {owner}; chown it",
                path.display(),
                found.uid()
            )));
        }
        let enter = match found.is_dir() {
            true => Access::EXEC_OK,
            false => Access::empty(),
        };
        match access(&path, Access::READ_OK | Access::WRITE_OK | enter) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(unusable(&path, error)),
        }
    }
    Ok(())
}

/// Checks the space on the disk of a data directory, and its permissions. `least` is the number of
/// bytes that waiting uploads may take.
fn check_disk(data: &Path, least: u64) -> Checked {
    let path = data.display();
    let failed = |error| unusable(data, error);
    let space = statvfs(data).map_err(failed)?;
    access(data, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).map_err(failed)?;
    let directory = fs::metadata(data).map_err(|error| unusable(data, error))?;
    check_access(data, directory.uid())?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let text = format!("{path} has {} of free space", HumanBytes(free));
    if free < least || space.f_files > 0 && space.f_favail == 0 {
        return Err(Trouble::Error(format!(
            "{text} and {} free inodes; make room, or uploads are refused",
            space.f_favail
        )));
    }
    if directory.mode() & 0o077 != 0 {
        return Err(Trouble::Warning(format!(
            "other users may enter {path}; run chmod 700 {path}"
        )));
    }
    match free < LOW_DISK_BYTES {
        true => Err(Trouble::Warning(format!("{text}; make room soon"))),
        false => Ok(text),
    }
}

fn check_database(diagnosis: Result<DatabaseDiagnosis, EngineError>) -> Checked {
    match diagnosis {
        Ok(DatabaseDiagnosis { version, .. }) => Ok(format!("PostgreSQL {version} answers")),
        Err(error) => Err(Trouble::Error(format!(
            "{error}; check --database, and that the database runs"
        ))),
    }
}

fn check_lock(data: &Path) -> Checked {
    match store::is_in_use(data) {
        Ok(true) => Ok("a collector is running on the journal".to_owned()),
        Ok(false) => Ok("no collector is running on the journal".to_owned()),
        Err(error) => Err(Trouble::Warning(format!(
            "cannot tell whether a collector is running: {error}"
        ))),
    }
}

/// Checks that the connections and tasks fit into the limit on open files.
fn check_descriptors(config: &ServerConfig, limit: Option<u64>) -> Checked {
    let wanted = config.server_options.max_connections;
    let possible = max_connections_under_limit(limit, count_role_descriptors(config));
    let limit = limit.map_or_else(|| "any number of".to_owned(), |limit| limit.to_string());
    if wanted <= possible {
        return Ok(format!(
            "{limit} open files suffice for {wanted} connections"
        ));
    }
    let text = format!(
        "{limit} open files suffice for {possible} connections only, not for {wanted}; raise that \
         limit (LimitNOFILE= in a systemd unit)"
    );
    Err(match config.is_max_connections_set {
        true => Trouble::Error(text),
        false => Trouble::Warning(text),
    })
}

fn check_certificate(read: Result<Option<Tls>, TlsError>) -> Checked {
    let Some(tls) = read? else {
        return Ok("none; a proxy encrypts, or nobody does".to_owned());
    };
    let now = now().cast_signed();
    let days = (tls.expires() - now).div_euclid(86_400);
    let renew = "renew it, and reload the collector with SIGHUP";
    if tls.begins() > now {
        return Err(Trouble::Error(
            "the certificate is not valid yet; check the clock, or wait".to_owned(),
        ));
    }
    match days {
        ..0 => Err(Trouble::Error(format!(
            "the certificate has expired; {renew}"
        ))),
        0..EXPIRY_WARNING_DAYS => Err(Trouble::Warning(format!(
            "the certificate expires in {days} days; {renew}"
        ))),
        _ => Ok(format!("it matches its key, and expires in {days} days")),
    }
}

/// Checks the tokens. `may_have_tokens` is false for a database without tables.
fn check_tokens(config: &JournalConfig, may_have_tokens: bool) -> Checked {
    if config.development {
        return Ok("not needed with --development".to_owned());
    }
    let tokens = match may_have_tokens {
        true => tokens::list_tokens(&config.journal_location)?,
        false => Vec::new(),
    };
    let is_admin = |token: &&tokens::Token| token.role() == Some(TokenRole::Admin);
    match tokens.iter().filter(is_admin).count() {
        0 => Err(Trouble::Warning(
            "no admin has a token; create one with hushbin token create --role admin".to_owned(),
        )),
        admins => Ok(format!("{} tokens, {admins} of admins", tokens.len())),
    }
}
