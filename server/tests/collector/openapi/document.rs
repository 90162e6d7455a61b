//! The OpenAPI document of a collector, and checks of responses against it.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Answer, App};

/// An OpenAPI document.
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Compiled validators by schema.
    validators: RefCell<HashMap<String, Validator>>,
}

impl Document {
    /// Wraps a document.
    pub(crate) fn new(value: Value) -> Self {
        Self {
            value,
            validators: RefCell::default(),
        }
    }

    pub(crate) async fn of(app: &App) -> Self {
        let answer = app.get("/openapi.json").await;
        let document = Self::new(answer.json());
        document.check("GET", "/openapi.json", &answer);
        document
    }

    /// Follows a reference, if the value is one.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(place) => self.value.pointer(&place[1..]).unwrap(),
            None => value,
        }
    }

    /// Returns paths, methods and operations.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&str, String, &Value)> {
        let paths = self.value["paths"].as_object().unwrap();
        paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap();
            let methods = methods.iter().filter(|(name, _)| *name != "parameters");
            methods.map(|(name, operation)| (path.as_str(), name.to_uppercase(), operation))
        })
    }

    /// Returns the query parameters of an operation.
    pub(crate) fn parameters<'a>(&'a self, operation: &'a Value) -> Vec<&'a Value> {
        let parameters = operation["parameters"].as_array();
        let parameters = parameters.into_iter().flatten();
        parameters.map(|own| self.resolve(own)).collect()
    }

    /// Validates a value against a schema.
    pub(crate) fn faults(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let mut validators = self.validators.borrow_mut();
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            // References point into the document, so the components are added to the schema.
            let mut whole = schema.clone();
            whole["components"] = self.value["components"].clone();
            jsonschema::draft202012::new(&whole).unwrap()
        });
        let said = |error: jsonschema::ValidationError| {
            format!("at {:?}: {error}", error.instance_path().as_str())
        };
        validator.validate(value).map_err(said)
    }

    /// Returns the operation of a method and a requested path.
    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let asked: Vec<&str> = path.split('?').next().unwrap().split('/').collect();
        let fits = |template: &str| {
            let template: Vec<&str> = template.split('/').collect();
            let alike = |(own, asked): (&&str, &&str)| own == asked || own.starts_with('{');
            template.len() == asked.len() && template.iter().zip(&asked).all(alike)
        };
        let mut operations = self.operations();
        operations
            .find(|(template, own, _)| own == method && fits(template))
            .map(|(_, _, operation)| operation)
    }

    /// Checks that the document describes a response.
    ///
    /// # Errors
    /// Difference from the description.
    pub(crate) fn holds(&self, method: &str, path: &str, answer: &Answer) -> Result<(), String> {
        let operation = self.operation(method, path).ok_or("no such operation")?;
        let response = operation["responses"].get(answer.status.as_str());
        let response = self.resolve(response.ok_or("no such status")?);
        for name in [
            "retry-after",
            "www-authenticate",
            "location",
            "accept-encoding",
        ] {
            let mut described = response["headers"].as_object().into_iter().flatten();
            let header = described.find(|(own, _)| own.eq_ignore_ascii_case(name));
            match (header, answer.header(name)) {
                (None, "") => {}
                (None, _) => return Err(format!("no header {name}")),
                (Some((_, header)), value) => {
                    let schema = &self.resolve(header)["schema"];
                    let value = match schema["type"].as_str() {
                        Some("integer") => value.parse().map_err(|_| format!("{name}: {value}"))?,
                        _ => Value::from(value),
                    };
                    self.faults(schema, &value)?;
                }
            }
        }
        let content = response["content"].as_object();
        let kind = answer.header("content-type").split(';').next().unwrap();
        let Some(content) = content else {
            return match (kind, &answer.body[..]) {
                ("", []) => Ok(()),
                _ => Err(format!("no content, not {kind:?}")),
            };
        };
        let schema = &content.get(kind).ok_or(format!("no content {kind:?}"))?["schema"];
        let value = match kind.ends_with("json") {
            true => serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?,
            false => String::from_utf8(answer.body.clone())
                .map_err(|error| error.to_string())?
                .into(),
        };
        self.faults(schema, &value)
    }

    /// Panics unless the document describes the response.
    #[track_caller]
    pub(crate) fn check(&self, method: &str, path: &str, answer: &Answer) {
        if let Err(fault) = self.holds(method, path, answer) {
            let body = String::from_utf8_lossy(&answer.body);
            panic!("{method} {path}: {} {body}\n{fault}", answer.status);
        }
    }
}

#[tokio::test]
async fn what_is_not_described_is_noticed() {
    let app = App::new();
    let document = Document::of(&app).await;
    let answer = || app.get("/tasks/settings");
    let faults = |answer| document.holds("GET", "/tasks/settings", &answer).is_err();
    assert!(!faults(answer().await));
    let status = axum::http::StatusCode::CREATED;
    assert!(faults(Answer {
        status,
        ..answer().await
    }));
    let mut other = answer().await;
    other
        .headers
        .insert("content-type", "text/csv".parse().unwrap());
    assert!(faults(other));
    let mut later = answer().await;
    later.headers.insert("retry-after", "1".parse().unwrap());
    assert!(faults(later));
    let whole = answer().await.json();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = whole.clone();
        change(&mut value);
        assert_ne!(value, whole);
        value.to_string().into_bytes()
    };
    for body in [
        changed(&|value| value["more"] = json!(1)),
        changed(&|value| value["fingerprint"] = json!("short")),
        changed(&|value| value["task"]["mechanism"]["name"] = json!("window")),
        changed(&|value| drop(value["task"].as_object_mut().unwrap().remove("items"))),
        b"{".to_vec(),
    ] {
        assert!(faults(Answer {
            body,
            ..answer().await
        }));
    }
    let refused = app.get("/tasks/other").await;
    assert!(document.holds("GET", "/tasks", &refused).is_err());
}
