//! Tuples of messages with sum zero, and the decomposition of a message into tuples.
//!
//! The tuples are s₁ = {+1, −1}, s_y = {y, −⌈y/2⌉, −⌊y/2⌋} for y ≥ 2, and the same with opposite
//! signs for y ≤ −2. Let e_x be the histogram of one message x. By repeated halving, it is a sum of
//! tuples and of x messages +1. The coefficients c_y(x) can be negative:
//!
//! e_x = Σ_y c_y(x)·s_y + x·e₊₁,
//!
//! The vector c(x) of all coefficients is c(x) = \[s_x\] − c(∓⌈|x|/2⌉) − c(∓⌊|x|/2⌋), c(0) = c(1) =
//! 0 and c(−1) = \[s₁\].
//!
//! Source: Ghazi, Kumar, Manurangsi, Pagh, Sinha, "Differentially Private Aggregation
//! in the Shuffle Model: Almost Central Accuracy in Almost a Single Message" (2021,
//! GKMPS), as Asi et al. (PVME) use it for every coordinate.

use hushbin::Error;
use hushbin::bounds::ParameterRange;

/// Allowed range of the number of levels L. Values are integers from −L to L.
pub const LEVEL_COUNT_RANGE: ParameterRange = ParameterRange {
    name: "levels",
    min: 1.0,
    max: 64.0,
};

/// Tuples s_y for values from −L to L. Their names y are 1, ±2, …, ±L.
///
/// ```
/// use hushbin_study::competitors::sums::ZeroSumTuples;
///
/// let tuples = ZeroSumTuples::new(3)?;
/// assert_eq!(tuples.tuple_messages(-3), [-3, 2, 1]);
/// // A message 3 is s₃ − s₋₂ − s₁ and three messages +1.
/// let used: Vec<(i32, i32)> = tuples.decomposition(3).collect();
/// assert_eq!(used, [(1, -1), (-2, -1), (3, 1)]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZeroSumTuples {
    level_count: u32,
    /// Coefficients c_y(x) of the tuples s_y in the decomposition of x. The first index is x + L,
    /// the second the position of y in [`ZeroSumTuples::tuple_names`].
    tuple_coefficients: Vec<Vec<i32>>,
}

/// Maxima of the shifts of tuple counts that a change of one person's value causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxTupleCountShift {
    /// Maximum Γ of Σ_y |shift of Z_y|·|y|, over pairs of values and over U, where Z_y is the count
    /// of the tuple s_y. See [`ZeroSumTuples::tuple_count_shift`] for U.
    pub max_weighted_shift: u32,
    /// Maximum number q of tuples whose counts are shifted at once.
    pub max_shifted_tuples: u32,
}

impl ZeroSumTuples {
    /// Returns the tuples for L levels.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if L is outside [`LEVEL_COUNT_RANGE`].
    pub fn new(levels: u32) -> Result<Self, Error> {
        LEVEL_COUNT_RANGE.check_in_range(f64::from(levels))?;
        let l = levels as i32;
        let places = 2 * levels as usize - 1;
        let mut uses = vec![vec![0; places]; 2 * levels as usize + 1];
        // c(−1) = [s₁]; c(0) and c(1) stay 0. The row of a larger value uses those of two smaller
        // values, which were filled before.
        uses[levels as usize - 1][0] = 1;
        for size in 2..=l {
            for x in [size, -size] {
                let parts = negated_halves(x).map(|part| (part + l) as usize);
                let mut own: Vec<i32> = (0..places)
                    .map(|place| -uses[parts[0]][place] - uses[parts[1]][place])
                    .collect();
                own[tuple_name_index(x)] += 1;
                uses[(x + l) as usize] = own;
            }
        }
        Ok(Self {
            level_count: levels,
            tuple_coefficients: uses,
        })
    }

    /// Number of levels, L.
    #[must_use]
    pub const fn level_count(&self) -> u32 {
        self.level_count
    }

    /// Lists the numbers y that name the tuples s_y: 1, 2, −2, 3, −3, …
    pub fn tuple_names(&self) -> impl Iterator<Item = i32> + use<> {
        let more = (2..=self.level_count as i32).flat_map(|size| [size, -size]);
        std::iter::once(1).chain(more)
    }

    /// Returns the messages of the tuple s_y, where y is one of [`ZeroSumTuples::tuple_names`].
    ///
    /// # Panics
    /// If there is no such tuple.
    #[must_use]
    pub fn tuple_messages(&self, y: i32) -> Vec<i32> {
        self.assert_tuple_name(y);
        if y == 1 {
            return vec![1, -1];
        }
        std::iter::once(y).chain(negated_halves(y)).collect()
    }

    /// Returns the coefficient c_y(x) of the tuple s_y in the decomposition of a message x from −L
    /// to L.
    ///
    /// # Panics
    /// If there is no such tuple or value.
    #[must_use]
    pub fn tuple_coefficient(&self, y: i32, x: i32) -> i32 {
        self.assert_tuple_name(y);
        self.tuple_coefficients[self.value_index(x)][tuple_name_index(y)]
    }

    /// Lists the tuples in the decomposition of a message x. Each item is y and its coefficient
    /// c_y(x), which is not 0.
    ///
    /// # Panics
    /// If there is no such value.
    pub fn decomposition(&self, x: i32) -> impl Iterator<Item = (i32, i32)> + use<'_> {
        let counts = self.tuple_coefficients[self.value_index(x)].iter().copied();
        self.tuple_names()
            .zip(counts)
            .filter(|&(_, count)| count != 0)
    }

    /// Returns the maximum difference between c_y(x) and c_y(x′) over all messages x and x′, where
    /// c_y(x) is the [`tuple_coefficient`](Self::tuple_coefficient).
    ///
    /// # Panics
    /// If there is no such tuple.
    #[must_use]
    pub fn coefficient_range(&self, y: i32) -> u32 {
        self.assert_tuple_name(y);
        let counts = || {
            self.tuple_coefficients
                .iter()
                .map(|counts| counts[tuple_name_index(y)])
        };
        let (least, most) = (counts().min(), counts().max());
        least.unwrap_or(0).abs_diff(most.unwrap_or(0))
    }

    /// Returns the shift of the count Z_y of the tuple s_y if a person's value is x = `from`
    /// instead of x′ = `to`. U = `units` is held fixed. U is the number of messages +1 if the
    /// histogram of all messages is written as a sum of tuples and of messages +1.
    ///
    /// The shift is c_y(x) − c_y(x′), plus max(U, x) − max(U, x′) for y = 1.
    ///
    /// # Panics
    /// If there is no such tuple or value.
    #[must_use]
    pub fn tuple_count_shift(&self, y: i32, from: i32, to: i32, units: i32) -> i32 {
        let own = self.tuple_coefficient(y, from) - self.tuple_coefficient(y, to);
        let beside = units.max(from) - units.max(to);
        own + if y == 1 { beside } else { 0 }
    }

    /// Returns the maxima of the shifts of tuple counts, over all changes of a person's value and
    /// all U of [`count_shift`](Self::tuple_count_shift).
    ///
    /// ```
    /// use hushbin_study::competitors::sums::ZeroSumTuples;
    ///
    /// let reach = ZeroSumTuples::new(4)?.max_tuple_count_shift();
    /// assert_eq!((reach.max_weighted_shift, reach.max_shifted_tuples), (20, 5));
    /// # Ok::<(), hushbin::Error>(())
    /// ```
    #[must_use]
    pub fn max_tuple_count_shift(&self) -> MaxTupleCountShift {
        let l = self.level_count as i32;
        let mut most = MaxTupleCountShift {
            max_weighted_shift: 0,
            max_shifted_tuples: 0,
        };
        let pairs = (-l..=l).flat_map(|from| (-l..=l).map(move |to| (from, to)));
        for (from, to) in pairs {
            let (mut weight, mut differing) = (0, 0);
            for y in self.tuple_names().skip(1) {
                let shift = self.tuple_count_shift(y, from, to, 0).unsigned_abs();
                weight += shift * y.unsigned_abs();
                differing += u32::from(shift > 0);
            }
            // U from −L to L is enough: beyond, max(U, x) − max(U, x′) does not change.
            for units in -l..=l {
                let shift = self.tuple_count_shift(1, from, to, units).unsigned_abs();
                most.max_weighted_shift = most.max_weighted_shift.max(weight + shift);
                most.max_shifted_tuples = most
                    .max_shifted_tuples
                    .max(differing + u32::from(shift > 0));
            }
        }
        most
    }

    /// Returns the first index, for the message x, in the coefficients `uses`.
    fn value_index(&self, x: i32) -> usize {
        assert!(x.unsigned_abs() <= self.level_count, "a value from -L to L");
        (x + self.level_count as i32) as usize
    }

    /// Checks that y is the name of a tuple.
    fn assert_tuple_name(&self, y: i32) {
        let named = y == 1 || (2..=self.level_count).contains(&y.unsigned_abs());
        assert!(named, "a tuple's name: 1, or 2 to L with either sign");
    }
}

/// Returns the two messages that follow x in the tuple s_x: −⌈x/2⌉ and −⌊x/2⌋ for x > 0. For x < 0
/// they are ⌈|x|/2⌉ and ⌊|x|/2⌋.
fn negated_halves(x: i32) -> [i32; 2] {
    let (sign, size) = (x.signum(), x.abs());
    [-sign * (size - size / 2), -sign * (size / 2)]
}

/// Returns the index of y in [`ZeroSumTuples::tuple_names`].
fn tuple_name_index(y: i32) -> usize {
    let size = y.unsigned_abs() as usize;
    match y {
        1 => 0,
        2.. => 2 * size - 3,
        _ => 2 * size - 2,
    }
}
