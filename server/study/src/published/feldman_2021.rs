//! Feldman, McMillan, Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of
//! Privacy Amplification by Shuffling" (FOCS 2021), for any randomizer.
//!
//! One person's report is the target, and e = exp(ε). With probability exp(−ε), each of the n − 1
//! remaining reports is a clone of the target. A clone looks like the report of either of the
//! target's two inputs with probability 1/2. So the number of clones is C ~ Binomial(n − 1,
//! exp(−ε)), of which A ~ Binomial(C, 1/2) look like the first input. The target itself adds 1 to A
//! with probability e/(e + 1) if its input is the first, and with probability 1/(e + 1) if its
//! input is the second. Otherwise the target adds 1 to C − A. `hushbin_analysis` computes the δ of
//! this pair of distributions by an exact sum.

use hushbin::Error;
use hushbin_analysis::accounting::clone_argument_epsilon;

use super::bound::{BoundOrUnmetCondition, BoundScope, BoundedBatch, PublishedBound};

pub(super) fn clone_bounds(batch: &BoundedBatch) -> Result<[PublishedBound; 2], Error> {
    Ok([
        batch.published_bound(
            "clones",
            "Feldman et al. 2021, Theorem 3.1",
            BoundScope::AnyRandomizer,
            closed_form_epsilon(batch),
        ),
        batch.published_bound(
            "clones, exact sum",
            "Feldman et al. 2021, Section 3",
            BoundScope::AnyRandomizer,
            Ok(clone_argument_epsilon(
                batch.epsilon,
                batch.honest_report_count,
                batch.delta,
            )?),
        ),
    ])
}

/// Computes the central ε by the closed form ln(1 + (e − 1)/(e + 1)·(8·√(e·ln(4/δ)/n) + 8e/n)),
/// where e = exp(ε) for the local ε.
fn closed_form_epsilon(batch: &BoundedBatch) -> BoundOrUnmetCondition {
    let (e, n) = (batch.epsilon.exp(), batch.honest_report_count as f64);
    if e > n / (16.0 * (2.0 / batch.delta).ln()) {
        return Err("local epsilon of at most ln(n/(16 ln(2/delta)))");
    }
    let many = 8.0 * (e * (4.0 / batch.delta).ln() / n).sqrt() + 8.0 * e / n;
    Ok((batch.epsilon.exp_m1() / (e + 1.0) * many).ln_1p())
}
