//! What this build has left out.

/// Refusal of what needs a Cargo feature that this hushbin was compiled without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not in this hushbin, expected one compiled with the feature {feature}")]
pub struct LeftOut {
    /// Part that was left out.
    pub what: &'static str,
    /// Cargo feature that brings it.
    pub feature: &'static str,
}

/// Refusal of encrypted connections, of a build without the feature `tls`.
pub(crate) const TLS: LeftOut = LeftOut {
    what: "TLS",
    feature: "tls",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_what_is_missing_and_what_brings_it() {
        let refusal = LeftOut {
            what: "Parquet",
            feature: "parquet",
        };
        assert_eq!(
            refusal.to_string(),
            "Parquet is not in this hushbin, expected one compiled with the feature parquet"
        );
    }
}
