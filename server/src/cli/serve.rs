//! `hushbin serve`: run the collector.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::LevelFilter;

use super::Error;
use crate::config::{self, Config, OutOfRange};
use crate::http::{self, Limits, ServerOptions};
use crate::store::{Store, StoreOptions};
use crate::task_file::TaskFile;

/// Collect reports and serve estimates
///
/// Prints one line with its address on standard output when it is ready, and logs
/// to standard error. On SIGTERM or SIGINT it stops accepting connections, answers
/// the requests under way, leaves the journal tidy and exits with 0.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    /// Directory of the journal; created when there is none
    #[arg(long, value_name = "DIR", env = "HUSHBIN_DATA")]
    data: PathBuf,
    /// Task file (JSON); may be repeated. Tasks of earlier runs are served as well
    #[arg(long = "task", value_name = "FILE")]
    tasks: Vec<PathBuf>,
    /// Address and port; port 0 takes a free one
    #[arg(
        long,
        value_name = "ADDR",
        env = "HUSHBIN_LISTEN",
        default_value = "127.0.0.1:8686"
    )]
    listen: SocketAddr,
    /// How much to log: error, warn, info or debug. Uploads are never logged
    #[arg(
        long,
        value_name = "LEVEL",
        env = "HUSHBIN_LOG",
        default_value = "info"
    )]
    log: LevelFilter,
    /// Longest body of uploads that is read
    #[arg(long, value_name = "BYTES", env = "HUSHBIN_MAX_UPLOAD_BYTES", default_value_t = Limits::DEFAULT.upload_bytes)]
    max_upload_bytes: usize,
    /// Requests with uploads that may wait for the disk; more are asked to come back
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_QUEUE_UPLOADS", default_value_t = StoreOptions::DEFAULT.queue_uploads)]
    queue_uploads: usize,
    /// Memory for uploads between socket and disk
    #[arg(long, value_name = "BYTES", env = "HUSHBIN_QUEUE_BYTES", default_value_t = StoreOptions::DEFAULT.queue_bytes)]
    queue_bytes: usize,
    /// Connections served at once
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_MAX_CONNECTIONS", default_value_t = ServerOptions::DEFAULT.connections)]
    max_connections: usize,
    /// Connections of one IPv4 address, or of one IPv6 network of 64 bits; 0 for any
    /// number, which a collector behind a proxy on another machine needs [default: 256,
    /// or 0 where --listen names this machine alone]
    #[arg(long, value_name = "COUNT", env = "HUSHBIN_MAX_CONNECTIONS_PER_PEER")]
    max_connections_per_peer: Option<usize>,
    /// Seconds in which whoever asked must take 512 KiB of an answer, or all of it
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_WRITE_TIMEOUT", default_value_t = ServerOptions::DEFAULT.write_timeout.as_secs())]
    write_timeout: u64,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_REQUEST_TIMEOUT", default_value_t = Limits::DEFAULT.request_timeout.as_secs())]
    request_timeout: u64,
    /// Seconds that requests under way have left after SIGTERM
    #[arg(long, value_name = "SECONDS", env = "HUSHBIN_DRAIN_TIMEOUT", default_value_t = ServerOptions::DEFAULT.drain_timeout.as_secs())]
    drain_timeout: u64,
}

impl Options {
    /// The configuration of these options, task files read.
    fn config(self) -> Result<Config, Error> {
        Ok(Config {
            limits: self.limits()?,
            server: self.server()?,
            store: self.store()?,
            tasks: self
                .tasks
                .iter()
                .map(|path| Ok(TaskFile::read(path)?.draft))
                .collect::<Result<_, Error>>()?,
            data: self.data,
            listen: self.listen,
        })
    }

    fn limits(&self) -> Result<Limits, OutOfRange> {
        Ok(Limits {
            upload_bytes: config::count(
                "max-upload-bytes",
                self.max_upload_bytes,
                64..=64 << 20,
                "64 bytes to 64 MiB",
            )?,
            request_timeout: config::seconds("request-timeout", self.request_timeout)?,
            ..Limits::DEFAULT
        })
    }

    fn store(&self) -> Result<StoreOptions, OutOfRange> {
        Ok(StoreOptions {
            queue_bytes: config::count(
                "queue-bytes",
                self.queue_bytes,
                self.max_upload_bytes..=1 << 40,
                "at least the longest upload, at most 1 TiB",
            )?,
            queue_uploads: config::count(
                "queue-uploads",
                self.queue_uploads,
                1..=1 << 20,
                "1 to 1048576",
            )?,
            ..StoreOptions::DEFAULT
        })
    }

    fn server(&self) -> Result<ServerOptions, OutOfRange> {
        Ok(ServerOptions {
            connections: config::count(
                "max-connections",
                self.max_connections,
                1..=1 << 20,
                "1 to 1048576",
            )?,
            connections_of_peer: match self.max_connections_per_peer {
                None => ServerOptions::default_connections_of_peer(self.listen.ip()),
                Some(0) => None,
                Some(count) => Some(count),
            },
            write_timeout: config::seconds("write-timeout", self.write_timeout)?,
            drain_timeout: config::seconds("drain-timeout", self.drain_timeout)?,
            ..ServerOptions::DEFAULT
        })
    }
}

/// Serves until told to stop.
pub(super) fn run(options: Options, out: &mut dyn Write) -> Result<(), Error> {
    log_to_stderr(options.log);
    let config = options.config()?;
    // Before the journal is read, which may take a while: an address that is taken
    // fails at once, and clients that come early wait instead of being refused.
    let runtime = Runtime::new()?;
    let listen = config.listen;
    let listener = runtime
        .block_on(async { http::listen(listen) })
        .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let store = Store::open(&config.data, &config.tasks, config.store)?;
    let result = runtime.block_on(collect(listener, &store, &config, out));
    // Scans under way only read; the process need not wait for them.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

async fn collect(
    listener: TcpListener,
    store: &Store,
    config: &Config,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let address = listener.local_addr()?;
    let router = http::router(store.clone(), config.limits);

    // A collector whose address nobody can learn is of no use: here even a broken
    // pipe is a failure.
    writeln!(out, "hushbin listening on http://{address}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot say where it listens: {error}"))?;

    let mut defect = false;
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = store.ended() => defect = true,
        }
        tracing::info!("stopping: finishing the requests under way");
    };
    let drained = http::serve(listener, router, config.server, stop).await;
    if defect {
        return Err("the journal's writer ended by itself; restart the collector".into());
    }
    if !drained {
        tracing::warn!("some requests did not finish in time and were cut off");
    }
    // Behind every upload that waits: those of requests cut off included.
    store.close().await?;
    tracing::info!("stopped");
    Ok(())
}

/// Logs of this program only, whatever the level: libraries' logs may hold
/// addresses of clients.
fn log_to_stderr(level: LevelFilter) {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    let own = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .with_target(false);
    // Fails only when a logger is set already, which then stays.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(own)
        .try_init();
}
