//! A complete task as a TypeScript module, with types for its names and kinds.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Maximum width of a line that can be broken, in columns.
const MAX_LINE_WIDTH: usize = 100;
/// Indentation of each level, in columns.
const INDENT_COLUMNS: usize = 2;

/// Returns a TypeScript module that exports a complete task. `type_name` is the task's type in the
/// npm package, `Task` or `SumTask`. `fingerprints` is a statement for the first line. The module is
/// formatted as Prettier and Biome do at a width of
/// 100, with spaces as indentation.
///
/// ```
/// # use hushbin_analysis::typescript::typescript_module;
/// let draft: hushbin::TaskDraft = serde_json::from_str(
///     r#"{ "id": "beta", "epsilon": 1.0, "questions": [{ "name": "beta", "kind": "flag" }] }"#,
/// ).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let statement = format!("the fingerprint is {}.", task.fingerprint());
/// let module = typescript_module(&task, "Task", &statement).unwrap();
/// assert!(module.ends_with("} as const satisfies Task;\n"));
/// ```
///
/// # Errors
/// If the task cannot be written as JSON.
pub fn typescript_module(
    task: &impl Serialize,
    type_name: &str,
    fingerprints: &str,
) -> Result<String, serde_json::Error> {
    let literal: TypeScriptLiteral = serde_json::from_str(&serde_json::to_string(task)?)?;
    let mut text = format!(
        "// Written by `hushbin task types`; {fingerprints}\n\
         import type {{ {type_name} }} from \"hushbin\";\n\n\
         export const task = "
    );
    literal.append_literal(0, 0, &mut text);
    text.push_str(&format!(" as const satisfies {type_name};\n"));
    Ok(text)
}

/// TypeScript literal of a JSON value. An object keeps the order of its fields.
#[derive(Debug)]
enum TypeScriptLiteral {
    Number(String),
    /// Quoted text, `true`, `false` or `null`.
    NonNumericScalar(String),
    List(Vec<TypeScriptLiteral>),
    Object(Vec<(String, TypeScriptLiteral)>),
}

impl TypeScriptLiteral {
    /// Appends the literal to a line that is indented by `indent` columns. The line already has
    /// `column` columns.
    fn append_literal(&self, indent: usize, column: usize, text: &mut String) {
        let inner = indent + INDENT_COLUMNS;
        match self {
            Self::Number(word) | Self::NonNumericScalar(word) => text.push_str(word),
            Self::Object(fields) => {
                text.push_str("{\n");
                for (name, value) in fields {
                    // Fields of tasks are identifiers.
                    text.push_str(&format!("{:inner$}{name}: ", ""));
                    value.append_literal(inner, inner + name.len() + 2, text);
                    text.push_str(",\n");
                }
                text.push_str(&format!("{:indent$}}}", ""));
            }
            Self::List(values) => match Self::single_line_list(values) {
                // Strictly below the width: a comma follows.
                Some(line) if column + line.chars().count() < MAX_LINE_WIDTH => {
                    text.push_str(&line);
                }
                _ => Self::write_multiline_list(values, indent, text),
            },
        }
    }

    /// Formats a list in one line. Returns `None` if it contains a list or an object.
    fn single_line_list(values: &[Self]) -> Option<String> {
        let word = |value: &Self| match value {
            Self::Number(word) | Self::NonNumericScalar(word) => Some(word.clone()),
            Self::List(_) | Self::Object(_) => None,
        };
        let words: Option<Vec<String>> = values.iter().map(word).collect();
        Some(format!("[{}]", words?.join(", ")))
    }

    /// Writes a list over several lines. A line has one value, or as many numbers as fit.
    fn write_multiline_list(values: &[Self], indent: usize, text: &mut String) {
        let inner = indent + INDENT_COLUMNS;
        text.push('[');
        let mut column = MAX_LINE_WIDTH;
        for value in values {
            match value {
                Self::Number(word) if column + 1 + word.len() < MAX_LINE_WIDTH => {
                    text.push_str(&format!(" {word},"));
                    column += 2 + word.len();
                }
                _ => {
                    text.push_str(&format!("\n{:inner$}", ""));
                    value.append_literal(inner, inner, text);
                    text.push(',');
                    column = match value {
                        Self::Number(word) => inner + word.len() + 1,
                        _ => MAX_LINE_WIDTH,
                    };
                }
            }
        }
        text.push_str(&format!("\n{:indent$}]", ""));
    }
}

/// Quotes a text with the kind of quotes that needs fewer escapes.
fn quote_string_literal(text: &str) -> String {
    let count = |quote| text.matches(quote).count();
    let quote = if count('"') > count('\'') { '\'' } else { '"' };
    let mut quoted = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            _ if character == quote => quoted.extend(['\\', quote]),
            _ if character.is_control() || is_hidden_control(character) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push(quote);
    quoted
}

/// Returns true for characters that change how other text is shown: control characters except tabs
/// and line breaks, separators of lines and paragraphs, and controls of bidirectional text.
#[must_use]
pub fn is_hidden_control(character: char) -> bool {
    match character {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

impl<'de> Deserialize<'de> for TypeScriptLiteral {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LiteralVisitor)
    }
}

struct LiteralVisitor;

impl<'de> Visitor<'de> for LiteralVisitor {
    type Value = TypeScriptLiteral;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<TypeScriptLiteral, E> {
        Ok(TypeScriptLiteral::NonNumericScalar(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<TypeScriptLiteral, E> {
        Ok(TypeScriptLiteral::NonNumericScalar("null".to_owned()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<TypeScriptLiteral, E> {
        Ok(TypeScriptLiteral::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<TypeScriptLiteral, E> {
        Ok(TypeScriptLiteral::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<TypeScriptLiteral, E> {
        // Integers have no point, and long numbers an exponent. Both forms read back as the same
        // number.
        let plain = value.to_string();
        let short = format!("{value:e}");
        let fewer = plain.len() > 20 && short.len() < plain.len();
        Ok(TypeScriptLiteral::Number(if fewer { short } else { plain }))
    }

    fn visit_str<E>(self, value: &str) -> Result<TypeScriptLiteral, E> {
        Ok(TypeScriptLiteral::NonNumericScalar(quote_string_literal(
            value,
        )))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TypeScriptLiteral, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(TypeScriptLiteral::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TypeScriptLiteral, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(TypeScriptLiteral::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str) -> String {
        let literal: TypeScriptLiteral = serde_json::from_str(json).unwrap();
        let mut text = String::new();
        literal.append_literal(0, 0, &mut text);
        text
    }

    #[test]
    fn texts_have_the_quotes_that_need_fewer_escapes() {
        for (json, expected) in [
            (r#""plain""#, r#""plain""#),
            (r#""it's""#, r#""it's""#),
            (r#""\"so\"""#, r#"'"so"'"#),
            (r#""\"it's\"""#, r#"'"it\'s"'"#),
            (r#""\"'""#, r#""\"'""#),
            (r#""a\\b\u001f ${x}""#, r#""a\\b\u001f ${x}""#),
            (r#""Übersetzung 🧱""#, r#""Übersetzung 🧱""#),
        ] {
            assert_eq!(written(json), expected);
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        for (json, expected) in [
            ("1.0", "1"),
            ("-0.5", "-0.5"),
            ("1.0986122886681098", "1.0986122886681098"),
            ("1e-7", "0.0000001"),
            ("1e300", "1e300"),
            ("123456789012", "123456789012"),
        ] {
            assert_eq!(written(json), expected);
        }
        for value in [f64::MIN_POSITIVE, f64::MAX, 0.1 + 0.2, 1.0 / 3.0, 5e-324] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(written(&json).parse(), Ok(value));
        }
    }

    #[test]
    fn lists_break_where_they_do_not_fit() {
        assert_eq!(
            written(r#"{ "a": [], "b": [1, "x", null, true] }"#),
            "{\n  a: [],\n  b: [1, \"x\", null, true],\n}"
        );
        assert_eq!(written(r#"[{ "a": 1 }]"#), "[\n  {\n    a: 1,\n  },\n]");
        // `  a: ["…"],` of 100 columns, and of 101.
        let list = |length: usize| format!(r#"{{ "a": ["{}"] }}"#, "x".repeat(length));
        assert_eq!(written(&list(90)).lines().nth(1).unwrap().len(), 100);
        assert_eq!(written(&list(91)).lines().count(), 5);
        // Numbers fill lines.
        let numbers: Vec<String> = (0..60).map(|n| (n * 37).to_string()).collect();
        let text = written(&format!("[{}]", numbers.join(",")));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 4 && lines.len() < 10, "{text}");
        for pair in lines[1..lines.len() - 1].windows(2) {
            let next = pair[1].trim().split(' ').next().unwrap();
            assert!(pair[0].len() <= MAX_LINE_WIDTH);
            assert!(pair[0].len() + 1 + next.len() > MAX_LINE_WIDTH, "{text}");
        }
    }
}
