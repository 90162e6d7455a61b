//! Search for the number of hash functions R, the number of buckets t and the number of favoured
//! buckets c. The search minimises the total variance within a budget.
//!
//! A report hashes R·s elements, each in several rounds. A draft may state R. Otherwise the cost of
//! hashing is at most [`MAX_HASH_COST`], and R is the smallest power of two whose variance is
//! within [`MAX_VARIANCE_RATIO`] of the best.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::buckets_draft::{BucketsDraft, ParametersWithVariance, SearchableRule, paper_rule};
use super::budget::{BUDGET_EXCEEDED_ERROR, PreparedBudget, PrivacyBudget};
use super::candidate_cell_counts::CandidateCellCounts;
use super::contract::ChooseParameters;
use super::objective::ParameterSearchGoal;
use super::predict::PredictErrors;
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::HashFamily;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::hash_bin::PrivacyLevelName;
use crate::mechanism::occupancy::{ApproximateCellSums, StrongestCellSums, StrongestCellSumsTable};
use crate::mechanism::{BucketReport, HashedSubsetSelection};

/// Maximum cost of hashing, R·s·(1 + rounds), with R > 1 hash functions and sparsity s. A page that
/// makes a report needs about 5 ns per unit of this cost. Hashing one element under one hash
/// function was measured: 8 ns with a single pair, 30 ns in five rounds, 60 ns in nine, and 126 ns
/// in 21.
const MAX_HASH_COST: u32 = 1500;
/// Acceptable ratio of a variance to the minimum variance, in exchange for fewer hash functions.
const MAX_VARIANCE_RATIO: f64 = 1.01;
/// Number of candidates, for each number of hash functions R, whose exact variance is computed.
/// These variances decide R. The candidates are the best ones of a ranking.
const EXACT_CANDIDATES_PER_HASH_COUNT: usize = 3;
/// Number of candidates with the chosen R whose exact variance is computed. The candidates are the
/// best ones of the ranking.
const FINALIST_COUNT: usize = 8;
/// Maximum number of hashed elements R·s for which candidates are ranked with exact sums. With
/// independent cells, approximate sums led to 12 per cent more variance at R·s = 3, 7 per cent at
/// 5, and none at 16.
const MAX_ELEMENTS_FOR_EXACT_RANKING: u32 = 12;
/// Minimum sparsity s at which the final choice uses approximate sums. At s = 1024, approximate and
/// exact sums led to the same choice, except that c differed by 0.1 per cent. Each exact sum takes
/// a tenth of a second at s = 1024.
const MIN_SPARSITY_FOR_APPROXIMATION: u32 = 256;
/// Maximum width of a range that is searched exhaustively. A range contains numbers of favoured
/// buckets c.
const MAX_EXHAUSTIVE_RANGE_WIDTH: u32 = 24;
/// Ratio of items to entries above which paddings are a small part of all slots.
const MIN_RATIO_FOR_FEW_PADDINGS: u32 = 16;
/// Minimum factor by which added items must lower the variance, compared with added paddings. If
/// the factor is smaller, paddings are added. With paddings, people with few entries add less
/// noise.
const MIN_GAIN_WITHOUT_PADDING: f64 = 1.003;

const NO_BALANCED_WINDOWS_ERROR: Error = Error::InvalidCombination {
    reason: "the stated fields allow no \"balanced-windows\": they need rule \"heaviest\", \
             \"hashes\" 1, \"favoured\" of at least 2, and \"buckets\" from 3 to 255, above \
             \"favoured\". Unless both are stated, \"buckets\" must not exceed the number of \
             answers",
};

/// Returns the best parameters that a draft allows for a domain.
///
/// Under the paper's rule, every number of buckets t is tried. Under the project's own rule, a grid
/// of values of t is ranked, mostly by approximate sums. Exact sums then decide between the best
/// candidates with one R and all neighbours.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if the draft allows no parameters, or none
/// within the budget.
pub(super) fn choose_bucket_parameters<R: SearchableRule>(
    domain: &Domain,
    budget: PrivacyBudget,
    draft: &BucketsDraft<R::Name>,
    goal: &ParameterSearchGoal<'_>,
) -> Result<HashedSubsetSelection<R>, Error> {
    let complete = draft.parameters_if_buckets_stated::<R>(domain)?;
    let paper = draft.rule_or_default::<R>() == paper_rule::<R>().rule_name();
    let with = |hashing| BucketSearch {
        domain,
        epsilon: budget.epsilon,
        budget: budget.with_precomputed_exp(),
        goal,
        hash_family: hashing,
        favoured_count: draft.favoured,
        // A stated c refers to the buckets of one hash function.
        hash_count: draft.hashes.or(draft.favoured.map(|_| 1)),
    };
    let search = with(draft.hash_family_or_default(domain));
    let limit = &search.budget;
    let numbers = [draft.favoured, draft.buckets, draft.hashes];
    let says_nothing = draft.hashing.is_none() && numbers == [None; 3];
    let windows = |other| R::best_with_balanced_windows(domain, limit, draft, goal, other);
    let chosen = match complete {
        _ if search.hash_family == HashFamily::BalancedWindows => {
            search.hash_family.check_domain(domain)?;
            // Windows that the draft requires have no substitute, and the paper's rule has no
            // windows.
            let best = windows(None).filter(|_| !paper);
            best.ok_or(NO_BALANCED_WINDOWS_ERROR)?.1
        }
        Some(complete) if paper || draft.favoured.is_some() => complete,
        None if paper => search.best_of_paper_rule(),
        complete => {
            let cells = complete.map(|complete| complete.cells_per_hash());
            let padded = search.best_of_strongest_rule::<R>(cells);
            let fills =
                draft.hashing.is_none() && padded.1.favouring_rule().allows_balanced_items_hash();
            let filled = (fills && paddings_fill_many_slots(domain))
                .then(|| with(HashFamily::BalancedItems).best_of_strongest_rule(cells));
            match filled {
                Some(filled) if filled.0 * MIN_GAIN_WITHOUT_PADDING < padded.0 => filled.1,
                _ if says_nothing => windows(Some(padded)).map_or(padded.1, |best| best.1),
                _ => padded.1,
            }
        }
    };
    MechanismParameters::check_suits_domain(&chosen, domain)?;
    // The paper's rules favour at most s buckets.
    let favoured = chosen.favoured_count().unwrap_or(domain.sparsity());
    let budget = &search.budget;
    if budget.allows_favoured_bucket_count(favoured, chosen.total_buckets()) {
        Ok(chosen)
    } else {
        Err(BUDGET_EXCEEDED_ERROR)
    }
}

impl<R: SearchableRule> ChooseParameters for HashedSubsetSelection<R>
where
    Self: PredictErrors + MechanismParameters<Report = BucketReport>,
{
    type ParametersDraft = BucketsDraft<R::Name>;

    fn check_draft(draft: &Self::ParametersDraft, domain: &Domain) -> Result<(), Error> {
        match draft.parameters_if_buckets_stated::<R>(domain)? {
            Some(own) => MechanismParameters::check_suits_domain(&own, domain),
            None => Ok(()),
        }
    }

    fn best_candidate(
        search: &ParameterSearch<'_>,
        draft: &Self::ParametersDraft,
    ) -> Result<Candidate, Error> {
        let goal = search.goal();
        search.best_over_sparsities(|domain, budget| {
            choose_bucket_parameters(domain, budget, draft, &goal)
        })
    }

    fn best_candidate_per_variant(
        search: &ParameterSearch<'_>,
        _: PrivacyLevelName,
    ) -> Result<Vec<Candidate>, Error> {
        let budget = search.budget.with_precomputed_exp();
        if budget.allows_bucket_mechanisms() {
            Ok(alloc::vec![R::best_for_empty_draft(search)?])
        } else {
            Ok(Vec::new())
        }
    }

    fn check_agrees_with(&self, draft: &Self::ParametersDraft) -> Result<(), Error> {
        draft.check_agrees_with(self)
    }

    fn report_with_longest_encoding(&self, _: &Domain, _: f64) -> BucketReport {
        BucketReport::with_longest_encoding(self.total_buckets())
    }
}

/// Returns whether paddings would occupy a considerable part of all slots.
fn paddings_fill_many_slots(domain: &Domain) -> bool {
    let few = |items: u32| items / domain.sparsity() > MIN_RATIO_FOR_FEW_PADDINGS;
    domain.item_count().is_some_and(|items| !few(items))
}

/// Search over the numbers of buckets, under one family of hash functions.
struct BucketSearch<'a> {
    domain: &'a Domain,
    epsilon: f64,
    budget: PreparedBudget,
    goal: &'a ParameterSearchGoal<'a>,
    hash_family: HashFamily,
    favoured_count: Option<u32>,
    hash_count: Option<u32>,
}

/// Expected sums of the strengths of the c strongest cells, exact or approximate.
enum ExpectedStrengthSums {
    Exact(StrongestCellSumsTable),
    Approximate(ApproximateCellSums),
}

impl ExpectedStrengthSums {
    fn sums_for_strongest_cells(&self, c: u32) -> StrongestCellSums {
        match self {
            Self::Exact(sums) => sums.sums_over_strongest_cells(c),
            Self::Approximate(sums) => sums.sums_over_strongest_cells(c),
        }
    }
}

impl BucketSearch<'_> {
    fn sparsity(&self) -> u32 {
        self.domain.sparsity()
    }

    /// Returns the maximum number of cells of one hash function that is worth trying. More cells do
    /// not decrease the variance. The optimum of the paper's rule (Wang et al., see
    /// [`collision`](crate::mechanism::collision)) is below s·e + 2s buckets, where e = exp(ε). A
    /// permutation gains nothing from more cells than elements. A budget of α may need more cells
    /// ([`PreparedBudget::min_buckets_by_favoured`]).
    fn max_cells_to_try<R: SearchableRule>(&self) -> u32 {
        let s = f64::from(self.sparsity());
        // Twice the bound of Wang et al., for safety.
        let wide = 2.0 * s * (self.budget.exp_epsilon + 2.0);
        let wide = match self.balanced_element_count::<R>() {
            Some(elements) => wide.min(f64::from(elements)),
            None => wide,
        };
        let most = bounds::BUCKET_COUNT_RANGE.max / f64::from(R::SIDES_PER_CELL);
        wide.clamp(1.0, most) as u32
    }

    /// Returns the number of elements if the hash is balanced, else `None`.
    fn balanced_element_count<R: SearchableRule>(&self) -> Option<u32> {
        let elements =
            HashedSubsetSelection::<R>::element_count_under_family(self.hash_family, self.domain)?;
        self.hash_family.is_balanced().then_some(elements)
    }

    /// Creates parameters. The search stays within the bounds, so this cannot fail.
    fn create_subset_parameters<R: SearchableRule>(
        &self,
        rule: R,
        cells: u32,
        hashes: u32,
    ) -> HashedSubsetSelection<R> {
        let buckets = R::SIDES_PER_CELL * cells;
        HashedSubsetSelection::new_with_hash_count(rule, self.hash_family, buckets, hashes)
            .expect("within the bounds of buckets, hashes and favoured")
    }

    /// Returns the best parameters under the paper's rule.
    fn best_of_paper_rule<R: SearchableRule>(&self) -> HashedSubsetSelection<R> {
        let s = self.sparsity();
        let first = s + 1;
        // The limit on α may require more cells than the minimum of the variance.
        let (budget, sides) = (&self.budget, R::SIDES_PER_CELL);
        let hiding = budget.min_buckets(s).div_ceil(sides).max(first);
        let candidates = (first..=self.max_cells_to_try::<R>().max(first))
            .filter(|cells| budget.allows_favoured_bucket_count(s, sides * cells))
            .chain(core::iter::once(hiding))
            .map(|cells| {
                let own = self.create_subset_parameters(paper_rule::<R>(), cells, 1);
                let variance = R::paper_rule_variance(&own, self.domain, self.epsilon, self.goal);
                (variance, own)
            });
        min_variance_candidate(candidates).1
    }

    /// Returns the numbers of cells to try under the project's own rule.
    fn candidate_cell_counts<R: SearchableRule>(&self) -> CandidateCellCounts {
        let favoured = self.favoured_count.unwrap_or(1);
        let hashes = self.hash_count.unwrap_or(1);
        // At least one bucket is not favoured.
        let fewest = (bounds::BUCKET_COUNT_RANGE.min as u32).div_ceil(R::SIDES_PER_CELL);
        let least = (fewest..)
            .find(|cells| R::max_favoured(hashes * R::SIDES_PER_CELL * cells) >= favoured)
            .unwrap_or(favoured);
        let budget = &self.budget;
        let steps = budget.min_buckets_by_favoured(self.favoured_count, self.sparsity());
        let to_cells = |buckets: u32| buckets.div_ceil(R::SIDES_PER_CELL);
        CandidateCellCounts {
            min_cell_count: least,
            max_cell_count: self.max_cells_to_try::<R>().max(least),
            balanced_element_count: self.balanced_element_count::<R>(),
            min_cells_by_favoured_count: steps.into_iter().map(to_cells).collect(),
        }
    }

    /// Returns the numbers of hash functions to try.
    fn candidate_hash_counts(&self) -> Vec<u32> {
        // The divisor is 2 because 1 + rounds is at least 2.
        let most = (MAX_HASH_COST / 2 / self.sparsity()).max(1);
        match self.hash_count {
            Some(hashes) => alloc::vec![hashes],
            None => (0..=most.ilog2()).map(|power| 1 << power).collect(),
        }
    }

    /// Returns whether `hashes` hash functions may have `cells` cells each.
    fn is_hash_cost_affordable<R: SearchableRule>(&self, cells: u32, hashes: u32) -> bool {
        let buckets = u64::from(hashes) * u64::from(R::SIDES_PER_CELL * cells);
        let affordable = || {
            let rounds = self
                .stated_or_single_favoured::<R>(cells, hashes)
                .element_to_cell_hash(self.domain)
                .round_count() as u32;
            hashes * self.sparsity() * (1 + rounds) <= MAX_HASH_COST
        };
        buckets <= bounds::BUCKET_COUNT_RANGE.max as u64
            && (hashes == 1 || self.hash_count.is_some() || affordable())
    }

    /// Returns the best parameters under the project's own rule. The number of cells is `cells`, or
    /// the best number if `cells` is `None`.
    fn best_of_strongest_rule<R: SearchableRule>(
        &self,
        cells: Option<u32>,
    ) -> ParametersWithVariance<R> {
        let Some(cells) = cells else {
            let counts = self.candidate_cell_counts::<R>();
            let best = self.best_with_cell_counts(&counts.cell_counts_to_try());
            let around = counts.cell_counts_near(best.1.cells_per_hash());
            return self.best_with_nearby_cell_counts(best, around);
        };
        self.best_with_cell_counts(&[cells])
    }

    /// Returns the best parameters with one of these numbers of cells.
    fn best_with_cell_counts<R: SearchableRule>(&self, cells: &[u32]) -> ParametersWithVariance<R> {
        let functions = self.candidate_hash_counts();
        let mut ranked: Vec<Vec<ParametersWithVariance<R>>> =
            alloc::vec![Vec::new(); functions.len()];
        for &cells in cells {
            // Approximate sums depend on the number of cells, and R only scales them.
            let near = self.approximate_strength_sums::<R>(cells);
            for (ranked, &hashes) in ranked.iter_mut().zip(&functions) {
                if self.is_hash_cost_affordable::<R>(cells, hashes) {
                    ranked.push(self.approx_best_favoured_count(cells, hashes, &near));
                }
            }
        }
        ranked.retain(|ranked| !ranked.is_empty());
        for ranked in &mut ranked {
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        // Approximate sums can be wrong by more than [`VARIANCE_TOLERANCE`].
        let leader = |ranked: &Vec<ParametersWithVariance<R>>| {
            let first = ranked.iter().take(EXACT_CANDIDATES_PER_HASH_COUNT);
            min_variance_candidate(first.map(|(_, subset)| self.exact_best_favoured_count(subset)))
        };
        let leaders: Vec<ParametersWithVariance<R>> = ranked.iter().map(leader).collect();
        let best = leaders.iter().map(|leader| leader.0);
        let best = best.fold(f64::INFINITY, f64::min);
        let (leader, ranked) = leaders
            .into_iter()
            .zip(ranked)
            .find(|(leader, _)| leader.0 <= MAX_VARIANCE_RATIO * best)
            .expect("one of them is the best");
        let others = ranked.into_iter().take(FINALIST_COUNT);
        let others = others.skip(EXACT_CANDIDATES_PER_HASH_COUNT);
        let others = others.map(|(_, subset)| self.exact_best_favoured_count(&subset));
        min_variance_candidate(core::iter::once(leader).chain(others))
    }

    /// Returns the parameters of minimum variance, among `best` and the parameters with these
    /// numbers of cells.
    fn best_with_nearby_cell_counts<R: SearchableRule>(
        &self,
        best: ParametersWithVariance<R>,
        cells: impl Iterator<Item = u32>,
    ) -> ParametersWithVariance<R> {
        let hashes = best.1.hash_count();
        let others = cells
            .filter(|cells| {
                *cells != best.1.cells_per_hash()
                    && self.is_hash_cost_affordable::<R>(*cells, hashes)
            })
            .map(|cells| self.stated_or_single_favoured(cells, hashes))
            .map(|own| self.exact_best_favoured_count(&own));
        min_variance_candidate(core::iter::once(best).chain(others))
    }

    /// Returns parameters with the stated c. If no c is stated, c is 1 as a placeholder.
    fn stated_or_single_favoured<R: SearchableRule>(
        &self,
        cells: u32,
        hashes: u32,
    ) -> HashedSubsetSelection<R> {
        let rule = R::strongest_rule(self.favoured_count.unwrap_or(1));
        self.create_subset_parameters(rule, cells, hashes)
    }

    /// Returns approximate sums of the strengths of the strongest cells, for a number of cells.
    fn approximate_strength_sums<R: SearchableRule>(&self, cells: u32) -> ApproximateCellSums {
        self.stated_or_single_favoured::<R>(cells, self.hash_count.unwrap_or(1))
            .cell_occupancy_model(self.domain)
            .approximate_strongest_sums(R::STRENGTH_MEASURE)
    }

    /// Returns the parameters with the best c, by approximate sums. Exact sums are used if R·s is
    /// at most [`MAX_ELEMENTS_FOR_EXACT_RANKING`].
    fn approx_best_favoured_count<R: SearchableRule>(
        &self,
        cells: u32,
        hashes: u32,
        near: &ApproximateCellSums,
    ) -> ParametersWithVariance<R> {
        let any = self.stated_or_single_favoured(cells, hashes);
        if hashes * self.sparsity() <= MAX_ELEMENTS_FOR_EXACT_RANKING {
            self.exact_best_favoured_count(&any)
        } else {
            self.best_over_favoured_counts(
                &any,
                &ExpectedStrengthSums::Approximate(near.for_several_hash_functions(hashes)),
            )
        }
    }

    /// Returns the parameters with the best c, by exact sums. Approximate sums are used from
    /// sparsity [`MIN_SPARSITY_FOR_APPROXIMATION`] on.
    fn exact_best_favoured_count<R: SearchableRule>(
        &self,
        any: &HashedSubsetSelection<R>,
    ) -> ParametersWithVariance<R> {
        let occupancy = any.cell_occupancy_model(self.domain);
        if self.sparsity() >= MIN_SPARSITY_FOR_APPROXIMATION {
            let near = occupancy.approximate_strongest_sums(R::STRENGTH_MEASURE);
            return self.best_over_favoured_counts(
                any,
                &ExpectedStrengthSums::Approximate(
                    near.for_several_hash_functions(any.hash_count()),
                ),
            );
        }
        let most = *self.favoured_count_range(any).end();
        let sums = occupancy.strongest_cell_sums(R::STRENGTH_MEASURE, any.hash_count(), most);
        self.best_over_favoured_counts(any, &ExpectedStrengthSums::Exact(sums))
    }

    /// Returns the range of c to try. At c = R·s every cell with an element is favoured, so a
    /// larger c is not tried.
    fn favoured_count_range<R: SearchableRule>(
        &self,
        any: &HashedSubsetSelection<R>,
    ) -> RangeInclusive<u32> {
        let most = R::max_favoured(any.total_buckets());
        match self.favoured_count {
            Some(c) => c..=c,
            None => 1..=most.min(any.hash_count() * self.sparsity()),
        }
    }

    /// Returns the parameters with the best c, and the variance that they lead to. The variance is
    /// infinite if no c stays within the budget.
    fn best_over_favoured_counts<R: SearchableRule>(
        &self,
        any: &HashedSubsetSelection<R>,
        sums: &ExpectedStrengthSums,
    ) -> ParametersWithVariance<R> {
        let rate = |c: u32| {
            if self
                .budget
                .allows_favoured_bucket_count(c, any.total_buckets())
            {
                let sums = sums.sums_for_strongest_cells(c);
                R::strongest_rule_variance(
                    any,
                    self.domain,
                    &self.budget.exp_epsilon_lower_bound,
                    c,
                    &sums,
                    self.goal,
                )
            } else {
                f64::INFINITY
            }
        };
        let (first, last) = self.favoured_count_range(any).into_inner();
        // G(c) is the expected sum over the c strongest cells, and Ω is the sum of the weights of
        // all cells. The variance decreases as G(c)/Ω increases. G is concave in c and Ω linear, so
        // the ratio has one peak. The budget allows c up to some maximum.
        let (mut low, mut high) = (first, last);
        while high - low > MAX_EXHAUSTIVE_RANGE_WIDTH {
            let middle = low + (high - low) / 2;
            let (here, next) = (rate(middle), rate(middle + 1));
            // An infinite variance means that `middle` is beyond the budget: the best c is below.
            if here.is_infinite() || here < next {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        // Rounding can disturb the order near the peak, so all its neighbours are compared.
        let rated = (low
            .saturating_sub(MAX_EXHAUSTIVE_RANGE_WIDTH / 2)
            .max(first)..=(high + MAX_EXHAUSTIVE_RANGE_WIDTH / 2).min(last))
            .map(|c| (rate(c), c));
        let (variance, c) = min_variance_candidate(rated);
        let best = self.create_subset_parameters(
            R::strongest_rule(c),
            any.cells_per_hash(),
            any.hash_count(),
        );
        (variance, best)
    }
}

/// Returns the candidate of minimum variance. Among equal variances, the first candidate wins.
///
/// # Panics
/// If there is no candidate.
fn min_variance_candidate<T>(candidates: impl Iterator<Item = (f64, T)>) -> (f64, T) {
    candidates
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there is a candidate")
}
