//! Where answers fall under a report's seed, and what could have been reported.

use hushbin::domain::Signed;
use serde::Serialize;

/// An answer about one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Answered {
    /// Index of the item.
    pub item: u32,
    /// 1 or −1.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "1 | -1"))]
    pub sign: i8,
}

/// One of several things that can be reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Outcome {
    /// Answers that make it likelier, in the task's order.
    pub answers: Vec<Answered>,
    /// Paddings that do.
    pub paddings: u32,
    /// Its probability, given the seed.
    pub chance: f64,
}

/// The two sides of one of CoCo's pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Pair {
    /// Reported as bucket 2i of pair i.
    pub plus: Outcome,
    /// Reported as bucket 2i + 1.
    pub minus: Outcome,
    /// Paddings here: each pushes to a side by coin toss.
    pub paddings: u32,
}

/// One of the attributes that the window's seed draws.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct AttributeAtoms {
    /// Its index.
    pub item: u32,
    /// Reported as each atom, by ascending value.
    pub atoms: Vec<Outcome>,
}

/// An answer in a bin, with the sign that it counts with there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Counted {
    /// What was answered.
    pub answer: Answered,
    /// 1 or −1: the answer's sign times the seed's.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "1 | -1"))]
    pub push: i8,
}

/// One of hash-bin's noisy bins.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Bin {
    /// What fell into it.
    pub answers: Vec<Counted>,
    /// Their sum, before noise.
    pub sum: f64,
}

/// How answers become the chances of what is reported, under one seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Placement {
    /// Collision: one of these is reported.
    Buckets {
        /// By number.
        buckets: Vec<Outcome>,
        /// So many elements at most share one; `None` where each is hashed by
        /// itself.
        #[cfg_attr(target_arch = "wasm32", tsify(type = "number | null"))]
        shared: Option<u32>,
    },
    /// CoCo: a side of one of these is reported.
    Sides {
        /// By number.
        pairs: Vec<Pair>,
    },
    /// The window: an atom of each of these is reported.
    Atoms {
        /// In the order in which the seed draws them.
        drawn: Vec<AttributeAtoms>,
    },
    /// Hash-bin, of one clipped sum: its sign is reported.
    Sign {
        /// What answers push by in all, before it is clipped.
        sum: f64,
        /// Pushed to by what counts +1.
        plus: Outcome,
        /// Pushed to by what counts −1.
        minus: Outcome,
    },
    /// Hash-bin: all of these are reported, with noise.
    Bins {
        /// By number.
        bins: Vec<Bin>,
    },
}

impl From<&Signed> for Answered {
    fn from(signed: &Signed) -> Self {
        Self {
            item: signed.item as u32,
            sign: if signed.negative { -1 } else { 1 },
        }
    }
}
