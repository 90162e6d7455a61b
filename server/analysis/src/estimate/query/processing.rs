//! Post-processing methods.

/// A post-processing method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostProcessing {
    /// Divides the mean by the non-missing frequency, item by item.
    ConditionalMean,
    /// Projects the frequencies of all items onto the feasible set. They become non-negative, with
    /// a sum of at most s. If every person gives one answer, the sum is 1.
    Projection,
    /// Projects onto a sum of exactly s, as in the papers (Wang et al., P1 and P2). Valid only if
    /// every person has at least s entries.
    FullProjection,
    /// Computes the posterior mean of each item given all items (empirical Bayes). An estimate
    /// close to the noise is moved further towards 0.
    Shrinkage,
}

impl PostProcessing {
    /// Every method, in the order of error messages.
    pub const ALL: [Self; 4] = [
        Self::ConditionalMean,
        Self::Projection,
        Self::FullProjection,
        Self::Shrinkage,
    ];

    /// Returns the name that requests the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional-mean",
            Self::Projection => "projection",
            Self::FullProjection => "full-projection",
            Self::Shrinkage => "shrinkage",
        }
    }

    /// Returns all names, joined for an error message.
    pub(crate) fn names() -> String {
        let names = Self::ALL.map(Self::as_str);
        let (last, others) = names.split_last().expect("there are some");
        format!("{} or {last}", others.join(", "))
    }

    /// Returns the name of the result in [`PostProcessed`](crate::estimate::PostProcessed).
    pub(crate) const fn member(self) -> &'static str {
        match self {
            Self::ConditionalMean => "conditional_mean",
            Self::Projection => "projected",
            Self::FullProjection => "fully_projected",
            Self::Shrinkage => "shrunken",
        }
    }

    /// Returns a statement of the method and its bias, for output.
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
