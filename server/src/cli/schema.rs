//! `hushbin schema`: JSON schemas of task and configuration files, for editors.

use std::io::Write;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::output::Error;
use super::serve;
use crate::http::OPENAPI;
use crate::task::file_keys;

/// Print the JSON schema of task files or of the configuration file, for editors
///
/// With the schema, an editor completes and checks such files as you type. The schema is for this
/// version of hushbin. A task file refers to the schema with the key '$schema', and a configuration
/// file with the first line '#:schema PATH'.
#[derive(Debug, Args)]
pub(super) struct SchemaCommandOptions {
    /// Kind of file that the schema describes
    #[arg(value_name = "KIND", value_enum)]
    kind: DescribedFileKind,
}

/// Kind of file that people write.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum DescribedFileKind {
    /// Task file (JSON)
    Task,
    /// Configuration file of 'hushbin serve' (TOML)
    Config,
}

pub(super) fn run_schema_command(
    options: &SchemaCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let schema = match options.kind {
        DescribedFileKind::Task => task_file_schema(),
        DescribedFileKind::Config => config_file_schema(),
    };
    writeln!(out, "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(())
}

/// Returns the identifier of a schema, which contains the version of the command.
fn schema_id(name: &str) -> String {
    format!("urn:hushbin:schema:{name}:{}", env!("CARGO_PKG_VERSION"))
}

/// Returns the schema of the configuration file. It uses only keywords that have not changed since
/// draft 4 of JSON Schema, because editors of TOML support no later draft.
fn config_file_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": schema_id("config"),
        "title": "hushbin configuration",
        "description": "Options of hushbin serve. A flag overrides its environment \
                        variable, and an environment variable overrides this file.",
        "type": "object",
        "properties": serve::option_schemas(),
        "additionalProperties": false,
    })
}

/// Prefix of references to other schemas in an OpenAPI 3.1 document.
const OPENAPI_SCHEMAS_PREFIX: &str = "#/components/schemas/";
/// Prefix of references to other schemas in a JSON schema.
const JSON_SCHEMA_DEFINITIONS_PREFIX: &str = "#/$defs/";

/// Returns the JSON schema of task files. It is the schema of the task in `POST /tasks`, plus the
/// keys that only files have.
fn task_file_schema() -> Value {
    let text = OPENAPI.replace(OPENAPI_SCHEMAS_PREFIX, JSON_SCHEMA_DEFINITIONS_PREFIX);
    let mut document: Value = serde_json::from_str(&text).expect("a test reads it as JSON");
    let all = &mut document["components"]["schemas"];
    let root = all["task-draft"].take();
    let mut definitions = Map::new();
    let mut open = referenced_definition_names(&root);
    while let Some(name) = open.pop() {
        if !definitions.contains_key(&name) {
            let own = all[&name].take();
            open.extend(referenced_definition_names(&own));
            definitions.insert(name, own);
        }
    }
    for form in referenced_definition_names(&root) {
        let properties = &mut definitions[&form]["properties"];
        properties[file_keys::SCHEMA_KEY] = json!({
            "description": "Location of this schema, for editors. It is not part of the task.",
            "type": "string",
        });
        let (min, max) = file_keys::LABEL_COUNT_RANGE.into_inner();
        properties[file_keys::LABELS_KEY] = json!({
            "description": "Public labels of reports, such as the variants of an experiment. The \
                            file describes one task for each, with the id ID:LABEL.",
            "type": "array",
            "items": { "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$" },
            "minItems": min,
            "maxItems": max,
            "uniqueItems": true,
        });
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("task"),
        "title": "hushbin task",
        "description": root["description"],
        "oneOf": root["oneOf"],
        "$defs": definitions,
    })
}

/// Returns the names of the definitions that a schema refers to.
fn referenced_definition_names(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(all) => {
            let own = all.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|place| place.strip_prefix(JSON_SCHEMA_DEFINITIONS_PREFIX));
            let below = all.values().flat_map(referenced_definition_names);
            own.map(str::to_owned).into_iter().chain(below).collect()
        }
        Value::Array(all) => all.iter().flat_map(referenced_definition_names).collect(),
        _ => Vec::new(),
    }
}
