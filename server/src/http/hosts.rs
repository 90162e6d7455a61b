//! Host names that requests to a collector may use.

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

/// Allowed host names, without scheme and port. An empty list allows every name.
///
/// This prevents DNS rebinding. A page can make a browser resolve the page's domain to the
/// collector's address. The browser then treats the collector's responses as the page's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AllowedHosts(Vec<String>);

/// Error for a text that is not a host name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name:?} is not a host, expected a host name or address without scheme and port")]
pub(crate) struct InvalidHostName {
    name: String,
}

impl AllowedHosts {
    /// Creates the list of allowed host names.
    ///
    /// # Errors
    /// When a name has a scheme or port, or is not a host name.
    pub(crate) fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidHostName> {
        let name = |name: &str| match name.parse::<Authority>() {
            Ok(host) if host.host() == name => Ok(lowercase_without_final_dot(name)),
            _ => Err(InvalidHostName { name: name.into() }),
        };
        Ok(Self(names.into_iter().map(name).collect::<Result<_, _>>()?))
    }

    /// Returns true if the request is for an allowed host name.
    pub(super) fn allows_request(&self, request: &Parts) -> bool {
        self.0.is_empty()
            || match request.uri.host() {
                Some(host) => self.contains_host(host),
                None => self.allows_host_header(&request.headers),
            }
    }

    fn allows_host_header(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::HOST).iter();
        // Two `Host` headers are refused: a proxy may have checked only the first.
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        Authority::try_from(value.as_bytes())
            .is_ok_and(|authority| self.contains_host(authority.host()))
    }

    fn contains_host(&self, host: &str) -> bool {
        self.0.contains(&lowercase_without_final_dot(host))
    }
}

/// Normalises a host name for comparison, since case and a final dot have no meaning.
fn lowercase_without_final_dot(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn is_request_allowed(hosts: &AllowedHosts, uri: &str, host: &[&str]) -> bool {
        let request = host.iter().fold(Request::get(uri), |request, host| {
            request.header("host", *host)
        });
        hosts.allows_request(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn host_match_ignores_case_and_port() {
        let hosts = AllowedHosts::new(["stats.example.org", "[::1]", "192.0.2.1"]).unwrap();
        for host in [
            "stats.example.org",
            "STATS.example.org:8686",
            "stats.example.org.",
            "[::1]:80",
            "192.0.2.1",
        ] {
            assert!(is_request_allowed(&hosts, "/tasks", &[host]), "{host}");
            assert!(is_request_allowed(
                &hosts,
                &format!("http://{host}/tasks"),
                &["evil.example"]
            ));
        }
        for host in [
            &["evil.example"][..],
            &["stats.example.org.evil.example"],
            &["example.org"],
            &[""],
            &["stats.example.org", "stats.example.org"],
            &["stats.example.org/"],
            &[],
        ] {
            assert!(!is_request_allowed(&hosts, "/tasks", host), "{host:?}");
            assert!(
                is_request_allowed(&AllowedHosts::default(), "/tasks", host),
                "{host:?}"
            );
        }
        assert!(!is_request_allowed(
            &hosts,
            "http://evil.example/",
            &["stats.example.org"]
        ));
    }

    #[test]
    fn invalid_host_names_are_refused() {
        for name in ["", "a:80", "http://a", "a/b", "user@a", "a b", "::1"] {
            let refused = AllowedHosts::new([name]).unwrap_err();
            assert_eq!(refused, InvalidHostName { name: name.into() });
        }
    }
}
