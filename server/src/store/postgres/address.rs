//! Address of a database, and the choice among its hosts.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use postgres::Config;
use postgres::config::Host;

use super::client::Client;
use super::tls::CertificateCheckingTls;
use crate::store::engine::{EngineError, message_with_causes};
use crate::tls_roots;

/// Parameters of connections that the address does not set. An unreachable database is noticed
/// within five seconds: by keepalives while nothing is sent, or else by unacknowledged bytes.
const DEFAULT_PARAMETERS: [(&str, &str); 6] = [
    ("application_name", "hushbin"),
    ("connect_timeout", "2"),
    ("keepalives_idle", "3"),
    ("keepalives_interval", "1"),
    ("keepalives_retries", "2"),
    ("tcp_user_timeout", "5"),
];

/// Maximum time after a failed attempt to connect, during which no other attempt is made.
const MAX_RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// Time for which a host is tried last after it was silent.
const SILENT_HOST_PAUSE: Duration = Duration::from_secs(60);

/// Address of a PostgreSQL database, or of another database that speaks the protocol of PostgreSQL.
#[derive(Clone)]
pub struct DatabaseAddress {
    /// Parameters of sessions that write.
    writing: Arc<Config>,
    /// Parameters of sessions that only read.
    reading: Arc<Config>,
    tls: CertificateCheckingTls,
    reachability: Arc<Mutex<Reachability>>,
}

/// Knowledge about the hosts of a database, which all sessions of the process share.
#[derive(Default)]
struct Reachability {
    /// Index of the host to try first.
    preferred_host: usize,
    /// Time at which each host was last silent.
    silent_hosts: HashMap<usize, Instant>,
    outage: Option<Outage>,
}

/// Failure of the last attempt to connect.
struct Outage {
    message: String,
    /// Time of the next attempt. Until then, callers get the message without a wait.
    next_attempt: Instant,
}

/// Shows the location without the password.
impl fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("hosts", &self.writing.get_hosts())
            .field("name", &self.writing.get_dbname())
            .finish_non_exhaustive()
    }
}

/// Returns true if the host is this machine.
fn is_local_host(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address: Result<IpAddr, _> = name.parse();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// Parses an address, with defaults for parameters that it does not set. The address is a URL, or
/// pairs of keywords and values.
fn parse_with_defaults(
    address: &str,
    defaults: &[(&str, &str)],
) -> Result<Config, postgres::Error> {
    // The last value of a parameter counts, so that the defaults come first.
    let defaults = defaults
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let defaults: Vec<String> = defaults.collect();
    if !is_url(address) {
        return format!("{} {address}", defaults.join(" ")).parse();
    }
    // A password may contain a question mark, but not an at sign.
    let host = address.find('@').unwrap_or(0);
    let (begin, parameters) = match address[host..].find('?') {
        Some(mark) => (&address[..host + mark], &address[host + mark + 1..]),
        None => (address, ""),
    };
    let parameters = [&defaults.join("&"), parameters];
    let parameters = parameters.join(if parameters[1].is_empty() { "" } else { "&" });
    format!("{begin}?{parameters}").parse()
}

fn is_url(address: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| address.starts_with(scheme))
}

/// Returns the number of hosts that a connection may use.
fn host_count(config: &Config) -> usize {
    config.get_hosts().len().max(config.get_hostaddrs().len())
}

/// Returns a configuration with only one of the hosts.
fn with_one_host(all: &Config, index: usize) -> Config {
    let mut one = Config::new();
    all.get_user().map(|own| one.user(own));
    all.get_password().map(|own| one.password(own));
    all.get_dbname().map(|own| one.dbname(own));
    all.get_options().map(|own| one.options(own));
    all.get_application_name()
        .map(|own| one.application_name(own));
    all.get_connect_timeout()
        .map(|own| one.connect_timeout(*own));
    all.get_tcp_user_timeout()
        .map(|own| one.tcp_user_timeout(*own));
    all.get_keepalives_interval()
        .map(|own| one.keepalives_interval(own));
    all.get_keepalives_retries()
        .map(|own| one.keepalives_retries(own));
    one.keepalives(all.get_keepalives())
        .keepalives_idle(all.get_keepalives_idle())
        .ssl_mode(all.get_ssl_mode())
        .ssl_negotiation(all.get_ssl_negotiation())
        .target_session_attrs(all.get_target_session_attrs())
        .channel_binding(all.get_channel_binding())
        .load_balance_hosts(all.get_load_balance_hosts());
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => drop(one.host(name)),
        Some(Host::Unix(directory)) => drop(one.host_path(directory)),
        None => {}
    }
    all.get_hostaddrs().get(index).map(|own| one.hostaddr(*own));
    let ports = all.get_ports();
    ports.get(index).or(ports.first()).map(|own| one.port(*own));
    one
}

impl DatabaseAddress {
    /// Parses an address such as `postgres://hushbin@db1,db2/hushbin` or
    /// `host=/var/run/postgresql dbname=hushbin`, with the parameters of libpq that the crate
    /// [`postgres`] knows.
    ///
    /// A connection to another machine uses TLS, and requires a server certificate that this
    /// machine trusts, unless `sslmode` changes that. If the address has several hosts, a host that
    /// accepts writes is used, unless `target_session_attrs` changes that.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn new(address: &str) -> Result<Self, EngineError> {
        let refused = |why: &str| {
            EngineError::InvalidAddress(format!(
                "--database {why}, expected an address such as \
                 postgres://hushbin@db.example.org/hushbin or \
                 'host=/var/run/postgresql dbname=hushbin'"
            ))
        };
        let unreadable = |error: postgres::Error| {
            refused(&format!("cannot be read ({})", message_with_causes(&error)))
        };
        if !is_url(address) && !address.contains('=') {
            return Err(refused("is neither a URL nor key=value pairs"));
        }
        let mut defaults = DEFAULT_PARAMETERS.to_vec();
        let given = parse_with_defaults(address, &defaults).map_err(unreadable)?;
        match (host_count(&given), given.get_ports().len()) {
            (0, _) => return Err(refused("names no host")),
            (hosts, ports) if ports > 1 && ports != hosts => {
                return Err(refused(&format!("has {hosts} hosts and {ports} ports")));
            }
            _ => {}
        }
        defaults.push(match given.get_hosts().iter().all(is_local_host) {
            true => ("sslmode", "disable"),
            false => ("sslmode", "require"),
        });
        let reading = parse_with_defaults(address, &defaults).map_err(unreadable)?;
        if host_count(&given) > 1 {
            defaults.push(("target_session_attrs", "read-write"));
        }
        let writing = parse_with_defaults(address, &defaults).map_err(unreadable)?;
        let tls = tls_roots::tls_client_config().map_err(|error| refused(&error.to_string()))?;
        Ok(Self {
            writing: Arc::new(writing),
            reading: Arc::new(reading),
            tls: CertificateCheckingTls(Arc::new(tls)),
            reachability: Arc::default(),
        })
    }

    /// Connects to the first host that accepts and on which `prepare` succeeds, beginning with the
    /// host that was used last. Hosts that were silent come last for some time. Returns the client
    /// and the index of the host. This call blocks.
    ///
    /// Each host has its own time limit, so a silent host does not keep the next ones from
    /// being tried. For a moment after a failure, further calls fail at once. Otherwise each request
    /// in a queue would wait for the time limits.
    ///
    /// # Errors
    /// When no host can be reached, or all refuse.
    pub(super) fn connect(
        &self,
        read_only: bool,
        prepare: impl Fn(&mut Client) -> Result<(), EngineError>,
    ) -> Result<(Client, usize), EngineError> {
        let config = match read_only {
            true => &self.reading,
            false => &self.writing,
        };
        let begin = Instant::now();
        let hosts = host_count(config);
        let order = {
            let known = self.reachability.lock();
            match &known.outage {
                Some(outage) if begin < outage.next_attempt => {
                    return Err(EngineError::DatabaseUnreachable(outage.message.clone()));
                }
                _ => known.host_order(hosts),
            }
        };
        let mut errors = Vec::with_capacity(hosts);
        for host in order {
            let connected = Client::connect(&with_one_host(config, host), &self.tls);
            // A host may accept the login and then be silent.
            match connected.and_then(|mut client| prepare(&mut client).map(|()| client)) {
                Ok(client) => {
                    let mut known = self.reachability.lock();
                    known.preferred_host = host;
                    known.outage = None;
                    return Ok((client, host));
                }
                Err(error) => {
                    self.note_silence(host, &error);
                    errors.push((host, error));
                }
            }
        }
        // In the order of the hosts, so that repeated messages are equal.
        errors.sort_unstable_by_key(|(host, _)| *host);
        let messages: Vec<String> = errors.iter().map(|(_, error)| error.to_string()).collect();
        let message = messages.join("; ");
        self.reachability.lock().outage = Some(Outage {
            message: message.clone(),
            next_attempt: Instant::now() + begin.elapsed().min(MAX_RECONNECT_PAUSE),
        });
        match errors.len() {
            1 => Err(errors.remove(0).1),
            _ => Err(EngineError::DatabaseUnreachable(message)),
        }
    }

    /// Notes that this host was silent, if `error` says so. Other hosts are tried first.
    pub(super) fn note_silence(&self, host: usize, error: &EngineError) {
        if matches!(error, EngineError::DatabaseUnreachable(_)) {
            let mut known = self.reachability.lock();
            known.silent_hosts.insert(host, Instant::now());
        }
    }
}

impl Reachability {
    /// Returns the indexes of all hosts in the order in which they are tried.
    fn host_order(&self, hosts: usize) -> Vec<usize> {
        let first = self.preferred_host;
        let mut order: Vec<usize> = (0..hosts).map(|number| (first + number) % hosts).collect();
        // Computed once for each host, since a host may become due while they are sorted.
        order.sort_by_cached_key(|host| {
            let silent = self.silent_hosts.get(host);
            silent.is_some_and(|last| last.elapsed() < SILENT_HOST_PAUSE)
        });
        order
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use postgres::config::{SslMode, TargetSessionAttrs};

    use super::*;

    fn parse(address: &str) -> DatabaseAddress {
        DatabaseAddress::new(address).unwrap()
    }

    #[test]
    fn parameters_of_the_address_replace_defaults() {
        let given = "connect_timeout=1 keepalives_idle=7 keepalives_interval=8 \
            keepalives_retries=9 tcp_user_timeout=6 application_name=own sslmode=prefer \
            target_session_attrs=any";
        for address in [
            format!("host=a,b user=u {given}"),
            format!("postgres://u@a,b/d?{}", given.replace(' ', "&")),
            format!("postgres://u:p?w@a,b/d?{}", given.replace(' ', "&")),
        ] {
            let address = parse(&address);
            for config in [&address.writing, &address.reading] {
                assert_eq!(config.get_user(), Some("u"));
                assert_eq!(config.get_hosts().len(), 2);
                assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(1)));
                assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
                assert_eq!(
                    config.get_keepalives_interval(),
                    Some(Duration::from_secs(8))
                );
                assert_eq!(config.get_keepalives_retries(), Some(9));
                assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(6)));
                assert_eq!(config.get_application_name(), Some("own"));
                assert_eq!(config.get_ssl_mode(), SslMode::Prefer);
                assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
            }
        }
    }

    #[test]
    fn silent_hosts_are_tried_last_for_some_time() {
        let mut known = Reachability {
            preferred_host: 1,
            ..Reachability::default()
        };
        assert_eq!(known.host_order(3), [1, 2, 0]);
        known.silent_hosts.insert(1, Instant::now());
        assert_eq!(known.host_order(3), [2, 0, 1]);
        let earlier = Instant::now().checked_sub(SILENT_HOST_PAUSE).unwrap();
        known.silent_hosts.insert(1, earlier);
        assert_eq!(known.host_order(3), [1, 2, 0]);
    }

    #[test]
    fn defaults_depend_on_the_hosts() {
        for (address, mode, attributes) in [
            (
                "postgres://u@a/d",
                SslMode::Require,
                TargetSessionAttrs::Any,
            ),
            (
                "postgres://a,b",
                SslMode::Require,
                TargetSessionAttrs::ReadWrite,
            ),
            (
                "postgres://localhost,b",
                SslMode::Require,
                TargetSessionAttrs::ReadWrite,
            ),
            (
                "postgres://localhost,[::1]/d",
                SslMode::Disable,
                TargetSessionAttrs::ReadWrite,
            ),
            (
                "postgres:///d?host=/run/a",
                SslMode::Disable,
                TargetSessionAttrs::Any,
            ),
            ("host=/run/a", SslMode::Disable, TargetSessionAttrs::Any),
            // A password is not a parameter.
            (
                "host=a password='x sslmode=disable'",
                SslMode::Require,
                TargetSessionAttrs::Any,
            ),
        ] {
            let parsed = parse(address);
            assert_eq!(parsed.writing.get_ssl_mode(), mode, "{address}");
            assert_eq!(
                parsed.writing.get_target_session_attrs(),
                attributes,
                "{address}"
            );
            let reading = parsed.reading.get_target_session_attrs();
            assert_eq!(reading, TargetSessionAttrs::Any, "{address}");
            assert_eq!(
                parsed.writing.get_connect_timeout(),
                Some(&Duration::from_secs(2))
            );
        }
    }

    /// Connections are made to one host at a time. All other parameters are the same.
    #[test]
    fn one_host_has_all_parameters() {
        let all = "user=u password=p dbname=d options=-c\\ a=b application_name=n \
            sslmode=require sslnegotiation=direct connect_timeout=1 tcp_user_timeout=2 keepalives=0 \
            keepalives_idle=3 keepalives_interval=4 keepalives_retries=5 \
            target_session_attrs=read-only channel_binding=disable load_balance_hosts=random";
        let hosts = "host=a,/b hostaddr=127.0.0.1,127.0.0.2 port=1,2";
        let config: Config = format!("{all} {hosts}").parse().unwrap();
        for (index, host) in [
            "host=a hostaddr=127.0.0.1 port=1",
            "host=/b hostaddr=127.0.0.2 port=2",
        ]
        .into_iter()
        .enumerate()
        {
            let expected: Config = format!("{all} {host}").parse().unwrap();
            assert!(with_one_host(&config, index) == expected);
        }
    }
}
