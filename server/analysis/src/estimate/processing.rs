//! The ways to process estimates that can be asked for.

/// A way to process estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostProcessing {
    /// The mean divided by the non-missing frequency, item by item.
    ConditionalMean,
    /// The frequencies of all items with either sign, moved to the nearest that
    /// a crowd can have: not negative, their sum s at most. The papers (Wang et
    /// al., P1 and P2) take a sum of exactly s, which holds only where nobody
    /// has fewer than s entries.
    Projection,
}

impl PostProcessing {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ConditionalMean, Self::Projection];

    /// The word that asks for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional-mean",
            Self::Projection => "projection",
        }
    }

    /// The member of [`PostProcessed`](super::PostProcessed) that it makes.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional_mean",
            Self::Projection => "projected",
        }
    }

    /// What is done to the estimates.
    pub(super) const fn statement(self) -> &'static str {
        match self {
            Self::ConditionalMean => {
                "The estimated mean was divided by the estimated non-missing frequency, in which \
                 real values weigh by magnitude, unless that is not significantly above 0; a ratio \
                 of estimates is biased where few have the item. Its standard error is that of \
                 the delta method; its interval holds the ratios of which the estimates may be \
                 noise."
            }
            Self::Projection => {
                "The estimated frequencies of all items with either sign were moved to the nearest \
                 that are not negative and sum to the sparsity at most, and the mean is their \
                 difference; that biases each of them, and there are no error bars."
            }
        }
    }
}
