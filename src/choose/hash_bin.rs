//! Choice of hash-bin's parameters. The number of bins is chosen by its effect on the noise. The
//! clipping bound is chosen by minimum predicted squared error.

use alloc::vec;
use alloc::vec::Vec;

use serde::Deserialize;

use super::budget::BUDGET_EXCEEDED_ERROR;
use super::contract::ChooseParameters;
use super::draft_agreement::check_equal_if_stated;
use super::population::Population;
use super::predict::{self, PredictErrors, PredictedErrors, PredictedSquaredError};
use super::sparsity_search::{Candidate, ParameterSearch};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::HashFamily;
use crate::mechanism::contract::MechanismParameters;
use crate::mechanism::hash_bin::{
    DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel, PrivacyLevelName, RandomisedResponse,
    Report, SumNoiseKind, clipped_sum_second_moment, share_surviving_clipping,
};

/// [`HashBin`] whose parameters may be unset.
///
/// ```
/// use hushbin::choose::hash_bin::ParametersDraft;
/// use hushbin::mechanism::hash_bin::PrivacyLevelName;
///
/// let draft: ParametersDraft = serde_json::from_str(r#"{ "level": "event" }"#).unwrap();
/// assert_eq!((draft.level, draft.bins), (Some(PrivacyLevelName::Event), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersDraft {
    /// Level of protection (default `user`).
    pub level: Option<PrivacyLevelName>,
    /// Distance L, required by level `neighbouring`.
    pub distance: Option<f64>,
    /// Probability δ (default none, which means pure ε).
    pub delta: Option<f64>,
    /// Clipping bound η of level `user`.
    pub clip: Option<f64>,
    /// Noise of level `user`. The default is the noise with the smaller error: `two-point` for ε up
    /// to about 2.5.
    pub noise: Option<SumNoiseKind>,
    /// Family of hash functions (default independent, or balanced if there are fewer than six items
    /// for each bin).
    pub hashing: Option<HashFamily>,
    /// Number of bins b.
    pub bins: Option<u32>,
    /// Number of grid steps per unit, Γ (default [`DEFAULT_GRID_STEPS_PER_UNIT`]).
    pub grid: Option<u32>,
}

impl ParametersDraft {
    /// Returns the level of the draft, with the given clipping bound and noise.
    fn level_with_clip_and_noise(
        &self,
        (clip, noise): (Option<f64>, Option<SumNoiseKind>),
    ) -> Result<PrivacyLevel, Error> {
        let name = self.level.unwrap_or(PrivacyLevelName::User);
        PrivacyLevel::from_file_fields(name, self.distance, self.delta, clip, noise)
    }
}

/// Maximum distance L between two inputs that differ in the value of one item. Values lie between
/// −1 and 1.
const MAX_EVENT_NEIGHBOUR_DISTANCE: f64 = 2.0;

impl PredictErrors for HashBin {
    fn predict_errors(
        &self,
        domain: &Domain,
        epsilon: f64,
        population: &Population,
    ) -> PredictedErrors {
        let rates = self.estimate_scale_and_variance(domain, epsilon);
        let items = predict::item_count_for_averaging(domain, population);
        // In an open domain `total_variance` is the variance of one item.
        let over = if domain.item_count().is_some() {
            items
        } else {
            1.0
        };
        let total = population.average_over_people(|entries| rates.total_variance(domain, entries));
        let rare = population.average_over_people(|entries| {
            rates.value_variance(rates.input_sum_second_moment(entries), 0.0)
        });
        let lost = |entries| 1.0 - self.share_surviving_clipping(entries);
        PredictedErrors {
            mean_error: Some(PredictedSquaredError {
                variance: total / over / population.people_count(),
                rare_item_variance: rare / population.people_count(),
                worst_case_squared_bias: population.squared_bias_at_similarity(1.0, lost) / items,
                likely_squared_bias: population.likely_squared_bias(items, lost) / items,
            }),
            frequency_error: None,
            nonmissing_error: None,
        }
    }

    fn has_clipping_bias(&self, domain: &Domain) -> bool {
        self.share_surviving_clipping(domain.sparsity()) < 1.0
    }
}

impl ChooseParameters for HashBin {
    type ParametersDraft = ParametersDraft;

    fn check_draft(draft: &ParametersDraft, domain: &Domain) -> Result<(), Error> {
        let level = draft.level.unwrap_or(PrivacyLevelName::User);
        let (clip, noise) = match level {
            PrivacyLevelName::User => (
                // The check needs a complete level: open parameters get valid placeholders.
                draft.clip.or(Some(1.0)),
                draft.noise.or(Some(SumNoiseKind::TwoPoint)),
            ),
            PrivacyLevelName::Event | PrivacyLevelName::Neighbouring => (draft.clip, draft.noise),
        };
        let level = draft.level_with_clip_and_noise((clip, noise))?;
        let grid = draft.grid.unwrap_or(DEFAULT_GRID_STEPS_PER_UNIT);
        let hashing = HashFamily::requested_or_default_family(draft.hashing, domain);
        let own = Self::new(level, hashing, draft.bins.unwrap_or(1), grid)?;
        MechanismParameters::check_suits_domain(&own, domain)
    }

    /// Returns the best parameters. Hash-bin reports every entry, so its sparsity is the average
    /// number of entries. The number of bins is chosen for this sparsity.
    ///
    /// # Errors
    /// The errors of [`HashBin::choose_parameters`]; [`Error::InvalidCombination`] if hash-bin cannot stay within the
    /// budget.
    fn best_candidate(
        search: &ParameterSearch<'_>,
        draft: &ParametersDraft,
    ) -> Result<Candidate, Error> {
        // The only known α for hash-bin is 1/(e + 1), which is valid for any randomizer. Below
        // level `user`, reports protect only neighbours, so shuffling gives no bound for other
        // inputs.
        let user = draft.level.unwrap_or(PrivacyLevelName::User) == PrivacyLevelName::User;
        if !(search
            .budget
            .with_precomputed_exp()
            .allows_favoured_bucket_count(1, 2)
            && (user || search.budget.max_alpha.is_infinite()))
        {
            return Err(BUDGET_EXCEEDED_ERROR);
        }
        let average = libm::ceil(search.population.average_over_people(f64::from)) as u32;
        let sparsity = search
            .sparsity
            .unwrap_or(average.clamp(1, search.max_sparsity()));
        let domain = search.domain.with_sparsity(sparsity);
        let chosen =
            HashBin::choose_parameters(&domain, search.budget.epsilon, draft, search.population)?;
        Ok(search.evaluate_candidate(chosen, &domain))
    }

    fn best_candidate_per_variant(
        search: &ParameterSearch<'_>,
        level: PrivacyLevelName,
    ) -> Result<Vec<Candidate>, Error> {
        let mut offers = Vec::new();
        let mut offer = |level| -> Result<(), Error> {
            let draft = ParametersDraft {
                level: Some(level),
                ..ParametersDraft::default()
            };
            offers.push(Self::best_candidate(search, &draft)?);
            Ok(())
        };
        if search
            .budget
            .with_precomputed_exp()
            .allows_favoured_bucket_count(1, 2)
        {
            // Level `user` protects the most, so it meets any requested level.
            offer(PrivacyLevelName::User)?;
        }
        if level == PrivacyLevelName::Event && search.budget.max_alpha.is_infinite() {
            offer(PrivacyLevelName::Event)?;
        }
        Ok(offers)
    }

    fn check_agrees_with(&self, draft: &ParametersDraft) -> Result<(), Error> {
        let level = self.privacy_level();
        check_equal_if_stated("level", &draft.level, level.name())?;
        check_equal_if_stated("distance", &draft.distance, level.neighbour_distance())?;
        check_equal_if_stated("delta", &draft.delta, level.delta())?;
        check_equal_if_stated("clip", &draft.clip, level.clipping_bound())?;
        check_equal_if_stated("noise", &draft.noise, level.sum_noise_kind())?;
        check_equal_if_stated("hashing", &draft.hashing, self.hash_family())?;
        check_equal_if_stated("bins", &draft.bins, self.bin_count())?;
        check_equal_if_stated("grid", &draft.grid, self.grid_steps())
    }

    fn report_with_longest_encoding(&self, domain: &Domain, epsilon: f64) -> Report {
        let limit = self
            .response_distribution(domain.item_count(), epsilon)
            .noisy_bin_limit();
        Report {
            seed: u64::MAX,
            response: limit.map_or(RandomisedResponse::Sign(true), |limit| {
                RandomisedResponse::Bins(vec![limit; self.bin_count() as usize])
            }),
        }
    }

    fn protection_level(&self) -> PrivacyLevelName {
        self.privacy_level().name()
    }
}

/// Ratio of items to bins below which balanced hashing lowers the variance by 2 per cent or more.
const BALANCED_MAX_ITEMS_PER_BIN: u32 = 6;
/// Ratio of the chosen number of bins to the paper's number. An item's estimate also varies with
/// the other entries in the item's bin. This variance is half of the noise variance with the
/// paper's number of bins, and an eighth with the chosen number.
const BIN_COUNT_RATIO_TO_PAPER: f64 = 4.0;

impl HashBin {
    /// Returns the draft's parameters, with a choice for the unset ones. The choice minimises the
    /// predicted squared error of the population's means.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] or [`Error::InvalidCombination`] if the draft allows no parameters.
    pub fn choose_parameters(
        domain: &Domain,
        epsilon: f64,
        draft: &ParametersDraft,
        population: &Population,
    ) -> Result<Self, Error> {
        let grid = draft.grid.unwrap_or(DEFAULT_GRID_STEPS_PER_UNIT);
        bounds::GRID_STEPS_PER_UNIT_RANGE.check_in_range(f64::from(grid))?;
        let name = draft.level.unwrap_or(PrivacyLevelName::User);
        let level = if name == PrivacyLevelName::User {
            draft.level_with_clip_and_noise(best_clip_and_noise(
                domain, epsilon, draft, grid, population,
            ))?
        } else {
            draft.level_with_clip_and_noise((draft.clip, draft.noise))?
        };
        let with = |bins| {
            Self::new(
                level,
                stated_or_best_hash_family(draft, domain, bins),
                bins,
                grid,
            )
        };
        let chosen = match draft.bins {
            Some(bins) => with(bins)?,
            None => with(best_bin_count(domain, epsilon, level, with)?)?,
        };
        MechanismParameters::check_suits_domain(&chosen, domain)?;
        Ok(chosen)
    }
}

/// Returns the stated hash family, or else the best family for a number of bins.
///
/// With m items in each bin, the balanced hash removes 1/m of the variance that other entries add.
/// That variance is an eighth of the noise variance. The independent hash is decoded in less than
/// half of the time.
fn stated_or_best_hash_family(draft: &ParametersDraft, domain: &Domain, bins: u32) -> HashFamily {
    let few = domain
        .item_count()
        .is_some_and(|items| bins > 1 && items < BALANCED_MAX_ITEMS_PER_BIN.saturating_mul(bins));
    let best = if few {
        HashFamily::Balanced
    } else {
        HashFamily::Independent
    };
    draft.hashing.unwrap_or(best)
}

/// Returns the best number of bins b for a level.
fn best_bin_count(
    domain: &Domain,
    epsilon: f64,
    level: PrivacyLevel,
    with: impl Fn(u32) -> Result<HashBin, Error>,
) -> Result<u32, Error> {
    let s = f64::from(domain.sparsity());
    let most = domain
        .item_count()
        .map_or(bounds::HASH_BIN_COUNT_RANGE.max, f64::from)
        .min(bounds::HASH_BIN_COUNT_RANGE.max);
    let by_distance = |distance: f64| {
        let bins =
            libm::round(BIN_COUNT_RATIO_TO_PAPER * epsilon * epsilon * s / (distance * distance));
        bins.clamp(1.0, most) as u32
    };
    match level {
        PrivacyLevel::User { .. } => Ok(1),
        PrivacyLevel::Event => Ok(by_distance(MAX_EVENT_NEIGHBOUR_DISTANCE)),
        // Each bin adds a grid step to the sensitivity Δ, and more under δ. The variance of noise
        // and of other entries is therefore compared directly.
        PrivacyLevel::Neighbouring { distance, delta } => {
            // Invalid drafts fail here, so that `expect` below cannot.
            with(1)?;
            let variance = |bins: u32| {
                let hash_bin = with(bins).expect("only the number of bins differs");
                hash_bin
                    .estimate_scale_and_variance(domain, epsilon)
                    .value_variance(s, 0.0)
            };
            let pure = by_distance(distance);
            // Under δ, `pure` is no limit: every number up to 1,024 is tried.
            let most = delta.map_or(pure, |_| most as u32).min(1024);
            let least = (1..=most)
                .chain([pure])
                .map(|bins| (variance(bins), bins))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(1, |(_, bins)| bins);
            Ok(least)
        }
    }
}

/// Returns the clipping bound η and the kind of noise that minimise the error at level `user`. Each
/// kind of noise is tried with its best clipping bound.
fn best_clip_and_noise(
    domain: &Domain,
    epsilon: f64,
    draft: &ParametersDraft,
    grid: u32,
    population: &Population,
) -> (Option<f64>, Option<SumNoiseKind>) {
    let kinds = [SumNoiseKind::TwoPoint, SumNoiseKind::Laplace];
    let allowed = kinds
        .into_iter()
        .filter(|noise| draft.noise.is_none_or(|asked| asked == *noise));
    let tried = allowed.map(|noise| {
        let error = SquaredErrorByClippingBound::new(domain, epsilon, noise, population);
        let clip = draft
            .clip
            .unwrap_or_else(|| error.best_clipping_bound(grid));
        (error.total_error(clip), (clip, noise))
    });
    let best = tried.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or((None, None), |(_, (clip, noise))| (Some(clip), Some(noise)))
}

/// Squared error of the means as a function of the clipping bound η.
///
/// The noise variance is proportional to η²/n for n people. The squared bias of clipping does not
/// decrease with n. The sum of both is convex in η, because the part of a value that remains after
/// clipping is concave in η and at most 1. For Laplace noise, the variance of the clipped sums is
/// added. It is not convex, but increases with η.
///
/// The error is summed over all items if the numbers of entries are known. Otherwise it is summed
/// only over as many items as one person has. Among thousands of items, the noise of all items
/// would justify clipping most of each value.
struct SquaredErrorByClippingBound<'a> {
    population: &'a Population,
    summed_item_count: f64,
    /// Noise variance of one item, for η = 1.
    unit_noise_variance: f64,
    is_laplace_noise: bool,
}

impl<'a> SquaredErrorByClippingBound<'a> {
    fn new(domain: &Domain, epsilon: f64, noise: SumNoiseKind, population: &'a Population) -> Self {
        let items = match domain.item_count() {
            Some(items)
                if !population.has_equal_entries()
                    || population.mean_shared_item_count.is_some() =>
            {
                items
            }
            _ => population.max_entries().max(1),
        };
        let level = PrivacyLevel::User { clip: 1.0, noise };
        let unit = HashBin::new(
            level,
            HashFamily::Independent,
            1,
            DEFAULT_GRID_STEPS_PER_UNIT,
        )
        .expect("a clip of 1 is a multiple of any grid");
        Self {
            population,
            summed_item_count: f64::from(items),
            unit_noise_variance: unit
                .estimate_scale_and_variance(domain, epsilon)
                .empty_input_variance,
            is_laplace_noise: noise == SumNoiseKind::Laplace,
        }
    }

    fn total_error(&self, clip: f64) -> f64 {
        let lost = |entries| 1.0 - share_surviving_clipping(entries, clip);
        let bias = self
            .population
            .likely_squared_bias(self.summed_item_count, lost);
        let mut variance = self.unit_noise_variance * clip * clip;
        if self.is_laplace_noise {
            variance += self
                .population
                .average_over_people(|entries| clipped_sum_second_moment(entries, clip));
        }
        self.summed_item_count * variance / self.population.people_count() + bias
    }

    /// Returns the best clipping bound, which minimises the error. The bound is a multiple of a
    /// grid step. It is at least 1, so that values of people with one entry are not clipped.
    fn best_clipping_bound(&self, grid: u32) -> f64 {
        let clip = |steps: u32| f64::from(steps) / f64::from(grid);
        let widest =
            f64::from(self.population.max_entries()).clamp(1.0, bounds::CLIPPING_BOUND_RANGE.max);
        let (mut low, mut high) = (grid, (widest * f64::from(grid)) as u32);
        // Bisection on the sign of the slope, which a convex error allows.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.total_error(clip(middle)) <= self.total_error(clip(middle + 1)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        clip(low)
    }
}
