//! The collector inside an application of one's own, beside its other routes.
//!
//! ```sh
//! cargo run --package hushbin-server --example embed -- ./data settings.json
//! ```
//!
//! Pages then report with `createClient({ endpoint: "/telemetry", task, consent: true })`.

use std::error::Error;
use std::path::Path;

use axum::Router;
use axum::routing::get;
use hushbin::TaskDraft;
use hushbin_server::http::{Limits, router};
use hushbin_server::store::{Store, StoreOptions};
use tokio::net::TcpListener;

/// The application: a page of its own, and the collector below `/telemetry`.
fn app(store: Store) -> Router {
    Router::new()
        .route("/", get(async || "a page that reports"))
        .nest("/telemetry", router(store, Limits::default()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(data), Some(task)) = (arguments.next(), arguments.next()) else {
        return Err("usage: embed DATA_DIRECTORY TASK_FILE".into());
    };
    let draft: TaskDraft = serde_json::from_str(&std::fs::read_to_string(task)?)?;
    let store = Store::open(Path::new(&data), &[draft.into()], StoreOptions::default())?;
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, app(store.clone()))
        .with_graceful_shutdown(async {
            // Without a signal to wait for the application serves on.
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    // Behind every upload that waits.
    store.close().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use hushbin::{Entry, Randomizer, Upload, UploadId};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn the_embedded_collector_takes_an_upload_and_the_page_is_still_there() {
        let directory = tempfile::tempdir().unwrap();
        let draft: TaskDraft = serde_json::from_str(
            r#"{ "id": "settings", "items": ["dark-mode"], "sparsity": 1, "epsilon": 1.0, "value": "sign" }"#,
        )
        .unwrap();
        let store =
            Store::open(directory.path(), &[draft.into()], StoreOptions::default()).unwrap();
        let stored = store.task("settings").unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let answers = [Entry {
            item: 0,
            value: 1.0,
        }];
        let randomized = Randomizer::new(stored.task().reports().unwrap())
            .randomize(&answers, &mut rng)
            .unwrap();
        let upload = Upload {
            id: UploadId([7; 16]),
            reports: vec![randomized.report],
        };
        let bytes = upload.encode(&stored.task().fingerprint());

        let sent = Request::post("/telemetry/tasks/settings/reports")
            .body(Body::from(bytes))
            .unwrap();
        let answer = app(store.clone()).oneshot(sent).await.unwrap();
        assert_eq!(answer.status(), StatusCode::CREATED);
        let page = Request::get("/").body(Body::empty()).unwrap();
        let answer = app(store).oneshot(page).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
    }
}
