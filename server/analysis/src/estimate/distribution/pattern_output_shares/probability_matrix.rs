//! Products with the probability matrix M of a pattern. M has one row for each output and one
//! column for each bin. Each entry is the probability of the row's output for a person in the
//! column's bin.

use hushbin::mechanism::pattern::PatternEstimator;

/// Returns M·f. The vector f is `bins`, with one number for each bin. The result has one number for
/// each output.
pub(crate) fn expected_outputs(rates: &PatternEstimator, bins: &[f64]) -> Vec<f64> {
    let mut outputs = vec![0.0; rates.output_probabilities(0).len()];
    for (bin, own) in bins.iter().enumerate() {
        for (sum, chance) in outputs.iter_mut().zip(rates.output_probabilities(bin)) {
            *sum += own * chance;
        }
    }
    outputs
}

/// Returns Mᵀ·r. The vector r is `outputs`, with one number for each output. The result has one
/// number for each bin.
pub(super) fn transposed_product(rates: &PatternEstimator, outputs: &[f64]) -> Vec<f64> {
    let product = |(own, chance): (&f64, &f64)| own * chance;
    let of_bin = |bin| {
        outputs
            .iter()
            .zip(rates.output_probabilities(bin))
            .map(product)
            .sum()
    };
    (0..rates.cell_count()).map(of_bin).collect()
}

/// Returns Mᵀ·diag(w)·M, where w are the `weights` of outputs. Only the lower triangle is filled.
pub(super) fn weighted_gram_matrix(rates: &PatternEstimator, weights: &[f64]) -> Vec<f64> {
    // M has only two values, and each bin's favoured outputs are a rotation of those of bin 0. So
    // running sums yield the entries for all pairs of bins at one distance.
    let (bins, outputs) = (rates.cell_count(), weights.len());
    // Repeat both lists once, so that rotated indices stay in range.
    let [chances, doubled] =
        [rates.output_probabilities(0), weights].map(|own| [own, own].concat());
    let [other, favoured] =
        [f64::min, f64::max].map(|of| chances.iter().copied().fold(chances[0], of));
    let gap = favoured - other;
    // Sums of weights over the outputs that two bins at this distance both favour, by the lower
    // bin.
    let shared = |distance: usize| {
        let mut sums = vec![0.0; bins - distance];
        let turned = &chances[outputs - distance..];
        for output in (0..outputs).filter(|own| chances[*own] > other && turned[*own] > other) {
            for (sum, own) in sums.iter_mut().zip(&doubled[output..]) {
                *sum += own;
            }
        }
        sums
    };
    let all = other * other * weights.iter().sum::<f64>();
    let single = shared(0);
    let mut gram = vec![0.0; bins * bins];
    for distance in 0..bins {
        for (bin, both) in shared(distance).into_iter().enumerate() {
            let upper = bin + distance;
            // Σ w·(other + gap·a)·(other + gap·b), for indicators a and b of favoured outputs.
            let either = other * (single[bin] + single[upper]);
            gram[upper * bins + bin] = all + gap * (either + gap * both);
        }
    }
    gram
}
