//! Errors for features that this build was compiled without.

/// Error for a request that needs a Cargo feature which this binary was compiled without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this hushbin was compiled without {functionality}: use one compiled with the feature {feature}"
)]
pub struct MissingFeature {
    /// Name of the missing functionality, such as "TLS".
    pub functionality: &'static str,
    /// Cargo feature that adds the functionality.
    pub feature: &'static str,
}

/// Error for encrypted connections in a build without the feature `tls`.
pub(crate) const TLS_NOT_COMPILED: MissingFeature = MissingFeature {
    functionality: "TLS",
    feature: "tls",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_what_is_missing_and_what_brings_it() {
        let refusal = MissingFeature {
            functionality: "Parquet",
            feature: "parquet",
        };
        assert_eq!(
            refusal.to_string(),
            "this hushbin was compiled without Parquet: use one compiled with the feature parquet"
        );
    }
}
