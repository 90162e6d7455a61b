//! Configuration with which a page seals the reports of a task.

use hpke::{aead, kdf, kem};
use hushbin::sealed::KEY_ID_BYTES;
use sha2::{Digest, Sha256};

use super::suite::{Aead, Kdf, Kem};
use crate::keys;
use crate::task::ReportOrSumTask;

const CONFIGURATION_VERSION: u8 = 1;

/// Length of a configuration in bytes: version, fingerprint, suite, public key and length of a
/// report.
const CONFIGURATION_LENGTH: usize = 1 + 16 + 6 + keys::KEY_BYTES + 2;

/// Label that precedes the configuration in the `info` parameter of HPKE's key schedule.
const HPKE_INFO_LABEL: &[u8] = b"hushbin sealed report\0";

/// Id by which a sealed report names its configuration: the first bytes of the configuration's hash
/// ([`KeyConfiguration::configuration_pin`]).
pub(crate) type KeyId = [u8; KEY_ID_BYTES];

/// Encoded public key for the reports of one task. The encoding begins with a version byte and the
/// task's fingerprint. The identifiers of KEM, KDF and AEAD follow (RFC 9180, section 7), each in 2
/// bytes. Then come the public key, and the length of an unsealed report in 2 bytes. All numbers
/// are big endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyConfiguration([u8; CONFIGURATION_LENGTH]);

/// Reason that bytes are not a valid configuration for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyConfigurationError {
    #[error("it has {found} bytes, expected {CONFIGURATION_LENGTH}")]
    WrongLength { found: usize },
    #[error("it has version {found}, expected {CONFIGURATION_VERSION}")]
    UnsupportedVersion { found: u8 },
    #[error("it is for other task parameters, another cipher suite or another report length")]
    WrongTaskOrSuite,
}

impl KeyConfiguration {
    pub(crate) fn new(task: &ReportOrSumTask, key: &[u8; keys::KEY_BYTES]) -> Self {
        let mut bytes = bytes_before_public_key(task);
        bytes.extend_from_slice(key);
        bytes.extend(unsealed_report_length(task).to_be_bytes());
        Self(bytes.try_into().expect("its parts are so long"))
    }

    /// Reads a configuration, and checks that it is for this task and suite.
    ///
    /// # Errors
    /// When the bytes are not a configuration, or are for another task or suite.
    pub(crate) fn parse_configuration(
        bytes: &[u8],
        task: &ReportOrSumTask,
    ) -> Result<Self, KeyConfigurationError> {
        if let Some(&found) = bytes.first().filter(|own| **own != CONFIGURATION_VERSION) {
            return Err(KeyConfigurationError::UnsupportedVersion { found });
        }
        let found = bytes.len();
        let own: [u8; CONFIGURATION_LENGTH] = bytes
            .try_into()
            .map_err(|_| KeyConfigurationError::WrongLength { found })?;
        let length = unsealed_report_length(task).to_be_bytes();
        match own.starts_with(&bytes_before_public_key(task)) && own.ends_with(&length) {
            true => Ok(Self(own)),
            false => Err(KeyConfigurationError::WrongTaskOrSuite),
        }
    }

    pub(crate) const fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the pin by which a page recognises the configuration: the first 16 bytes of its
    /// SHA-256.
    pub(crate) fn configuration_pin(&self) -> [u8; 16] {
        let digest = Sha256::digest(self.0);
        *digest.first_chunk().expect("a digest has 32 bytes")
    }

    pub(crate) fn id(&self) -> KeyId {
        *self
            .configuration_pin()
            .first_chunk()
            .expect("a pin has 16 bytes")
    }

    /// Returns the `info` parameter of HPKE's key schedule. It binds sealed reports to this
    /// configuration.
    pub(super) fn hpke_info(&self) -> Vec<u8> {
        [HPKE_INFO_LABEL, &self.0].concat()
    }
}

/// Returns the bytes of a task's configuration that precede the public key.
fn bytes_before_public_key(task: &ReportOrSumTask) -> Vec<u8> {
    let mut bytes = vec![CONFIGURATION_VERSION];
    bytes.extend(task.fingerprint().0);
    let suite = [
        <Kem as kem::Kem>::KEM_ID,
        <Kdf as kdf::Kdf>::KDF_ID,
        <Aead as aead::Aead>::AEAD_ID,
    ];
    bytes.extend(suite.into_iter().flat_map(u16::to_be_bytes));
    bytes
}

/// Returns the length of a report before it is sealed, in bytes.
pub(super) fn unsealed_report_length(task: &ReportOrSumTask) -> u16 {
    // The longest reports are those of hash-bin: at most a varint for each of some thousand bins.
    u16::try_from(task.max_report_length()).expect("no report has as many bytes")
}
