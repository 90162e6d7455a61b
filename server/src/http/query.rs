//! Parsing of the queries of `/tasks/{id}/estimates`, `/heavy-hitters`, `/privacy` and
//! `/influence`.

use percent_encoding::percent_decode_str;

use super::problem::Problem;
use crate::estimates::{parse_batch_numbers, parse_post_processing};
use hushbin_analysis::accounting::{
    DEFAULT_DELTA, DEFAULT_HONEST_FRACTION, DELTA_RANGE, HONEST_FRACTION_RANGE,
};
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, EstimateOptions};
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET};

/// Parses a query such as `question=q&items=a,b&items=c&confidence=0.99&post_processing=projection`. Further
/// keys are `batches`, `quantiles=0.5,0.9` and `false_discovery_rate=0.05`. This function does not
/// check the options against a task.
///
/// A literal comma separates items, and `%2C` is part of an item. The list must therefore be split
/// before decoding, which generic form parsers do not do.
///
/// # Errors
/// [`Problem::BadQuery`], [`Problem::UnknownPostProcessing`].
pub(super) fn parse_estimates_query(
    query: &str,
) -> Result<(EstimateOptions, Option<Vec<u64>>), Problem> {
    let mut options = EstimateOptions::default();
    let mut batches = None;
    let mut confidence = None;
    for (key, value) in key_value_pairs(query) {
        match decode_component(key)?.as_str() {
            "question" => parse_text_once("question", value, &mut options.question_name)?,
            "items" => {
                let names = options.item_names.get_or_insert_default();
                for name in value.split(',') {
                    let name = decode_component(name)?;
                    if name.is_empty() {
                        return Err(bad_query_problem("items: a name is empty"));
                    }
                    names.push(name);
                }
            }
            "batches" => {
                parse_batch_numbers(&decode_component(value)?, batches.get_or_insert_default())?;
            }
            "confidence" => parse_number_once("confidence", value, &mut confidence)?,
            "post_processing" => parse_post_processing(
                &decode_component(value)?,
                &mut options.post_processing_methods,
            )?,
            "quantiles" => {
                let quantiles = options.quantiles.get_or_insert_default();
                for part in decode_component(value)?.split(',') {
                    quantiles.push(parse_number("quantiles", part)?);
                }
            }
            "false_discovery_rate" => {
                parse_number_once(
                    "false_discovery_rate",
                    value,
                    &mut options.false_discovery_rate,
                )?;
            }
            other => {
                let expected = "question, items, batches, confidence, post_processing, quantiles or \
                    false_discovery_rate";
                return Err(unknown_parameter_problem(other, expected));
            }
        }
    }
    options.confidence = confidence.unwrap_or(DEFAULT_CONFIDENCE);
    Ok((options, batches))
}

/// Parses a query such as `batches=1,4-6`, which lists batch numbers. `None` means all batches.
///
/// # Errors
/// [`Problem::BadQuery`].
pub(super) fn parse_batches_query(query: &str) -> Result<Option<Vec<u64>>, Problem> {
    let mut batches = None;
    for (key, value) in key_value_pairs(query) {
        match decode_component(key)?.as_str() {
            "batches" => {
                parse_batch_numbers(&decode_component(value)?, batches.get_or_insert_default())?;
            }
            other => return Err(unknown_parameter_problem(other, "batches")),
        }
    }
    Ok(batches)
}

/// Parses a query such as `question=q&alphabet=abc&confidence=0.99`, in which all keys are
/// optional. `work` is the maximum number of hashes that the search may compute.
///
/// # Errors
/// [`Problem::BadQuery`].
pub(super) fn parse_heavy_hitters_query(
    query: &str,
    work: u64,
) -> Result<heavy_hitters::SearchOptions, Problem> {
    let (mut question, mut alphabet, mut confidence) = (None, None, None);
    for (key, value) in key_value_pairs(query) {
        match decode_component(key)?.as_str() {
            "question" => parse_text_once("question", value, &mut question)?,
            "alphabet" => parse_text_once("alphabet", value, &mut alphabet)?,
            "confidence" => parse_number_once("confidence", value, &mut confidence)?,
            other => {
                return Err(unknown_parameter_problem(
                    other,
                    "question, alphabet or confidence",
                ));
            }
        }
    }
    Ok(heavy_hitters::SearchOptions {
        question_name: question,
        alphabet: alphabet.unwrap_or_else(|| DEFAULT_ALPHABET.to_owned()),
        confidence: confidence.unwrap_or(DEFAULT_CONFIDENCE),
        max_hashes_per_length: work,
    })
}

/// Assumptions under which the central privacy of a shuffled batch is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PrivacyAssumptions {
    /// Probability δ that the guarantee fails, in the range [`DELTA_RANGE`].
    pub(super) delta: f64,
    /// Fraction of the reports that are assumed to be honest, in the range [`HONEST_FRACTION_RANGE`].
    pub(super) honest_report_fraction: f64,
}

/// Parses a query such as `delta=1e-8&honest_fraction=0.9`, in which both keys are optional.
///
/// # Errors
/// [`Problem::BadQuery`].
pub(super) fn parse_privacy_query(query: &str) -> Result<PrivacyAssumptions, Problem> {
    let (mut delta, mut honest_fraction) = (None, None);
    for (key, value) in key_value_pairs(query) {
        match decode_component(key)?.as_str() {
            "delta" => parse_number_once("delta", value, &mut delta)?,
            "honest_fraction" => parse_number_once("honest_fraction", value, &mut honest_fraction)?,
            other => return Err(unknown_parameter_problem(other, "delta or honest_fraction")),
        }
    }
    let asked = PrivacyAssumptions {
        delta: delta.unwrap_or(DEFAULT_DELTA),
        honest_report_fraction: honest_fraction.unwrap_or(DEFAULT_HONEST_FRACTION),
    };
    DELTA_RANGE
        .check_in_range(asked.delta)
        .and_then(|()| HONEST_FRACTION_RANGE.check_in_range(asked.honest_report_fraction))
        .map_err(|error| bad_query_problem(error.to_string()))?;
    Ok(asked)
}

/// Splits a query into pairs of key and value, which are still percent-encoded.
fn key_value_pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Decodes the text of a key, and stores it in `slot`. A key that occurs twice is an error.
fn parse_text_once(key: &str, value: &str, slot: &mut Option<String>) -> Result<(), Problem> {
    match slot.replace(decode_component(value)?) {
        None => Ok(()),
        Some(_) => Err(bad_query_problem(format!("{key} is given twice"))),
    }
}

/// Parses the number of a key, and stores it in `slot`. A key that occurs twice is an error.
fn parse_number_once(key: &str, value: &str, slot: &mut Option<f64>) -> Result<(), Problem> {
    match slot.replace(parse_number(key, &decode_component(value)?)?) {
        None => Ok(()),
        Some(_) => Err(bad_query_problem(format!("{key} is given twice"))),
    }
}

fn parse_number(key: &str, value: &str) -> Result<f64, Problem> {
    let read = value.parse();
    read.map_err(|_| bad_query_problem(format!("{key} is {value:?}, expected a number")))
}

/// Decodes one key or value of a form-encoded query.
fn decode_component(component: &str) -> Result<String, Problem> {
    // `+` is a space in forms. It is replaced before decoding, since `%2B` is a plus.
    let spaced = component.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| not_utf8_problem())
}

fn unknown_parameter_problem(parameter: &str, expected: &str) -> Problem {
    bad_query_problem(format!(
        "unknown parameter {parameter:?}, expected {expected}"
    ))
}

pub(super) fn not_utf8_problem() -> Problem {
    bad_query_problem("the query is not UTF-8")
}

fn bad_query_problem(detail: impl Into<String>) -> Problem {
    Problem::BadQuery(detail.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hushbin_analysis::estimate::{EstimateError, PostProcessingMethod};

    use super::*;

    fn parsed_query_items(query: &str) -> Vec<String> {
        parse_estimates_query(query).unwrap().0.item_names.unwrap()
    }

    #[test]
    fn unencoded_commas_separate_items() {
        assert_eq!(parsed_query_items("items=a,b"), ["a", "b"]);
        assert_eq!(parsed_query_items("items=a%2Cb,c"), ["a,b", "c"]);
        assert_eq!(parsed_query_items("items=a&items=b,c"), ["a", "b", "c"]);
        assert_eq!(
            parsed_query_items("items=dark+mode,caf%C3%A9,a%2Bb"),
            ["dark mode", "café", "a+b"]
        );
    }

    #[test]
    fn empty_query_uses_defaults() {
        let (query, batches) = parse_estimates_query("").unwrap();
        assert_eq!(batches, None);
        assert_eq!(query, EstimateOptions::default());
        assert_eq!(
            parse_estimates_query("&confidence=0.999")
                .unwrap()
                .0
                .confidence,
            0.999
        );
    }

    #[test]
    fn post_processing_names_are_parsed() {
        let both = [
            PostProcessingMethod::MaxSparsityProjection,
            PostProcessingMethod::MeanGivenPresence,
        ];
        assert_eq!(
            parse_estimates_query("post_processing=projection,conditional-mean")
                .unwrap()
                .0
                .post_processing_methods,
            both
        );
        assert_eq!(
            parse_estimates_query("post_processing=projection&post_processing=conditional%2Dmean")
                .unwrap()
                .0
                .post_processing_methods,
            both
        );
        for (query, unknown) in [
            ("post_processing=median", "median"),
            ("post_processing=", ""),
            ("post_processing", ""),
        ] {
            let name = unknown.to_owned();
            assert_eq!(
                parse_estimates_query(query).unwrap_err(),
                EstimateError::UnknownPostProcessing { name }.into()
            );
        }
    }

    #[test]
    fn quantile_lists_are_parsed() {
        let (asked, _) =
            parse_estimates_query("quantiles=0.5%2C0.95&false_discovery_rate=0.1").unwrap();
        assert_eq!(asked.quantiles, Some(vec![0.5, 0.95]));
        assert_eq!(asked.false_discovery_rate, Some(0.1));
    }

    #[test]
    fn batch_ranges_are_parsed() {
        let batches = |query| parse_estimates_query(query).unwrap().1.unwrap();
        assert_eq!(batches("batches=3"), [3]);
        assert_eq!(batches("batches=1,4-6,9"), [1, 4, 5, 6, 9]);
        assert_eq!(batches("batches=7-7&batches=2"), [7, 2]);
    }

    #[test]
    fn invalid_queries_are_refused() {
        for query in [
            "batches=",
            "batches=a",
            "batches=3-1",
            "batches=1,1",
            "batches=1-3,2",
            "batches=-1",
            "batches=1-18446744073709551615",
            "quantiles=half",
            "quantiles=",
            "false_discovery_rate=0.1&false_discovery_rate=0.1",
            "items=",
            "items=a,,b",
            "items",
            "confidence=",
            "confidence=0.9&confidence=0.9",
            "colour=red",
            "post_processing=projection,projection",
            "items=%FF",
        ] {
            let problem = parse_estimates_query(query).unwrap_err();
            assert!(matches!(problem, Problem::BadQuery(_)), "{query}");
        }
    }
}
