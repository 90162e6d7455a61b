//! Choice of Collision's parameters for a question whose answers are memoised.

use super::sparsity_search::{Candidate, ParameterSearch};
use crate::error::{Error, error};
use crate::hash::HashFamily;
use crate::mechanism::collision::{Collision, FavouredBucketRule};
use crate::mechanism::{Mechanism, MemoAndReportThresholds};
use crate::task::MemoParameters;

/// Returns `chosen` if its reports can be made from the memo. Otherwise returns the parameters of
/// Collision with minimum total variance among those whose reports can.
///
/// A memo limits the number M of slots that a report supports: M < (exp(ε_total) − 1)/(exp(ε) − 1).
///
/// # Errors
/// [`Error::InvalidCombination`] if there are no such parameters.
pub(super) fn best_memo_compatible_candidate(
    search: &ParameterSearch<'_>,
    memo: MemoParameters,
    chosen: Candidate,
) -> Result<Candidate, Error> {
    let (domain, epsilon) = (&search.domain, search.budget.epsilon);
    let allows = |mechanism: &Mechanism| {
        MemoAndReportThresholds::new(mechanism, domain, epsilon, memo.epsilon).is_ok()
    };
    if allows(&chosen.mechanism) {
        return Ok(chosen);
    }
    let options = domain.item_count().unwrap_or(0);
    let plain = (2..=options).filter_map(|buckets| {
        Collision::new(
            FavouredBucketRule::Heaviest { favoured: 1 },
            HashFamily::Balanced,
            buckets,
        )
        .ok()
    });
    let windows = Collision::list_balanced_window_parameters(options, 3..=options, [0.0, 1.0]);
    let with_variance = |own: Collision| {
        (
            own.hit_probabilities(domain, epsilon)
                .total_variance(domain),
            own,
        )
    };
    let best = plain
        .chain(windows)
        .filter(|own| allows(&(*own).into()))
        .map(with_variance)
        .min_by(|(a, _), (b, _)| a.total_cmp(b));
    let (_, best) = best.ok_or(error!(InvalidCombination {
        reason: "the memo's \"epsilon\" is too small: it must exceed the \"epsilon\" of a report",
    }))?;
    Ok(search.evaluate_candidate(best, domain))
}
