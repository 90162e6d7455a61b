//! Roles of shuffler, analyser and relay: keys and peers, and the messages between them.

mod analyser_keys;
#[cfg_attr(not(feature = "tls"), path = "no_tls_connector.rs")]
mod connector;
mod fetch;
mod forwarder;
mod gateway_client;
mod published_log;
mod shuffler_keys;
pub(crate) mod signature;

use std::sync::Arc;

pub(crate) use analyser_keys::AnalyserKeys;
pub(crate) use fetch::{fetch, send};
pub(crate) use forwarder::BatchForwarder;
pub(crate) use gateway_client::{
    GatewayClient, MAX_IDLE_CONNECTIONS, RelayedGateway, SEALED_REQUEST_TYPE,
};
pub(crate) use published_log::PublishedTaskLog;
pub(crate) use shuffler_keys::ShufflerKeys;
use signature::Signer;

/// Keys and peers that the role of a process needs. A collector needs none, but may sign its task
/// log.
#[derive(Clone, Default)]
pub(crate) struct RoleKeysAndPeers {
    /// Keys and peers of a process that is a shuffler.
    pub(crate) shuffler_keys: Option<Arc<ShufflerKeys>>,
    /// Keys and peers of a process that is an analyser.
    pub(crate) analyser_keys: Option<Arc<AnalyserKeys>>,
    /// Key pair that signs the head of the task log.
    pub(crate) log_signer: Option<Arc<Signer>>,
}
