//! One person's budget of reports: in the cost of a task, in a privacy notice, in the account, and
//! when a task in use changes.

use std::fs;

use crate::support::App;
use axum::http::StatusCode;
use hushbin_analysis::accounting::{PersonExposure, ReportMixture, compute_composed_privacy};
use hushbin_server::store::{Store, StoreOptions};
use hushbin_tests::process::{answer, hushbin};
use hushbin_tests::uploads::{Uploads, draft};
use serde_json::{Value, json};

fn task(budget: &Value) -> String {
    let mut task = json!({
        "id": "settings", "items": ["dark-mode", "autoplay"], "sparsity": 1, "epsilon": 1.0,
        "value": "sign", "mechanism": {
            "name": "collision", "rule": "heaviest", "favoured": 1, "hashing": "balanced",
            "buckets": 4,
        },
    });
    if !budget.is_null() {
        task["budget"] = budget.clone();
    }
    task.to_string()
}

/// Budgets, with ε of a window and of a year in units of one report's ε, and the expected words.
fn budgets() -> [(Value, f64, f64, &'static [&'static str]); 3] {
    [
        (
            Value::Null,
            1.0,
            13.0,
            &["at most one report in 30 days. Each report spends"],
        ),
        (
            json!({ "days": 1 }),
            1.0,
            365.0,
            &["at most one report in one day."],
        ),
        (
            json!({ "days": 7, "reports": 3 }),
            3.0,
            159.0,
            &[
                "at most 3 reports in each window of 7 days.",
                "One window spends at most ε = 3",
            ],
        ),
    ]
}

#[test]
fn a_check_says_what_a_person_spends() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    for (budget, window, year, words) in budgets() {
        fs::write(&file, task(&budget)).unwrap();
        let printed = answer(&["task", "check", "--json", path]);
        let epsilon = printed["effective_epsilon"].as_f64().unwrap();
        let spent = |name: &str| printed["budget"][name].as_f64().unwrap();
        assert_eq!(spent("window_epsilon"), window * epsilon);
        assert_eq!(spent("year_epsilon"), year * epsilon);
        assert_eq!(printed["task"].get("budget").is_some(), !budget.is_null());
        let said = hushbin(&["task", "check", "--verbose", path]).stdout;
        let said = String::from_utf8(said).unwrap();
        // All of these numbers have at most three digits.
        let year = format!("{year} of them, which together spend ε = {year}");
        for words in words.iter().copied().chain([&year[..]]) {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

/// Flag whose reports are made from memos of ε = 2.
fn memo_task() -> String {
    json!({
        "id": "settings", "epsilon": 1.0, "questions": [{ "name": "dark", "kind": "flag" }],
        "budget": { "memo": { "epsilon": 2.0, "days": 365 } },
    })
    .to_string()
}

#[test]
fn a_memo_limits_what_a_year_spends() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    fs::write(&file, memo_task()).unwrap();
    let printed = answer(&["task", "check", "--json", path]);
    let spent = |name: &str| printed["budget"][name].as_f64().unwrap();
    assert_eq!(
        spent("window_epsilon"),
        printed["effective_epsilon"].as_f64().unwrap()
    );
    // Thirteen reports from one memo lose a little less than the memo itself.
    assert!(spent("year_epsilon") > 1.99 && spent("year_epsilon") <= 2.0);
    assert_eq!(
        printed["task"]["budget"]["memo"],
        json!({ "epsilon": 2.0, "days": 365 })
    );
    let said = hushbin(&["task", "check", "--verbose", path]).stdout;
    let said = String::from_utf8(said).unwrap();
    for words in [
        "at most one report in 30 days. It keeps one randomised answer for 365 days",
        "One report spends ε = 1, and all of them together at most ε = 2.",
        "at most 88 % sure of the answer that was given first",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn cover_reports_are_said_wherever_a_budget_is() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    let task = json!({
        "id": "settings", "epsilon": 1.0, "questions": [{ "name": "dark", "kind": "flag" }],
        "budget": { "cover": { "minutes": 30 } },
    });
    fs::write(&file, task.to_string()).unwrap();
    let printed = answer(&["task", "check", "--json", path]);
    let budget = json!({ "days": 30, "reports": 1, "cover": { "minutes": 30 } });
    assert_eq!(printed["task"]["budget"], budget);
    assert_eq!(printed["budget"]["cover"], budget["cover"]);
    // Each report spends its ε, whether or not it is made from an answer.
    let year = printed["budget"]["year_epsilon"].as_f64().unwrap();
    assert_eq!(year, 13.0 * printed["effective_epsilon"].as_f64().unwrap());
    for (arguments, words) in [
        (&["--verbose"][..], "30 minutes after a window begins"),
        (&["--verbose"], "does not show who has answered"),
        (&[], "People without an answer report as well."),
    ] {
        let arguments = [&["task", "check", path], arguments].concat();
        let said = String::from_utf8(hushbin(&arguments).stdout).unwrap();
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// With many options, two reports of a memo can lose more than two fresh reports.
#[test]
fn a_year_of_several_memos_is_the_worst_case() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    for (days, memo_days, year) in [
        (180, 182, 1.196 + 0.5),
        (100, 120, 2.0 * 1.196),
        (30, 365, 2.0),
    ] {
        let task = json!({
            "id": "settings", "epsilon": 0.5,
            "questions": [{ "name": "theme", "kind": "choice", "options": 16 }],
            "budget": { "days": days, "memo": { "epsilon": 2.0, "days": memo_days } },
        });
        fs::write(&file, task.to_string()).unwrap();
        let printed = answer(&["task", "check", "--json", path]);
        let found = printed["budget"]["year_epsilon"].as_f64().unwrap();
        assert!((found - year).abs() < 0.01, "{days} {memo_days}: {found}");
    }
    let planned = answer(&[
        "plan",
        "--task",
        path,
        "--epsilon",
        "0.5",
        "--people",
        "10000",
        "--json",
    ]);
    assert_eq!(planned["task"]["budget"]["memo"]["days"], 365);
}

/// The short answer states the gain, and the price for many options.
#[test]
fn a_check_of_a_memo_states_gain_and_price() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    for (options, price) in [
        (8, None),
        (16, Some("1.05")),
        (32, Some("1.46")),
        (64, Some("2.41")),
    ] {
        let task = json!({
            "id": "settings", "epsilon": 1.0,
            "questions": [{ "name": "theme", "kind": "choice", "options": options }],
            "budget": { "memo": { "epsilon": 2.0, "days": 365 } },
        });
        fs::write(&file, task.to_string()).unwrap();
        let said = hushbin(&["task", "check", path]).stdout;
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("at most ε = 2 (fresh reports: 13)"), "{said}");
        let priced = "Because of the memo, this takes";
        match price {
            None => assert!(!said.contains(priced), "{said}"),
            Some(price) => {
                let words = format!("{priced} {price} times the people of fresh reports.");
                assert!(said.contains(&words), "{words}: {said}");
            }
        }
    }
}

/// Several batches reveal no more than the memo. Until then they add up like reports of the second
/// stage behind the memo.
#[test]
fn batches_of_memos_add_up() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    let daily = memo_task().replace(r#""memo":"#, r#""days": 1, "memo":"#);
    fs::write(&file, daily).unwrap();
    let account = |reports: &str, batches: &str| {
        let asked = [
            "account", "--json", "--task", path, "-n", reports, "--delta", "1e-6",
        ];
        let printed = answer(&[&asked[..], &["--batches", batches]].concat());
        assert_eq!(printed["delta"], 1e-6);
        printed["central_epsilon"].as_f64().unwrap()
    };
    // One batch is accounted like fresh reports: 0.043. Through the second stage it would be 0.0516.
    let [one, several] = ["1", "13"].map(|batches| account("10000", batches));
    assert!((one - 0.043).abs() < 0.001, "{one}");
    assert!(several > one && several < 13.0 * one, "{several}");
    // Small batches hide nothing. The memo's ε is the limit.
    assert_eq!(account("2", "365"), 2.0);
    // Another year has another memo.
    let refused = hushbin(&[
        "account",
        "--task",
        path,
        "-n",
        "10000",
        "--delta",
        "1e-6",
        "--batches",
        "366",
    ]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("expected at most 365 batches"), "{said}");
}

#[tokio::test]
async fn estimates_of_memos_say_what_windows_share() {
    let app = App::with(&[&memo_task()]);
    let task = app.task("settings");
    app.post("settings", Uploads::new(&task, 2).bytes(3000))
        .await;
    let shown = app.get("/tasks/settings/privacy?delta=1e-6").await.json();
    assert_eq!(shown["local"]["budget"]["memo"]["days"], 365);
    let said = shown["shuffled_statement"].as_str().unwrap();
    assert!(
        said.contains("from the same memos add up differently, to at most ε = 2:"),
        "{said}"
    );
    let shown = app.get("/tasks/settings/estimates").await.json();
    let said = shown["memo_warning"].as_str().unwrap();
    assert!(said.contains("√(1 + 0.197·(k − 1))"), "{said}");
}

#[tokio::test]
async fn a_privacy_notice_says_what_a_person_spends() {
    for (budget, window, year, words) in budgets() {
        let app = App::with(&[&task(&budget)]);
        let task = app.task("settings");
        let bytes = Uploads::new(&task, 1).bytes(2);
        assert_eq!(
            app.post("settings", bytes).await.status,
            StatusCode::CREATED
        );
        let few = app.get("/tasks/settings/privacy").await.json();
        let several = task.report_budget().max_reports();
        assert_eq!(few.get("shuffled").is_some(), several <= 2);
        let said = few["shuffled_statement"].as_str().unwrap();
        assert_eq!(
            said.contains("too many for other reports to hide"),
            several > 2,
            "{said}"
        );

        // A new collector, because the smallest batch counts.
        let app = App::with(&[&self::task(&budget)]);
        let bytes = Uploads::new(&task, 2).bytes(3000);
        app.post("settings", bytes).await;
        let shown = app.get("/tasks/settings/privacy?delta=1e-6").await.json();
        let local = &shown["local"]["budget"];
        let epsilon = task.achieved_report_epsilon();
        assert_eq!(local["days"], task.report_budget().window_days());
        assert_eq!(local["reports"], several);
        assert_eq!(local["window_epsilon"], window * epsilon);
        assert_eq!(local["year_epsilon"], year * epsilon);
        let said = local["statement"].as_str().unwrap();
        assert!(words.iter().all(|words| said.contains(words)), "{said}");

        let exposure = PersonExposure {
            reports_per_person: several,
            ..PersonExposure::default()
        };
        let mixture = ReportMixture::for_task(&task).unwrap();
        let expected = compute_composed_privacy(&mixture, 3000, 1.0, 1e-6, exposure).unwrap();
        let expected = serde_json::to_value(expected.account).unwrap();
        assert_eq!(shown["shuffled"], expected);
        let said = shown["shuffled_statement"].as_str().unwrap();
        let each = match several {
            1 => "that each person sent one report and".to_owned(),
            several => format!("that each person sent at most {several} reports, whatever"),
        };
        assert!(said.contains(&each), "{said}");
        let answer = app.get("/tasks/settings/estimates").await.json();
        assert!(answer.get("memo_warning").is_none());
    }
}

#[test]
fn an_account_of_a_task_is_of_its_budget() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("task.json");
    let path = file.to_str().unwrap();
    fs::write(&file, task(&json!({ "reports": 3 }))).unwrap();
    let common = ["account", "--task", path, "--delta", "1e-6", "--json"];
    let account = |more: &[&str]| answer(&[&common[..], more].concat());
    let reports = ["--reports", "3000"];
    let by_task = account(&reports);
    assert_eq!(by_task["reports_per_person"], 3);
    let said = |many: &str| account(&[&reports[..], &["--reports-per-person", many]].concat());
    let mut same = said("3");
    same["seconds"] = by_task["seconds"].clone();
    assert_eq!(same, by_task);
    assert_eq!(said("1")["reports_per_person"], 1);
    assert!(said("1")["central_epsilon"].as_f64() < by_task["central_epsilon"].as_f64());
    // The result is for one report per person.
    let found = account(&["--central-epsilon", "0.2"]);
    assert_eq!(found["reports_per_person"], 1);
}

#[test]
fn a_task_in_use_keeps_its_budget() {
    let directory = tempfile::tempdir().unwrap();
    let open = |budget: Value| {
        let drafts = [draft(&task(&budget))];
        Store::open(
            directory.path(),
            &drafts.map(Into::into),
            StoreOptions::default(),
        )
    };
    let weekly = json!({ "days": 7, "reports": 1 });
    let store = open(weekly.clone()).unwrap();
    assert_eq!(
        store
            .task("settings")
            .unwrap()
            .task()
            .report_task()
            .unwrap()
            .report_budget()
            .window_days(),
        7
    );
    drop(store);
    // The directory is free once the writer has ended, and the drop does not wait for it.
    let wait = |budget: &Value| loop {
        match open(budget.clone()) {
            Err(hushbin_server::store::JournalError::Locked { .. }) => std::thread::yield_now(),
            other => return other.map(drop).map_err(|error| error.to_string()),
        }
    };
    assert_eq!(wait(&weekly), Ok(()));
    for (other, field) in [
        (Value::Null, "days"),
        (json!({ "days": 7, "reports": 2 }), "reports"),
    ] {
        let error = wait(&other).unwrap_err();
        assert!(error.contains(&format!("budget's {field}")), "{error}");
    }
}

#[test]
fn a_plan_keeps_the_budget_of_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("survey.json");
    let survey = json!({
        "id": "visits", "questions": [{ "name": "beta", "kind": "flag" }],
        "budget": { "days": 90, "memo": { "epsilon": 2.0, "days": 180 } },
    });
    fs::write(&file, survey.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let planned = answer(&[
        "plan",
        "--task",
        path,
        "--epsilon",
        "1",
        "--people",
        "1000",
        "--json",
    ]);
    let expected = json!({ "days": 90, "reports": 1, "memo": { "epsilon": 2.0, "days": 180 } });
    assert_eq!(planned["task"]["budget"], expected);
}
