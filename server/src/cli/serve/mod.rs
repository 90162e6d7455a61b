//! `hushbin serve`: runs the collector.

mod config;
mod config_schema;
mod descriptors;
mod doctor;
mod log;
mod options;
mod reload;
mod settings;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::output::Error;
use crate::cli::serve::config::{JournalConfig, RelayConfig, RoleConfig, ServerConfig};
use crate::http::metrics::Metrics;
use crate::http::{self, AccessPolicy, RouterService};
use crate::role::{BatchForwarder, GatewayClient};
use crate::store::{
    EngineError, JournalError, ProcessRole, Remedy, Store, StoreError, StoreOptions,
};
use crate::tokens::TokenStore;
pub(super) use config_schema::option_schemas;
use descriptors::{count_role_descriptors, max_connections_under_limit, raise_open_file_limit};
pub(super) use doctor::{DoctorCommandOptions, run_doctor_command};
use log::LogHandle;
pub(super) use options::ServeCommandOptions;
use reload::ConfigReloader;

/// Time limit for closing the store after the last request. Unfinished work is done at the next
/// start.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until SIGTERM or SIGINT.
pub(super) fn run_serve_command(
    options: ServeCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let settings = options.read_settings()?;
    let mut config = settings.load_config()?;
    if options.check_config {
        check_as_serve_would(&mut config)?;
        let few_reports = match &config.role {
            RoleConfig::WithJournal(journal) => journal.few_reports_warning(),
            RoleConfig::Relay(_) => None,
        };
        let warnings = [settings.unreadable_for_collector(), few_reports];
        for warning in warnings.into_iter().flatten() {
            writeln!(out, "warning: {warning}")?;
        }
        writeln!(out, "the configuration is valid")?;
        return Ok(());
    }
    let log = LogHandle::start_logging_to_stderr(config.log_level, config.log_format);
    apply_open_file_limit(&mut config)?;
    let runtime = Runtime::new()?;
    let result = runtime.block_on(async {
        let listen = config.listen_address;
        let listener = http::bind_listener(listen)
            .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
        let service = RouterService::new(
            config.allowed_hosts.clone(),
            config.tls.clone(),
            Arc::new(Metrics::new()),
        );
        let (opened, store) = watch::channel(None);
        let reload = ConfigReloader::new(options, settings, service.clone(), log, store)?;
        tokio::spawn(reload.reload_on_hangup_signals());
        let stop = stop_signal()?;
        // Exceeding the file size limit is then a write error like a full disk. Without a handler,
        // the signal would end the process.
        let _caught = signal(SignalKind::from_raw(libc::SIGXFSZ))?;
        match &config.role {
            RoleConfig::WithJournal(journal) => {
                let open = {
                    let journal = journal.clone();
                    move || {
                        let store = open_store(&journal)?;
                        opened.send_replace(Some(store.clone()));
                        Ok(store)
                    }
                };
                run_collector(listener, &service, &config, journal, open, stop, out).await
            }
            RoleConfig::Relay(relay) => {
                // No store will be open.
                drop(opened);
                run_relay(listener, &service, &config, relay, stop, out).await
            }
        }
    });
    // Running scans only read, so the process need not wait for them.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// Checks what would keep the collector from starting, without changing anything.
fn check_as_serve_would(config: &mut ServerConfig) -> Result<(), Error> {
    apply_open_file_limit(config)?;
    let listen = config.listen_address;
    let bound = Runtime::new()?.block_on(async { http::bind_listener(listen).map(drop) });
    // The address may be that of the collector that this one is to replace.
    if let Err(error) = bound.or_else(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Ok(()),
        _ => Err(error),
    }) {
        return Err(format!("cannot listen on {listen}: {error}").into());
    }
    let journal = match &config.role {
        RoleConfig::WithJournal(journal) => journal,
        RoleConfig::Relay(_) => {
            GatewayClient::new()?;
            return Ok(());
        }
    };
    let location = &journal.journal_location;
    // An error in the tokens stops a start, unless everyone may read.
    if !journal.development {
        TokenStore::open(location)?;
    }
    let (tasks, options) = (&journal.tasks, journal.store_options);
    Ok(Store::check_tasks(
        location,
        tasks,
        options,
        journal.read_only,
    )?)
}

/// Raises the limit on open files, and lowers the default number of connections if even the raised
/// limit is too low for it.
///
/// # Errors
/// When the limit is too low for the number of connections that the operator has set.
fn apply_open_file_limit(config: &mut ServerConfig) -> Result<(), Error> {
    let open_files = raise_open_file_limit();
    let possible = max_connections_under_limit(open_files, count_role_descriptors(config));
    let wanted = config.server_options.max_connections;
    if wanted <= possible {
        return Ok(());
    }
    let limit = open_files.unwrap_or(u64::MAX);
    if config.is_max_connections_set {
        return Err(format!(
            "--max-connections is {wanted}, expected at most {possible}, because this process may \
             open only {limit} files; raise that limit (LimitNOFILE= in a systemd unit)"
        )
        .into());
    }
    tracing::warn!(
        limit,
        max_connections = possible,
        "few files may be opened, so fewer connections are accepted; raise the limit on open \
         files (LimitNOFILE= in a systemd unit)"
    );
    config.server_options.max_connections = possible;
    Ok(())
}

fn open_store(config: &JournalConfig) -> Result<Store, Error> {
    let JournalConfig {
        journal_location: location,
        tasks,
        store_options: store,
        ..
    } = config;
    if !config.development {
        // An error in the tokens should leave the journal untouched.
        TokenStore::open(location)?;
    }
    let opened = match config.read_only {
        true => Store::open_read_only(location, tasks, *store),
        false => Store::open_at(location, tasks, *store),
    };
    opened.map_err(|error| match (&error, location.directory()) {
        (JournalError::Engine(EngineError::Damaged(_)), Some(data)) => {
            let data = data.display();
            format!(
                "{error}; run hushbin journal check --data {data}, then restore a backup, or copy \
                 the intact files with hushbin journal salvage --data {data} TO"
            )
            .into()
        }
        (JournalError::Engine(cause), _)
            if cause.remedy() == Remedy::Permission && !config.read_only =>
        {
            format!("{error}; start with --read-only to serve released batches").into()
        }
        _ => error.into(),
    })
}

/// Returns a future that completes on SIGTERM or SIGINT.
fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Serves probes and metrics from the start, and all other requests once the store is open.
async fn run_collector(
    listener: TcpListener,
    service: &RouterService,
    config: &ServerConfig,
    journal: &JournalConfig,
    open: impl FnOnce() -> Result<Store, Error> + Send + 'static,
    stop: impl Future<Output = ()>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut stop = pin!(stop);
    let address = listener.local_addr()?;
    let (end, serving) = spawn_server(listener, service, config);
    let store = tokio::select! {
        opened = open_store_on_thread(open) => opened?,
        () = &mut stop => {
            // The journal survives this like a crash.
            tracing::info!("stopped before the store was open");
            return Ok(());
        }
    };
    serve_store(&store, service, config, journal).await?;

    let doing = match store.role() {
        _ if journal.read_only => "serving read-only",
        ProcessRole::Collector => "listening",
        ProcessRole::Shuffler => "shuffling",
        ProcessRole::Analyser => "analysing",
    };
    announce_ready(doing, config, address, out)?;

    tokio::select! {
        () = stop => {}
        () = store.wait_until_writer_ended() => {
            return Err("the journal's writer stopped unexpectedly; restart the collector".into());
        }
    }
    finish_requests(end, serving).await?;
    close_store(store.close()).await
}

/// Serves as a relay, without a store.
async fn run_relay(
    listener: TcpListener,
    service: &RouterService,
    config: &ServerConfig,
    relay: &RelayConfig,
    stop: impl Future<Output = ()>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let address = listener.local_addr()?;
    service.set_router(http::relay_router(
        relay.gateways.clone(),
        GatewayClient::new()?,
        config.request_limits,
        relay.queue_bytes,
        Arc::clone(service.metrics()),
    ));
    let (end, serving) = spawn_server(listener, service, config);
    announce_ready("relaying", config, address, out)?;
    stop.await;
    finish_requests(end, serving).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Prints the address of a server that is ready, and notifies the service manager.
fn announce_ready(
    doing: &str,
    config: &ServerConfig,
    address: SocketAddr,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let scheme = config.tls.as_ref().map_or("http", |_| "https");
    // Here even a broken pipe is an error: the reader of this line needs the address.
    writeln!(out, "hushbin {doing} on {scheme}://{address}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot print the address: {error}"))?;
    notify_service_manager(&NotifyState::Ready);
    Ok(())
}

/// Starts to serve connections. Returns a sender that stops this once it is dropped, and the task.
fn spawn_server(
    listener: TcpListener,
    service: &RouterService,
    config: &ServerConfig,
) -> (oneshot::Sender<()>, JoinHandle<bool>) {
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(http::serve_connections(
        listener,
        service.clone(),
        config.server_options,
        async move { drop(ended.await) },
    ));
    (end, serving)
}

/// Stops accepting connections, and finishes the current requests.
async fn finish_requests(end: oneshot::Sender<()>, serving: JoinHandle<bool>) -> Result<(), Error> {
    notify_service_manager(&NotifyState::Stopping);
    tracing::info!("stopping: finishing the current requests");
    drop(end);
    if !serving.await? {
        tracing::warn!("some requests did not finish in time and were cut off");
    }
    Ok(())
}

/// Serves an open store, and forwards a shuffler's batches.
async fn serve_store(
    store: &Store,
    service: &RouterService,
    config: &ServerConfig,
    journal: &JournalConfig,
) -> Result<(), Error> {
    let metrics = Arc::clone(service.metrics());
    let access = token_access_policy(journal).await?;
    let tokens = match &access {
        AccessPolicy::AllowByTokenRole(tokens, _) => Some(Arc::clone(tokens)),
        AccessPolicy::Unrestricted => None,
    };
    metrics.register_store_metrics(store, journal.journal_location.directory(), tokens);
    tokio::spawn(check_tokens_forever(Arc::clone(&metrics)));
    service.set_router(http::access_controlled_router(
        store.clone(),
        access,
        config.request_limits,
        journal.role_keys.clone(),
        metrics,
        journal.ohttp_gateway.clone(),
        journal.task_settings.clone(),
    ));
    if let Some(shuffler) = &journal.role_keys.shuffler_keys {
        let forwarder = BatchForwarder::new(store.clone(), Arc::clone(shuffler))?;
        tokio::spawn(forwarder.forward_forever());
    }
    Ok(())
}

/// Notices damaged tokens, although no one may use a token or request metrics. Never returns.
async fn check_tokens_forever(metrics: Arc<Metrics>) {
    loop {
        tokio::time::sleep(StoreOptions::DEFAULT.check_interval).await;
        metrics.check_tokens();
    }
}

/// Closes the store, which first takes all uploads that wait. Gives up after [`CLOSE_TIMEOUT`].
async fn close_store(closing: impl Future<Output = Result<(), StoreError>>) -> Result<(), Error> {
    match tokio::time::timeout(CLOSE_TIMEOUT, closing).await {
        Ok(closed) => {
            closed?;
            tracing::info!("stopped");
        }
        Err(_) => tracing::warn!("stopped with work left for the next start; nothing is lost"),
    }
    Ok(())
}

/// Returns the access policy. Only holders of tokens have access. In development mode, any client
/// has access.
async fn token_access_policy(config: &JournalConfig) -> Result<AccessPolicy, Error> {
    if config.development {
        return Ok(AccessPolicy::Unrestricted);
    }
    let tokens = TokenStore::open(&config.journal_location)?;
    if tokens.is_empty().await? {
        tracing::warn!(
            "there is no token, so no one can read estimates; create one with hushbin token create"
        );
    }
    Ok(AccessPolicy::AllowByTokenRole(
        Arc::new(tokens),
        Arc::default(),
    ))
}

/// Runs `open` on a separate thread. If the process ends first, it does not wait for this thread.
async fn open_store_on_thread(
    open: impl FnOnce() -> Result<Store, Error> + Send + 'static,
) -> Result<Store, Error> {
    let (reply, opened) = oneshot::channel();
    thread::Builder::new()
        .name("open".to_owned())
        .spawn(move || reply.send(open()))?;
    match opened.await {
        Ok(opened) => opened,
        // The thread panicked, which is on standard error.
        Err(_) => Err("the store could not be opened".into()),
    }
}

/// Reports the state to systemd if systemd started the process.
fn notify_service_manager(state: &NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(std::slice::from_ref(state)) {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use clap::Parser;
    use hushbin_tests::process::Client;

    use super::*;
    use crate::cli::{Cli, Command};

    /// Returns the configuration of a collector with one task, and the directory of its files.
    fn test_config() -> (ServerConfig, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let task = directory.path().join("t.json");
        let draft = r#"{ "id": "t", "items": 4, "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#;
        std::fs::write(&task, draft).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        crate::store::create_journal(&directory.path().join("data")).unwrap();
        let data = text(&directory.path().join("data"));
        let words = ["hushbin", "serve", "--data", &data, "--task", &text(&task)];
        let Command::Serve(options) = Cli::parse_from(words).command else {
            panic!("it is another command");
        };
        (
            options.read_settings().unwrap().load_config().unwrap(),
            directory,
        )
    }

    fn journal(config: &ServerConfig) -> &JournalConfig {
        match &config.role {
            RoleConfig::WithJournal(journal) => journal,
            RoleConfig::Relay(_) => panic!("it is a relay"),
        }
    }

    /// Runs the collector and a client, which gets the collector's address.
    async fn run_with_client<T: Send + 'static>(
        config: &ServerConfig,
        open: impl FnOnce() -> Result<Store, Error> + Send + 'static,
        stop: oneshot::Receiver<()>,
        client: impl FnOnce(SocketAddr) -> T + Send + 'static,
    ) -> (Result<(), Error>, String, T) {
        let listener = http::bind_listener(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let service =
            RouterService::new(config.allowed_hosts.clone(), None, Arc::new(Metrics::new()));
        let mut out = Vec::new();
        let stop = async { drop(stop.await) };
        let (result, said) = tokio::join!(
            run_collector(
                listener,
                &service,
                config,
                journal(config),
                open,
                stop,
                &mut out
            ),
            tokio::task::spawn_blocking(move || client(address)),
        );
        (result, String::from_utf8(out).unwrap(), said.unwrap())
    }

    fn get_problem_response(client: &mut Client, path: &str) -> (u16, String) {
        let (status, body) = client.get(path).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        (status, body["type"].as_str().unwrap_or_default().to_owned())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn is_live_before_store_is_ready() {
        let (config, _directory) = test_config();
        let (go, going) = mpsc::channel::<()>();
        let (stop, stopping) = oneshot::channel();
        let open = {
            let journal = journal(&config).clone();
            move || {
                going.recv().unwrap();
                super::open_store(&journal)
            }
        };
        let client = move |address| {
            let mut client = Client::connect(address).unwrap();
            assert_eq!(client.get("/livez").unwrap().0, 200);
            let starting = (503, "urn:hushbin:problem:starting".to_owned());
            for path in ["/readyz", "/tasks", "/tasks/t/estimates", "/nothing"] {
                assert_eq!(get_problem_response(&mut client, path), starting, "{path}");
            }
            let posted = client.post("t", b"x").unwrap();
            assert_eq!(posted.0, 503);
            let (status, metrics) = client.get("/metrics").unwrap();
            let metrics = String::from_utf8(metrics).unwrap();
            assert_eq!(status, 200);
            assert!(metrics.contains("hushbin_ready 0\n"), "{metrics}");
            go.send(()).unwrap();
            // The same connection keeps working.
            while get_problem_response(&mut client, "/readyz") == starting {}
            assert_eq!(client.get("/tasks/t").unwrap().0, 200);
            let metrics = String::from_utf8(client.get("/metrics").unwrap().1).unwrap();
            assert!(metrics.contains("hushbin_ready 1\n"), "{metrics}");
            drop(client);
            stop.send(()).unwrap();
            address
        };
        let (result, said, address) = run_with_client(&config, open, stopping, client).await;
        result.unwrap();
        assert_eq!(said, format!("hushbin listening on http://{address}\n"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn stops_while_store_is_opening() {
        let (config, _directory) = test_config();
        // Opening never ends.
        let (never, go) = mpsc::channel::<()>();
        let (stop, stopping) = oneshot::channel();
        let open = move || {
            let _ = go.recv();
            Err(JournalError::NoTasks.into())
        };
        let client = move |address| {
            let mut client = Client::connect(address).unwrap();
            assert_eq!(client.get("/livez").unwrap().0, 200);
            stop.send(()).unwrap();
        };
        let (result, said, ()) = run_with_client(&config, open, stopping, client).await;
        result.unwrap();
        assert_eq!(said, "", "it was never ready");
        drop(never);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn exits_if_store_cannot_be_opened() {
        let (config, _directory) = test_config();
        let (_stop, stopping) = oneshot::channel();
        let open = || Err(JournalError::NoTasks.into());
        let (result, said, ()) = run_with_client(&config, open, stopping, |_| ()).await;
        assert!(result.unwrap_err().to_string().contains("no task"));
        assert_eq!(said, "");
        let (_stop, stopping) = oneshot::channel();
        let open = || panic!("a defect");
        let (result, _, ()) = run_with_client(&config, open, stopping, |_| ()).await;
        assert!(
            result
                .unwrap_err()
                .to_string()
                .contains("could not be opened")
        );
    }

    #[tokio::test(start_paused = true)]
    async fn close_store_times_out() {
        let begin = tokio::time::Instant::now();
        close_store(std::future::pending()).await.unwrap();
        assert_eq!(begin.elapsed().as_secs(), CLOSE_TIMEOUT.as_secs());
        let failed = close_store(std::future::ready(Err(StoreError::Closed))).await;
        assert!(failed.is_err());
    }
}
