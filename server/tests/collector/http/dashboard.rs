//! The dashboard's files and their response headers.

use std::collections::BTreeSet;

use crate::support::App;
use axum::http::StatusCode;

const FILES: [(&str, &str); 4] = [
    ("/dashboard/", "text/html; charset=utf-8"),
    ("/dashboard/dashboard.js", "text/javascript; charset=utf-8"),
    ("/dashboard/dashboard.css", "text/css; charset=utf-8"),
    ("/dashboard/icon.svg", "image/svg+xml"),
];

#[tokio::test]
async fn nothing_but_the_collector_is_asked_and_nothing_inline_runs() {
    let app = App::new();
    for (path, kind) in FILES {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.header("content-type"), kind);
        assert_eq!(answer.header("cache-control"), "no-cache");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        let policy: BTreeSet<_> = answer
            .header("content-security-policy")
            .split("; ")
            .collect();
        let expected = BTreeSet::from([
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]);
        assert_eq!(policy, expected, "{path}");
        let body = String::from_utf8(answer.body).unwrap();
        assert!(!body.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn the_page_names_its_files_from_where_it_stands() {
    let app = App::new();
    let page = app.get("/dashboard/").await.body;
    let page = String::from_utf8(page).unwrap();
    let names = page
        .split(['"', '\''])
        .filter(|text| {
            FILES
                .iter()
                .any(|(path, _)| path.ends_with(&format!("/{text}")))
        })
        .filter(|text| !text.is_empty())
        .collect::<BTreeSet<_>>();
    assert_eq!(
        names,
        BTreeSet::from(["dashboard.css", "dashboard.js", "icon.svg"])
    );
    assert!(!page.contains("style=") && !page.contains("<style"));
    for script in page.split("<script").skip(1) {
        let (tag, rest) = script.split_once('>').unwrap();
        assert!(tag.contains("src=\"dashboard.js\""), "{tag}");
        assert!(rest.starts_with("</script>"), "{rest}");
    }
}

#[tokio::test]
async fn whoever_asks_for_nothing_is_led_to_it() {
    let app = App::new();
    for path in ["/", "/dashboard"] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT, "{path}");
        assert_eq!(answer.header("location"), "dashboard/");
    }
}
