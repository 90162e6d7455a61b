//! What the mechanisms whose reports are buckets have in common.

use hushbin::Entry;
use hushbin::hash::Functions;
use hushbin::mechanism::BucketReport;

use super::hypothesis::{Hypothesis, Part};
use super::observation::{Fall, Observation, Place};

/// The elements of an input, each with its buckets under all hash functions.
pub(super) struct Held<'a> {
    pub(super) entries: Vec<Buckets<'a>>,
    pub(super) paddings: Vec<Buckets<'a>>,
}

/// The buckets of an element, one of each hash function.
#[derive(Clone, Copy)]
pub(super) struct Buckets<'a> {
    /// Under CoCo the sides that a positive value pushes to.
    of_positive: &'a [u32],
    /// 1 where it pushes to the opposite sides.
    turned: u32,
}

impl Buckets<'_> {
    /// That of a function, among those of this function.
    #[inline]
    pub(super) fn of(&self, function: u32) -> u32 {
        self.of_positive[function as usize] ^ self.turned
    }
}

/// The hashes of a report.
pub(super) struct Hashed<H, E, P> {
    /// Buckets of a cell; elements are hashed to cells.
    pub(super) sides: u32,
    /// t.
    pub(super) buckets: u32,
    /// R.
    pub(super) functions: u32,
    /// Buckets that an element is in, one behind the other; with several there is one function.
    pub(super) width: u32,
    /// The buckets of elements, R of each; under CoCo the sides that positive values
    /// push to.
    pub(super) hash: H,
    /// The element of an entry.
    pub(super) entry: E,
    /// That of a padding, by its number.
    pub(super) padding: P,
}

/// The elements of two inputs and of paddings, hashed together: entries at the same
/// place of either are mostly of the same item.
struct Rows {
    functions: usize,
    /// Of each element R buckets.
    buckets: Vec<u32>,
    /// Of each entry of either input its element.
    entries: [Vec<usize>; 2],
    /// The first padding.
    paddings: usize,
}

impl Rows {
    fn new<H, E, P>(hashed: &Hashed<H, E, P>, inputs: [&Hypothesis; 2], paddings: u32) -> Self
    where
        H: Fn(&[u64]) -> Vec<u32>,
        E: Fn(&Entry) -> u64,
        P: Fn(u32) -> u64,
    {
        let mut elements = Vec::new();
        let entries = inputs.map(|input| {
            let entries = input.entries().iter().map(&hashed.entry).enumerate();
            let index = |(index, element)| {
                if elements.get(index) == Some(&element) {
                    return index;
                }
                elements.push(element);
                elements.len() - 1
            };
            entries.map(index).collect()
        });
        let first_padding = elements.len();
        elements.extend((0..paddings).map(&hashed.padding));
        Self {
            functions: hashed.functions as usize,
            buckets: (hashed.hash)(&elements),
            entries,
            paddings: first_padding,
        }
    }

    fn of(&self, element: usize) -> &[u32] {
        &self.buckets[self.functions * element..self.functions * (element + 1)]
    }

    fn padding(&self, index: usize) -> Buckets<'_> {
        Buckets {
            of_positive: self.of(self.paddings + index),
            turned: 0,
        }
    }
}

/// Observation of a report by its hashes, and by the weight of the reported bucket,
/// which is its probability times the rule's Ω. That is the same for all inputs,
/// so a mixture has the mean of its parts' weights. Paddings are hashed where inputs
/// are `padded` to so many elements.
pub(super) fn observe<H, E, P>(
    report: &BucketReport,
    padded: u32,
    hashed: &Hashed<H, E, P>,
    inputs: [&Hypothesis; 2],
    mut weight: impl FnMut(&Held<'_>) -> f64,
) -> Observation
where
    H: Fn(&[u64]) -> Vec<u32>,
    E: Fn(&Entry) -> u64,
    P: Fn(u32) -> u64,
{
    let bucket = report.bucket;
    // The one that the report names a bucket of.
    let function = bucket / hashed.buckets;
    let missing = |part: &Part| padded.saturating_sub(part.kept.len() as u32);
    let parts = inputs.iter().flat_map(|input| input.parts());
    let rows = Rows::new(hashed, inputs, parts.map(missing).max().unwrap_or(0));
    let [(first, first_weight), (second, second_weight)] = [0, 1].map(|which| {
        let input = inputs[which];
        let turned = |entry: &Entry| u32::from(entry.value < 0.0 && hashed.sides > 1);
        let entries = input.entries().iter().zip(&rows.entries[which]);
        let entries: Vec<Buckets<'_>> = entries
            .map(|(entry, &element)| Buckets {
                of_positive: rows.of(element),
                turned: turned(entry),
            })
            .collect();
        let weights = input.parts().iter().map(|part| {
            let paddings = 0..missing(part) as usize;
            let held = Held {
                entries: part.kept.iter().map(|&index| entries[index]).collect(),
                paddings: paddings.map(|index| rows.padding(index)).collect(),
            };
            part.probability * weight(&held)
        });
        let weight: f64 = weights.sum();
        let own = |entry: &Buckets<'_>| {
            let of_own = entry.of(function);
            let window = (0..hashed.width).map(move |behind| (of_own + behind) % hashed.buckets);
            window.map(|of_function| function * hashed.buckets + of_function)
        };
        (entries.iter().flat_map(own).collect::<Vec<u32>>(), weight)
    });
    let is_named = |held: &u32| *held == bucket;
    let first_entry = |own: &[u32]| own.iter().position(is_named).unwrap_or(own.len());
    let sides = hashed.sides;
    let fall = |buckets: &[u32]| {
        let side = |&bucket: &u32| (bucket / sides, bucket % sides == 0 && sides > 1);
        Fall::new(buckets.iter().map(side))
    };
    Observation {
        log_ratio: (first_weight / second_weight).ln(),
        seed: report.seed,
        bucket: u64::from(bucket),
        first_entries: [first_entry(&first), first_entry(&second)],
        places: [place(&first, bucket), place(&second, bucket)],
        falls: [fall(&first), fall(&second)],
    }
}

fn place(buckets: &[u32], bucket: u32) -> Place {
    if !buckets.contains(&bucket) {
        return Place::Elsewhere;
    }
    let lower = buckets.iter().any(|&other| other < bucket);
    let higher = buckets.iter().any(|&other| other > bucket);
    match (lower, higher) {
        (false, false) => Place::Only,
        (false, true) => Place::Lowest,
        (true, false) => Place::Highest,
        (true, true) => Place::Between,
    }
}

/// The buckets of elements under all functions, R of each.
pub(super) fn hash(functions: &Functions, elements: &[u64]) -> Vec<u32> {
    let placed: Vec<u64> = elements.iter().map(|&e| functions.place(e)).collect();
    let mut buckets = vec![0; elements.len() * functions.count()];
    functions.buckets_of(&placed, &mut buckets);
    buckets
}

/// How strongly the cells of all hash functions are pushed to, by an absolute value.
pub(super) struct Strengths {
    functions: u32,
    /// Of the cells of one function.
    pushes: Vec<i32>,
    /// How many cells have a strength of 0, 1, 2, ….
    levels: Vec<u32>,
}

impl Strengths {
    /// Of so many functions with so many cells each.
    pub(super) fn new(functions: u32, cells: u32) -> Self {
        Self {
            functions,
            pushes: vec![0; cells as usize],
            levels: Vec::new(),
        }
    }

    /// Those of cells that elements lie in, each pushing by 1 or −1.
    pub(super) fn count(&mut self, elements: &[Buckets<'_>], push: impl Fn(u32) -> (u32, i32)) {
        self.levels.clear();
        self.levels.resize(elements.len() + 1, 0);
        for function in 0..self.functions {
            let pushes = || elements.iter().map(|element| push(element.of(function)));
            for (cell, push) in pushes() {
                self.pushes[cell as usize] += push;
            }
            // A cell that is met again adds to those of 0 only.
            for (cell, _) in pushes() {
                let strength = std::mem::take(&mut self.pushes[cell as usize]);
                self.levels[strength.unsigned_abs() as usize] += 1;
            }
        }
        let strong: u32 = self.levels[1..].iter().sum();
        self.levels[0] = self.functions * self.pushes.len() as u32 - strong;
    }

    /// The number of cells of this strength.
    pub(super) fn equal(&self, strength: u32) -> u32 {
        self.levels[strength as usize]
    }

    /// The number of stronger ones.
    pub(super) fn stronger(&self, strength: u32) -> u32 {
        self.levels[strength as usize + 1..].iter().sum()
    }
}

/// The share of a bucket in the c places of the favoured set, when so many
/// buckets are stronger and so many, itself included, equally strong.
pub(super) fn share(favoured: u32, stronger: u32, equal: u32) -> f64 {
    f64::from(favoured.saturating_sub(stronger).min(equal)) / f64::from(equal)
}
