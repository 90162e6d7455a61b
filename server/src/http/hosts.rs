//! The names that a collector answers to.

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

/// Names of hosts, without scheme and port; none at all allow every name.
///
/// A page of any site may ask its browser to resolve the site's own name to the
/// collector's address, and the browser then takes the collector's answers for the site's.
/// A collector that knows its names does not answer to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hosts(Vec<String>);

/// What is no name of a host.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name:?} is no host, expected a name or address without scheme and port")]
pub(crate) struct BadHost {
    name: String,
}

impl Hosts {
    /// These names.
    ///
    /// # Errors
    /// Where a name has more than a name, or is none.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, BadHost> {
        let name = |name: &str| match name.parse::<Authority>() {
            Ok(host) if host.host() == name => Ok(comparable(name)),
            _ => Err(BadHost { name: name.into() }),
        };
        Ok(Self(names.into_iter().map(name).collect::<Result<_, _>>()?))
    }

    /// Whether a request is for one of them.
    pub(super) fn allow(&self, request: &Parts) -> bool {
        self.0.is_empty()
            || match request.uri.host() {
                Some(host) => self.has(host),
                None => self.has_host_of(&request.headers),
            }
    }

    fn has_host_of(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::HOST).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        Authority::try_from(value.as_bytes()).is_ok_and(|authority| self.has(authority.host()))
    }

    fn has(&self, host: &str) -> bool {
        self.0.contains(&comparable(host))
    }
}

/// Names are the same in any case, and with the final dot of a complete one.
fn comparable(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn allows(hosts: &Hosts, uri: &str, host: &[&str]) -> bool {
        let request = host.iter().fold(Request::get(uri), |request, host| {
            request.header("host", *host)
        });
        hosts.allow(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_request_is_for_a_name_whatever_its_case_and_port() {
        let hosts = Hosts::new(["stats.example.org", "[::1]", "192.0.2.1"]).unwrap();
        for host in [
            "stats.example.org",
            "STATS.example.org:8686",
            "stats.example.org.",
            "[::1]:80",
            "192.0.2.1",
        ] {
            assert!(allows(&hosts, "/tasks", &[host]), "{host}");
            assert!(allows(
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
            assert!(!allows(&hosts, "/tasks", host), "{host:?}");
            assert!(allows(&Hosts::default(), "/tasks", host), "{host:?}");
        }
        assert!(!allows(
            &hosts,
            "http://evil.example/",
            &["stats.example.org"]
        ));
    }

    #[test]
    fn a_name_is_a_name_and_no_more() {
        for name in ["", "a:80", "http://a", "a/b", "user@a", "a b", "::1"] {
            let refused = Hosts::new([name]).unwrap_err();
            assert_eq!(refused, BadHost { name: name.into() });
        }
    }
}
