//! Connections to a database.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use postgres::config::{Host, SslMode, TargetSessionAttrs};
use postgres::error::{Severity, SqlState};
use postgres::{Client, Config, Transaction};
use tokio::runtime::Handle;

use super::tls::CertificateCheckingTls;
use crate::store::engine::{BatchClaim, EngineError};
use crate::tls_roots;

/// Time limit for connecting, unless the address sets another one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Idle time before TCP keepalives, unless the address sets another one.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);

/// Interval between TCP keepalives, unless the address sets another one.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);

/// Number of unanswered TCP keepalives after which a connection is lost, unless the address sets
/// another one.
const KEEPALIVE_RETRIES: u32 = 2;

/// Time limit for data that the database's machine does not acknowledge, unless the address sets
/// another one.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(9);

/// Maximum number of idle connections that a pool keeps.
const MAX_IDLE_SESSIONS: usize = 8;

/// Maximum number of attempts at a transaction, if concurrent transactions make it fail.
const MAX_TRANSACTION_ATTEMPTS: usize = 10;

/// First statements of every session.
///
/// - No time limit for statements: such a limit must not end a commit that waits for a standby,
///   because PostgreSQL does not undo such a commit.
/// - The database ends the transaction of a node that is frozen or cut off, so that its locks do not
///   stop the other nodes. A transaction has no pauses otherwise.
/// - The other nodes wait a little longer than that for a lock.
/// - At the level "read committed", each statement sees everything that was committed before the
///   statement.
const SESSION_SETTINGS: &str = "SET statement_timeout = 0; \
    SET idle_in_transaction_session_timeout = '6s'; SET lock_timeout = '8s'; \
    SET default_transaction_isolation = 'read committed'";

/// Begins the transaction of a claim. It is idle while a batch is counted. A claim of a node that is
/// frozen or cut off expires after ten minutes, and another node then counts the batch.
const BEGIN_CLAIM: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10min'";

/// Address of a PostgreSQL database, or of another database that speaks the protocol of PostgreSQL.
#[derive(Clone)]
pub struct DatabaseAddress {
    config: Box<Config>,
    /// True if the address does not set `target_session_attrs`. Then any host that accepts writes
    /// may be used.
    allows_any_writable_host: bool,
    tls: CertificateCheckingTls,
}

/// Shows the location without the password.
impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("hosts", &self.config.get_hosts())
            .field("name", &self.config.get_dbname())
            .finish_non_exhaustive()
    }
}

/// Returns true if the host is this machine.
fn is_local_host(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address: Result<std::net::IpAddr, _> = name.parse();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

impl DatabaseAddress {
    /// Parses an address such as `postgres://hushbin@db1,db2/hushbin`, with the parameters of libpq
    /// that the crate [`postgres`] knows.
    ///
    /// A connection to another machine uses TLS, and requires a server certificate that this
    /// machine trusts, unless `sslmode` changes that. If the address has several hosts, a host that
    /// accepts writes is used, unless `target_session_attrs` changes that.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn new(address: &str) -> Result<Self, EngineError> {
        let expected = "an address such as postgres://hushbin@db.example.org/hushbin";
        let refused =
            |why: &str| EngineError::InvalidAddress(format!("--store {why}, expected {expected}"));
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| address.starts_with(scheme))
        {
            return Err(refused("does not begin with postgres://"));
        }
        let mut config: Config = address
            .parse()
            .map_err(|error| refused(&format!("cannot be read ({error})")))?;
        // The parsed address does not show which parameters were given.
        let parameters = address.split_once('?').map_or("", |(_, behind)| behind);
        let says = |name: &str| {
            let mut names = parameters
                .split('&')
                .filter_map(|own| own.split('=').next());
            names.any(|own| own == name)
        };
        if !says("sslmode") {
            let local = config.get_hosts().iter().all(is_local_host);
            config.ssl_mode(if local {
                SslMode::Disable
            } else {
                SslMode::Require
            });
        }
        if !says("connect_timeout") {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if !says("keepalives_idle") {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        if !says("tcp_user_timeout") {
            config.tcp_user_timeout(TCP_USER_TIMEOUT);
        }
        if !says("keepalives_interval") {
            config.keepalives_interval(KEEPALIVE_INTERVAL);
        }
        if !says("keepalives_retries") {
            config.keepalives_retries(KEEPALIVE_RETRIES);
        }
        if !says("application_name") {
            config.application_name("hushbin");
        }
        let tls = tls_roots::tls_client_config().map_err(|error| refused(&error.to_string()))?;
        let any_host = !says("target_session_attrs");
        Ok(Self {
            config: Box::new(config),
            allows_any_writable_host: any_host,
            tls: CertificateCheckingTls(Arc::new(tls)),
        })
    }
}

/// Runs `work` to its end. Uses another thread if the current thread belongs to an asynchronous
/// runtime and may not block.
fn run_blocking<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match Handle::try_current() {
        Err(_) => work(),
        Ok(_) => thread::scope(|scope| {
            let done = scope.spawn(work).join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }),
    }
}

/// Returns true if a session is unusable after this error.
fn error_breaks_session(error: &EngineError) -> bool {
    match error {
        EngineError::Database(error) => error.as_db_error().is_none_or(|error| {
            let severity = error.parsed_severity();
            matches!(severity, Some(Severity::Fatal | Severity::Panic))
        }),
        EngineError::CommitMaybeUnreplicated(_) => true,
        _ => false,
    }
}

/// Returns true if a concurrent transaction caused the error, so that a retry may succeed.
fn is_retryable(error: &EngineError) -> bool {
    let code = match error {
        EngineError::Database(error) => error.code(),
        _ => None,
    };
    let ours = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    code.is_some_and(|code| ours.contains(code))
}

/// Connection to a database.
pub(crate) struct Session {
    /// Client of the database, or `None` while the session is being dropped.
    client: Option<Client>,
    /// Last warning that the server sent.
    warning: Arc<Mutex<Option<String>>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        let client = self.client.take();
        // Closing a connection blocks.
        run_blocking(move || drop(client));
    }
}

impl Session {
    /// Connects to a database.
    ///
    /// # Errors
    /// When the database cannot be reached, or refuses.
    fn connect(database: &DatabaseAddress, read_only: bool) -> Result<Self, EngineError> {
        let warning = Arc::new(Mutex::new(None));
        let mut config = database.config.clone();
        if database.allows_any_writable_host && !read_only && config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let warned = Arc::clone(&warning);
        config.notice_callback(move |notice| {
            if notice.parsed_severity() == Some(Severity::Warning) {
                *warned.lock() = Some(notice.to_string());
            }
        });
        let client = run_blocking(|| -> Result<Client, EngineError> {
            let mut client = config.connect(database.tls.clone())?;
            client.batch_execute(SESSION_SETTINGS)?;
            if read_only {
                client.batch_execute("SET default_transaction_read_only = on")?;
                return Ok(client);
            }
            // Acknowledged data must be on disk, and on the standby's disk if the server waits for
            // one.
            let level: String = client.query_one("SHOW synchronous_commit", &[])?.get(0);
            if !["on", "remote_apply"].contains(&level.as_str()) {
                client.batch_execute("SET synchronous_commit = on")?;
            }
            Ok(client)
        })?;
        Ok(Self {
            client: Some(client),
            warning,
        })
    }

    pub(crate) fn client(&mut self) -> &mut Client {
        self.client
            .as_mut()
            .expect("it is there until it is dropped")
    }

    /// Runs `work` in one transaction, and retries it when concurrent transactions interfere.
    ///
    /// # Guarantee
    /// On `Ok`, the transaction was committed without a warning. PostgreSQL sends a warning if it
    /// has not waited for the standby.
    ///
    /// # Errors
    /// Errors of `work`, or when the commit fails.
    pub(crate) fn run_in_transaction<T>(
        &mut self,
        mut work: impl FnMut(&mut Transaction<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut attempt = 1;
        loop {
            match self.try_transaction(&mut work) {
                Err(error) if is_retryable(&error) && attempt < MAX_TRANSACTION_ATTEMPTS => {
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    /// Runs `work` in one transaction, without a retry.
    fn try_transaction<T>(
        &mut self,
        work: &mut impl FnMut(&mut Transaction<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let warning = Arc::clone(&self.warning);
        let take = || mem::take(&mut *warning.lock());
        let mut transaction = self.client().transaction()?;
        let done = work(&mut transaction)?;
        // Discards warnings from before the commit, which do not matter.
        take();
        transaction.commit()?;
        match take() {
            Some(warning) => Err(EngineError::CommitMaybeUnreplicated(warning)),
            None => Ok(done),
        }
    }
}

/// Session that reconnects after its connection was lost. It has one owner.
pub(super) struct ReconnectingSession<P> {
    database: DatabaseAddress,
    /// Function that prepares SQL statements or other state in every new session.
    prepare: fn(&mut Session) -> Result<P, EngineError>,
    session: Option<(Session, P)>,
}

impl<P> ReconnectingSession<P> {
    pub(super) fn new(
        database: &DatabaseAddress,
        prepare: fn(&mut Session) -> Result<P, EngineError>,
    ) -> Self {
        Self {
            database: database.clone(),
            prepare,
            session: None,
        }
    }

    /// Runs `work` in the session. If the connection is from an earlier call and turns out to be
    /// lost, runs `work` again over a new connection. So `work` must recognise changes that its
    /// first run has already made.
    ///
    /// # Errors
    /// Errors of `work`, or when no connection can be made.
    pub(super) fn with_session<T>(
        &mut self,
        mut work: impl FnMut(&mut Session, &P) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        loop {
            let earlier = self.session.is_some();
            let (mut session, prepared) = match self.session.take() {
                Some(own) => own,
                None => {
                    let mut session = Session::connect(&self.database, false)?;
                    let prepared = (self.prepare)(&mut session)?;
                    (session, prepared)
                }
            };
            let done = work(&mut session, &prepared);
            match &done {
                Err(error) if error_breaks_session(error) => {
                    if earlier {
                        continue;
                    }
                }
                _ => self.session = Some((session, prepared)),
            }
            return done;
        }
    }
}

/// Pool of sessions with one database.
pub(crate) struct SessionPool {
    database: DatabaseAddress,
    read_only: bool,
    idle: Mutex<Vec<Session>>,
}

impl SessionPool {
    pub(crate) fn new(database: &DatabaseAddress, read_only: bool) -> Self {
        Self {
            database: database.clone(),
            read_only,
            idle: Mutex::default(),
        }
    }

    fn change_idle_sessions<T>(&self, change: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        change(&mut self.idle.lock())
    }

    fn acquire(&self) -> Result<Session, EngineError> {
        while let Some(mut session) = self.change_idle_sessions(Vec::pop) {
            // A connection that broke while it was idle is dropped.
            if session.client().is_valid(CONNECT_TIMEOUT).is_ok() {
                return Ok(session);
            }
        }
        Session::connect(&self.database, self.read_only)
    }

    fn return_session(&self, session: Session) {
        let more = self.change_idle_sessions(|idle| match idle.len() < MAX_IDLE_SESSIONS {
            true => {
                idle.push(session);
                None
            }
            false => Some(session),
        });
        drop(more);
    }

    /// Runs `work` in a session from the pool. This call blocks.
    ///
    /// # Errors
    /// Errors of `work`, or when no connection can be made.
    pub(crate) fn with_session<T>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut session = self.acquire()?;
        let done = work(&mut session);
        if !done.as_ref().is_err_and(error_breaks_session) {
            self.return_session(session);
        }
        done
    }

    /// Claims the row that `lock` locks. The lock belongs to a transaction that stays open until
    /// the claim is dropped. Returns `None` if `lock` returns false, because it found no row to
    /// lock.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) fn claim_locked_row(
        self: &Arc<Self>,
        lock: impl FnOnce(&mut Client) -> Result<bool, EngineError>,
    ) -> Result<Option<BatchClaim>, EngineError> {
        let mut session = self.acquire()?;
        // The lock lasts until this transaction ends.
        session.client().batch_execute(BEGIN_CLAIM)?;
        let mut locked = LockingSession {
            session: Some(session),
            sessions: Arc::clone(self),
        };
        let held = locked.session.as_mut().map(|own| lock(own.client()));
        let held = held.transpose()?.unwrap_or(false);
        Ok(held.then(|| BatchClaim::new(locked)))
    }
}

/// Session with an open transaction that holds a lock.
struct LockingSession {
    session: Option<Session>,
    sessions: Arc<SessionPool>,
}

impl Drop for LockingSession {
    fn drop(&mut self) {
        let Some(mut session) = self.session.take() else {
            return;
        };
        let ended = run_blocking(|| session.client().batch_execute("ROLLBACK"));
        // A session that cannot roll back is dropped instead of reused.
        if ended.is_ok() {
            self.sessions.return_session(session);
        }
    }
}
