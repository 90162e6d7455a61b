//! Task files that are read again on SIGHUP.

use std::fs;

use serde_json::Value;

use super::{Operated, configure};
use crate::access::create_token;
use crate::nodes::ask;
use crate::support::{COUNTED, SETTINGS};

/// Sends SIGHUP, waits until the task files are read, and returns the log lines since then.
fn reload(operated: &Operated) -> String {
    let before = operated.log().len();
    operated.collector.signal("-HUP");
    loop {
        let log = operated.log()[before..].to_owned();
        if log.contains("task files read") || log.contains("stays as it is") {
            return log;
        }
    }
}

#[test]
fn sighup_adds_new_tasks_and_changes_no_others() {
    let operated = Operated::new("development = true");
    let directory = operated.directory.path();
    let mut client = operated.client();
    let shown = client.get("/tasks/settings").unwrap();
    fs::create_dir(directory.join("more")).unwrap();
    fs::write(directory.join("more/counted.json"), COUNTED).unwrap();
    fs::write(directory.join("more/notes.txt"), "of no task").unwrap();
    configure(directory, "development = true");
    let path = directory.join("hushbin.toml");
    let config = fs::read_to_string(&path).unwrap();
    let config = config.replace("['settings.json']", "['settings.json', 'more']");
    fs::write(&path, format!("batch_least = 7\n{config}")).unwrap();
    assert_eq!(client.get("/tasks/counted").unwrap().0, 404);

    let log = reload(&operated);
    assert!(
        log.contains(r#"added="counted" unchanged="settings""#),
        "{log}"
    );
    assert_eq!(client.get("/tasks/counted").unwrap().0, 200);
    // Settings that need a restart do not apply to new tasks either.
    assert!(log.contains("settings=\"batch_least\""), "{log}");
    let (_, settings) = client.get("/tasks/counted/settings").unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    assert_eq!(settings["batch"]["least"], 1000);

    // A changed file is refused, and the other files are still read.
    let changed = SETTINGS.replace("2.0", "1.0");
    fs::write(directory.join("settings.json"), &changed).unwrap();
    let third = COUNTED.replace("\"counted\"", "\"third\"");
    fs::write(directory.join("more/third.json"), third).unwrap();
    let invalid = r#"{ "id": "t", "items": 3, "sparsity": 9, "epsilon": 1.0, "value": "sign" }"#;
    fs::write(directory.join("more/invalid.json"), invalid).unwrap();
    let log = reload(&operated);
    assert!(log.contains("can never change once it is stored"), "{log}");
    assert!(log.contains("sparsity is 9"), "{log}");
    assert!(
        log.contains(r#"added="third" unchanged="counted""#),
        "{log}"
    );
    assert_eq!(client.get("/tasks/settings").unwrap(), shown);

    // Files that are gone delete no task, and a file that is no task changes nothing.
    fs::remove_dir_all(directory.join("more")).unwrap();
    assert!(reload(&operated).contains("stays as it is"));
    configure(directory, "development = true");
    let log = reload(&operated);
    assert!(log.contains(r#"added="" unchanged="settings""#), "{log}");
    for id in ["settings", "counted", "third"] {
        assert_eq!(client.get(&format!("/tasks/{id}")).unwrap().0, 200, "{id}");
    }
}

#[test]
fn tasks_of_requests_get_the_settings_of_the_options() {
    let operated =
        Operated::new("batch_least = 7\nbatch_hours = 5\norigins = ['https://example.org']\n");
    let directory = operated.directory.path();
    let admin = create_token(&directory.join("data"), "admin");
    let create = |body: &str| {
        let (_, answer) = ask(operated.address, &admin, "POST /tasks", body);
        answer
    };
    let task = |id: &str| SETTINGS.replacen("settings", id, 1);
    let plain = create(&task("plain"))["collection_settings"].take();
    assert_eq!(plain["batch"]["least"], 7);
    assert_eq!(plain["batch"]["hours"], 5);
    assert_eq!(plain["origins"][0], "https://example.org");
    let beside = create(&format!(r#"{{ "task": {} }}"#, task("beside")));
    assert_eq!(beside["collection_settings"], plain);
    let settings = r#"{ "batch": { "least": 9 }, "origins": null }"#;
    let body = format!(
        r#"{{ "task": {}, "collection_settings": {settings} }}"#,
        task("own")
    );
    let own = create(&body)["collection_settings"].take();
    assert_eq!(own["batch"]["least"], 9);
    assert_eq!(own["batch"]["hours"], 5);
    assert_eq!(own.get("origins"), None);

    let cut = create(&task("cut")[..30]);
    let detail = cut["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("the body is not valid JSON: "),
        "{detail}"
    );
}

/// Names of files in errors cannot change how the log is shown.
#[test]
fn the_log_shows_controls_of_names() {
    for format in ["text", "json"] {
        let operated = Operated::new(&format!("log_format = '{format}'"));
        let directory = operated.directory.path();
        let path = directory.join("hushbin.toml");
        let config = fs::read_to_string(&path).unwrap();
        let hostile = config.replace("settings.json", "no\u{202e}where.json");
        fs::write(&path, hostile).unwrap();
        let log = reload(&operated);
        assert!(log.contains("noU+202Ewhere.json"), "{log}");
        assert!(!log.contains('\u{202e}'), "{log}");
    }
}
