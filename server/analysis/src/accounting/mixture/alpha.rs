//! Mixture parameter α of a randomizer, and other properties of the randomizer that accounting
//! uses. In formulas, e is exp(ε).

use hushbin::Error;
use hushbin::bounds::EPSILON_RANGE;
use hushbin::choose::mixture_alpha;

/// Distribution of the reports of an ε-LDP randomizer, written as a mixture with parameter α.
///
/// Compare two inputs of a person. The person's report points to the true one with probability e·α,
/// to the other one with probability α, and otherwise to neither. Any other person's report points
/// to one of the two with probability 2α, and then hides the person's report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportMixture {
    /// Local ε of one report.
    pub(in crate::accounting) epsilon: f64,
    /// Mixture parameter α.
    pub(in crate::accounting) alpha: f64,
    /// Probability 1 − α − e·α that a report points to neither input, computed without
    /// cancellation.
    pub(in crate::accounting) uninformative_probability: f64,
    /// Weight v of an uninformative report in the [privacy blanket](super::super::privacy_blanket).
    pub(in crate::accounting) uninformative_report_weight: f64,
    /// Number of favoured buckets, and number of all other buckets. `None` if unknown, as for an
    /// arbitrary ε-LDP randomizer.
    pub(in crate::accounting) favoured_bucket_counts: Option<FavouredBucketCounts>,
    /// True if elements are hashed independently. Then a smaller ε_c can be proven under the
    /// assumption of an ideal hash.
    pub(in crate::accounting) elements_hash_independently: bool,
    /// Value that [`ReportMixture::attains_reduction`] returns.
    pub(in crate::accounting) attains_reduction: bool,
}

/// Size of a report's favoured set: c of t buckets (or sides, or cells).
///
/// Given its seed, a report is drawn with weight e for each favoured bucket and weight 1 for each
/// other bucket, or from a mixture of such distributions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::accounting) struct FavouredBucketCounts {
    /// Number c of favoured buckets.
    pub(in crate::accounting) favoured_count: f64,
    /// Number t − c of buckets that are not favoured.
    pub(in crate::accounting) unfavoured_count: f64,
}

impl FavouredBucketCounts {
    /// Returns the number t of buckets.
    pub(in crate::accounting) fn bucket_count(&self) -> f64 {
        self.favoured_count + self.unfavoured_count
    }

    /// Returns Ω, the sum of the weights of all buckets at local ε. A favoured bucket has weight
    /// exp(ε), any other bucket 1.
    pub(in crate::accounting) fn total_weight(&self, epsilon: f64) -> f64 {
        self.favoured_count * epsilon.exp() + self.unfavoured_count
    }
}

impl ReportMixture {
    /// Returns a mixture that is valid for every ε-LDP randomizer. It has α = 1/(e + 1), by the
    /// corollary in `privacy_blanket`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is outside [`EPSILON_RANGE`].
    pub fn for_any_randomizer(epsilon: f64) -> Result<Self, Error> {
        // The weights are those of randomised response with two answers, but the favoured set stays
        // unknown.
        Ok(Self {
            favoured_bucket_counts: None,
            ..Self::from_bucket_counts(epsilon, 1.0, 1.0)?
        })
    }

    /// Returns the mixture for `count` buckets of weight e = exp(ε) and `others` buckets of
    /// weight 1. Its α is the smaller of the two numbers, divided by the total weight.
    pub(in crate::accounting) fn from_bucket_counts(
        epsilon: f64,
        count: f64,
        others: f64,
    ) -> Result<Self, Error> {
        EPSILON_RANGE.check_in_range(epsilon)?;
        let e = epsilon.exp();
        let favoured = FavouredBucketCounts {
            favoured_count: count,
            unfavoured_count: others,
        };
        Ok(Self {
            epsilon,
            alpha: mixture_alpha(count, others, e),
            // This equals (Ω − min(c, t − c)·(e + 1))/Ω.
            uninformative_probability: (others - count).max((count - others) * e)
                / favoured.total_weight(epsilon),
            uninformative_report_weight: if count > others { e } else { 1.0 },
            favoured_bucket_counts: Some(favoured),
            elements_hash_independently: false,
            attains_reduction: false,
        })
    }

    /// Returns a mixture whose α is `part` times the α of this [generic](ReportMixture::for_any_randomizer) mixture.
    /// Every informative report is replaced by an uninformative one with probability 1 − `part`.
    pub(in crate::accounting) fn with_scaled_alpha(&self, part: f64) -> Self {
        Self {
            epsilon: self.epsilon,
            alpha: part * self.alpha,
            uninformative_probability: 1.0 - part * (1.0 - self.uninformative_probability),
            uninformative_report_weight: 1.0,
            favoured_bucket_counts: None,
            elements_hash_independently: false,
            attains_reduction: false,
        }
    }

    /// Returns the mixture under the assumption of ideal hash functions. They map every element to
    /// a uniform bucket, independently of all other elements.
    ///
    /// The proven bound does not need this assumption. With it, the favoured sets of two inputs
    /// overlap in at least c²/t buckets on average (see `privacy_blanket`), which gives a smaller
    /// ε_c.
    ///
    /// Returns `None` unless elements are hashed independently to buckets and the c heaviest
    /// buckets are favoured. Under a balanced hash, the buckets of different elements are not
    /// independent. Under CoCo, opposite answers favour opposite sides with any hash.
    #[must_use]
    pub(crate) fn under_ideal_hash(&self) -> Option<Self> {
        let favoured = self
            .favoured_bucket_counts
            .filter(|_| self.elements_hash_independently)?;
        let (c, t) = (favoured.favoured_count, favoured.bucket_count());
        let (omega, e) = (favoured.total_weight(self.epsilon), self.epsilon.exp());
        Some(Self {
            alpha: c * (t - c) / t / omega,
            uninformative_probability: ((t - c) * (t - c) + e * c * c) / t / omega,
            uninformative_report_weight: e,
            favoured_bucket_counts: None,
            elements_hash_independently: false,
            ..*self
        })
    }

    /// Returns the local ε of one report, in nats.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Returns the mixture parameter α, from 0 to 1/(e + 1).
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the probability 1 − α − e·α that a report points to neither input.
    #[must_use]
    pub const fn uninformative_probability(&self) -> f64 {
        self.uninformative_probability
    }

    /// Returns true if some batch of such reports is known to attain the reduction of P1's Theorem
    /// 1, or to have an even larger privacy loss.
    ///
    /// Then no ε_c below
    /// [`Account::reduction_lower_epsilon`](super::super::BatchPrivacy::reduction_lower_epsilon)
    /// can be promised. See [`ReportMixture::for_mechanism`].
    #[must_use]
    pub const fn attains_reduction(&self) -> bool {
        self.attains_reduction
    }

    /// Returns the number c of buckets that a report favours, and the number t − c of the others.
    /// `None` for [`ReportMixture::for_any_randomizer`].
    #[must_use]
    pub fn favoured_and_other_counts(&self) -> Option<[f64; 2]> {
        self.favoured_bucket_counts
            .map(|own| [own.favoured_count, own.unfavoured_count])
    }
}
