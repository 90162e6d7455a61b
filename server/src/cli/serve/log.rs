//! Log of the collector.

use std::fmt;
use std::io::{self, IsTerminal};

use tracing::field::Field;
use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::serve::config::{LogFormat, LogLevel};
use crate::cli::visible_text::{VisibleTextWriter, visible_text};

/// The log of this process.
pub(super) struct LogHandle(Handle<Targets, Registry>);

impl LogHandle {
    /// Starts logging to standard error.
    pub(super) fn start_logging_to_stderr(level: LogLevel, format: LogFormat) -> Self {
        let (filter, handle) = reload::Layer::new(own_messages_filter(level));
        let lines = tracing_subscriber::fmt::layer()
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr)
            // If the log's disk is full, reporting that to standard error would panic.
            .log_internal_errors(false)
            .with_target(false);
        let lines = match format {
            LogFormat::Text => {
                let fields = format::debug_fn(write_visible_field).delimited(" ");
                lines.fmt_fields(fields).boxed()
            }
            LogFormat::Json => lines
                .with_writer(|| VisibleTextWriter::new(io::stderr()))
                .json()
                .flatten_event(true)
                .boxed(),
        };
        // This fails only if a logger is set already, which then stays.
        let _ = tracing_subscriber::registry()
            .with(filter)
            .with(lines)
            .try_init();
        Self(handle)
    }

    /// Changes the lowest severity that is logged.
    pub(super) fn set_log_level(&self, level: LogLevel) {
        // This fails only if the logger is gone.
        let _ = self.0.reload(own_messages_filter(level));
    }
}

/// Writes the message or another field of a log line. Control characters in the value are made
/// visible. Colours, which need control characters, are not part of values.
fn write_visible_field(
    writer: &mut Writer<'_>,
    field: &Field,
    value: &dyn fmt::Debug,
) -> fmt::Result {
    if field.name() != "message" {
        write!(writer, "{field}=")?;
    }
    writer.write_str(&visible_text(&format!("{value:?}")))
}

/// Returns a filter that keeps only the log messages of this program. Messages of libraries may
/// contain addresses of clients.
fn own_messages_filter(level: LogLevel) -> Targets {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    Targets::new().with_target(env!("CARGO_CRATE_NAME"), level)
}
