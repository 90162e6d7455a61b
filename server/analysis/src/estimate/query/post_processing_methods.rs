//! Post-processing methods.

/// A post-processing method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PostProcessingMethod {
    /// Divides each item's mean by its non-missing frequency.
    MeanGivenPresence,
    /// Projects the frequencies of all items onto possible frequencies, which are non-negative and
    /// sum to at most the sparsity s. If every person gives exactly one answer, the sum is 1.
    MaxSparsityProjection,
    /// Projects the frequencies of all items onto non-negative frequencies that sum to exactly the
    /// sparsity s, as in the papers (Wang et al., P1 and P2). Valid only if every person has at
    /// least s entries.
    ExactSparsityProjection,
    /// Replaces each estimate by the posterior mean of its item, given the estimates of all items
    /// (empirical Bayes). The closer an estimate is to the noise, the further it is moved towards
    /// 0.
    ShrinkageTowardsZero,
}

impl PostProcessingMethod {
    /// List of all methods, in the order in which error messages name them.
    pub const ALL: [Self; 4] = [
        Self::MeanGivenPresence,
        Self::MaxSparsityProjection,
        Self::ExactSparsityProjection,
        Self::ShrinkageTowardsZero,
    ];

    /// Returns the name by which a query requests the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MeanGivenPresence => "conditional-mean",
            Self::MaxSparsityProjection => "projection",
            Self::ExactSparsityProjection => "full-projection",
            Self::ShrinkageTowardsZero => "shrinkage",
        }
    }

    /// Returns the names of all methods, joined by commas and "or" for an error message.
    pub(crate) fn names_joined_by_or() -> String {
        let names = Self::ALL.map(Self::as_str);
        let (last, others) = names.split_last().expect("there are some");
        format!("{} or {last}", others.join(", "))
    }

    /// Returns the name of the field in [`PostProcessed`](crate::estimate::PostProcessed) that
    /// contains the result.
    pub(crate) const fn result_field(self) -> &'static str {
        match self {
            Self::MeanGivenPresence => "conditional_mean",
            Self::MaxSparsityProjection => "projected",
            Self::ExactSparsityProjection => "fully_projected",
            Self::ShrinkageTowardsZero => "shrunken",
        }
    }

    /// Returns a statement about the method and its bias, for the output.
    pub(crate) const fn bias_statement(self) -> &'static str {
        match self {
            Self::MeanGivenPresence => {
                "The estimated mean was divided by the estimated share of people who have the \
                 item. Real values count by magnitude. There is no ratio if that share is not \
                 significantly above 0. The ratio is biased if few people have the item. Its \
                 standard error comes from the delta method. Its interval contains all ratios that \
                 the noise allows."
            }
            Self::MaxSparsityProjection => {
                "The estimated frequencies of all items were moved to the nearest values that are \
                 not negative and sum to at most the sparsity, or to 1 if everyone gives one \
                 answer. Ratings have a frequency for each sign, and their mean is the difference. \
                 This biases each estimate, and there are no error bars."
            }
            Self::ExactSparsityProjection => {
                "The estimated frequencies of all items were moved to the nearest values that are \
                 not negative and sum to the sparsity, as if everyone had that number of entries. \
                 Ratings have a frequency for each sign, and their mean is the difference. This \
                 biases each estimate, and there are no error bars."
            }
            Self::ShrinkageTowardsZero => {
                "The estimates were moved towards 0, most where the noise is largest (empirical \
                 Bayes). Each is the expected value for its item, given all items. This biases \
                 each estimate, and moves an unusual item too far. Shrinkage is refused unless it \
                 is proven to err less in total than 0 for every item, and no more than the raw \
                 estimates. The deviation is that of the posterior distribution."
            }
        }
    }
}
