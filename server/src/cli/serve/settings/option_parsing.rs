//! Parsing of option values that are texts.

use data_encoding::HEXLOWER_PERMISSIVE;
use hyper::Uri;

use crate::cli::output::Error;
use crate::missing_feature;
use crate::sealed::KeyId;

/// Parses the id of a sealing key, in hexadecimal.
pub(super) fn parse_key_id(id: &str) -> Result<KeyId, Error> {
    let bytes = HEXLOWER_PERMISSIVE.decode(id.as_bytes()).ok();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| {
            format!("--lost-sealing-key is {id:?}, expected 8 hexadecimal digits").into()
        })
}

/// Parses the URL of another server, which the option `option` gives.
pub(super) fn parse_server_url(option: &str, text: &str, example: &str) -> Result<Uri, Error> {
    let uri = text.parse::<Uri>().ok().filter(|uri| {
        let scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        // Nothing sends a user name and password, which the log would show.
        let is_plain = uri
            .authority()
            .is_some_and(|own| !own.as_str().contains('@'));
        scheme && is_plain && uri.query().is_none()
    });
    let uri =
        uri.ok_or_else(|| format!("{option} is {text:?}, expected an address such as {example}"))?;
    match uri.scheme_str() {
        Some("https") if !cfg!(feature = "tls") => Err(missing_feature::TLS_NOT_COMPILED.into()),
        _ => Ok(uri),
    }
}
