//! OpenAPI document of the HTTP interface.
//!
//! The document is written by hand. The tests below compare it with the routes, the required roles
//! and the problems. Integration tests compare it with responses.

use axum::response::IntoResponse;

use super::tasks;

pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

/// `GET /openapi.json`: the OpenAPI document of this version of the collector.
pub(super) async fn show() -> impl IntoResponse {
    (tasks::ASK_AGAIN, tasks::JSON, DOCUMENT)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::super::tests::documented;
    use super::*;

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    fn members(value: &Value) -> &Map<String, Value> {
        value.as_object().unwrap()
    }

    #[test]
    fn it_describes_the_routes_and_whom_they_are_for() {
        let document = document();
        let mut described = BTreeSet::new();
        for (path, methods) in members(&document["paths"]) {
            for (method, operation) in members(methods) {
                if method != "parameters" {
                    let security = operation["security"].clone();
                    described.insert((method.to_uppercase(), path.clone(), security.to_string()));
                }
            }
        }
        let of_table = |(method, path, whom): (&str, &str, &str)| {
            let security = match whom {
                "anyone" => json!([]),
                "shufflers" => json!([{ "signature": [] }]),
                whom => json!([{ "token": [whom.trim_end_matches('s')] }]),
            };
            (method.to_owned(), path.to_owned(), security.to_string())
        };
        let expected: BTreeSet<_> = documented().into_iter().map(of_table).collect();
        assert_eq!(described, expected);
    }

    #[test]
    fn it_is_of_this_version() {
        assert_eq!(document()["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    /// Returns slug, status and title of every problem in the source.
    fn problems() -> BTreeSet<(String, u16, String)> {
        include_str!("problem/kinds.rs")
            .lines()
            .filter_map(|line| {
                let kind = line.split_once("=> (\"")?.1.strip_suffix("),")?;
                serde_json::from_str(&format!("[\"{kind}]")).ok()
            })
            .collect()
    }

    #[test]
    fn it_describes_the_problems() {
        let document = document();
        let schemas = members(&document["components"]["schemas"]);
        let described = schemas.values().filter_map(|schema| {
            let own = &schema["properties"];
            let slug = own["type"]["const"].as_str()?;
            let own_kind = "urn:hushbin:problem:";
            let registered = "https://iana.org/assignments/http-problem-types#";
            let known = [own_kind, registered].into_iter();
            let slug = known.filter_map(|kind| slug.strip_prefix(kind)).next();
            Some((
                slug.unwrap().to_owned(),
                u16::try_from(own["status"]["const"].as_u64().unwrap()).unwrap(),
                own["title"]["const"].as_str().unwrap().to_owned(),
            ))
        });
        let defined = problems();
        assert!(defined.len() > 30, "{defined:?}");
        assert_eq!(described.collect::<BTreeSet<_>>(), defined);
    }

    /// Returns the names of the problem schemas that a response refers to.
    fn slugs(response: &Value) -> Vec<&str> {
        let schema = &response["content"]["application/problem+json"]["schema"];
        let several = schema["oneOf"].as_array().map(Vec::as_slice);
        several
            .unwrap_or(std::slice::from_ref(schema))
            .iter()
            .filter_map(|own| own["$ref"].as_str()?.strip_prefix("#/components/schemas/"))
            .collect()
    }

    #[test]
    fn every_problem_is_answered_somewhere_under_its_status() {
        let document = document();
        let resolve = |response: &Value| match response["$ref"].as_str() {
            Some(name) => document.pointer(&name[1..]).unwrap().clone(),
            None => response.clone(),
        };
        let operations = members(&document["paths"]).values().flat_map(members);
        let responses = operations.filter_map(|(_, own)| own.get("responses"));
        let mut answered: BTreeSet<(String, u16)> = responses
            .flat_map(members)
            .flat_map(|(status, response)| {
                let status: u16 = status.parse().unwrap();
                let response = resolve(response);
                let slugs = slugs(&response).into_iter();
                slugs
                    .map(|slug| (slug.to_owned(), status))
                    .collect::<Vec<_>>()
            })
            .collect();
        // This response belongs to no operation.
        let elsewhere = &document["components"]["responses"]["method-not-allowed"];
        answered.extend(
            slugs(elsewhere)
                .into_iter()
                .map(|slug| (slug.to_owned(), 405)),
        );
        let defined = problems()
            .into_iter()
            .map(|(slug, status, _)| (slug, status));
        assert_eq!(answered, defined.collect());
    }
}
