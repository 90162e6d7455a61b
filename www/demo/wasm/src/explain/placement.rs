//! Place of answers under a report's seed, and all possible reports.

use hushbin::domain::Signed;
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

/// One possible report.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Outcome {
    /// Answers that make it more likely, in the task's order.
    pub answers: Vec<SignedAnswer>,
    /// Number of paddings that make it more likely.
    pub paddings: u32,
    /// Probability, given the seed.
    pub chance: f64,
}

/// Pair of sides of CoCo.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Pair {
    /// Plus side, which is bucket 2i of pair i.
    pub plus: Outcome,
    /// Minus side, which is bucket 2i + 1.
    pub minus: Outcome,
    /// Number of paddings here. Each pushes to a side by coin toss.
    pub paddings: u32,
}

/// Attribute that Window's seed draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct AttributeAtoms {
    /// Index of the attribute.
    pub item: u32,
    /// Outcome of each atom, by ascending value.
    pub atoms: Vec<Outcome>,
}

/// Answer in a bin, with its sign there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct BinAnswer {
    /// Answer of the person.
    pub answer: SignedAnswer,
    /// Answer's sign times the seed's sign: 1 or −1.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "1 | -1"))]
    pub push: i8,
}

/// Bin of hash-bin.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Bin {
    /// Answers in the bin.
    pub answers: Vec<BinAnswer>,
    /// Sum of these answers, before noise.
    pub sum: f64,
}

/// Place of answers under one seed, with the probability of each outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Placement {
    /// Collision and Pattern: one bucket is reported.
    Buckets {
        /// Outcome of each bucket, by number.
        buckets: Vec<Outcome>,
        /// Maximum number of elements in one bucket; `None` if each element is hashed
        /// independently.
        #[cfg_attr(target_arch = "wasm32", tsify(type = "number | null"))]
        shared: Option<u32>,
    },
    /// CoCo: one side of one pair is reported.
    Sides {
        /// Sides of each pair, by number.
        pairs: Vec<Pair>,
    },
    /// Window: an atom of each drawn attribute is reported.
    Atoms {
        /// Drawn attributes, in the order of the draw.
        drawn: Vec<AttributeAtoms>,
    },
    /// Hash-bin with two-point noise: the sign of one clipped sum is reported.
    Sign {
        /// Sum of all answers' pushes, before clipping.
        sum: f64,
        /// Plus, with the answers that count +1.
        plus: Outcome,
        /// Minus, with the answers that count −1.
        minus: Outcome,
    },
    /// Hash-bin with Laplace noise: all bins are reported.
    Bins {
        /// Content of each bin, by number.
        bins: Vec<Bin>,
    },
}

impl From<&Signed> for SignedAnswer {
    fn from(signed: &Signed) -> Self {
        Self {
            item: signed.item as u32,
            sign: if signed.negative { -1 } else { 1 },
        }
    }
}
