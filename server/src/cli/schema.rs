//! `hushbin schema`: what files may say, told to editors.

use std::io::Write;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::output::Error;
use super::serve;
use crate::http::OPENAPI;
use crate::task::schema_key;

/// Print the JSON schema of a file, by which editors complete and check it
///
/// It is of this version of the command. A task file names it as its "$schema", a configuration
/// file in a first line `#:schema PATH`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Kind of the file
    #[arg(value_name = "KIND", value_enum)]
    of: Of,
}

/// Files that people write.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    /// A task file (JSON)
    Task,
    /// The configuration file of hushbin serve (TOML)
    Config,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    let schema = match options.of {
        Of::Task => task(),
        Of::Config => config(),
    };
    writeln!(out, "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(())
}

/// What a schema is known by: another version of the command has another one.
fn id(name: &str) -> String {
    format!("urn:hushbin:schema:{name}:{}", env!("CARGO_PKG_VERSION"))
}

/// That of the configuration file, in words of JSON Schema that have not changed since its
/// draft 4, which is what editors of TOML know.
fn config() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": id("config"),
        "title": "hushbin configuration",
        "description": "Options of hushbin serve. A flag goes before its environment \
                        variable, and that before the file.",
        "type": "object",
        "properties": serve::properties(),
        "additionalProperties": false,
    })
}

/// Where schemas are in a document of OpenAPI 3.1, and in one of their own.
const COMPONENTS: &str = "#/components/schemas/";
const DEFINITIONS: &str = "#/$defs/";

/// That of a task file: what `POST /tasks` takes as a task, and the key of the schema itself.
fn task() -> Value {
    let text = OPENAPI.replace(COMPONENTS, DEFINITIONS);
    let mut document: Value = serde_json::from_str(&text).expect("a test reads it as JSON");
    let all = &mut document["components"]["schemas"];
    let root = all["task-draft"].take();
    let mut definitions = Map::new();
    let mut open = named(&root);
    while let Some(name) = open.pop() {
        if !definitions.contains_key(&name) {
            let own = all[&name].take();
            open.extend(named(&own));
            definitions.insert(name, own);
        }
    }
    for form in named(&root) {
        definitions[&form]["properties"][schema_key::KEY] = json!({
            "description": "Where this schema is, for editors; no part of the task.",
            "type": "string",
        });
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": id("task"),
        "title": "hushbin task",
        "description": root["description"],
        "oneOf": root["oneOf"],
        "$defs": definitions,
    })
}

/// Definitions that a schema refers to.
fn named(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(all) => {
            let own = all.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|place| place.strip_prefix(DEFINITIONS));
            let below = all.values().flat_map(named);
            own.map(str::to_owned).into_iter().chain(below).collect()
        }
        Value::Array(all) => all.iter().flat_map(named).collect(),
        _ => Vec::new(),
    }
}
