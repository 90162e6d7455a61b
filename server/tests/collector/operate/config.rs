//! The configuration file, the environment and flags.

use std::fs;
use std::path::Path;

use hushbin_tests::process;

use super::{Operated, configure};
use crate::ohttp::create_key;
use crate::support::tls;

/// Runs `--check-config` on a file, with variables and flags. Returns validity and output.
pub(super) fn check(path: &Path, variables: &[(&str, &str)], flags: &[&str]) -> (bool, String) {
    let output = process::command()
        .args(["serve", "--check-config", "--config"])
        .arg(path)
        .args(flags)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// What a start would refuse, the check refuses, too, also while a collector runs.
#[test]
fn a_changed_task_is_noticed_before_a_restart() {
    let operated = Operated::new("");
    let directory = operated.directory.path();
    let path = configure(directory, "");
    assert!(check(&path, &[], &[]).0);
    let task = directory.join("settings.json");
    let text = fs::read_to_string(&task).unwrap();
    fs::write(&task, text.replace("2.0", "1.0")).unwrap();
    let (valid, said) = check(&path, &[], &[]);
    assert!(
        !valid && said.contains("can never change once it is stored"),
        "{said}"
    );
    // A file of another format, or with invalid tokens, keeps a collector from starting.
    fs::write(&task, text).unwrap();
    let tokens = directory.join("data/tokens.json");
    fs::write(&tokens, "nothing").unwrap();
    let (valid, said) = check(&path, &[], &[]);
    assert!(
        !valid && said.contains("tokens.json is not a list of tokens"),
        "{said}"
    );
    fs::remove_file(tokens).unwrap();
    assert!(check(&path, &[], &["--batch-least", "7"]).0);
}

#[test]
fn samples_are_valid_beside_their_task() {
    for sample in [
        include_str!("../../../config/minimal.toml"),
        include_str!("../../../config/full.toml"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = configure(directory.path(), "");
        fs::write(&path, sample).unwrap();
        tls::issue(directory.path());
        create_key(directory.path(), "ohttp");
        // The samples name a directory of the machine.
        let data = directory.path().join("data");
        let data = ["--data", data.to_str().unwrap()];
        let said = check(&path, &[], &data);
        assert_eq!(said, (true, "the configuration is valid\n".to_owned()));
        // The check creates and opens no files.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 7);
        fs::remove_file(directory.path().join("settings.json")).unwrap();
        let (valid, said) = check(&path, &[], &[]);
        assert!(!valid && said.contains("settings.json"), "{said}");
    }
}

#[test]
fn flags_go_before_variables_and_variables_before_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = configure(directory.path(), "max_connections = 0");
    let wrong = |said: (bool, String)| said.1.contains("--max-connections is 0, expected 1 to");
    assert!(wrong(check(&path, &[], &[])));
    let variable = |value| [("HUSHBIN_MAX_CONNECTIONS", value)];
    assert!(check(&path, &variable("5"), &[]).0);
    let flag = |value| ["--max-connections", value];
    assert!(check(&path, &variable("0"), &flag("5")).0);
    assert!(wrong(check(&path, &variable("5"), &flag("0"))));
}

#[test]
fn what_is_wrong_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (
            "max_conections = 5",
            &["unknown field `max_conections`", "`max_connections`"][..],
        ),
        ("log = 'loud'", &["unknown variant `loud`", "`info`"]),
        ("hosts = ['a:80']", &["\"a:80\" is not a host"]),
        (
            "origins = ['https://example.org/']",
            &["origins is \"https://example.org/\", expected origins as browsers write them"],
        ),
        (
            "write_timeout = 0",
            &["--write-timeout is 0, expected 1 to 3600"],
        ),
        ("x = ", &["line 4"]),
    ] {
        let path = configure(directory.path(), more);
        let (valid, said) = check(&path, &[], &[]);
        assert!(!valid, "{more}");
        for part in expected {
            assert!(said.contains(part), "{more}: {said}");
        }
    }
    let task = r#"{ "id": "t", "items": 3, "sparsity": 9, "epsilon": 1.0, "value": "sign" }"#;
    let path = configure(directory.path(), "");
    fs::write(directory.path().join("settings.json"), task).unwrap();
    let (valid, said) = check(&path, &[], &[]);
    assert!(!valid && said.contains("sparsity is 9"), "{said}");
    let (valid, said) = check(Path::new("nowhere.toml"), &[], &[]);
    assert!(!valid && said.contains("nowhere.toml"), "{said}");
}

#[test]
fn variables_are_read_as_people_write_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = configure(directory.path(), "");
    let empty = [
        "HUSHBIN_DATA",
        "HUSHBIN_DATABASE",
        "HUSHBIN_DEVELOPMENT",
        "HUSHBIN_HOSTS",
        "HUSHBIN_LISTEN",
        "HUSHBIN_LOG",
        "HUSHBIN_MAX_CONNECTIONS",
        "HUSHBIN_TLS_KEY",
    ]
    .map(|name| (name, ""));
    for variables in [
        &empty[..],
        &[("HUSHBIN_LOG", "INFO"), ("HUSHBIN_LOG_FORMAT", "Json")],
        &[("HUSHBIN_LISTEN", "localhost:8080")],
        &[("HUSHBIN_LISTEN", ":8080")],
        &[("HUSHBIN_DEVELOPMENT", "1")],
        &[("HUSHBIN_DEVELOPMENT", "yes")],
        &[("HUSHBIN_DEVELOPMENT", "0"), ("HUSHBIN_ROLE", "Collector")],
    ] {
        let (valid, said) = check(&path, variables, &[]);
        assert!(valid, "{variables:?}: {said}");
    }
    for (variable, expected) in [
        (
            ("HUSHBIN_LISTEN", "example.org:80"),
            "expected an IP address and a port",
        ),
        (
            ("HUSHBIN_LISTEN", "8080"),
            "expected an IP address and a port",
        ),
        (("HUSHBIN_DEVELOPMENT", "perhaps"), "'perhaps'"),
    ] {
        let (valid, said) = check(&path, &[variable], &[]);
        assert!(!valid && said.contains(expected), "{variable:?}: {said}");
    }
}

#[test]
fn sighup_changes_what_can_be_changed_and_names_the_rest() {
    let operated = Operated::new("hosts = ['test']");
    let directory = operated.directory.path();
    let mut client = operated.client();
    assert_eq!(client.get("/tasks/settings").unwrap().0, 200);

    configure(
        directory,
        "hosts = ['other']\nlog = 'debug'\nmax_connections = 7",
    );
    operated.collector.signal("-HUP");
    while client.get("/tasks/settings").unwrap().0 != 421 {}
    let wait_for = |text: &str| while !operated.log().contains(text) {};
    wait_for("changed=\"hosts, log\"");
    wait_for("settings=\"max_connections\"");

    // An invalid configuration changes nothing.
    configure(directory, "hosts = ['test']\nlog = 'loud'");
    operated.collector.signal("-HUP");
    wait_for("unknown variant `loud`");
    assert_eq!(client.get("/tasks/settings").unwrap().0, 421);

    configure(directory, "hosts = ['test']");
    operated.collector.signal("-HUP");
    while client.get("/tasks/settings").unwrap().0 != 200 {}
}
