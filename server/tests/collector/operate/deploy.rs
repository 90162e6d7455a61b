//! Files of `server/deploy`, compared with the program.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use hushbin_tests::process::{self, Collector};

use super::configure;

const UNIT: &str = include_str!("../../../deploy/hushbin.service");
const CONTAINER: &str = include_str!("../../../deploy/Containerfile");
const FULL: &str = include_str!("../../../config/full.toml");

/// Returns the number after a name and an equals sign.
fn number(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let value = value.and_then(|rest| rest.trim_start().strip_prefix('='));
    value.unwrap().trim().parse().unwrap()
}

#[test]
fn the_unit_gives_the_collector_what_it_takes() {
    let stop = number(UNIT, "TimeoutStopSec");
    assert!(stop > number(FULL, "drain_timeout") + 10);
    let files = number(UNIT, "LimitNOFILE");
    assert!(files > number(FULL, "max_connections") + 1024);
}

#[test]
fn what_is_started_takes_the_file_of_the_samples() {
    let directory = tempfile::tempdir().unwrap();
    let file = configure(directory.path(), "");
    let command = |line: &str| -> Vec<String> {
        let words = line.split_whitespace().skip(1);
        words
            .map(|word| word.replace("/etc/hushbin/hushbin.toml", file.to_str().unwrap()))
            .collect()
    };
    let started = |name: &str| {
        let line = UNIT.lines().find_map(|line| line.strip_prefix(name));
        command(line.unwrap())
    };
    let entry = CONTAINER
        .lines()
        .find_map(|line| line.strip_prefix("ENTRYPOINT "))
        .unwrap();
    let entry: Vec<String> = serde_json::from_str(entry).unwrap();
    let mut tried = 0;
    for mut words in [
        started("ExecStartPre="),
        started("ExecStart="),
        command(&entry.join(" ")),
    ] {
        words.retain(|word| word != "--check-config");
        let checked = process::command()
            .args(&words)
            .arg("--check-config")
            .output();
        assert!(checked.unwrap().status.success(), "{words:?}");
        tried += 1;
    }
    assert_eq!(tried, 3);
}

#[test]
fn the_service_manager_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager
        .set_read_timeout(Some(Duration::from_secs(300)))
        .unwrap();
    let told = || {
        let mut bytes = [0; 100];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).trim().to_owned()
    };
    let mut command = process::command();
    command
        .args(["serve", "--config"])
        .arg(configure(directory.path(), "log = 'error'"))
        .env("NOTIFY_SOCKET", &path);
    let mut collector = Collector::start(command);
    collector.address();
    assert_eq!(told(), "READY=1");
    collector.terminate();
    assert_eq!(told(), "STOPPING=1");
    assert!(collector.wait(Duration::from_secs(300)).success());
}
