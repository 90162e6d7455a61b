//! Reloading of the configuration on SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::log::Log;
use super::options::Options;
use super::settings::{CHANGEABLE, Settings};
use crate::cli::output::Error;
use crate::http::RouterService;

/// Reloader of the configuration, with the parts of the server that a new configuration changes.
pub(super) struct ConfigReloader {
    options: Options,
    /// Settings in force. Settings that need a restart keep the values from the start.
    settings: Settings,
    service: RouterService,
    log: Log,
    hangup: Signal,
}

impl ConfigReloader {
    /// Starts listening for SIGHUP.
    ///
    /// # Errors
    /// When the signal handler cannot be installed.
    pub(super) fn new(
        options: Options,
        settings: Settings,
        service: RouterService,
        log: Log,
    ) -> Result<Self, Error> {
        Ok(Self {
            options,
            settings,
            service,
            log,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Reloads the configuration on each signal. Never returns.
    pub(super) async fn run(mut self) {
        while self.hangup.recv().await.is_some() {
            if let Err(error) = self.reload() {
                tracing::error!(%error, "the configuration stays as it is");
            }
        }
    }

    /// Applies all changes that need no restart, or none if a setting is invalid.
    fn reload(&mut self) -> Result<(), Error> {
        let settings = self.options.settings()?;
        let config = settings.config()?;
        self.service.set_hosts(config.hosts);
        self.log.set_level(config.log);
        let mut differences = settings.differing_keys(&self.settings)?;
        let certificate = "tls_certificate".to_owned();
        // The certificate may have changed under the same path.
        if self.service.set_tls(config.tls) && !differences.contains(&certificate) {
            differences.push(certificate);
        }
        let (changed, rest): (Vec<_>, Vec<_>) = differences
            .into_iter()
            .partition(|name| CHANGEABLE.contains(&name.as_str()));
        tracing::info!(changed = changed.join(", "), "configuration read");
        if !rest.is_empty() {
            tracing::warn!(settings = rest.join(", "), "changed, but need a restart");
        }
        self.settings.adopt_changeable_settings(settings);
        Ok(())
    }
}
