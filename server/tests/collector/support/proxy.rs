//! nginx and Caddy, as Debian has them, with the files of `server/deploy`.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hushbin_tests::process::Client;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::tls::{self, Encrypted};

pub(crate) const NGINX: &str = include_str!("../../../deploy/nginx.conf");
pub(crate) const CADDY: &str = include_str!("../../../deploy/Caddyfile");

/// Proxy for which a file is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyKind {
    Nginx,
    Caddy,
}

/// Certificate of all proxies of one test, with its key.
pub(crate) struct Certificate {
    directory: tempfile::TempDir,
    certificate: CertificateDer<'static>,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let certificate = tls::issue(directory.path());
        Self {
            directory,
            certificate,
        }
    }

    /// File with the certificate, for `SSL_CERT_FILE`.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("certificate.pem")
    }

    /// Path of the certificate's or the key's file, for configuration files.
    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn configuration(&self) -> Arc<ClientConfig> {
        tls::trusting(&self.certificate)
    }
}

/// A running proxy, stopped on drop.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
    directory: tempfile::TempDir,
    configuration: Arc<ClientConfig>,
}

impl Proxy {
    /// Starts a proxy with the shipped file. Only the names of files and addresses are replaced. If
    /// `for_relays`, the lines for relays and gateways that are shipped as comments are used, too.
    pub(crate) fn start(
        kind: ProxyKind,
        upstream: SocketAddr,
        certificate: &Certificate,
        for_relays: bool,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let address = crate::shuffle::free();
        let shipped = match (kind, for_relays) {
            (_, true) => uncommented_for_relays(kind),
            (ProxyKind::Nginx, false) => NGINX.to_owned(),
            (ProxyKind::Caddy, false) => CADDY.to_owned(),
        };
        let mut command = match kind {
            ProxyKind::Nginx => nginx(&shipped, directory.path(), address, upstream, certificate),
            ProxyKind::Caddy => caddy(&shipped, directory.path(), address, upstream, certificate),
        };
        let errors = File::create(directory.path().join("errors")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(errors).spawn();
        let child = child.expect("npm run setup installs nginx and Caddy");
        let mut proxy = Self {
            child,
            address,
            directory,
            configuration: certificate.configuration(),
        };
        while proxy.connect().is_err() {
            let ended = proxy.child.try_wait().unwrap();
            assert!(ended.is_none(), "{kind:?}: {}", proxy.read("errors"));
            thread::sleep(Duration::from_millis(20));
        }
        proxy
    }

    pub(crate) fn connect(&self) -> io::Result<Client<Encrypted>> {
        tls::connect(self.address, &self.configuration)
    }

    /// Connects from a local address.
    pub(crate) fn connect_from(&self, source: IpAddr) -> Client<Encrypted> {
        let socket = Client::connect_from(source, self.address).unwrap();
        Client::new(tls::encrypt(socket.into_socket(), &self.configuration).unwrap())
    }

    /// Contents of a file that the proxy has written.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // nginx ends its workers when it is asked to end, and not when it is killed.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

/// Replaces texts that a shipped file must have.
fn replace_all(file: &str, replacements: &[(&str, String)]) -> String {
    let mut text = file.to_owned();
    for (old, new) in replacements {
        assert!(text.contains(old), "the file lacks {old}");
        text = text.replace(old, new);
    }
    text
}

fn nginx(
    shipped: &str,
    directory: &Path,
    address: SocketAddr,
    upstream: SocketAddr,
    certificate: &Certificate,
) -> Command {
    let own = |name: &str| directory.join(name).display().to_string();
    let file = replace_all(
        shipped,
        &[
            ("listen 443 ssl;", format!("listen {address} ssl;")),
            ("    listen [::]:443 ssl;\n", String::new()),
            (
                "/etc/ssl/telemetry.example.org.pem",
                certificate.path("certificate.pem"),
            ),
            (
                "/etc/ssl/private/telemetry.example.org.key",
                certificate.path("key.pem"),
            ),
            ("127.0.0.1:8686", upstream.to_string()),
            ("/var/log/nginx/hushbin.log", own("log")),
        ],
    );
    fs::write(directory.join("hushbin.conf"), file).unwrap();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|part| format!("{part}_temp_path {};\n", own(part)))
        .concat();
    let main = format!(
        "daemon off;\nuser root;\npid {};\nevents {{}}\nhttp {{\n{temporary}include {};\n}}\n",
        own("pid"),
        own("hushbin.conf")
    );
    fs::write(directory.join("nginx.conf"), main).unwrap();
    // Debian installs it outside of the PATH of most users.
    let installed = Path::new("/usr/sbin/nginx");
    let mut command = Command::new(match installed.exists() {
        true => installed,
        false => Path::new("nginx"),
    });
    command
        .args(["-e", "stderr", "-c", &own("nginx.conf"), "-p"])
        .arg(directory);
    command
}

fn caddy(
    shipped: &str,
    directory: &Path,
    address: SocketAddr,
    upstream: SocketAddr,
    certificate: &Certificate,
) -> Command {
    let own = |name: &str| directory.join(name).display().to_string();
    let site = format!(
        "\nhttps://{address} {{\n\ttls {} {}\n",
        certificate.path("certificate.pem"),
        certificate.path("key.pem")
    );
    let file = replace_all(
        shipped,
        &[
            ("\ntelemetry.example.org {\n", site),
            ("127.0.0.1:8686", upstream.to_string()),
            ("/var/log/caddy/hushbin.log", own("log")),
        ],
    );
    // The global options keep other ports closed.
    let options = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n";
    fs::write(directory.join("Caddyfile"), format!("{options}{file}")).unwrap();
    let mut command = Command::new("caddy");
    command.args([
        "run",
        "--adapter",
        "caddyfile",
        "--config",
        &own("Caddyfile"),
    ]);
    command
        .env("HOME", directory)
        .env("XDG_DATA_HOME", directory);
    command
}

/// Returns a shipped file with its comments for gateways and relays turned into code. The only relay
/// has the address of this machine.
fn uncommented_for_relays(kind: ProxyKind) -> String {
    match kind {
        ProxyKind::Nginx => {
            let is_code = |line: &str| line.ends_with([';', '{', '}']);
            let uncommented = NGINX
                .lines()
                .map(|line| match line.trim().strip_prefix("# ") {
                    Some(code) if is_code(code) => code,
                    _ => line,
                });
            let lines: Vec<&str> = uncommented.collect();
            replace_all(
                &lines.join("\n"),
                &[("allow 192.0.2.1;", "allow 127.0.0.1;".into())],
            )
        }
        ProxyKind::Caddy => replace_all(CADDY, &[("# not path ", "not path ".into())]),
    }
}
