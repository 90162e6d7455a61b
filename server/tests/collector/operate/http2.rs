//! HTTP/2, which encrypted connections offer.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};

use super::Operated;
use super::metrics::values;
use super::tls::encrypted;
use crate::support::tls::{connect, trusting};

/// An HTTP/2 connection.
struct Http2Client {
    sender: SendRequest<Full<Bytes>>,
    /// Task that ends when the connection is closed.
    connection: JoinHandle<hyper::Result<()>>,
}

impl Http2Client {
    /// Connects as a client that takes at most `window` bytes of each response before it reads.
    async fn connect(
        operated: &Operated,
        certificate: &CertificateDer<'static>,
        window: u32,
    ) -> Self {
        let mut config = (*trusting(certificate)).clone();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let socket = TcpStream::connect(operated.address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, socket).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        Self { sender, connection }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: Vec<u8>,
    ) -> BoxFuture<'static, hyper::Result<Response<Incoming>>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://127.0.0.1{path}"))
            .body(Full::from(body))
            .unwrap();
        let mut sender = self.sender.clone();
        Box::pin(async move { sender.send_request(request).await })
    }
}

#[tokio::test]
async fn reports_come_and_estimates_go_by_http2() {
    let (operated, certificate) = encrypted("development = true");
    let client = Http2Client::connect(&operated, &certificate, 1 << 20).await;
    let mut uploads = operated.uploads();
    let response = client.send("GET", "/livez", Vec::new()).await;
    assert_eq!(response.unwrap().status(), 200);
    // More requests than the connection may have at once, which the client knows by now.
    let mut sending = JoinSet::new();
    for _ in 0..150 {
        sending.spawn(client.send("POST", "/tasks/settings/reports", uploads.bytes(1)));
    }
    for response in sending.join_all().await {
        assert_eq!(response.unwrap().status(), 201);
    }
    let response = client
        .send("GET", "/tasks/settings/estimates", Vec::new())
        .await;
    let body = response.unwrap().collect().await.unwrap().to_bytes();
    let estimates: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(estimates["reports"], 150);
}

#[tokio::test]
async fn a_client_that_holds_back_a_response_is_disconnected() {
    let (operated, certificate) = encrypted("write_timeout = 1");
    let client = Http2Client::connect(&operated, &certificate, 100).await;
    let response = client
        .send("GET", "/openapi.json", Vec::new())
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    // Other requests of the connection are still answered, so the connection itself takes writes.
    let other = client.send("GET", "/livez", Vec::new()).await;
    assert_eq!(other.unwrap().status(), 200);
    // The server closes the connection, and the rest of the response does not come.
    let _ = client.connection.await.unwrap();
    response.collect().await.unwrap_err();
    let mut plain = connect(operated.address, &trusting(&certificate)).unwrap();
    assert_eq!(
        values(&mut plain)["hushbin_connections_closed_total{reason=\"unread\"}"],
        1.0
    );
}
