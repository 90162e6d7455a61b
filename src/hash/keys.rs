//! What a report's seed fixes: the keys of all hash functions of that report.

/// Rounds of the balanced hash, unless [more](super::Balanced::rounds).
pub(super) const ROUNDS: usize = 5;

/// The finaliser of `splitmix64`: a bijection of 64-bit words.
#[inline]
#[must_use]
pub const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Everything that a report's seed fixes.
///
/// The outputs of `splitmix64` (Steele, Lea, Flood 2014) started at the seed:
/// two, and half of the third, are the round keys of the balanced hash; the
/// first is the key of the independent hash; the fourth is the key of the sign
/// hash; eight more, worked out when they are asked for, are the keys of
/// further rounds.
///
/// ```
/// use hushbin::hash::{Keys, independent_bucket};
///
/// let seed = 7;
/// let [a, b] = [Keys::new(seed), Keys::new(seed)].map(|keys| independent_bucket(&keys, 99, 8));
/// assert!(a == b && a < 8);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    seed: u64,
    pub(super) rounds: [u32; ROUNDS],
    pub(super) independent: u64,
    pub(super) sign: u64,
}

impl Keys {
    /// Expands a report's seed.
    #[inline]
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        let first = output(seed, 1);
        let ([k0, k1], [k2, k3]) = (halves(first), halves(output(seed, 2)));
        let [k4, _] = halves(output(seed, 3));
        Self {
            seed,
            rounds: [k0, k1, k2, k3, k4],
            independent: first,
            sign: output(seed, 4),
        }
    }

    /// Expands the seed of a report's `function`-th hash function, counted from 0.
    ///
    /// The first has the report's own. Each further one has one of its own, the
    /// output of `splitmix64` numbered 2³²·`function`, far behind those that are
    /// keys.
    #[inline]
    #[must_use]
    pub const fn of_function(seed: u64, function: u32) -> Self {
        if function == 0 {
            Self::new(seed)
        } else {
            Self::new(output(seed, (function as u64) << 32))
        }
    }

    /// The key of the first round.
    pub(super) const fn first(&self) -> u32 {
        self.rounds[0]
    }

    /// The keys of rounds 2·`index` + 1 and 2·`index` + 2, counted from 0.
    #[inline]
    pub(super) const fn pair(&self, index: usize) -> [u32; 2] {
        if index < ROUNDS / 2 {
            [self.rounds[2 * index + 1], self.rounds[2 * index + 2]]
        } else {
            halves(output(self.seed, index as u64 + 3))
        }
    }
}

/// The `n`-th output of `splitmix64` started at `seed`, counted from 1.
#[inline]
const fn output(seed: u64, n: u64) -> u64 {
    mix64(seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
