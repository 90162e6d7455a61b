//! Coverage of intervals, in simulated batches with fixed seeds.
//!
//! Intervals state 95 per cent. Of 1000 batches with that coverage, fewer than 930 are covered with a
//! probability of 0.3 per cent, and of 4000, fewer than 3760 with one of 0.2 per cent. These are the
//! significances of the tests below. Exact intervals cover more, because counts are integers.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::super::{BinTree, NumberCounts, estimate_cells, estimate_flags};
use super::{add_noise, below, noise_messages, tree};
use crate::estimate::{ConfidenceLevel, Estimate};

const fn contains([low, high]: [f64; 2], truth: f64) -> bool {
    low <= truth && truth <= high
}

/// Counts of how often an interval and all simultaneous intervals contain the truth.
#[derive(Debug, Default)]
struct Coverage {
    batches: u32,
    single: u32,
    all: u32,
}

impl Coverage {
    /// Adds a batch. The single interval is that of the estimate with this index.
    fn add(&mut self, found: &[Estimate], truth: &[u64], index: usize) {
        self.batches += 1;
        let of =
            |found: &Estimate, truth: &u64| contains(found.simultaneous_interval, *truth as f64);
        self.single += u32::from(contains(found[index].interval, truth[index] as f64));
        self.all += u32::from(
            found
                .iter()
                .zip(truth)
                .all(|(found, truth)| of(found, truth)),
        );
    }

    /// Checks that at least 94 per cent of 4000 batches, or 93 of 1000, were covered.
    #[track_caller]
    fn check(&self) {
        let least = if self.batches < 4000 { 0.93 } else { 0.94 };
        let least = (least * f64::from(self.batches)) as u32;
        assert!(self.single >= least && self.all >= least, "{self:?}");
    }
}

#[test]
fn options_are_covered() {
    // Crowds: nobody, one person, a tie of all options, one option of all people, a few per option.
    for (seed, (own, rho)) in [
        (vec![0_u64; 5], 0.5),
        (vec![0, 0, 1], 1.0),
        (vec![40; 12], 0.2),
        (vec![500, 0, 0, 0], 0.6),
        (vec![3, 2, 0, 9, 1, 0, 0, 4], 0.9),
        (vec![300, 200, 100, 1], 0.02),
    ]
    .into_iter()
    .enumerate()
    {
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let people: u64 = own.iter().sum();
        let confidence = ConfidenceLevel::new(0.95, own.len()).unwrap();
        let mut coverage = Coverage::default();
        for batch in 0..4000 {
            let mut counts = own.clone();
            let total = noise_messages(&mut rng, people, rho);
            add_noise(&mut rng, &mut counts, total);
            let found = estimate_cells(&counts, people, 1, 0, &confidence).unwrap();
            coverage.add(&found, &own, batch % own.len());
        }
        coverage.check();
    }
}

/// A thousand options with 43 noise messages each: normal intervals fail here.
#[test]
fn many_options_are_covered() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let own: Vec<u64> = (0..1000)
        .map(|option| option % 7 * (option / 100))
        .collect();
    let people = own.iter().sum();
    let confidence = ConfidenceLevel::new(0.95, own.len()).unwrap();
    let (mut coverage, mut width) = (Coverage::default(), 0.0);
    for batch in 0..1000 {
        let mut counts = own.clone();
        add_noise(&mut rng, &mut counts, 42_650);
        let found = estimate_cells(&counts, people, 1, 0, &confidence).unwrap();
        width = found[0].simultaneous_interval[1] - found[0].simultaneous_interval[0];
        coverage.add(&found, &own, batch);
    }
    coverage.check();
    // The normal width is 2·4.06·6.53.
    assert!((53.0..58.0).contains(&width), "{width}");
}

#[test]
fn flags_are_covered() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (people, yes) = (300_u64, [0_u64, 1, 150, 300]);
    let confidence = ConfidenceLevel::new(0.95, yes.len()).unwrap();
    let mut coverage = Coverage::default();
    for batch in 0..4000 {
        let mut counts: Vec<u64> = yes.iter().flat_map(|&yes| [people - yes, yes]).collect();
        let total = noise_messages(&mut rng, people, 0.7);
        add_noise(&mut rng, &mut counts, total);
        let pairs: Vec<[u64; 2]> = counts.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
        let found = estimate_flags(&pairs, people, 0, &confidence).unwrap();
        coverage.add(&found, &yes, batch % 4);
    }
    coverage.check();
}

/// Returns the counts of all levels of a crowd's numbers with noise, drawn over all cells.
fn noisy_levels(
    rng: &mut ChaCha8Rng,
    tree: &BinTree,
    bins: &[u64],
    draws: u64,
    rho: f64,
) -> Vec<Vec<u64>> {
    let own = |width: usize| -> Vec<u64> {
        // All but the last cell cover the same number of bins.
        let span = bins.len().div_ceil(width);
        bins.chunks(span).map(|part| part.iter().sum()).collect()
    };
    let mut cells: Vec<u64> = tree.widths().flat_map(own).collect();
    let total = noise_messages(rng, draws, rho);
    add_noise(rng, &mut cells, total);
    let mut rest = &cells[..];
    let split = |width: usize| {
        let (level, others) = rest.split_at(width);
        rest = others;
        level.to_vec()
    };
    tree.widths().map(split).collect()
}

/// Bins, the distribution function at all edges, and quantiles, on one and several levels. Crowds
/// have few people, equal numbers, or numbers everywhere.
#[test]
fn numbers_are_covered() {
    let fractions = [0.01, 0.25, 0.5, 0.9];
    for (seed, (size, spans, crowd, rho)) in [
        (8, &[][..], 3, 1.0),
        (16, &[], 400, 0.3),
        (16, &[4], 0, 0.9),
        (16, &[4], 1, 0.9),
        (16, &[4], 2, 0.9),
        (16, &[4], 400, 0.05),
        (16, &[4], 400, 1.0),
        (17, &[5], 100, 0.5),
        (32, &[16, 4], 300, 0.7),
    ]
    .into_iter()
    .enumerate()
    {
        let mut rng = ChaCha8Rng::seed_from_u64(100 + seed as u64);
        let tree = BinTree::new(size, spans).unwrap();
        let size = tree.bins();
        let mut bins = vec![0_u64; size];
        match crowd {
            0 => {}
            1 => bins[5] = 200,
            2 => bins.iter_mut().for_each(|bin| *bin = 20),
            people => (0..people).for_each(|_| {
                // Numbers are denser near the first edge.
                let [a, b] = [0, 1].map(|_| below(&mut rng, size as u64));
                bins[a.min(b) as usize] += 1;
            }),
        }
        let people: u64 = bins.iter().sum();
        let prefix = |edge: usize| bins[..edge].iter().sum::<u64>();
        let edges: Vec<u64> = (1..size).map(prefix).collect();
        let of_bins = ConfidenceLevel::new(0.95, size).unwrap();
        let of_edges = ConfidenceLevel::new(0.95, size - 1).unwrap();
        let [mut bin, mut edge, mut quantile] = [0; 3].map(|_| Coverage::default());
        // People who are not honest send no noise: the task has draws of its own number.
        let draws = people.max(50);
        for batch in 0..1000 {
            let levels = noisy_levels(&mut rng, &tree, &bins, draws, rho);
            let levels: Vec<&[u64]> = levels.iter().map(Vec::as_slice).collect();
            let found = NumberCounts::new(&tree, &levels, people, 0).unwrap();
            bin.add(&found.in_bins(&of_bins), &bins, batch % size);
            edge.add(&found.below_edges(&of_edges), &edges, batch % (size - 1));
            let quantiles = found.quantiles(&fractions, &of_edges);
            if people == 0 {
                assert!(quantiles.is_empty());
                continue;
            }
            // The true quantile is in the first bin at whose end the fraction is reached.
            let inside = |quantile: f64, [lower, upper]: [usize; 2]| {
                let wanted = quantile * people as f64 - 1e-9;
                let bin = (0..size)
                    .find(|&bin| prefix(bin + 1) as f64 >= wanted)
                    .unwrap();
                lower <= bin && bin < upper
            };
            quantile.batches += 1;
            let own = &quantiles[batch % 4];
            quantile.single += u32::from(inside(own.quantile, own.interval));
            let all = |own: &super::super::BinQuantile| {
                assert!(own.interval[0] as f64 <= own.position);
                assert!(own.position <= own.interval[1] as f64);
                inside(own.quantile, own.simultaneous_interval)
            };
            quantile.all += u32::from(quantiles.iter().all(all));
        }
        bin.check();
        edge.check();
        if people > 0 {
            quantile.check();
        }
    }
}

/// Intervals on several levels are not much wider than normal ones.
#[test]
fn intervals_of_trees_are_narrow() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let tree = tree(&[8, 64]);
    let bins: Vec<u64> = (0..64).map(|bin| 100 * bin).collect();
    let confidence = ConfidenceLevel::new(0.95, 63).unwrap();
    let levels = noisy_levels(&mut rng, &tree, &bins, 6000, 1.0);
    let levels: Vec<&[u64]> = levels.iter().map(Vec::as_slice).collect();
    let people = bins.iter().sum();
    let found = NumberCounts::new(&tree, &levels, people, 0).unwrap();
    for found in found.below_edges(&confidence) {
        let width = |[low, high]: [f64; 2]| (high - low) / found.standard_error;
        let z = confidence.simultaneous_normal_quantile();
        let (single, all) = (width(found.interval), width(found.simultaneous_interval));
        assert!((3.9..4.2).contains(&single), "{found:?}");
        assert!((2.0 * z..2.0 * z + 0.5).contains(&all), "{found:?}");
    }
}

/// Removes `lost` messages from cells, beginning with the cell `first`.
fn lose(counts: &mut [u64], first: usize, mut lost: u64) {
    for cell in 0..counts.len() {
        let count = &mut counts[(first + cell) % counts.len()];
        let less = lost.min(*count);
        *count -= less;
        lost -= less;
    }
}

/// Up to 40 own messages are missing, often all of one cell.
#[test]
fn missing_messages_are_covered() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let missing = 40;
    let own = [300_u64, 200, 100, 1];
    let confidence = ConfidenceLevel::new(0.95, own.len()).unwrap();
    let [mut options, mut flags] = [0; 2].map(|_| Coverage::default());
    for batch in 0..4000 {
        let lost = batch as u64 % (missing + 1);
        let mut counts = own.to_vec();
        lose(&mut counts, batch % 4, lost);
        let total = noise_messages(&mut rng, 601, 0.1);
        add_noise(&mut rng, &mut counts, total);
        let found = estimate_cells(&counts, 601, 1, missing, &confidence).unwrap();
        options.add(&found, &own, batch % 4);
        let mut pair = [300_u64, 301];
        lose(&mut pair, batch % 2, lost);
        add_noise(&mut rng, &mut pair, total / 4);
        let found = estimate_flags(&[pair], 601, missing, &confidence).unwrap();
        flags.add(&found, &[301], 0);
    }
    options.check();
    flags.check();
}

#[test]
fn missing_messages_of_numbers_are_covered() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let missing = 40;
    for widths in [&[4, 16][..], &[16]] {
        let tree = tree(widths);
        let bins: Vec<u64> = (0..16).map(|bin| 10 * bin).collect();
        let people: u64 = bins.iter().sum();
        let edges: Vec<u64> = (1..16).map(|edge| bins[..edge].iter().sum()).collect();
        let confidence = ConfidenceLevel::new(0.95, 16).unwrap();
        let [mut bin, mut edge] = [0; 2].map(|_| Coverage::default());
        for batch in 0..1000 {
            let mut levels = noisy_levels(&mut rng, &tree, &bins, 600, 0.3);
            for (number, level) in levels.iter_mut().enumerate() {
                let lost = (batch as u64 * 7 + number as u64 * 20) % (missing + 1);
                lose(level, batch % 16, lost);
            }
            let levels: Vec<&[u64]> = levels.iter().map(Vec::as_slice).collect();
            let found = NumberCounts::new(&tree, &levels, people, missing).unwrap();
            bin.add(&found.in_bins(&confidence), &bins, batch % 16);
            edge.add(&found.below_edges(&confidence), &edges, batch % 15);
        }
        bin.check();
        edge.check();
    }
}

/// Half of the people leave their noise out. Estimates are unbiased, and their error is smaller.
#[test]
fn missing_noise_causes_no_bias() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let own = [700_u64, 200, 90, 10];
    let confidence = ConfidenceLevel::new(0.95, 4).unwrap();
    let (batches, mut sum, mut square) = (4000, 0.0, 0.0);
    for _ in 0..batches {
        let mut counts = own.to_vec();
        let total = noise_messages(&mut rng, 500, 0.4);
        add_noise(&mut rng, &mut counts, total);
        let found = estimate_cells(&counts, 1000, 1, 0, &confidence).unwrap();
        sum += found[3].estimate - 10.0;
        square += (found[3].estimate - 10.0).powi(2);
    }
    let variance = 500.0 * 0.4 / 4.0 * 0.75;
    let [mean, found] = [sum, square].map(|sum| sum / f64::from(batches));
    assert!(
        mean.abs() < 4.0 * f64::sqrt(variance / f64::from(batches)),
        "{mean}"
    );
    // The standard error of a variance from 4000 batches is 2.2 per cent.
    assert!((found / variance - 1.0).abs() < 0.09, "{found}, {variance}");
}
