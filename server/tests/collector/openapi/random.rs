//! Random requests: none causes a defect, and the document describes every response.

use std::collections::BTreeSet;
use std::fmt::Write;

use axum::http::Method;
use hushbin::sample::draw_below;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use super::Described;
use super::crowd::{ids, upload};
use super::document::Document;

const REQUESTS: usize = 2000;

/// Strings that are hardly ever valid, encoded for a query.
const WORDS: [&str; 20] = [
    "",
    "0",
    "-0",
    "1",
    "-1",
    "1-",
    "2-1",
    "1e999",
    "NaN",
    "inf",
    "0x1",
    "18446744073709551615",
    "1-18446744073709551615",
    "a,,b",
    ",",
    "%00",
    "%FF",
    "%2C",
    "+",
    "caf%C3%A9",
];

/// Ids of no task, or of an example's, encoded for a path.
const IDS: [&str; 8] = ["none", "%FF", "%00", "..", ".", "A", "a%2Fb", "visits"];

struct Random(ChaCha20Rng);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        draw_below(&mut self.0, count as u32) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A value encoded for a query, mostly one of this schema.
    fn value(&mut self, document: &Document, schema: &Value) -> String {
        let schema = document.resolve(schema);
        if self.one_in(4) {
            return (*self.of(&WORDS)).to_owned();
        }
        if let Some(words) = schema["enum"].as_array() {
            return self.of(words).as_str().unwrap().to_owned();
        }
        match schema["type"].as_str().unwrap() {
            "array" => {
                let count = 1 + self.below(3);
                let items = (0..count).map(|_| self.value(document, &schema["items"]));
                items.collect::<Vec<_>>().join(",")
            }
            "number" => {
                let end = |names: [&str; 2]| {
                    let mut found = names.iter().filter_map(|name| schema[*name].as_f64());
                    found.next().unwrap()
                };
                let low = end(["minimum", "exclusiveMinimum"]);
                let high = end(["maximum", "exclusiveMaximum"]);
                let part = [0.0, 1.0, 0.5, 0.01, -0.01, 1.01][self.below(6)];
                (low + (high - low) * part).to_string()
            }
            "string" => {
                let texts = [
                    "a", "b", "1", "2", "1-2", "query", "load", "theme", "times", "plan",
                ];
                (*self.of(&texts)).to_owned()
            }
            other => panic!("no parameters are of type {other}"),
        }
    }

    /// A query with some of an operation's parameters.
    fn query(&mut self, document: &Document, operation: &Value) -> String {
        let parameters = document.parameters(operation).into_iter();
        let of_query = parameters.filter(|own| own["in"] == "query");
        self.pairs(
            document,
            of_query.map(|own| (own["name"].as_str().unwrap(), &own["schema"])),
        )
    }

    /// Some named values, encoded for a query.
    fn pairs<'a>(
        &mut self,
        document: &Document,
        all: impl Iterator<Item = (&'a str, &'a Value)>,
    ) -> String {
        let mut query = String::new();
        for (name, schema) in all {
            if self.one_in(2) {
                let value = self.value(document, schema);
                write!(query, "&{name}={value}").unwrap();
            }
        }
        if self.one_in(8) {
            let word = self.of(&WORDS);
            write!(query, "&{word}={word}").unwrap();
        }
        query
    }

    /// An unexpected value for a body.
    fn thing(&mut self) -> Value {
        let things = [
            json!(null),
            json!(true),
            json!(""),
            json!("open"),
            json!("a"),
            json!(-1),
            json!(0),
            json!(1),
            json!(3),
            json!(0.5),
            json!(1e300),
            json!([]),
            json!({}),
            json!([1, "a"]),
            json!({ "name": "auto" }),
            json!({ "name": "collision", "buckets": 4 }),
        ];
        self.of(&things).clone()
    }

    /// Replaces some parts of a body by unexpected values.
    fn change(&mut self, value: &mut Value) {
        if self.one_in(8) {
            *value = self.thing();
        }
        match value {
            Value::Array(all) => all.iter_mut().for_each(|own| self.change(own)),
            Value::Object(all) => {
                all.retain(|_, _| !self.one_in(16));
                all.values_mut().for_each(|own| self.change(own));
                if self.one_in(16) {
                    all.insert("more".to_owned(), self.thing());
                }
            }
            _ => {}
        }
    }

    /// A body that an operation accepts, or nearly so.
    fn body(&mut self, document: &Document, operation: &Value, uploads: &[Vec<u8>]) -> Vec<u8> {
        let content = &operation["requestBody"]["content"];
        let form = &content["application/x-www-form-urlencoded"]["schema"];
        if let Some(fields) = document.resolve(form)["properties"].as_object() {
            let fields = fields.iter().map(|(name, schema)| (name.as_str(), schema));
            return self.pairs(document, fields).into_bytes();
        }
        if content["application/json"].is_null() {
            let mut bytes = self.of(uploads).clone();
            if self.one_in(2) {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            if self.one_in(4) {
                bytes.truncate(self.below(bytes.len()));
            }
            return bytes;
        }
        let examples = content["application/json"]["examples"].as_object().unwrap();
        let examples: Vec<&Value> = examples.values().collect();
        let mut body = document.resolve(&self.of(&examples)["value"]).clone();
        self.change(&mut body);
        body.to_string().into_bytes()
    }
}

#[tokio::test]
async fn nothing_that_is_asked_is_a_defect() {
    let described = Described::new().await;
    let document = &described.document;
    let operations: Vec<_> = document.operations().collect();
    let ids = ids();
    let uploads: Vec<Vec<u8>> = ids
        .iter()
        .map(|id| described.app.task(id))
        .map(|task| upload(&task, 2, 9).encode(&task.fingerprint()))
        .collect();
    let mut random = Random(ChaCha20Rng::seed_from_u64(1));
    let mut statuses = BTreeSet::new();
    for _ in 0..REQUESTS {
        let (template, method, operation) = random.of(&operations).clone();
        // Tasks with reports are not deleted.
        let id = match method != "DELETE" && !random.one_in(6) {
            true => random.of(&ids).as_str(),
            false => random.of(&IDS),
        };
        let query = random.query(document, operation);
        let path = format!("{}?{query}", template.replace("{id}", id));
        let body = random.body(document, operation, &uploads);
        let headers: &[(&str, &str)] = match random.below(8) {
            0 => &[("accept", "text/csv")],
            1 => &[("accept", "image/png")],
            2 => &[("content-encoding", "br")],
            3 => &[("origin", "https://example.org")],
            _ => &[],
        };
        let verb = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = described.app.send(verb, &path, headers, body).await;
        assert_ne!(answer.status, 500, "{method} {path}");
        document.check(&method, &path, &answer);
        statuses.insert(answer.status.as_u16());
    }
    // The mixture includes refused and successful requests.
    for status in [200, 201, 307, 400, 403, 404, 409, 415] {
        assert!(statuses.contains(&status), "{statuses:?}");
    }
}
