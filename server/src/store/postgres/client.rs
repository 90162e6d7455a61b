//! Blocking client of a database. Every wait for an answer has a time limit.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use postgres::error::Severity;
use postgres::types::{ToSql, Type};
use postgres::{
    AsyncMessage, Config, Connection, Row, SimpleQueryMessage, Socket, Statement, ToStatement,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::tls::{CertificateCheckingTls, RustlsStream};
use crate::store::engine::EngineError;

/// Time limit for an answer. It is above the time that PostgreSQL waits for a lock, so that the
/// error of PostgreSQL comes first.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for an answer to a statement about a whole batch.
pub(super) const LONG_ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// Time limit for the handshake with a database, after its machine has accepted a connection, and
/// for the answer to an empty statement.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time limit for cancelling a statement, and for the answer that the cancelled statement gives.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Time limit for telling the database that the connection ends.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(500);

/// Values of a statement's parameters.
type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Connection to a database. After an error that breaks the connection, it can only be dropped.
///
/// TCP alone does not notice that a database is frozen, or that a proxy holds the connection. So
/// each call fails if the answer takes too long.
pub(crate) struct Client {
    /// Runtime that runs the connection while a call waits, and sender of requests. `None` while the
    /// client is being dropped.
    parts: Option<(Runtime, postgres::Client)>,
    connection: Connection<Socket, RustlsStream>,
    tls: CertificateCheckingTls,
    /// True after the connection has ended or the database was silent.
    is_broken: bool,
    answer_timeout: Duration,
    /// Last warning that the database sent about the last statement.
    warning: Option<String>,
}

/// Returns the error for a database that has been silent for this time. `hint` follows the message.
fn silence(limit: Duration, hint: &str) -> EngineError {
    let seconds = limit.as_secs();
    EngineError::DatabaseUnreachable(format!(
        "the database has not answered within {seconds} seconds{hint}"
    ))
}

/// Probable causes of a statement without an answer.
const SILENCE_CAUSES: &str = ": it may be overloaded or frozen, or wait for a lock or a lost \
    synchronous standby";

impl Client {
    /// Connects to a database. This call blocks, for at most the configured time limit and
    /// [`HANDSHAKE_TIMEOUT`].
    ///
    /// # Errors
    /// When the database cannot be reached, or refuses.
    pub(super) fn connect(
        config: &Config,
        tls: &CertificateCheckingTls,
    ) -> Result<Self, EngineError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            EngineError::DatabaseUnreachable(format!("no runtime for the database: {error}"))
        })?;
        let limit = HANDSHAKE_TIMEOUT + config.get_connect_timeout().copied().unwrap_or_default();
        let connecting = async { timeout(limit, config.connect(tls.clone())).await };
        let connected = match runtime.block_on(connecting) {
            Ok(connected) => connected.map_err(EngineError::from),
            Err(_) => Err(silence(limit, "")),
        };
        match connected {
            Ok((client, connection)) => Ok(Self {
                parts: Some((runtime, client)),
                connection,
                tls: tls.clone(),
                is_broken: false,
                answer_timeout: ANSWER_TIMEOUT,
                warning: None,
            }),
            Err(error) => {
                // Dropping the runtime would wait for a name server that is silent.
                runtime.shutdown_background();
                Err(error)
            }
        }
    }

    /// Sets the time limit for each answer from now on.
    pub(super) fn set_answer_timeout(&mut self, limit: Duration) {
        self.answer_timeout = limit;
    }

    /// Returns the last warning about the last statement, and forgets it.
    pub(super) fn take_warning(&mut self) -> Option<String> {
        self.warning.take()
    }

    /// Sends a request, and waits for its answer.
    fn wait_for<T>(
        &mut self,
        request: impl AsyncFnOnce(&postgres::Client) -> Result<T, postgres::Error>,
    ) -> Result<T, EngineError> {
        self.warning = None;
        let limit = self.answer_timeout;
        if let Some(answer) = self.answer_or_cancel(request, limit) {
            return Ok(answer?);
        }
        // The answer of a cancelled statement may still be on its way, so it would be taken for
        // that of the next.
        self.is_broken = true;
        Err(silence(limit, SILENCE_CAUSES))
    }

    /// Sends a request, and returns its answer. After the time limit, cancels the request as far as
    /// possible and returns `None`.
    fn answer_or_cancel<T>(
        &mut self,
        request: impl AsyncFnOnce(&postgres::Client) -> Result<T, postgres::Error>,
        limit: Duration,
    ) -> Option<Result<T, postgres::Error>> {
        let Self {
            parts,
            connection,
            tls,
            is_broken,
            warning,
            ..
        } = self;
        let (runtime, client) = parts.as_ref().expect("taken only while it is dropped");
        let mut answer = pin!(request(client));
        let mut answered = pin!(poll_fn(|context| {
            while !*is_broken {
                match connection.poll_message(context) {
                    Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                        if notice.parsed_severity() == Some(Severity::Warning) {
                            *warning = Some(notice.message().to_owned());
                        }
                    }
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(Some(Err(error))) => {
                        *is_broken = true;
                        // This error contains the reason. The answer would only be "connection closed".
                        return Poll::Ready(Err(error));
                    }
                    Poll::Ready(None) => *is_broken = true,
                    Poll::Pending => break,
                }
            }
            answer.as_mut().poll(context)
        }));
        if let Ok(answer) = runtime.block_on(async { timeout(limit, &mut answered).await }) {
            return Some(answer);
        }
        // A commit that waits for a standby would keep its backend and its locks for ever. Once
        // cancelled, it is on the disk of this server alone, and PostgreSQL warns of that. A release
        // is not cancelled: it would be served although the standby does not have it.
        if limit == ANSWER_TIMEOUT {
            let cancelled = async {
                let _ = client.cancel_token().cancel_query(tls.clone()).await;
                answered.await
            };
            let _ = runtime.block_on(async { timeout(CANCEL_TIMEOUT, cancelled).await });
        }
        None
    }

    /// Executes statements without parameters.
    ///
    /// # Errors
    /// When the database fails or does not answer, as for all methods below.
    pub(crate) fn batch_execute(&mut self, statements: &str) -> Result<(), EngineError> {
        self.wait_for(async |client| client.batch_execute(statements).await)
    }

    /// Executes a statement, and returns the number of rows that it has changed.
    pub(crate) fn execute<S: ?Sized + ToStatement>(
        &mut self,
        statement: &S,
        parameters: Parameters<'_>,
    ) -> Result<u64, EngineError> {
        self.wait_for(async |client| client.execute(statement, parameters).await)
    }

    /// Returns the rows that a statement yields.
    pub(crate) fn query<S: ?Sized + ToStatement>(
        &mut self,
        statement: &S,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, EngineError> {
        self.wait_for(async |client| client.query(statement, parameters).await)
    }

    /// Returns the only row that a statement yields.
    pub(crate) fn query_one<S: ?Sized + ToStatement>(
        &mut self,
        statement: &S,
        parameters: Parameters<'_>,
    ) -> Result<Row, EngineError> {
        self.wait_for(async |client| client.query_one(statement, parameters).await)
    }

    /// Returns the row that a statement yields, or `None` if it yields none.
    pub(crate) fn query_opt<S: ?Sized + ToStatement>(
        &mut self,
        statement: &S,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, EngineError> {
        self.wait_for(async |client| client.query_opt(statement, parameters).await)
    }

    /// Returns the first column of the only row that a statement yields, as text. Prepares nothing,
    /// so that it works through every pooler.
    pub(super) fn query_text(&mut self, query: &str) -> Result<String, EngineError> {
        let messages = self.wait_for(async |client| client.simple_query(query).await)?;
        let mut texts = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        let text = texts.next().map(str::to_owned);
        text.ok_or_else(|| {
            EngineError::DatabaseUnreachable(format!("the database answers {query:?} with nothing"))
        })
    }

    /// Prepares a statement whose parameters have these types. The database infers missing types.
    pub(super) fn prepare(
        &mut self,
        query: &str,
        types: &[Type],
    ) -> Result<Statement, EngineError> {
        self.wait_for(async |client| client.prepare_typed(query, types).await)
    }

    /// Visits the rows that a query yields, one at a time, until `visit` breaks.
    pub(super) fn for_each_row(
        &mut self,
        query: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
        visit: &mut dyn FnMut(&Row) -> Result<ControlFlow<()>, EngineError>,
    ) -> Result<(), EngineError> {
        let parameters = parameters
            .iter()
            .map(|(value, kind)| (*value, kind.clone()));
        let rows = self.wait_for(async |client| client.query_typed_raw(query, parameters).await)?;
        let mut rows = pin!(rows);
        let mut next = move || {
            self.wait_for(async |_| {
                let next = poll_fn(|context| rows.as_mut().poll_next(context));
                next.await.transpose()
            })
        };
        while let Some(row) = next()? {
            if visit(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let Some((runtime, client)) = self.parts.take() else {
            return;
        };
        // The connection ends when no more requests can come.
        drop(client);
        if !self.is_broken {
            let connection = &mut self.connection;
            let closed = poll_fn(|context| {
                while let Poll::Ready(message) = connection.poll_message(context) {
                    if !matches!(message, Some(Ok(_))) {
                        return Poll::Ready(());
                    }
                }
                Poll::Pending
            });
            let _ = runtime.block_on(async { timeout(GOODBYE_TIMEOUT, closed).await });
        }
        runtime.shutdown_background();
    }
}
