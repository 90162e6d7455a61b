//! Configuration read anew on SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::log::Log;
use super::options::Options;
use super::settings::{CHANGEABLE, Settings};
use crate::cli::output::Error;
use crate::http::Front;

/// What reads the configuration anew, and what it changes.
pub(super) struct Reload {
    options: Options,
    /// In force, as far as it can be changed; otherwise those of the start.
    settings: Settings,
    front: Front,
    log: Log,
    hangup: Signal,
}

impl Reload {
    /// Which listens from now on.
    ///
    /// # Errors
    /// When the signal cannot be listened to.
    pub(super) fn new(
        options: Options,
        settings: Settings,
        front: Front,
        log: Log,
    ) -> Result<Self, Error> {
        Ok(Self {
            options,
            settings,
            front,
            log,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for signals for ever.
    pub(super) async fn run(mut self) {
        while self.hangup.recv().await.is_some() {
            if let Err(error) = self.reload() {
                tracing::error!(%error, "the configuration stays as it is");
            }
        }
    }

    /// All of what can be changed, or nothing when anything is wrong.
    fn reload(&mut self) -> Result<(), Error> {
        let settings = self.options.settings()?;
        let config = settings.config()?;
        self.front.set_hosts(config.hosts);
        self.log.set_level(config.log);
        let mut differences = settings.differences(&self.settings)?;
        let certificate = "tls_certificate".to_owned();
        // The same file may hold another one.
        if self.front.set_tls(config.tls) && !differences.contains(&certificate) {
            differences.push(certificate);
        }
        let (changed, rest): (Vec<_>, Vec<_>) = differences
            .into_iter()
            .partition(|name| CHANGEABLE.contains(&name.as_str()));
        tracing::info!(changed = changed.join(", "), "configuration read");
        if !rest.is_empty() {
            tracing::warn!(settings = rest.join(", "), "changed, but need a restart");
        }
        self.settings.keep(settings);
        Ok(())
    }
}
