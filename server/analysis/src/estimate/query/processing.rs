//! The ways to process estimates that can be asked for.

/// A way to process estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostProcessing {
    /// The mean divided by the non-missing frequency, item by item.
    ConditionalMean,
    /// The frequencies of all items, moved to the nearest that a crowd can have: not
    /// negative, their sum s at most, or 1 where everybody gives one answer.
    Projection,
    /// The same with a sum of exactly s, as in the papers (Wang et al., P1 and P2): it
    /// holds only where nobody has fewer than s entries.
    FullProjection,
    /// What to expect of each item given all of them, nearer to 0 the less an estimate
    /// stands out of the noise (empirical Bayes).
    Shrinkage,
}

impl PostProcessing {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ConditionalMean,
        Self::Projection,
        Self::FullProjection,
        Self::Shrinkage,
    ];

    /// The word that asks for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional-mean",
            Self::Projection => "projection",
            Self::FullProjection => "full-projection",
            Self::Shrinkage => "shrinkage",
        }
    }

    /// All words, as in a sentence.
    pub(crate) fn names() -> String {
        let names = Self::ALL.map(Self::as_str);
        let (last, others) = names.split_last().expect("there are some");
        format!("{} or {last}", others.join(", "))
    }

    /// The member of [`PostProcessed`](crate::estimate::PostProcessed) that it makes.
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional_mean",
            Self::Projection => "projected",
            Self::FullProjection => "fully_projected",
            Self::Shrinkage => "shrunken",
        }
    }

    /// What is done to the estimates.
    pub(crate) const fn statement(self) -> &'static str {
        match self {
            Self::ConditionalMean => {
                "The estimated mean was divided by the estimated non-missing frequency, in which \
                 real values weigh by magnitude, unless that is not significantly above 0; a ratio \
                 of estimates is biased where few have the item. Its standard error is that of \
                 the delta method; its interval holds the ratios of which the estimates may be \
                 noise."
            }
            Self::Projection => {
                "The estimated frequencies of all items, with either sign where they have one, \
                 were moved to the nearest that are not negative and sum to the sparsity at most, \
                 or to 1 where everybody gives one answer; a mean is their difference. That \
                 biases each of them, and there are no error bars."
            }
            Self::FullProjection => {
                "The estimated frequencies of all items, with either sign where they have one, \
                 were moved to the nearest that are not negative and sum to the sparsity, as if \
                 nobody had fewer entries; a mean is their difference. That biases each of them, \
                 and there are no error bars."
            }
            Self::Shrinkage => {
                "The estimates were moved towards 0, the more the less they stand out of their \
                 noise: they are what to expect of each item given all of them (empirical \
                 Bayes). That biases each of them; an item that is unlike the others is moved \
                 too far. It is refused unless it is shown to err less in all than answering 0 \
                 for every item, and no more than raw estimates. The deviation is that of the \
                 posterior law."
            }
        }
    }
}
