//! Limit on open files of this process: each connection and each task needs a file descriptor.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::config::{RoleConfig, ServerConfig};
use crate::http::MAX_GATEWAY_CONNECTIONS;
use crate::store::JournalLocation;

/// Number of descriptors kept for everything but connections, tasks and gateways: the journal's directory, a
/// database, certificates, an analyser and the log.
const OTHER_DESCRIPTORS: u64 = 128;

/// Raises the soft limit on open files to the hard limit. Returns the limit that then holds, or
/// `None` if there is no limit.
pub(super) fn raise_open_file_limit() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        // Some systems refuse values that they report themselves. The old limit then holds.
        Err(error) => {
            tracing::warn!(%error, ?current, ?maximum, "cannot raise the limit on open files");
            current
        }
    }
}

/// Returns the limit that [`raise_open_file_limit`] can raise to, or `None` if there is no limit.
pub(super) fn open_file_limit_maximum() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Returns the number of descriptors for tasks, which need one each unless they are in a database,
/// and for connections to gateways.
pub(super) fn count_role_descriptors(config: &ServerConfig) -> usize {
    match &config.role {
        RoleConfig::WithJournal(journal) => match journal.journal_location {
            JournalLocation::Directory(_) => journal.task_ids().len(),
            JournalLocation::Database(_) => 0,
        },
        RoleConfig::Relay(relay) => relay.gateways.len() * MAX_GATEWAY_CONNECTIONS,
    }
}

/// Returns the number of connections that a process can have at most, at least 1. It needs `others`
/// descriptors for its role.
pub(super) fn max_connections_under_limit(open_files: Option<u64>, others: usize) -> usize {
    let reserved = OTHER_DESCRIPTORS.saturating_add(others as u64);
    open_files.map_or(usize::MAX, |limit| {
        let left = limit.saturating_sub(reserved).max(1);
        usize::try_from(left).unwrap_or(usize::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        assert_eq!(max_connections_under_limit(Some(1024), 0), 896);
        assert_eq!(max_connections_under_limit(Some(1024), 500), 396);
        assert_eq!(max_connections_under_limit(Some(256), 1000), 1);
        assert_eq!(max_connections_under_limit(None, 1000), usize::MAX);
    }
}
