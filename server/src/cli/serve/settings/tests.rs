//! Tests that sample files, help texts and code have the same settings and defaults.

use std::collections::BTreeMap;

use clap::{Args, Command};
use toml::Table;

use super::*;
use crate::cli::serve::config::{JournalConfig, RoleConfig, ServerConfig};
use crate::store::JournalLocation;

const FULL: &str = include_str!("../../../../config/full.toml");
const MINIMAL: &str = include_str!("../../../../config/minimal.toml");
const SHUFFLER: &str = include_str!("../../../../config/shuffler.toml");
const ANALYSER: &str = include_str!("../../../../config/analyser.toml");
const RELAY: &str = include_str!("../../../../config/relay.toml");
const NODE: &str = include_str!("../../../../config/node.toml");

/// Keys of the full sample that have no default, or a value other than the default.
const EXAMPLES: [&str; 7] = [
    "data",
    "hosts",
    "ohttp_keys",
    "origins",
    "tasks",
    "tls_certificate",
    "tls_key",
];

fn full() -> Table {
    FULL.parse().unwrap()
}

fn parsed(text: &str) -> ServeSettings {
    toml::from_str(text).unwrap()
}

/// Returns the help text of each setting, by the key in a configuration file.
fn helps() -> BTreeMap<String, String> {
    let command = ServeSettings::augment_args(Command::new("serve"));
    let help = |argument: &clap::Arg| argument.get_help().unwrap().to_string();
    command
        .get_arguments()
        .map(|argument| (argument.get_id().to_string(), help(argument)))
        .collect()
}

#[test]
fn the_full_samples_have_every_key() {
    let mut all = full();
    for other in [SHUFFLER, ANALYSER, RELAY, NODE] {
        all.extend(other.parse::<Table>().unwrap());
    }
    let keys: Vec<String> = all.keys().cloned().collect();
    assert_eq!(keys, helps().into_keys().collect::<Vec<_>>());
}

#[test]
fn addresses_to_listen_on_are_read_as_people_write_them() {
    for (text, address) in [
        ("127.0.0.1:8686", "127.0.0.1:8686"),
        ("[::1]:8686", "[::1]:8686"),
        ("localhost:8080", "127.0.0.1:8080"),
        ("localhost:0", "127.0.0.1:0"),
        (":8080", "0.0.0.0:8080"),
    ] {
        let settings = parsed(&format!("listen = '{text}'"));
        assert_eq!(settings.listen, address.parse().ok(), "{text}");
    }
    for text in [
        "",
        ":",
        "8080",
        "localhost",
        "localhost:x",
        "example.org:80",
        ":65536",
    ] {
        let error = toml::from_str::<ServeSettings>(&format!("listen = '{text}'")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("expected an IP address and a port")
        );
    }
}

#[test]
fn halves_need_their_own_keys_and_no_others() {
    let read = |text: &str| {
        let settings = parsed(text);
        let role = settings.role.unwrap_or_default().journal_role().unwrap();
        settings.read_role_keys(role)
    };
    let refused = |text: &str| match read(text) {
        Ok(_) => panic!("{text} has its keys"),
        Err(error) => error.to_string(),
    };
    let none = read("").unwrap();
    assert!(none.shuffler_keys.is_none() && none.analyser_keys.is_none());
    for (half, keys) in [
        (SHUFFLER, &["analyser", "analyser_key", "signing_key"][..]),
        (ANALYSER, &["sealing_keys", "shuffler_keys", "signing_key"]),
    ] {
        let whole: Table = half.parse().unwrap();
        let role = whole["role"].as_str().unwrap();
        for key in keys {
            let mut without = whole.clone();
            without.remove(*key).unwrap();
            let said = refused(&without.to_string());
            let option = format!("--{}", key.replace('_', "-").trim_end_matches('s'));
            assert_eq!(said, format!("--role {role} needs {option}"));
            // A collector may sign its task log.
            if *key == "signing_key" {
                continue;
            }
            without = Table::from_iter([((*key).to_owned(), whole[*key].clone())]);
            let said = refused(&without.to_string());
            assert_eq!(said, format!("{option} is not for --role collector"));
        }
        let said = refused(&format!("{half}\ndevelopment = true"));
        assert!(said.starts_with("--development is not for"), "{said}");
    }
}

/// Returns the part of a configuration that a role with a journal has.
fn journal(config: ServerConfig) -> JournalConfig {
    match config.role {
        RoleConfig::WithJournal(journal) => journal,
        RoleConfig::Relay(_) => panic!("it is a relay"),
    }
}

#[test]
fn a_relay_has_gateways_and_no_journal() {
    let refused = |text: &str| parsed(text).load_config().err().unwrap().to_string();
    let relay = |gateways: &str| {
        let text = format!("role = 'relay'\ngateways = [{gateways}]");
        match parsed(&text).load_config().unwrap().role {
            RoleConfig::Relay(relay) => relay.gateways,
            RoleConfig::WithJournal(_) => panic!("it has a journal"),
        }
    };
    let RoleConfig::Relay(sample) = parsed(RELAY).load_config().unwrap().role else {
        panic!("the sample has a journal");
    };
    assert_eq!(sample.gateways[0].name, "telemetry.example.org");
    let found = relay("'https://A.example', 'http://b.example:8080/', 'https://c.example/own'");
    let found: Vec<_> = found
        .iter()
        .map(|own| (&*own.name, own.address.to_string()))
        .collect();
    for (found, (name, address)) in found.iter().zip([
        ("a.example", "https://a.example/.well-known/ohttp-gateway"),
        (
            "b.example:8080",
            "http://b.example:8080/.well-known/ohttp-gateway",
        ),
        ("c.example", "https://c.example/own"),
    ]) {
        assert_eq!(found.0, name);
        assert_eq!(found.1.to_lowercase(), address);
    }
    assert_eq!(found.len(), 3);
    for url in [
        "a.example",
        "ftp://a.example",
        "https://a.example/?x=1",
        "https://u:p@a.example",
        "",
    ] {
        let said = refused(&format!("role = 'relay'\ngateways = ['{url}']"));
        let expected = format!("--gateway is {url:?}, expected an address such as https://");
        assert!(said.starts_with(&expected), "{said}");
    }
    let said = refused("role = 'relay'\ngateways = ['https://a.example', 'http://A.example/b']");
    assert_eq!(
        said,
        "two of --gateway have the host a.example, expected one"
    );
    assert_eq!(refused("role = 'relay'"), "--role relay needs --gateway");
    for key in ["data = 'd'", "ohttp_keys = ['k']", "development = true"] {
        let text = format!("{key}\nrole = 'relay'\ngateways = ['https://a.example']");
        let (name, _) = key.split_once(' ').unwrap();
        let said = format!("the setting {name} is not for --role relay");
        assert_eq!(refused(&text), said);
    }
    let said = refused("data = 'd'\ngateways = ['https://a.example']");
    assert_eq!(said, "--gateway is not for --role collector");
}

#[test]
fn the_full_sample_and_the_help_have_the_defaults() {
    let mut sample = full();
    sample.retain(|key, _| !EXAMPLES.contains(&key));
    for (key, value) in &sample {
        let value = match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let help = &helps()[key];
        let said = if key.ends_with("_per_peer") {
            format!("or {value} if --listen is a loopback address)")
        } else {
            format!("(default {value})")
        };
        assert!(help.replace('\n', " ").contains(&said), "{key}: {help}");
    }
    let config = |settings: ServeSettings| {
        let data = parsed("data = 'd'");
        settings
            .with_missing_settings_from(&data)
            .unwrap()
            .load_config()
            .unwrap()
    };
    let sampled = config(sample.try_into().unwrap());
    let default = config(ServeSettings::default());
    assert_eq!(sampled.listen_address, default.listen_address);
    assert_eq!(sampled.request_limits, default.request_limits);
    assert_eq!(sampled.server_options, default.server_options);
    assert_eq!(sampled.log_level, default.log_level);
    assert_eq!(sampled.log_format, default.log_format);
    let [sampled, default] = [sampled, default].map(journal);
    assert_eq!(sampled.store_options, default.store_options);
    assert_eq!(sampled.read_only, default.read_only);
}

#[test]
fn the_minimal_sample_has_what_is_needed() {
    let mut minimal: Table = MINIMAL.parse().unwrap();
    let settings = |table: Table| -> ServeSettings { table.try_into().unwrap() };
    minimal.insert("tasks".to_owned(), toml::Value::Array(Vec::new()));
    settings(minimal.clone()).load_config().unwrap();
    minimal.remove("data").unwrap();
    let error = settings(minimal).load_config().err().unwrap();
    assert!(error.to_string().contains("no data directory"), "{error}");
}

#[test]
fn a_journal_is_in_a_directory_or_in_a_database() {
    let place = |text: &str| {
        let settings = parsed(text);
        settings
            .load_config()
            .map(|config| journal(config).journal_location)
    };
    let refused = |text: &str| place(text).unwrap_err().to_string();
    let node = NODE.replace(r#""settings.json""#, "");
    let JournalLocation::Database(database) = place(&node).unwrap() else {
        panic!("it is a directory");
    };
    // The debug format hides the password.
    let shown = format!("{database:?}");
    assert!(shown.contains("db2.example.org"), "{shown}");
    assert!(!shown.contains("password"), "{shown}");
    let two = refused("data = 'd'\ndatabase = 'postgres://h/d'");
    assert!(
        two.contains("expected either --data or --database"),
        "{two}"
    );
    for (address, expected) in [
        ("mysql://h/d", "is neither a URL nor key=value pairs"),
        ("postgres://h/d?port=x", "cannot be read"),
        ("postgres://h/d?mode=x", "cannot be read"),
    ] {
        let said = refused(&format!("database = '{address}'"));
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("expected an address such as"), "{said}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_those_known() {
    let error = toml::from_str::<ServeSettings>("log = 'info'\nlisen = 'x'").unwrap_err();
    let said = error.to_string();
    assert!(said.contains("line 2"), "{said}");
    assert!(said.contains("unknown field `lisen`"), "{said}");
    for key in helps().keys() {
        assert!(said.contains(&format!("`{key}`")), "{key}: {said}");
    }
}

#[test]
fn flags_go_over_the_file() {
    let file = parsed("log = 'warn'\nmax_connections = 7\nhosts = ['a', 'b']");
    let flags = parsed("log = 'debug'\nhosts = ['c']");
    let both = flags.with_missing_settings_from(&file).unwrap();
    assert_eq!(both, parsed("log='debug'\nmax_connections=7\nhosts=['c']"));
    assert_eq!(both.differing_keys(&file).unwrap(), ["hosts", "log"]);
    assert!(both.differing_keys(&both).unwrap().is_empty());
}

#[test]
fn what_can_be_changed_exists() {
    for key in RUNTIME_CHANGEABLE_KEYS {
        assert!(helps().contains_key(key), "{key}");
    }
}
