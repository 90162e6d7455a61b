//! OpenAPI document of the HTTP interface.
//!
//! The document is written by hand. The tests below compare it with the routes, the required roles
//! and the problems. Integration tests compare it with responses.

use axum::response::IntoResponse;

use super::tasks;

pub(crate) const OPENAPI_JSON: &str = include_str!("openapi.json");

/// `GET /openapi.json`: the OpenAPI document of this version of the collector.
pub(super) async fn get_openapi_document() -> impl IntoResponse {
    (
        tasks::CACHE_CONTROL_NO_CACHE,
        tasks::JSON_CONTENT_TYPE_HEADER,
        OPENAPI_JSON,
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::super::tests::documented;
    use super::*;

    fn parse_openapi_document() -> Value {
        serde_json::from_str(OPENAPI_JSON).unwrap()
    }

    fn object_members(value: &Value) -> &Map<String, Value> {
        value.as_object().unwrap()
    }

    #[test]
    fn openapi_describes_all_routes() {
        let document = parse_openapi_document();
        let mut described = BTreeSet::new();
        for (path, methods) in object_members(&document["paths"]) {
            for (method, operation) in object_members(methods) {
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
    fn openapi_has_package_version() {
        assert_eq!(
            parse_openapi_document()["info"]["version"],
            env!("CARGO_PKG_VERSION")
        );
    }

    /// Returns slug, status and title of every problem in the source.
    fn problems_in_source() -> BTreeSet<(String, u16, String)> {
        include_str!("problem/kinds.rs")
            .lines()
            .filter_map(|line| {
                let kind = line.split_once("=> (\"")?.1.strip_suffix("),")?;
                serde_json::from_str(&format!("[\"{kind}]")).ok()
            })
            .collect()
    }

    #[test]
    fn openapi_describes_all_problems() {
        let document = parse_openapi_document();
        let schemas = object_members(&document["components"]["schemas"]);
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
        let defined = problems_in_source();
        assert!(defined.len() > 30, "{defined:?}");
        assert_eq!(described.collect::<BTreeSet<_>>(), defined);
    }

    /// Returns the names of the problem schemas that a response refers to.
    fn problem_slugs(response: &Value) -> Vec<&str> {
        let schema = &response["content"]["application/problem+json"]["schema"];
        let several = schema["oneOf"].as_array().map(Vec::as_slice);
        several
            .unwrap_or(std::slice::from_ref(schema))
            .iter()
            .filter_map(|own| own["$ref"].as_str()?.strip_prefix("#/components/schemas/"))
            .collect()
    }

    #[test]
    fn every_problem_has_a_response() {
        let document = parse_openapi_document();
        let resolve = |response: &Value| match response["$ref"].as_str() {
            Some(name) => document.pointer(&name[1..]).unwrap().clone(),
            None => response.clone(),
        };
        let operations = object_members(&document["paths"])
            .values()
            .flat_map(object_members);
        let responses = operations.filter_map(|(_, own)| own.get("responses"));
        let mut answered: BTreeSet<(String, u16)> = responses
            .flat_map(object_members)
            .flat_map(|(status, response)| {
                let status: u16 = status.parse().unwrap();
                let response = resolve(response);
                let slugs = problem_slugs(&response).into_iter();
                slugs
                    .map(|slug| (slug.to_owned(), status))
                    .collect::<Vec<_>>()
            })
            .collect();
        // This response belongs to no operation.
        let elsewhere = &document["components"]["responses"]["method-not-allowed"];
        answered.extend(
            problem_slugs(elsewhere)
                .into_iter()
                .map(|slug| (slug.to_owned(), 405)),
        );
        let defined = problems_in_source()
            .into_iter()
            .map(|(slug, status, _)| (slug, status));
        assert_eq!(answered, defined.collect());
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn references(value: &Value) -> Vec<&str> {
            match value {
                Value::Object(members) => {
                    let own = members.get("$ref").and_then(Value::as_str);
                    let inner = members.values().flat_map(references);
                    own.into_iter().chain(inner).collect()
                }
                Value::Array(elements) => elements.iter().flat_map(references).collect(),
                _ => Vec::new(),
            }
        }
        let document = parse_openapi_document();
        let targets = references(&document);
        assert!(!targets.is_empty());
        for target in targets {
            let found = target
                .strip_prefix('#')
                .and_then(|own| document.pointer(own));
            assert!(found.is_some(), "{target}");
        }
    }
}
