//! Content negotiation: JSON or CSV, and the two formats of metrics.

use axum::http::{HeaderMap, header};

/// Returns true if the client prefers CSV to JSON. Returns false if the client accepts both
/// equally, or neither.
pub(super) fn prefers_csv(headers: &HeaderMap) -> bool {
    prefers(headers, ["text", "csv"], ["application", "json"])
}

/// Returns true if the client prefers OpenMetrics to the older text format of Prometheus. Returns
/// false if the client accepts both equally.
pub(super) fn prefers_openmetrics(headers: &HeaderMap) -> bool {
    prefers(
        headers,
        ["application", "openmetrics-text"],
        ["text", "plain"],
    )
}

/// Returns true if the client prefers the first media type to the second.
fn prefers(headers: &HeaderMap, first: [&str; 2], second: [&str; 2]) -> bool {
    let accepted = headers.get_all(header::ACCEPT);
    let quality = |[kind, subtype]: [&str; 2]| {
        let values = accepted.iter().filter_map(|value| value.to_str().ok());
        media_type_quality(values.flat_map(|value| value.split(',')), kind, subtype)
    };
    quality(first) > quality(second)
}

/// Returns the quality value of the media type `kind`/`subtype`, from 0 to 1. The most specific
/// range in `Accept` that covers the type determines the value (RFC 9110, section 12.5.1).
fn media_type_quality<'a>(ranges: impl Iterator<Item = &'a str>, kind: &str, subtype: &str) -> f32 {
    let mut best = (0, 0.0);
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let Some((k, s)) = parts.next().and_then(|media| media.split_once('/')) else {
            continue;
        };
        let specificity = if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) {
            3
        } else if k.eq_ignore_ascii_case(kind) && s == "*" {
            2
        } else if k == "*" && s == "*" {
            1
        } else {
            continue;
        };
        let quality = parts
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(1.0, |(_, value)| value.trim().parse().unwrap_or(0.0));
        if specificity > best.0 {
            best = (specificity, quality);
        }
    }
    best.1
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn csv_only_where_it_is_preferred() {
        for (accept, csv) in [
            ("text/csv", true),
            ("Text/CSV; header=present", true),
            ("text/csv, application/json;q=0.5", true),
            ("application/json;q=0.2, text/*;q=0.3", true),
            ("text/csv;q=0.9, */*;q=0.1", true),
            ("", false),
            ("*/*", false),
            ("application/json", false),
            ("text/csv, application/json", false),
            ("text/csv;q=0.1, */*", false),
            ("text/csv;q=0", false),
            ("text/csv;q=x", false),
            ("image/png", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(prefers_csv(&headers), csv, "{accept}");
        }
    }

    #[test]
    fn openmetrics_only_where_it_is_preferred() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,\
            application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for (accept, openmetrics) in [
            (prometheus, true),
            ("application/openmetrics-text", true),
            ("", false),
            ("*/*", false),
            ("text/plain;version=0.0.4", false),
            ("text/plain, application/openmetrics-text;q=0.5", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(prefers_openmetrics(&headers), openmetrics, "{accept}");
        }
    }
}
