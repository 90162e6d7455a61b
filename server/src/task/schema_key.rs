//! JSON files with an optional key `$schema`, which editors add.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Key with the location of the file's schema.
pub(crate) const SCHEMA_KEY: &str = "$schema";

/// Parses the text of a file as a JSON object, ignoring the key `$schema`.
///
/// Only files may have this key. Network messages and complete tasks are parsed strictly.
///
/// # Errors
/// When the text is not a JSON object of the type `T`. The message contains line and column.
pub(crate) fn parse_without_schema_key<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut file = serde_json::Deserializer::from_str(text);
    let value = file.deserialize_map(ObjectVisitor(PhantomData))?;
    file.end()?;
    Ok(value)
}

/// Visitor that reads a JSON object as a `T`.
struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(WithoutSchemaKey {
            map,
            seen_schema: false,
        }))
    }
}

/// Entries of a JSON object, except the entry `$schema`.
struct WithoutSchemaKey<A> {
    map: A,
    seen_schema: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithoutSchemaKey<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            if key != SCHEMA_KEY {
                let key: StringDeserializer<A::Error> =
                    de::IntoDeserializer::into_deserializer(key);
                return seed.deserialize(key).map(Some);
            }
            if self.seen_schema {
                return Err(de::Error::duplicate_field(SCHEMA_KEY));
            }
            self.seen_schema = true;
            // The value must be a string, but is not used.
            let _: String = self.map.next_value()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        first: u32,
        second: String,
    }

    #[test]
    fn the_note_is_read_past_wherever_it_stands() {
        let pair = Pair {
            first: 1,
            second: "b".to_owned(),
        };
        for text in [
            r#"{ "first": 1, "second": "b" }"#,
            r#"{ "$schema": "s", "first": 1, "second": "b" }"#,
            r#"{ "first": 1, "$schema": "s", "second": "b" }"#,
            r#"{ "first": 1, "second": "b", "$schema": "s" }"#,
        ] {
            assert_eq!(parse_without_schema_key::<Pair>(text).unwrap(), pair);
        }
    }

    #[test]
    fn all_else_is_refused_as_it_is_without_one() {
        for (text, expected) in [
            (
                r#"{ "$schema": 3, "first": 1, "second": "b" }"#,
                "invalid type: integer `3`",
            ),
            (
                r#"{ "$schema": null, "first": 1, "second": "b" }"#,
                "invalid type: null",
            ),
            (
                r#"{ "$schema": "s", "$schema": "s" }"#,
                "duplicate field `$schema`",
            ),
            (
                r#"{ "$schema": "s", "first": 1 }"#,
                "missing field `second`",
            ),
            (r#"{ "$schema": "s" } 2"#, "missing field `first`"),
            (r#"{ "first": 1, "second": "b" } 2"#, "trailing characters"),
            (r#"[1, "b"]"#, "invalid type: sequence, expected an object"),
        ] {
            let said = parse_without_schema_key::<Pair>(text)
                .unwrap_err()
                .to_string();
            assert!(said.starts_with(expected), "{said}");
        }
        let text = "{\n  \"$schema\": \"s\",\n  \"third\": 1\n}";
        let error = parse_without_schema_key::<Pair>(text).unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 9), "{error}");
        assert!(
            error.to_string().starts_with("unknown field `third`"),
            "{error}"
        );
    }
}
