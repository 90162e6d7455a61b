//! Feldman, McMillan, Talwar, "Stronger Privacy Amplification by Shuffling for Rényi and
//! Approximate Differential Privacy" (SODA 2023; arXiv 2208.04591). Here, with e = exp(ε), a report
//! is a clone for each of the two inputs with probability α = 1/(e + 1). A clone need only look
//! like the report of one of the two inputs.
//!
//! Their erratum restricts the theorems to a class of randomizers, as the proof of Lemma 3.5 fails.
//! Nevertheless, their final pair of distributions bounds the δ of any randomizer. That follows
//! from the corollary in `hushbin_analysis::accounting::privacy_blanket`. The exact sum for this
//! pair is therefore a bound. The closed form is a bound too, because it is an upper bound on the
//! sum.

use super::bound::{BoundOrUnmetCondition, BoundScope, BoundedBatch, PublishedBound};

const PAPER_CITATION: &str = "Feldman et al. 2023, with its erratum; proven by the blanket";

/// Returns both bounds of the paper: the closed form and the exact sum. `exact` is the central ε
/// that hushbin's accounting yields for any ε-LDP randomizer.
pub(super) fn stronger_clone_bounds(batch: &BoundedBatch, exact: f64) -> [PublishedBound; 2] {
    [
        batch.published_bound(
            "stronger clones",
            PAPER_CITATION,
            BoundScope::AnyRandomizer,
            closed_form_epsilon(batch),
        ),
        batch.published_bound(
            "stronger clones, exact sum",
            PAPER_CITATION,
            BoundScope::AnyRandomizer,
            Ok(exact),
        ),
    ]
}

/// Computes the central ε by the closed form ln(1 + (e − 1)·(4·√(2·ln(4/δ)/((e + 1)·n)) + 4/n)),
/// where e = exp(ε) for the local ε.
fn closed_form_epsilon(batch: &BoundedBatch) -> BoundOrUnmetCondition {
    let (e, n) = (batch.epsilon.exp(), batch.honest_report_count as f64);
    if e + 1.0 > n / (8.0 * (2.0 / batch.delta).ln()) {
        return Err("local epsilon of at most ln(n/(8 ln(2/delta)) - 1)");
    }
    let many = 4.0 * (2.0 * (4.0 / batch.delta).ln() / ((e + 1.0) * n)).sqrt() + 4.0 / n;
    Ok((batch.epsilon.exp_m1() * many).ln_1p())
}
