//! JSON objects in files, with keys that only files have.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Key with the location of the file's schema, which editors add.
pub(crate) const SCHEMA_KEY: &str = "$schema";
/// Key with the labels of a task. The file describes one task for each.
pub(crate) const LABELS_KEY: &str = "labels";

/// Numbers of labels that a task may have.
pub(crate) const LABEL_COUNT_RANGE: RangeInclusive<usize> = 1..=64;

/// Parses the text of a file as a JSON object. Returns the object without the keys that only files
/// have, and the labels, which are empty if the file has none.
///
/// Network messages and complete tasks have none of these keys, and are parsed strictly.
///
/// # Errors
/// When the text is not a JSON object of the type `T`, or the labels are invalid. The message
/// contains line and column.
pub(crate) fn parse_with_file_keys<T: DeserializeOwned>(
    text: &str,
) -> serde_json::Result<(T, Vec<String>)> {
    let mut file = serde_json::Deserializer::from_str(text);
    let parsed = file.deserialize_map(ObjectVisitor(PhantomData))?;
    file.end()?;
    Ok(parsed)
}

/// Visitor that reads a JSON object as a `T`.
struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = (T, Vec<String>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut labels = None;
        let value = T::deserialize(MapAccessDeserializer::new(WithoutFileKeys {
            map,
            seen_schema: false,
            labels: &mut labels,
        }))?;
        Ok((value, labels.unwrap_or_default()))
    }
}

/// Entries of a JSON object, except those that only files have.
struct WithoutFileKeys<'a, A> {
    map: A,
    seen_schema: bool,
    labels: &'a mut Option<Vec<String>>,
}

impl<'de, A: MapAccess<'de>> WithoutFileKeys<'_, A> {
    fn read_schema(&mut self) -> Result<(), A::Error> {
        if self.seen_schema {
            return Err(de::Error::duplicate_field(SCHEMA_KEY));
        }
        self.seen_schema = true;
        // The value must be a string, but is not used.
        let _: String = self.map.next_value()?;
        Ok(())
    }

    fn read_labels(&mut self) -> Result<(), A::Error> {
        if self.labels.is_some() {
            return Err(de::Error::duplicate_field(LABELS_KEY));
        }
        let labels: Vec<String> = self.map.next_value()?;
        if !LABEL_COUNT_RANGE.contains(&labels.len()) {
            let (min, max) = LABEL_COUNT_RANGE.into_inner();
            let count = labels.len();
            return Err(de::Error::custom(format_args!(
                "number of labels is {count}, expected {min} to {max}"
            )));
        }
        if let Some(twice) = (1..labels.len()).find(|&at| labels[..at].contains(&labels[at])) {
            let label = &labels[twice];
            return Err(de::Error::custom(format_args!("two labels are {label:?}")));
        }
        *self.labels = Some(labels);
        Ok(())
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithoutFileKeys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            match key.as_str() {
                SCHEMA_KEY => self.read_schema()?,
                LABELS_KEY => self.read_labels()?,
                _ => {
                    let key: StringDeserializer<A::Error> =
                        de::IntoDeserializer::into_deserializer(key);
                    return seed.deserialize(key).map(Some);
                }
            }
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

    #[derive(Debug, Clone, PartialEq, Deserialize)]
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
            assert_eq!(
                parse_with_file_keys::<Pair>(text).unwrap(),
                (pair.clone(), vec![])
            );
        }
    }

    #[test]
    fn labels_are_read_wherever_they_are() {
        for text in [
            r#"{ "labels": ["b", "a"], "first": 1, "second": "b" }"#,
            r#"{ "first": 1, "$schema": "s", "second": "b", "labels": ["b", "a"] }"#,
        ] {
            let (_, labels) = parse_with_file_keys::<Pair>(text).unwrap();
            assert_eq!(labels, ["b", "a"]);
        }
        let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
        for (labels, expected) in [
            ("[]".to_owned(), "number of labels is 0, expected 1 to 64"),
            (
                format!("{many:?}"),
                "number of labels is 65, expected 1 to 64",
            ),
            (r#"["a", "b", "a"]"#.to_owned(), "two labels are \"a\""),
            (
                r#""a""#.to_owned(),
                "invalid type: string \"a\", expected a sequence",
            ),
            (
                r#"["a"], "labels": ["b"]"#.to_owned(),
                "duplicate field `labels`",
            ),
        ] {
            let text = format!(r#"{{ "labels": {labels}, "first": 1, "second": "b" }}"#);
            let error = parse_with_file_keys::<Pair>(&text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
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
            let said = parse_with_file_keys::<Pair>(text).unwrap_err().to_string();
            assert!(said.starts_with(expected), "{said}");
        }
        let text = "{\n  \"$schema\": \"s\",\n  \"third\": 1\n}";
        let error = parse_with_file_keys::<Pair>(text).unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 9), "{error}");
        assert!(
            error.to_string().starts_with("unknown field `third`"),
            "{error}"
        );
    }
}
