//! Positions of answers under a report's seed, and the outcomes that can be reported.

use hushbin::domain::SignedItem;
use serde::Serialize;

/// Answer about one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct SignedAnswer {
    /// Index of the item.
    pub item: u32,
    /// Sign of the answer: 1 or −1.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "1 | -1"))]
    pub sign: i8,
}

/// One possible outcome of a report: a bucket, a side, an atom or a sign.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Outcome {
    /// Answers that make the outcome more likely, in the task's order.
    pub answers: Vec<SignedAnswer>,
    /// Number of paddings that make the outcome more likely.
    pub paddings: u32,
    /// Probability of the outcome, given the seed and the answers.
    pub chance: f64,
}

/// Pair of opposite sides in CoCo.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Pair {
    /// Plus side. In the pair with index i, this is bucket 2i.
    pub plus: Outcome,
    /// Minus side. In the pair with index i, this is bucket 2i + 1.
    pub minus: Outcome,
    /// Number of paddings in this pair. A coin toss decides to which side each of them pushes.
    pub paddings: u32,
}

/// Attribute that Window's seed draws, with the outcomes of its atoms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct AttributeAtoms {
    /// Index of the attribute.
    pub item: u32,
    /// Outcome of each atom, in ascending order of the atoms' values.
    pub atoms: Vec<Outcome>,
}

/// Answer in a bin of hash-bin, with the sign with which it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct SignedBinAnswer {
    /// The person's answer about one item.
    pub answer: SignedAnswer,
    /// Sign of the answer times the sign that the seed gives to the item: 1 or −1.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "1 | -1"))]
    pub push: i8,
}

/// Bin of hash-bin: the answers that fall into it, and the sum of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct AnswerBin {
    /// Answers in the bin.
    pub answers: Vec<SignedBinAnswer>,
    /// Sum of these answers, before noise.
    pub sum: f64,
}

/// Positions of answers under one seed, with the probability of each outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AnswerPlacement {
    /// Collision and Pattern: one bucket is reported.
    Buckets {
        /// Outcome of each bucket, in ascending order.
        buckets: Vec<Outcome>,
        /// Maximum number of elements in one bucket; `None` if each element is hashed
        /// independently.
        #[cfg_attr(target_arch = "wasm32", tsify(type = "number | null"))]
        shared: Option<u32>,
    },
    /// CoCo: one side of one pair is reported.
    Sides {
        /// The two sides of each pair, in ascending order of the pairs.
        pairs: Vec<Pair>,
    },
    /// Window: an atom of each drawn attribute is reported.
    Atoms {
        /// Drawn attributes, in the order in which the seed draws them.
        drawn: Vec<AttributeAtoms>,
    },
    /// Hash-bin with two-point noise: the sign of one clipped sum is reported.
    Sign {
        /// Sum of all answers, before clipping. Each answer is multiplied by the seed's sign for
        /// its item.
        sum: f64,
        /// Outcome of the sign plus, with the answers that count +1.
        plus: Outcome,
        /// Outcome of the sign minus, with the answers that count −1.
        minus: Outcome,
    },
    /// Hash-bin with Laplace noise: all bins are reported.
    Bins {
        /// Content of each bin, in ascending order.
        bins: Vec<AnswerBin>,
    },
}

impl From<&SignedItem> for SignedAnswer {
    fn from(signed: &SignedItem) -> Self {
        Self {
            item: signed.item as u32,
            sign: if signed.is_negative { -1 } else { 1 },
        }
    }
}
