//! Sessions with a database.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::Mutex;
use postgres::error::{Severity, SqlState};
use tokio::runtime::Handle;

use super::address::DatabaseAddress;
use super::client::{ANSWER_TIMEOUT, Client, HANDSHAKE_TIMEOUT, LONG_ANSWER_TIMEOUT};
use crate::store::engine::{BatchClaim, EngineError};

/// Maximum number of idle connections that a pool keeps.
const MAX_IDLE_SESSIONS: usize = 8;

/// Maximum number of attempts at a transaction, if concurrent transactions make it fail.
const MAX_TRANSACTION_ATTEMPTS: usize = 10;

/// First statements of every session. Shorter limits of the operator stay.
///
/// - No time limit for statements: such a limit must not end a commit that waits for a standby,
///   because PostgreSQL does not undo such a commit.
/// - The database ends the transaction of a node that is frozen or cut off, so that its locks do not
///   stop the other nodes. A transaction has no pauses otherwise.
/// - The other nodes wait a little longer than that for a lock. They wait still longer for an answer
///   ([`Client`]), so that they get the result of their wait.
/// - At the level "read committed", each statement sees everything that was committed before the
///   statement.
const SESSION_SETTINGS: &str = "SET statement_timeout = 0; \
    SET default_transaction_isolation = 'read committed'; \
    SELECT set_config(name, most::TEXT, false) FROM pg_settings \
    JOIN (VALUES ('idle_in_transaction_session_timeout', 3000), ('lock_timeout', 4000)) \
    AS limits (setting_name, most) ON name = setting_name \
    WHERE setting::BIGINT NOT BETWEEN 1 AND most";

/// Interval at which a claim shows that its process is alive. It is shorter than the time that the
/// database allows an idle transaction.
const CLAIM_HEARTBEAT: Duration = Duration::from_secs(1);

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
        EngineError::CommitMaybeUnreplicated(_) | EngineError::DatabaseUnreachable(_) => true,
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

/// Connection to a database, with the settings that transactions need.
pub(crate) struct Session {
    /// Client of the database, or `None` while the session is being dropped.
    client: Option<Client>,
    /// Index of the host among those of the address.
    host: usize,
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
        let prepare = |client: &mut Client| {
            client.batch_execute(SESSION_SETTINGS)?;
            if read_only {
                return client.batch_execute("SET default_transaction_read_only = on");
            }
            // Acknowledged data must be on disk, and on the standby's disk if the server waits for
            // one.
            let level = client.query_text("SHOW synchronous_commit")?;
            match ["on", "remote_apply"].contains(&level.as_str()) {
                true => Ok(()),
                false => client.batch_execute("SET synchronous_commit = on"),
            }
        };
        run_blocking(|| {
            let (client, host) = database.connect(read_only, prepare)?;
            let client = Some(client);
            Ok(Self { client, host })
        })
    }

    pub(crate) fn client(&mut self) -> &mut Client {
        self.client
            .as_mut()
            .expect("it is there until it is dropped")
    }

    /// Returns the client, for statements about a whole batch or task. They may take longer until
    /// the session's next use.
    pub(super) fn patient_client(&mut self) -> &mut Client {
        let client = self.client();
        client.set_answer_timeout(LONG_ANSWER_TIMEOUT);
        client
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
        mut work: impl FnMut(&mut Client) -> Result<T, EngineError>,
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
        work: &mut impl FnMut(&mut Client) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let client = self.client();
        client.batch_execute("BEGIN")?;
        match work(client) {
            Ok(done) => {
                let committed = client.batch_execute("COMMIT");
                match client.take_warning() {
                    Some(warning) => Err(EngineError::CommitMaybeUnreplicated(warning)),
                    None => committed.map(|()| done),
                }
            }
            Err(error) if error_breaks_session(&error) => Err(error),
            Err(error) => {
                client.batch_execute("ROLLBACK")?;
                Err(error)
            }
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
            session.client().set_answer_timeout(ANSWER_TIMEOUT);
            let done = work(&mut session, &prepared);
            match &done {
                Err(error) if error_breaks_session(error) => {
                    self.database.note_silence(session.host, error);
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

    /// Creates a pool, and checks that the database keeps the state of each session. This call
    /// blocks.
    ///
    /// # Errors
    /// When the database cannot be reached, or the address is that of a pooler in transaction mode.
    pub(super) fn open(database: &DatabaseAddress, read_only: bool) -> Result<Self, EngineError> {
        let pool = Self::new(database, read_only);
        let backend = |client: &mut Client| client.query_text("SELECT pg_backend_pid()");
        pool.with_session(|first| {
            let own = backend(first.client())?;
            // While a transaction of another session is open, such a pooler uses the connection of
            // the first session for the transaction, or another connection for the first session.
            let is_kept = pool.with_session(|second| {
                second.run_in_transaction(|client| {
                    Ok(backend(client)? != own && backend(first.client())? == own)
                })
            })?;
            match is_kept {
                true => Ok(()),
                false => Err(EngineError::InvalidAddress(
                    "--database names a pooler in transaction mode, which mixes the sessions of its \
                     clients, expected PostgreSQL itself or a pooler in session mode (PgBouncer's \
                     pool_mode = session)"
                        .to_owned(),
                )),
            }
        })?;
        Ok(pool)
    }

    fn change_idle_sessions<T>(&self, change: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        change(&mut self.idle.lock())
    }

    fn acquire(&self) -> Result<Session, EngineError> {
        while let Some(mut session) = self.change_idle_sessions(Vec::pop) {
            let client = session.client();
            client.set_answer_timeout(HANDSHAKE_TIMEOUT);
            // A connection that broke while it was idle is dropped.
            match client.batch_execute("") {
                Ok(()) => {
                    client.set_answer_timeout(ANSWER_TIMEOUT);
                    return Ok(session);
                }
                Err(error) => self.discard(session, &error),
            }
        }
        Session::connect(&self.database, self.read_only)
    }

    /// Drops a broken session. Drops the idle sessions too: what broke one has probably broken all,
    /// and each would take its time limit to show it.
    fn discard(&self, session: Session, error: &EngineError) {
        self.database.note_silence(session.host, error);
        drop((session, self.change_idle_sessions(mem::take)));
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
        match &done {
            Err(error) if error_breaks_session(error) => self.discard(session, error),
            _ => self.return_session(session),
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
        session.client().batch_execute("BEGIN")?;
        if !lock(session.client())? {
            session.client().batch_execute("ROLLBACK")?;
            self.return_session(session);
            return Ok(None);
        }
        let (release, released) = mpsc::channel();
        let sessions = Arc::clone(self);
        let holder = thread::Builder::new()
            .name("claim".to_owned())
            .spawn(move || sessions.hold_lock(session, &released))
            .map_err(|source| EngineError::FileAccess {
                path: "the thread of a claim".to_owned(),
                source,
            })?;
        Ok(Some(BatchClaim::new(HeldLock {
            release: Some(release),
            holder: Some(holder),
        })))
    }

    /// Keeps the transaction of a session open until the sender of `released` is dropped. The
    /// database ends the transaction soon after this process has stopped or is cut off.
    fn hold_lock(&self, mut session: Session, released: &mpsc::Receiver<()>) {
        while released.recv_timeout(CLAIM_HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = session.client().batch_execute("SELECT 1") {
                self.discard(session, &error);
                return;
            }
        }
        match session.client().batch_execute("ROLLBACK") {
            Ok(()) => self.return_session(session),
            Err(error) => self.discard(session, &error),
        }
    }
}

/// Lock of a transaction, until it is dropped.
struct HeldLock {
    release: Option<mpsc::Sender<()>>,
    /// Thread that holds the lock.
    holder: Option<JoinHandle<()>>,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        drop(self.release.take());
        // Its wait for an answer is bounded.
        self.holder.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hushbin_tests::postgres::{Server, shared};

    use super::*;

    /// A lock on the view `pg_settings` makes a server silent after the login.
    #[test]
    fn a_host_that_is_silent_after_the_login_is_avoided() {
        let [silent, other] = [(); 2].map(|()| Server::start(&[]));
        let [first, second] = [&silent, &other].map(Server::port);
        let hosts = format!("127.0.0.1:{first},127.0.0.1:{second}");
        let address = format!("postgres://hushbin@{hosts}/postgres");
        let port = |session: &mut Session| session.client().query_text("SHOW port");
        let pool = SessionPool::new(&DatabaseAddress::new(&address).unwrap(), true);
        assert_eq!(pool.with_session(port).unwrap(), first.to_string());
        let direct = DatabaseAddress::new(&silent.address("postgres")).unwrap();
        let locking = SessionPool::new(&direct, false);
        locking
            .with_session(|session| {
                session.run_in_transaction(|client| {
                    client.batch_execute("LOCK TABLE pg_catalog.pg_settings")?;
                    for _ in 0..2 {
                        // The next call makes a new connection.
                        pool.change_idle_sessions(mem::take);
                        // The transaction may not be idle for three seconds.
                        let found = thread::scope(|scope| {
                            let asking = scope.spawn(|| pool.with_session(port));
                            while !asking.is_finished() {
                                client.batch_execute("SELECT pg_sleep(0.1)")?;
                            }
                            asking.join().unwrap()
                        });
                        assert_eq!(found?, second.to_string());
                    }
                    Ok(())
                })
            })
            .unwrap();
    }

    #[test]
    fn shorter_limits_of_the_operator_stay() {
        let server = shared();
        let limits = |options: &str| {
            let address = format!("{}?options={options}", server.database());
            let pool = SessionPool::new(&DatabaseAddress::new(&address).unwrap(), false);
            let names = [
                "idle_in_transaction_session_timeout",
                "lock_timeout",
                "statement_timeout",
            ];
            names.map(|name| {
                let show = format!("SHOW {name}");
                pool.with_session(|session| session.client().query_text(&show))
                    .unwrap()
            })
        };
        assert_eq!(limits(""), ["3s", "4s", "0"]);
        let options = "-c%20lock_timeout%3D1s%20-c%20statement_timeout%3D9s";
        assert_eq!(limits(options), ["3s", "1s", "0"]);
        let longer = "-c%20lock_timeout%3D60s%20-c%20idle_in_transaction_session_timeout%3D2s";
        assert_eq!(limits(longer), ["2s", "4s", "0"]);
    }
}
