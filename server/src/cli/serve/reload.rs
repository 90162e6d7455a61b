//! Reloading of the configuration on SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::config::RoleConfig;
use super::log::LogHandle;
use super::options::ServeCommandOptions;
use super::settings::{RUNTIME_CHANGEABLE_KEYS, ServeSettings};
use crate::cli::output::Error;
use crate::http::RouterService;
use crate::store::{Store, TaskSetup};

/// Reloader of the configuration, with the parts of the server that a new configuration changes.
pub(super) struct ConfigReloader {
    options: ServeCommandOptions,
    /// Settings in force. Settings that need a restart keep the values from the start.
    current_settings: ServeSettings,
    router_service: RouterService,
    log_handle: LogHandle,
    hangup_signal: Signal,
    /// The store, once it is open. A relay has none.
    opened_store: watch::Receiver<Option<Store>>,
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
        opened_store: watch::Receiver<Option<Store>>,
    ) -> Result<Self, Error> {
        Ok(Self {
            options,
            current_settings: settings,
            router_service: service,
            log_handle: log,
            hangup_signal: signal(SignalKind::hangup())?,
            opened_store,
        })
    }

    /// Reloads the configuration on each signal. Never returns.
    pub(super) async fn reload_on_hangup_signals(mut self) {
        while self.hangup_signal.recv().await.is_some() {
            match self.reload_config() {
                Ok(setups) => self.add_new_tasks(setups).await,
                Err(error) => tracing::error!(%error, "the configuration stays as it is"),
            }
        }
    }

    /// Applies all changes that need no restart, or none if a setting or a file is invalid. Returns
    /// the tasks of all task files, which have the settings in force.
    fn reload_config(&mut self) -> Result<Vec<TaskSetup>, Error> {
        let settings = self.options.read_settings()?;
        let config = settings.load_config()?;
        // Changes of the settings for new tasks need a restart, like those for existing tasks.
        let collection = self.current_settings.task_settings()?;
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
        let mut setups = match config.role {
            RoleConfig::WithJournal(journal) => journal.tasks,
            RoleConfig::Relay(_) => Vec::new(),
        };
        for setup in &mut setups {
            setup.settings = Some(collection.clone());
        }
        Ok(setups)
    }

    /// Stores the tasks that are new, as soon as the store is open. Never changes or deletes a task.
    async fn add_new_tasks(&mut self, setups: Vec<TaskSetup>) {
        let opened = self.opened_store.wait_for(Option::is_some).await;
        // Without a store, this is a relay, or the start has failed and the process is about to end.
        let Some(store) = opened.ok().and_then(|store| store.clone()) else {
            return;
        };
        let (mut added, mut unchanged) = (Vec::new(), Vec::new());
        for setup in setups {
            let id = setup.draft.id().to_owned();
            match store.add_task_if_new(setup).await {
                Ok(true) => added.push(id),
                Ok(false) => unchanged.push(id),
                Err(error) => tracing::error!(task = id, %error, "a task file was refused"),
            }
        }
        let (added, unchanged) = (added.join(", "), unchanged.join(", "));
        tracing::info!(added, unchanged, "task files read");
    }
}
