//! JSON schema of the configuration file, made from the command-line options.

use std::any::TypeId;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Args, Command};
use serde_json::{Map, Value, json};

use super::settings::ServeSettings;
use crate::cli::serve::config;

/// Pattern of an IP address, `localhost` or nothing, and a port. An IPv6 address is in brackets.
const SOCKET_ADDRESS_PATTERN: &str = r"^([0-9.]*|localhost|\[[0-9A-Fa-f:.%]+\]):[0-9]{1,5}$";

/// Returns the schema of each key of the configuration file.
///
/// Dependencies between keys are left out, because a flag or a variable can supply the key that the
/// file lacks.
pub(in crate::cli) fn option_schemas() -> Map<String, Value> {
    let command = ServeSettings::augment_args(Command::new("serve"));
    let property = |argument: &Arg| (argument.get_id().to_string(), option_schema(argument));
    command.get_arguments().map(property).collect()
}

fn option_schema(argument: &Arg) -> Value {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.expect("a test asks each for its help").to_string();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut schema = match argument.get_action() {
        ArgAction::Append => json!({ "type": "array", "items": value_schema(argument) }),
        _ => value_schema(argument),
    };
    if let Some(default) = default_in_help(&help, &schema) {
        schema["default"] = default;
    }
    let values = argument.get_possible_values();
    let values = values.iter().filter_map(|own| {
        let help = own.get_help()?;
        Some(format!("\n{}: {help}", own.get_name()))
    });
    schema["description"] = (help + &values.collect::<String>()).into();
    schema
}

/// Returns the schema of one value of an option.
fn value_schema(argument: &Arg) -> Value {
    let parser = argument.get_value_parser();
    let is = |own: TypeId| parser.type_id() == own;
    let whole = |greatest: Option<u64>| {
        let bounds = config::range_of_option(argument.get_id().as_str());
        let (least, greatest) = match bounds {
            Some(bounds) => (
                *bounds.permitted_range.start(),
                Some(*bounds.permitted_range.end()),
            ),
            None => (0, greatest),
        };
        let mut schema = json!({ "type": "integer", "minimum": least });
        if let Some(greatest) = greatest {
            schema["maximum"] = greatest.into();
        }
        schema
    };
    if is(TypeId::of::<bool>()) {
        json!({ "type": "boolean" })
    } else if is(TypeId::of::<u32>()) {
        whole(Some(u32::MAX.into()))
    } else if is(TypeId::of::<u64>()) || is(TypeId::of::<usize>()) {
        whole(None)
    } else if is(TypeId::of::<SocketAddr>()) {
        json!({ "type": "string", "pattern": SOCKET_ADDRESS_PATTERN })
    } else if is(TypeId::of::<PathBuf>()) || is(TypeId::of::<String>()) {
        json!({ "type": "string" })
    } else {
        let values = argument.get_possible_values();
        assert!(
            !values.is_empty(),
            "an option is of a type that is not known here"
        );
        let names: Vec<&str> = values.iter().map(|own| own.get_name()).collect();
        json!({ "type": "string", "enum": names })
    }
}

/// Returns the default that a help text states at its end, if this schema permits the default.
fn default_in_help(help: &str, schema: &Value) -> Option<Value> {
    let (_, said) = help.strip_suffix(')')?.rsplit_once("(default ")?;
    match schema["type"].as_str()? {
        "boolean" => said.parse().map(Value::Bool).ok(),
        "integer" => said.parse::<u64>().map(Value::from).ok(),
        "string" => Some(said.into()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use jsonschema::Validator;
    use toml::Table;

    use super::*;

    fn sample_config_table() -> Table {
        let texts = [
            include_str!("../../../config/shuffler.toml"),
            include_str!("../../../config/analyser.toml"),
            include_str!("../../../config/relay.toml"),
            include_str!("../../../config/node.toml"),
            include_str!("../../../config/full.toml"),
        ];
        let tables = texts.map(|text| text.parse::<Table>().unwrap());
        tables.into_iter().flatten().collect()
    }

    fn config_schema_validator() -> Validator {
        let schema = json!({ "properties": option_schemas(), "additionalProperties": false });
        jsonschema::draft7::new(&schema).unwrap()
    }

    /// Configuration file with one key, in two forms: as JSON for the schema, and as the command
    /// reads it.
    struct SingleKeyConfigFile(Value, Result<ServeSettings, toml::de::Error>);

    impl SingleKeyConfigFile {
        fn config_file_with_key(key: &str, value: &Value) -> Self {
            let value = json!({ key: value });
            let text = toml::to_string(&value).unwrap();
            Self(value, toml::from_str(&text))
        }

        /// Returns true if the file is a valid configuration.
        fn is_valid_config(&self) -> bool {
            let data = toml::from_str::<ServeSettings>("data = 'data'").unwrap();
            let whole = |settings: &ServeSettings| {
                settings
                    .with_missing_settings_from(&data)
                    .unwrap()
                    .load_config()
            };
            self.1
                .as_ref()
                .is_ok_and(|settings| whole(settings).is_ok())
        }
    }

    #[test]
    fn schema_has_exactly_config_keys() {
        let error = toml::from_str::<ServeSettings>("lisen = 1").unwrap_err();
        let (_, expected) = error.message().split_once("expected one of ").unwrap();
        let keys = expected
            .split(", ")
            .map(|key| key.trim_matches('`').to_owned());
        let described = option_schemas();
        assert_eq!(
            keys.collect::<BTreeSet<_>>(),
            described.keys().cloned().collect()
        );
        assert!(described.len() > 30);
    }

    #[test]
    fn schema_matches_config_parser() {
        let validator = config_schema_validator();
        let things = [
            json!(true),
            json!(-1),
            json!(0),
            json!(7),
            json!(5_000_000_000_u64),
            json!(1.5),
            json!(""),
            json!("text"),
            json!("warn"),
            json!("1.2.3.4:80"),
            json!("[::1]:0"),
            json!("localhost:80"),
            json!(":80"),
            json!("example.org:80"),
            json!([]),
            json!(["a"]),
            json!([1]),
            json!([["a"]]),
            json!({}),
        ];
        let mut refused = 0;
        for (key, sample) in sample_config_table() {
            let misspelt = SingleKeyConfigFile::config_file_with_key(
                &format!("{key}x"),
                &serde_json::to_value(&sample).unwrap(),
            );
            assert!(
                misspelt.1.is_err() && !validator.is_valid(&misspelt.0),
                "{key}"
            );
            for thing in things
                .iter()
                .cloned()
                .chain([serde_json::to_value(&sample).unwrap()])
            {
                let file = SingleKeyConfigFile::config_file_with_key(&key, &thing);
                let fits = validator.is_valid(&file.0);
                refused += usize::from(!fits);
                // Files that fit the schema parse, and valid configurations fit the schema.
                assert!(
                    !fits || file.1.is_ok(),
                    "only the command refuses {}",
                    file.0
                );
                assert!(
                    fits || !file.is_valid_config(),
                    "only the schema refuses {}",
                    file.0
                );
            }
        }
        assert!(refused > 400, "{refused}");
    }

    #[test]
    fn schema_ranges_match_validation() {
        let validator = config_schema_validator();
        let mut bounded = 0;
        for (key, property) in option_schemas() {
            let end = |name: &str| property[name].as_u64();
            let (Some(least), most) = (end("minimum"), end("maximum")) else {
                continue;
            };
            bounded += 1;
            let [below, above] = [json!(least as i64 - 1), json!(most.map(|most| most + 1))];
            for (value, fits) in [
                (below, false),
                (json!(least), true),
                (json!(most), true),
                (above, false),
            ] {
                if value.is_null() {
                    continue;
                }
                let file = SingleKeyConfigFile::config_file_with_key(&key, &value);
                assert_eq!(validator.is_valid(&file.0), fits, "{}", file.0);
                // Other options limit these from below.
                let by_another = ["batch_most", "queue_bytes"].contains(&key.as_str());
                if !(fits && by_another) {
                    assert_eq!(file.is_valid_config(), fits, "{}", file.0);
                }
            }
        }
        assert_eq!(bounded, 14);
    }

    #[test]
    fn schema_defaults_match_sample() {
        let sample: Table = include_str!("../../../config/full.toml").parse().unwrap();
        let validator = config_schema_validator();
        let mut defaults = BTreeSet::new();
        for (key, property) in option_schemas() {
            if let Some(default) = property.get("default") {
                assert_eq!(
                    serde_json::to_value(&sample[&key]).unwrap(),
                    *default,
                    "{key}"
                );
                assert!(validator.is_valid(&json!({ &key: default })), "{key}");
                defaults.insert(key);
            }
        }
        // Lists and paths have no default here, nor do options whose default depends on other
        // options.
        for (key, value) in &sample {
            let open = ["data", "tls_certificate", "tls_key"].contains(&key.as_str())
                || key.ends_with("_per_peer")
                || value.is_array();
            assert_eq!(defaults.contains(key), !open, "{key}");
        }
    }

    #[test]
    fn schema_describes_each_role_value() {
        let role = &option_schemas()["role"];
        assert_eq!(
            role["enum"],
            json!(["collector", "shuffler", "analyser", "relay"])
        );
        let said = role["description"].as_str().unwrap();
        assert!(said.contains("\nshuffler: "), "{said}");
        assert_eq!(role["default"], "collector");
    }
}
