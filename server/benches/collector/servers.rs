//! Servers to measure, each in a separate process: the collector, and the bare handler with which
//! the collector is compared.

use std::env;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::routing::post;
use hushbin_tests::process::{Collector, command, create_journal};
use tokio::net::TcpListener;

/// Environment variable that turns this program into the bare handler.
pub(crate) const BARE: &str = "HUSHBIN_BENCH_BARE";

/// Response of the bare handler, as long as the response of the collector.
const ANSWER: &str = r#"{"uploads":1,"accepted_reports":1,"duplicate_uploads":0}"#;

/// Runs the bare handler, which reads and discards uploads.
pub(crate) fn run_bare_handler() {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            let read = |body: Bytes| async move {
                assert!(!body.is_empty());
                let json = [(header::CONTENT_TYPE, "application/json")];
                (StatusCode::CREATED, json, ANSWER)
            };
            let routes = Router::new().route("/tasks/{id}/reports", post(read));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            println!("hushbin listening on http://{address}");
            std::io::stdout().flush().unwrap();
            axum::serve(listener, routes).await.unwrap();
        });
}

/// Starts the bare handler in a separate process.
pub(crate) fn start_bare_handler() -> Collector {
    let mut own = Command::new(env::current_exe().unwrap());
    own.env(BARE, "1");
    Collector::start(own)
}

/// Starts a collector with its journal in the directory `data`.
pub(crate) fn start_collector(data: &Path, tasks: &[&Path]) -> Collector {
    start_collector_at("--data", data.as_os_str(), tasks)
}

/// Starts a collector as an operator would. `option` and `place` give the location of the journal,
/// such as `--data DIR`. All clients may use the same address.
pub(crate) fn start_collector_at(option: &str, place: &OsStr, tasks: &[&Path]) -> Collector {
    if option == "--data" {
        create_journal(place.as_ref());
    }
    let mut serve = command();
    serve.arg("serve").arg(option).arg(place);
    for task in tasks {
        serve.arg("--task").arg(task);
    }
    let flags = ["--listen", "127.0.0.1:0", "--log", "error"];
    let room = ["--max-connections-per-peer", "2000"];
    let room = [&room[..], &["--max-reports-per-request", "0"]].concat();
    serve.args(flags).args(room);
    Collector::start(serve)
}
