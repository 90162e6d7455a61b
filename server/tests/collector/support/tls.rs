//! Certificates, and clients that trust nothing else.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hushbin_tests::process::Client;
use rcgen::{CertificateParams, KeyPair};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion, version,
};

/// Lines of a configuration file for the files that [`issue`] writes next to it.
pub(crate) const FILES: &str = "tls_certificate = 'certificate.pem'\ntls_key = 'key.pem'\n";

/// An encrypted stream.
pub(crate) type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// Writes a new certificate of this machine, with its key readable by the owner only.
pub(crate) fn issue(directory: &Path) -> CertificateDer<'static> {
    issue_until(directory, 4096)
}

/// Writes a new certificate that expires at the beginning of this year, as [`issue`] does.
pub(crate) fn issue_until(directory: &Path, year: i32) -> CertificateDer<'static> {
    let mut parameters = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
    let signing_key = KeyPair::generate().unwrap();
    let cert = parameters.self_signed(&signing_key).unwrap();
    fs::write(directory.join("certificate.pem"), cert.pem()).unwrap();
    let key = directory.join("key.pem");
    fs::write(&key, signing_key.serialize_pem()).unwrap();
    set_mode(&key, 0o600);
    cert.der().clone()
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Client configuration that trusts this certificate, speaks HTTP/1.1 and resumes sessions.
pub(crate) fn trusting(certificate: &CertificateDer<'static>) -> Arc<ClientConfig> {
    speaking(certificate, &[&version::TLS13, &version::TLS12])
}

/// Client configuration with these TLS versions.
pub(crate) fn speaking(
    certificate: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ClientConfig> {
    configured(certificate, versions, Arc::new(DefaultTimeProvider))
}

/// Client configuration of a machine whose clock shows the year 2019.
pub(crate) fn living_in_2019(certificate: &CertificateDer<'static>) -> Arc<ClientConfig> {
    #[derive(Debug)]
    struct Year2019;
    impl TimeProvider for Year2019 {
        fn current_time(&self) -> Option<UnixTime> {
            Some(UnixTime::since_unix_epoch(Duration::from_secs(
                1_560_000_000,
            )))
        }
    }
    configured(certificate, &[&version::TLS13], Arc::new(Year2019))
}

fn configured(
    certificate: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
    time: Arc<dyn TimeProvider>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_details(Arc::new(ring::default_provider()), time)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Connects and completes the handshake.
pub(crate) fn connect(
    address: SocketAddr,
    config: &Arc<ClientConfig>,
) -> io::Result<Client<Encrypted>> {
    let socket = Client::connect(address)?.into_socket();
    encrypt(socket, config).map(Client::new)
}

/// Completes the handshake on a connected socket.
pub(crate) fn encrypt(mut socket: TcpStream, config: &Arc<ClientConfig>) -> io::Result<Encrypted> {
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}
