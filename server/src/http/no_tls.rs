//! TLS in a build without the feature `tls`: every use returns an error.
//!
//! [`Tls`] has no values. Code that handles certificates therefore compiles, but is never reached.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::missing_feature::{self, MissingFeature};

/// Certificate and key. No value of this type can exist in this build.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tls(Infallible);

/// Errors of reading a certificate and its key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("--{given} is given without --{missing}, expected both or neither")]
    CertificateOrKeyMissing {
        given: &'static str,
        missing: &'static str,
    },
    #[error(transparent)]
    MissingFeature(MissingFeature),
}

impl Tls {
    /// Refuses every certificate.
    pub(crate) fn read_certificate_and_key(_: &Path, _: &Path) -> Result<Self, TlsError> {
        Err(TlsError::MissingFeature(missing_feature::TLS_NOT_COMPILED))
    }

    pub(crate) const fn expires(&self) -> i64 {
        match self.0 {}
    }

    pub(crate) const fn begins(&self) -> i64 {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "encryption has to wait")]
    pub(super) async fn accept<S>(self, _: S, _: Duration) -> io::Result<S> {
        match self.0 {}
    }
}
