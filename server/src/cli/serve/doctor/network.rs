//! Checks by requests over the network.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use http_body_util::Empty;
use hyper::{Request, Response, Uri, header};
use hyper_util::client::legacy::connect::HttpInfo;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::finding::{Checked, PeerClock, Trouble};
use crate::cli::serve::config::{JournalConfig, RoleConfig, ServerConfig};
use crate::http::bind_listener;
use crate::role::signature::SIGNATURE_HEADER;
use crate::role::{RelayedGateway, ShufflerKeys, fetch, send};

/// Time limit for a request to arrive through the proxy. Longer than that of sending one.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(12);

/// Maximum number of connections from strangers that are read at the same time.
const MAX_STRANGERS: usize = 256;

/// Time limit for a request, so that strangers cannot delay the request of this program.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(2);

/// Headers in which proxies name a client.
const FORWARDING_HEADERS: [&str; 3] = ["x-forwarded-for", "forwarded", "x-real-ip"];

/// Returns the address of a path below a URL.
fn address_below(url: &Uri, path: &str) -> Result<Uri, Trouble> {
    let text = format!("{}{path}", url.to_string().trim_end_matches('/'));
    text.parse()
        .map_err(|error| Trouble::Error(format!("{text}: {error}")))
}

/// Adds the clock that the header `Date` of a response shows.
fn add_clock<T>(peer: &Uri, answer: &Response<T>, clocks: &mut Vec<PeerClock>) {
    let date = answer.headers().get(header::DATE);
    let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    let date = date.and_then(|date| date.duration_since(UNIX_EPOCH).ok());
    clocks.extend(date.map(|date| (peer.to_string(), date.as_secs())));
}

/// Checks that an analyser answers, has sealing keys for each task of a shuffler, and that the two
/// know each other's signing keys.
pub(super) async fn check_analyser(
    tasks: &BTreeSet<String>,
    shuffler: &ShufflerKeys,
    clocks: &mut Vec<PeerClock>,
) -> Checked {
    let analyser = &shuffler.analyser_address;
    for id in tasks {
        let address = address_below(analyser, &format!("/tasks/{id}/keys"))?;
        let answer = fetch(address)
            .await
            .map_err(|error| unreachable_analyser(analyser, &error))?;
        add_clock(analyser, &answer, clocks);
        match answer.status().as_u16() {
            200 => {}
            404 => {
                return Err(Trouble::Error(format!(
                    "{analyser} has no task {id:?}; give the analyser the same task file"
                )));
            }
            status => {
                return Err(Trouble::Error(format!(
                    "{analyser} answers {status} for the keys of task {id:?}; see its log, and \
                     that of a proxy before it"
                )));
            }
        }
    }
    if let Some(id) = tasks.first() {
        check_signing_keys(id, shuffler).await?;
    }
    Ok(format!(
        "{analyser} has keys for all {} tasks, and both know each other's signing keys",
        tasks.len()
    ))
}

/// Returns the finding for an analyser that does not answer.
fn unreachable_analyser(analyser: &Uri, error: &str) -> Trouble {
    Trouble::Error(format!(
        "{analyser} cannot be reached: {error}; check --analyser, and that it runs"
    ))
}

/// Checks by a block of one task that a shuffler and its analyser know each other's signing keys.
async fn check_signing_keys(id: &str, shuffler: &ShufflerKeys) -> Result<(), Trouble> {
    let analyser = &shuffler.analyser_address;
    // An empty block is signed and acknowledged like any other, and nothing is stored.
    let request = Request::post(address_below(analyser, &format!("/tasks/{id}/blocks"))?)
        .header(SIGNATURE_HEADER, shuffler.signature_header(b""));
    let answer = send(request.body(Empty::new()))
        .await
        .map_err(|error| unreachable_analyser(analyser, &error))?;
    let body = serde_json::from_slice::<Value>(answer.body()).unwrap_or_default();
    if body["type"] == "urn:hushbin:problem:unknown-shuffler" {
        return Err(Trouble::Error(format!(
            "{analyser} does not know the key of --signing-key; give the analyser its public \
             key with --shuffler-key"
        )));
    }
    if !answer.status().is_success() {
        return Err(Trouble::Error(format!(
            "{analyser} answers {} to a signed request; see its log, and that of a proxy \
             before it",
            answer.status()
        )));
    }
    let receipt = HEXLOWER.decode(body["receipt"].as_str().unwrap_or_default().as_bytes());
    if !receipt.is_ok_and(|receipt| shuffler.is_valid_receipt(&receipt, b"")) {
        return Err(Trouble::Error(format!(
            "{analyser} answers without a signature by the key of --analyser-key; give the \
             shuffler the public key of the analyser's --signing-key"
        )));
    }
    Ok(())
}

/// Checks that each gateway of a relay answers, and has keys.
pub(super) async fn check_gateways(
    gateways: &[RelayedGateway],
    clocks: &mut Vec<PeerClock>,
) -> Checked {
    for RelayedGateway { address, .. } in gateways {
        let answer = fetch(address.clone()).await.map_err(|error| {
            untrusted_certificate(address, &error).unwrap_or_else(|| {
                Trouble::Error(format!(
                    "{address} cannot be reached: {error}; check --gateway, and that it runs"
                ))
            })
        })?;
        add_clock(address, &answer, clocks);
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if answer.status() != 200 || kind.is_none_or(|kind| kind != "application/ohttp-keys") {
            return Err(Trouble::Error(format!(
                "{address} answers {} and no keys; start the gateway with --ohttp-key, and let \
                 its proxy hand on requests of this machine",
                answer.status()
            )));
        }
    }
    let names: Vec<&str> = gateways.iter().map(|gateway| &*gateway.name).collect();
    Ok(format!("{} answer and have keys", names.join(", ")))
}

/// Returns a path that no stranger knows, and that a proxy forwards: of a task or of a relay's
/// gateway, which does not exist. Proxies may refuse health checks.
fn secret_path(config: &ServerConfig) -> Result<String, Trouble> {
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce)?;
    let parent = match config.role {
        RoleConfig::WithJournal(_) => "tasks",
        RoleConfig::Relay(_) => "gateways",
    };
    Ok(format!("/{parent}/doctor-{}", HEXLOWER.encode(&nonce)))
}

/// Sender of a request, and the head of the request in lower case.
type ReceivedRequest = (SocketAddr, String);

/// Returns the request for `own`. Refuses the requests that arrive before it.
async fn receive_own_request(listener: TcpListener, own: &str) -> io::Result<ReceivedRequest> {
    let mut reading = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if reading.len() < MAX_STRANGERS => {
                let (stream, peer) = accepted?;
                let answering = answer_request(stream, own.to_owned());
                reading.spawn(async move {
                    let answered = timeout(STRANGER_TIMEOUT, answering).await;
                    answered.ok()?.ok()?.map(|head| (peer, head))
                });
            }
            Some(read) = reading.join_next() => if let Ok(Some(received)) = read {
                return Ok(received);
            },
        }
    }
}

/// Reads and answers a request. Returns its head in lower case if the request is for `own`.
async fn answer_request(mut stream: TcpStream, own: String) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") && head.len() < 1 << 16 {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    // A proxy may have removed the first part of the path.
    let is_own = head.lines().next().is_some_and(|line| line.contains(&own));
    // Pages may send reports meanwhile, and send them again after this status.
    let answer: &[u8] = match is_own {
        true => b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n",
        false => b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n",
    };
    stream.write_all(answer).await?;
    Ok(is_own.then_some(head))
}

/// Returns the trouble with a certificate, if that is why a request has failed.
fn untrusted_certificate(url: &Uri, error: &str) -> Option<Trouble> {
    if error.contains("CaUsedAsEndEntity") {
        return Some(Trouble::Error(format!(
            "the certificate of {url} is that of an authority; make one for a server, with \
             basicConstraints=CA:FALSE"
        )));
    }
    // The words with which rustls begins errors of the peer's certificate.
    error.contains("invalid peer certificate").then(|| {
        Trouble::Error(format!(
            "this machine does not trust the certificate of {url}: {error}; let SSL_CERT_FILE name \
             a file with its root certificate, or check from a machine that trusts it"
        ))
    })
}

/// Checks that a request to the public URL arrives, and how.
pub(super) async fn check_proxy(
    config: &ServerConfig,
    url: &Uri,
    has_tls: bool,
    clocks: &mut Vec<PeerClock>,
) -> Checked {
    let listen = config.listen_address;
    let lost = |error: String| {
        untrusted_certificate(url, &error).unwrap_or_else(|| {
            Trouble::Error(format!(
                "a request to {url} does not arrive at {listen}: {error}; check the proxy's \
                 address of the collector, and the name and port of {url}"
            ))
        })
    };
    let listener = match bind_listener(listen) {
        Ok(listener) if !has_tls => listener,
        // The collector is running, or speaks TLS.
        _ => return check_running(config, url, clocks).await,
    };
    let own = secret_path(config)?;
    let arriving = timeout(ARRIVAL_TIMEOUT, receive_own_request(listener, &own));
    let (answer, arrived) = tokio::join!(fetch(address_below(url, &own)?), arriving);
    let answer = answer.map_err(lost)?;
    add_clock(url, &answer, clocks);
    let arrived = arrived.map_err(|_| lost(format!("the answer is {}", answer.status())))?;
    let (peer, head) = arrived.map_err(|error| lost(error.to_string()))?;
    let sender = answer.extensions().get::<HttpInfo>();
    if sender.is_some_and(|own| own.local_addr() == peer) {
        return Ok(format!("{url} is the collector itself, without a proxy"));
    }
    let limits = &config.server_options;
    let counts_peers =
        limits.max_connections_per_peer.is_some() || limits.max_peer_reports_per_minute.is_some();
    if counts_peers {
        return Err(Trouble::Error(format!(
            "all requests come from the proxy at {}, and are limited together; set \
             max_connections_per_peer and max_reports_per_peer to 0, and limit in the proxy",
            peer.ip()
        )));
    }
    let named = FORWARDING_HEADERS.into_iter().find(|name| {
        let begin = format!("{name}:");
        head.lines().any(|line| {
            line.strip_prefix(&begin)
                .is_some_and(|own| !own.trim().is_empty())
        })
    });
    match named {
        Some(name) => Err(Trouble::Warning(format!(
            "the proxy hands on the client's address in {name}, which the collector never reads; \
             remove it there, as server/deploy/nginx.conf does"
        ))),
        None => Ok(format!(
            "requests to {url} arrive, without the client's address"
        )),
    }
}

/// Checks that a running collector answers at the public URL, and what it answers to everyone.
async fn check_running(config: &ServerConfig, url: &Uri, clocks: &mut Vec<PeerClock>) -> Checked {
    let lost = |error: String| {
        untrusted_certificate(url, &error).unwrap_or_else(|| {
            Trouble::Error(format!(
                "no collector answers at {url}: {error}; check the proxy's address of the collector"
            ))
        })
    };
    let own = secret_path(config)?;
    let answer = fetch(address_below(url, &own)?).await.map_err(lost)?;
    add_clock(url, &answer, clocks);
    let text = String::from_utf8_lossy(answer.body());
    match text
        .split_once("urn:hushbin:problem:")
        .map(|(_, rest)| rest)
    {
        // A relay serves no GET of a gateway.
        Some(slug)
            if slug.starts_with("unknown-task\"") || slug.starts_with("method-not-allowed\"") => {}
        Some(slug) if slug.starts_with("misdirected\"") => {
            return Err(Trouble::Error(format!(
                "the collector at {url} does not serve this name; add it to --host"
            )));
        }
        _ => return Err(lost(format!("the answer is {}", answer.status()))),
    }
    if let RoleConfig::WithJournal(JournalConfig {
        ohttp_gateway: Some(gateway),
        ..
    }) = &config.role
    {
        let address = address_below(url, "/.well-known/ohttp-gateway")?;
        let keys = fetch(address.clone()).await.map_err(lost)?;
        if keys.status() == 403 {
            return Err(Trouble::Warning(format!(
                "the proxy refuses {address} to this machine (status 403); ask from a relay \
                 whether it is handed on"
            )));
        }
        if keys.status() != 200 || *keys.body() != gateway.key_configurations() {
            return Err(Trouble::Error(format!(
                "the gateway at {url} does not show the keys of --ohttp-key (status {}); let the \
                 proxy hand on /.well-known/ohttp-gateway, and restart the collector after a \
                 change of its keys",
                keys.status()
            )));
        }
    }
    let address = address_below(url, "/metrics")?;
    let metrics = fetch(address.clone()).await.map_err(lost)?;
    match metrics.status().is_success() {
        true => Err(Trouble::Warning(format!(
            "{address} answers this machine; it is public unless the proxy refuses it to everyone \
             outside"
        ))),
        false => Ok(format!(
            "the collector answers at {url}; to see which headers arrive, stop it and run this again"
        )),
    }
}
