//! Reloading of the configuration on SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::log::LogHandle;
use super::options::ServeCommandOptions;
use super::settings::{RUNTIME_CHANGEABLE_KEYS, ServeSettings};
use crate::cli::output::Error;
use crate::http::RouterService;

/// Reloader of the configuration, with the parts of the server that a new configuration changes.
pub(super) struct ConfigReloader {
    options: ServeCommandOptions,
    /// Settings in force. Settings that need a restart keep the values from the start.
    current_settings: ServeSettings,
    router_service: RouterService,
    log_handle: LogHandle,
    hangup_signal: Signal,
}

impl ConfigReloader {
    /// Starts listening for SIGHUP.
    ///
    /// # Errors
    /// When the signal handler cannot be installed.
    pub(super) fn new(
        options: ServeCommandOptions,
        settings: ServeSettings,
        service: RouterService,
        log: LogHandle,
    ) -> Result<Self, Error> {
        Ok(Self {
            options,
            current_settings: settings,
            router_service: service,
            log_handle: log,
            hangup_signal: signal(SignalKind::hangup())?,
        })
    }

    /// Reloads the configuration on each signal. Never returns.
    pub(super) async fn reload_on_hangup_signals(mut self) {
        while self.hangup_signal.recv().await.is_some() {
            if let Err(error) = self.reload_config() {
                tracing::error!(%error, "the configuration stays as it is");
            }
        }
    }

    /// Applies all changes that need no restart, or none if a setting is invalid.
    fn reload_config(&mut self) -> Result<(), Error> {
        let settings = self.options.read_settings()?;
        let config = settings.load_config()?;
        self.router_service.set_allowed_hosts(config.allowed_hosts);
        self.log_handle.set_log_level(config.log_level);
        let mut differences = settings.differing_keys(&self.current_settings)?;
        let certificate = "tls_certificate".to_owned();
        // The certificate may have changed under the same path.
        if self.router_service.set_tls(config.tls) && !differences.contains(&certificate) {
            differences.push(certificate);
        }
        let (changed, rest): (Vec<_>, Vec<_>) = differences
            .into_iter()
            .partition(|name| RUNTIME_CHANGEABLE_KEYS.contains(&name.as_str()));
        tracing::info!(changed = changed.join(", "), "configuration read");
        if !rest.is_empty() {
            tracing::warn!(settings = rest.join(", "), "changed, but need a restart");
        }
        self.current_settings.adopt_changeable_settings(settings);
        Ok(())
    }
}
