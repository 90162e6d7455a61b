//! TLS connections to a database, made by rustls.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::{InvalidDnsNameError, ServerName};

/// TLS connector that always checks the server's certificate.
#[derive(Clone)]
pub(super) struct CertificateCheckingTls(pub(super) Arc<ClientConfig>);

impl MakeTlsConnect<Socket> for CertificateCheckingTls {
    type Stream = RustlsStream;
    type TlsConnect = ServerTlsConnector;
    type Error = Infallible;

    fn make_tls_connect(&mut self, host: &str) -> Result<ServerTlsConnector, Infallible> {
        Ok(ServerTlsConnector {
            config: Arc::clone(&self.0),
            name: ServerName::try_from(host).map(|name| name.to_owned()),
        })
    }
}

/// Connector that makes a TLS connection to a server.
pub(super) struct ServerTlsConnector {
    config: Arc<ClientConfig>,
    /// Name of the server. It is invalid for a socket, which does not use TLS.
    name: Result<ServerName<'static>, InvalidDnsNameError>,
}

impl TlsConnect<Socket> for ServerTlsConnector {
    type Stream = RustlsStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<RustlsStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let connector = TlsConnector::from(self.config);
        Box::pin(async move {
            let name = self.name.map_err(io::Error::other)?;
            let stream = connector.connect(name, socket).await?;
            Ok(RustlsStream(stream))
        })
    }
}

/// Established TLS connection.
pub(super) struct RustlsStream(client::TlsStream<Socket>);

impl TlsStream for RustlsStream {
    /// Returns no channel binding, because the certificate already identifies the server.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for RustlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for RustlsStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
