//! Distance of a mechanism from the best possible one: the ratio of the numbers of people that they
//! need for the same error.
//!
//! Let x be an input with exactly s entries of ±1 among d items. Let n = |x| be the indicator of
//! its items. Let z be one report of any ε-LDP mechanism. From z, an estimate g of x and an
//! estimate h of n are computed. Both are unbiased: E\[g | x\] = x and E\[h | x\] = n.
//! [`least_variance`] returns the smallest possible variance, weighted by the [`Objective`] as in
//! [`Mechanism::predict_errors`]. [`DistanceFromBest`] is a mechanism's variance divided by the
//! smallest one. It is also the ratio of people needed for the same error.
//!
//! # Objective
//!
//! The variances of the d means sum to E‖g‖² − s. The frequencies of the items with either sign are
//! (h ± g)/2. Their 2d variances sum to (E‖g‖² + E‖h‖²)/2 − s. Let a and b, with a + b = 1, be the
//! weights of the average variance of means and of frequencies. The weighted average is then
//! α·E‖g‖² + β·E‖h‖² minus a constant, divided by d, where α = a + b/4 and β = b/4.
//!
//! The entries of h may be assumed to sum to s, like those of n: correcting the component along (1,
//! …, 1) keeps h unbiased. With h′ = h − s/d, E‖h‖² = s²/d + E‖h′‖². If a question has no signs (a
//! choice or a set), shares depend only on n, so α = 0 and β = 1. The constant is always (α + β)·s.
//!
//! # The bound
//!
//! Let x be uniform, μ = E\[x | z\] and η = E\[n − s/d | z\].
//!
//! 1. Since g and h are unbiased, E\[g·μᵀ\] = E\[g·xᵀ\] = (s/d)·1 (the identity matrix), and
//!    E\[h′·ηᵀ\] = c·P. Here c = s(d − s)/(d(d − 1)), and P is the projection onto the vectors that
//!    sum to 0.
//! 2. Let M = E\[μ·μᵀ\]. Of all g with E\[g·μᵀ\] = C, E‖g‖² is smallest for C·M⁻¹·μ. So E‖g‖² ≥
//!    (s/d)²·tr M⁻¹ ≥ s²/A₁, where A₁ = tr M = E‖μ‖².
//! 3. Likewise E‖h′‖² ≥ V²/A₂, where V = c(d − 1) = s(d − s)/d and A₂ = E‖η‖².
//! 4. So the cost α·E‖g‖² + β·E‖h′‖² is at least α·s²/A₁ + β·V²/A₂, for some pair (A₁, A₂) that a
//!    mechanism attains.
//! 5. These pairs form a convex set, because mechanisms can be mixed. Let q(z|x) be the report
//!    probabilities and q(z) = E\[q(z|x)\]. For any weights λ₁ and λ₂, λ₁·A₁ + λ₂·A₂ is the average
//!    over z of λ₁·‖E\[x·q(z|x)\]‖²/q(z)² + λ₂·‖E\[(n − s/d)·q(z|x)\]‖²/q(z)².
//! 6. This is the square of a quotient: a convex function of the likelihoods q(z|·) divided by a
//!    positive linear one. Its maximum is at a corner of the set of likelihoods that ε allows: e =
//!    exp(ε) for all inputs in a set S, and 1 for all other inputs.
//!
//! So, with v(x) = (√λ₁·x, √λ₂·(n − s/d)),
//!
//! max λ₁·A₁ + λ₂·A₂ = max over S of ((e − 1)·‖E\[v·1_S\]‖/(1 + (e − 1)·Pr S))².
//!
//! **The bound is attained.** Let a report be a permutation of the items together with sign flips.
//! Let it be e times as probable if it maps the input into S. The number of such permutations is
//! the same for every input, so this is ε-LDP. By symmetry, M is a multiple of the identity, and
//! E\[ηηᵀ\] a multiple of P. Again by symmetry, the average of (s/A₁)·μ for a given x is a multiple
//! of x, so it is an unbiased estimate. So for every S there is a mechanism with the A₁ and A₂ of
//! S. The smallest cost over all sets and mixtures of sets is that of the best mechanism, for the
//! average input and for the worst one.
//!
//! # Sets of at most s items
//!
//! An estimate that is unbiased for all sets of at most s items is in particular unbiased for sets
//! of s items and for the empty set. Let H be the sum of the entries of h. Let ρ be the probability
//! of z for the empty set, divided by its average probability over sets of s items. For a random
//! set of s items, E\[H\] = s, E\[ρ·H\] = 0 and E\[ρ\] = 1. Let B = E\[(ρ − 1)²\]. The
//! Chapman–Robbins inequality states E\[H²\] ≥ s²·(1 + 1/B), so E‖h‖² ≥ V²/A₂ + (s²/d)·(1 + 1/B).
//!
//! By the same convexity argument, the best reports favour a set S of inputs, which may or may not
//! include the empty set. With random permutations, they are a mechanism for inputs of both sizes.
//! For ratings, the bound for exactly s entries remains valid: padding an input with items of
//! random sign causes no bias.
//!
//! # Which sets
//!
//! Let r be the square root of the maximum above, and w the unit vector in the direction of
//! E\[v·1_S\]. Then r·(1 + (e − 1)·Pr S) = (e − 1)·E\[⟨w, v⟩·1_S\], or r = (e − 1)·E\[(⟨w, v⟩ −
//! r)·1_S\]. For given w and r, the right side is greatest if S consists of all inputs with
//! ⟨w, v⟩ > r. So the threshold is the value r itself. Inputs with ⟨w, v⟩ = r contribute nothing,
//! so it does not matter which of them are in S. Hence r is the maximum over w of the solution of
//! r = (e − 1)·E\[(⟨w, v⟩ − r)⁺\].
//!
//! - If s = 1, all sets that can be best are searched. The result is exact.
//! - If there are at most 16 inputs, all sets of inputs are searched. The result is exact.
//! - Otherwise certain directions are searched: w is constant on k items and 0 on all others, so
//!   ⟨w, x⟩ is a sum of fair signs, whose number is hypergeometric. For means, directions of two
//!   levels are searched as well. A mechanism exists for each direction, but a better mechanism may
//!   exist, too. In that case the bound is **too high and the distance too small**.
//!
//! Two wider searches show the size of this effect for means. Ascent from random directions, on
//! domains of up to 8 items, found at most 5 per cent less variance at ε = 0.01, and at most 1.6
//! per cent from ε = 0.25 on. Directions with up to five items of different weights in addition to
//! k equal ones, with d from 16 to 256, found at most 3.5 per cent less at ε = 0.01, and none from
//! ε = 1 on.
//!
//! # Proven bounds for all directions
//!
//! Let P = Pr S, and Y = ⟨w, v⟩ with ‖w‖ = 1. Y has mean 0 and a variance of at most σ². Then
//! ‖E\[v·1_S\]‖ = E\[Y·1_S\]. This is at most ‖v‖·P and, by the Cauchy–Schwarz inequality, at most
//! σ·√(P(1 − P)). If only signs count, Y is symmetric and positive on S. Then it is at most
//! σ·√(P/2), and P ≤ 1/2. Choosing the P for which these bounds are greatest gives
//!
//! - for A₁, with σ² = s/d and ‖v‖² = s: at most (s/d)·((e − 1)/(e + 1))² if e ≤ 3, (s/d)·(e − 1)/8
//!   if 3 ≤ e ≤ 2d + 1, and s·((e − 1)/(2d + e − 1))² if e ≥ 2d + 1;
//! - for A₂, with σ² = c and ‖v‖² = V = c(d − 1): at most c·(e − 1)²/(4e) if e ≤ d − 1, and V·((e −
//!   1)/(d + e − 1))² if e ≥ d − 1;
//! - for λ₁·A₁ + λ₂·A₂ with λ₁·s/d = λ₂·c = 1: the bound on A₂, but with σ² = 1 and 2d − 1
//!   dimensions instead of d − 1, so that ‖v‖² = 2d − 1.
//!
//! The first two together give a lower bound on the cost, and the third gives another one. The
//! greater of them is [`LeastVariance::proven_lower_bound`]. For means, it is attained at s = 1 if the best k
//! is an integer. At small ε it can be too low by a factor of up to π/2: it would be attained if
//! |Y| were constant, but the actual Y is closer to a Gaussian.
//!
//! [`Mechanism::predict_errors`]: hushbin::Mechanism::predict_errors

mod at_most_search;
mod direction_search;
mod exhaustive_search;
mod information;
mod number;
mod one_entry_search;
mod sums_over_inputs;
#[cfg(test)]
mod tests;

use hushbin::Mechanism;
use hushbin::choose::{Objective, Population};
use hushbin::domain::Domain;
use hushbin::mechanism::NeighbouringInputs;
use hushbin::task::QuestionKind;
use serde::Serialize;

use at_most_search::SearchWithEmptyInput;
use direction_search::DirectionSearch;
use exhaustive_search::AllInputSetsSearch;
use information::{Information, InformationCost};
use one_entry_search::OneEntrySearch;

/// Method by which the smallest variance was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// Search over all sets of inputs. No mechanism has a smaller variance.
    Exact,
    /// Search over directions of one or two levels. A mechanism with a smaller variance may exist.
    Directions,
    /// Interpolation between two values of ε for which the smallest variance is proven. Used for
    /// the mean of one number.
    Interpolated,
}

/// Smallest variance that any mechanism can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastVariance {
    /// Smallest variance that was found for the estimates from one report. The variance is averaged
    /// with the weights of the objective, for inputs of s entries of ±1. A mechanism attains this
    /// variance. For shares, that mechanism accepts only inputs with s items or none.
    pub variance: f64,
    /// Method by which `variance` was found.
    pub kind: BoundKind,
    /// Proven lower bound on the variance of every mechanism. This bound is at most
    /// [`LeastVariance::variance`].
    pub proven_lower_bound: f64,
}

/// Ratio of a mechanism's variance to the smallest variance. This is also the ratio of the numbers
/// of people needed for the same error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct DistanceFromBest {
    /// Ratio of the mechanism's variance to the smallest variance that was found. The ratio is at
    /// least 1.
    pub times_bound: f64,
    /// Ratio of the mechanism's variance to a lower bound that is proven for every mechanism.
    pub at_most: f64,
    /// Method by which the smallest variance was found. Under some methods, a better mechanism may
    /// exist: see [`BoundKind`].
    pub bound: BoundKind,
    /// Statement of the distance in plain words.
    pub text: String,
}

impl DistanceFromBest {
    /// Creates the distance and its statement in words. `inputs` names the inputs that the best
    /// known mechanism accepts. The text is empty if that mechanism accepts all inputs.
    fn new(times_bound: f64, at_most: f64, bound: BoundKind, inputs: &str) -> Self {
        let known = people_ratio_text(times_bound);
        let proven = people_ratio_text(at_most);
        let text = if bound == BoundKind::Exact || known == proven {
            format!("takes {known} the best possible mechanism would")
        } else {
            format!(
                "takes {known} the best mechanism known{inputs} would, and at most {proven} the best possible"
            )
        };
        Self {
            times_bound,
            at_most,
            bound,
            text,
        }
    }
}

/// Returns a ratio of numbers of people in words, such as "8% more people than".
fn people_ratio_text(times: f64) -> String {
    let percent = (100.0 * (times - 1.0)).round();
    if percent < 1.0 {
        "no more people than".to_owned()
    } else if percent < 100.0 {
        format!("{percent}% more people than")
    } else {
        format!("{times:.1} times as many people as")
    }
}

/// Returns the smallest variance that a mechanism can have, over a domain at local ε.
///
/// For a question without signs, the result is the variance of shares, and the objective does not
/// matter. Returns `None` for an open domain, for which there is no such bound, and if there is
/// nothing to estimate because every person has every item.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin::choose::Objective;
/// use hushbin_analysis::mechanism_optimality::{BoundKind, least_variance};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "ratings", "items": 256, "sparsity": 4, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let domain = draft.resolve_task().unwrap().questions()[0].domain();
/// let least_variance = least_variance(&domain, 1.0, &Objective::MEAN_ONLY).unwrap();
/// assert_eq!(least_variance.kind, BoundKind::Directions);
/// // Summed over all items, and with the squares of the 4 entries added: 5826.
/// assert_eq!((least_variance.variance * 256.0 + 4.0).round(), 5826.0);
/// assert!(least_variance.proven_lower_bound < least_variance.variance);
/// ```
#[must_use]
pub fn least_variance(
    domain: &Domain,
    epsilon: f64,
    objective: &Objective,
) -> Option<LeastVariance> {
    let (items, entries) = (domain.item_count()?, domain.sparsity());
    let question = if domain.is_rated() {
        let question = BoundProblem::new(items, entries, epsilon, objective);
        // Every person rates every item, so there is no presence to estimate.
        if question.cost_weights[0] == 0.0 && entries == items {
            return None;
        }
        question
    } else if entries < items {
        BoundProblem::for_shares(items, entries, epsilon)
    } else {
        // Every person has every item.
        return None;
    };
    let (mut cost, mut kind) = question.smallest_found_cost();
    if domain.is_padded() && question.cost_weights[0] == 0.0 {
        // An estimate for at most s items must also be valid for exactly s, so the greater of both
        // costs is a bound.
        cost = cost.max(question.smallest_cost_with_empty());
        // The search is exhaustive only for one entry and up to 200 items, where every number of
        // favoured items is tried.
        if entries > 1 || items > 200 {
            kind = BoundKind::Directions;
        }
    }
    Some(LeastVariance {
        variance: question.variance_from_cost(cost),
        kind,
        proven_lower_bound: question.variance_from_cost(question.cost_lower_bound()),
    })
}

/// Returns the distance of a mechanism from the best one, for people who each have s entries of ±1.
///
/// Returns `None` if the bound does not apply. This is the case for an open domain, if ε does not
/// protect whole inputs or there is a δ, and if the mechanism is biased or does not estimate the
/// objective.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin::choose::Objective;
/// use hushbin_analysis::mechanism_optimality::distance_from_best;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "ratings", "items": 256, "sparsity": 16, "epsilon": 3.0, "value": "sign",
///     "mechanism": "auto"
/// }"#).unwrap();
/// let task = draft.resolve_task().unwrap();
/// let question = &task.questions()[0];
/// let of = |objective| distance_from_best(&question.domain(), question.mechanism(), 3.0, &objective);
/// let means = of(Objective::MEAN_ONLY).unwrap();
/// assert!(1.0 < means.times_bound && means.times_bound <= means.at_most);
/// // The chosen mechanism, CoCo, estimates only means.
/// assert!(of(Objective::FREQUENCY_ONLY).is_none());
/// ```
///
/// # Panics
/// If the mechanism cannot be used for the domain. In a [`Task`](hushbin::Task) it always can.
#[must_use]
pub fn distance_from_best(
    domain: &Domain,
    mechanism: &Mechanism,
    epsilon: f64,
    objective: &Objective,
) -> Option<DistanceFromBest> {
    domain.item_count()?;
    if mechanism.neighbours() != NeighbouringInputs::AnyTwoInputs || mechanism.delta() > 0.0 {
        return None;
    }
    let population = Population::with_equal_entries(1.0, domain.sparsity());
    let predicted = mechanism.predict_errors(domain, epsilon, &population);
    let error = if domain.is_rated() {
        objective.weighted_average_error(&predicted)?
    } else {
        Objective::FREQUENCY_ONLY.weighted_average_error(&predicted)?
    };
    if error.worst_case_squared_bias > 0.0 {
        return None;
    }
    let least = least_variance(domain, epsilon, objective)?;
    let inputs = match domain.sparsity() {
        2.. if domain.is_padded() && !domain.is_rated() => {
            format!(" for sets of {} or none", domain.sparsity())
        }
        _ => String::new(),
    };
    // Ratios below 1 are rounding errors.
    let over = |least: f64| (error.variance / least).max(1.0);
    Some(DistanceFromBest::new(
        over(least.variance),
        over(least.proven_lower_bound),
        least.kind,
        &inputs,
    ))
}

/// Returns the distance of a question's mechanism from the best one.
///
/// Returns `None` if [`distance_from_best`] does, if the question has no estimates for the
/// objective, and for several parts that are asked together. Returns `None` also for a number with
/// bins and for a cross-tabulation with a number, because their purpose is not the share of a
/// single cell.
///
/// For the mean of one number, worst-case variances are compared. Above ε = 6 the result is `None`.
#[must_use]
pub fn question_distance_from_best(
    question: &hushbin::Question,
    objective: &Objective,
) -> Option<DistanceFromBest> {
    let domain = question.domain();
    if let (QuestionKind::Numbers(of), Mechanism::Window(window)) =
        (question.kind(), question.mechanism())
        && of.is_single()
    {
        let (least, exact) = number::minimax_variance(question.epsilon())?;
        let kind = if exact {
            BoundKind::Exact
        } else {
            BoundKind::Interpolated
        };
        let variance = window
            .estimate_scale_and_variance(&domain, question.epsilon())
            .max_variance();
        let times = (variance / least).max(1.0);
        return (*objective == Objective::MEAN_ONLY)
            .then(|| DistanceFromBest::new(times, times, kind, ""));
    }
    let cells = match question.kind() {
        QuestionKind::Number(_) => true,
        QuestionKind::CrossTabulation(cross) => cross.column_part().scale().is_some(),
        _ => false,
    };
    // The bound assumes that every set of options is possible. If parts are asked together, this is
    // not so.
    let parts = matches!(question.kind(), QuestionKind::JointChoices(_));
    // A question without signs has shares but no means.
    let means = *objective != Objective::FREQUENCY_ONLY && !domain.is_rated();
    let far = || distance_from_best(&domain, question.mechanism(), question.epsilon(), objective);
    (!cells && !parts && !means).then(far).flatten()
}

/// Problem of finding the smallest variance over a closed domain, with the weights of an objective.
#[derive(Debug, Clone, Copy)]
struct BoundProblem {
    items: u32,
    entries: u32,
    /// e − 1, where e = exp(ε).
    exp_m1_epsilon: f64,
    /// Weights of the two terms of the cost: α for signs and β for presence.
    cost_weights: [f64; 2],
}

impl BoundProblem {
    fn new(items: u32, entries: u32, epsilon: f64, objective: &Objective) -> Self {
        let sum = objective.weight_sum();
        let quarter = objective.frequency_weight / sum / 4.0;
        let presence = objective.nonmissing_weight / sum;
        Self {
            items,
            entries,
            exp_m1_epsilon: epsilon.exp_m1(),
            cost_weights: [objective.mean_weight / sum + quarter, presence + quarter],
        }
    }

    /// Creates the problem for the variance of shares.
    fn for_shares(items: u32, entries: u32, epsilon: f64) -> Self {
        Self {
            cost_weights: [0.0, 1.0],
            ..Self::new(items, entries, epsilon, &Objective::MEAN_ONLY)
        }
    }

    fn items_and_entries(&self) -> [f64; 2] {
        [self.items, self.entries].map(f64::from)
    }

    /// Returns V = s(d − s)/d, the squared length of an input's presence vector after subtracting
    /// its mean s/d. The vector has s entries 1 and d − s entries 0.
    fn presence_squared_length(&self) -> f64 {
        let [d, s] = self.items_and_entries();
        s * (d - s) / d
    }

    /// Converts a cost to the average variance that the objective defines.
    fn variance_from_cost(&self, cost: f64) -> f64 {
        let [d, s] = self.items_and_entries();
        let [alpha, beta] = self.cost_weights;
        (cost + beta * s * s / d - s * (alpha + beta)) / d
    }

    fn information_cost(&self) -> InformationCost {
        let [sign, presence] = self.cost_weights;
        InformationCost {
            sign_numerator: sign * f64::from(self.entries).powi(2),
            presence_numerator: presence * self.presence_squared_length().powi(2),
        }
    }

    /// Returns the smallest cost that was found for a mechanism, and the method of the search.
    fn smallest_found_cost(&self) -> (f64, BoundKind) {
        let Self {
            items,
            entries,
            exp_m1_epsilon: excess,
            ..
        } = *self;
        let exact = |most: &dyn Fn([f64; 2]) -> Information| {
            (
                self.information_cost().smallest_over_mixtures(most),
                BoundKind::Exact,
            )
        };
        if entries == 1 {
            let sets = OneEntrySearch::new(items, excess);
            return exact(&|weights| sets.max_information(weights));
        }
        if let Some(sets) = AllInputSetsSearch::new(items, entries, excess) {
            return exact(&|weights| sets.max_set_information(weights));
        }
        (self.cost_by_directions(), BoundKind::Directions)
    }

    fn cost_by_directions(&self) -> f64 {
        let levels = DirectionSearch::new(self.items, self.entries, self.exp_m1_epsilon);
        self.information_cost()
            .smallest_over_mixtures(|weights| levels.max_information(weights))
    }

    /// Returns the smallest cost of shares that was found for mechanisms that also accept the empty
    /// input.
    fn smallest_cost_with_empty(&self) -> f64 {
        let [d, s] = self.items_and_entries();
        let sets = SearchWithEmptyInput::new(self.items, self.entries, self.exp_m1_epsilon);
        let total = InformationCost {
            sign_numerator: self.cost_weights[1] * s * s / d,
            ..self.information_cost()
        };
        total.smallest_over_mixtures(|weights| sets.max_information(weights))
    }

    /// Returns a lower bound on the cost, proven for every mechanism.
    fn cost_lower_bound(&self) -> f64 {
        let [d, s] = self.items_and_entries();
        let [alpha, beta] = self.cost_weights;
        let excess = self.exp_m1_epsilon;
        // The bounds on A₁ and A₂ in the last section of the module documentation, divided by s/d
        // and c.
        let symmetric = if excess <= 2.0 {
            (excess / (excess + 2.0)).powi(2)
        } else if excess <= 2.0 * d {
            excess / 8.0
        } else {
            d * (excess / (2.0 * d + excess)).powi(2)
        };
        let any = |dimensions: f64| {
            if excess <= dimensions - 1.0 {
                excess * excess / (4.0 * (excess + 1.0))
            } else {
                dimensions * (excess / (dimensions + 1.0 + excess)).powi(2)
            }
        };
        // This is V²/c.
        let presence = self.presence_squared_length() * (d - 1.0);
        let apart =
            alpha * s * d / symmetric + beta * presence / any(d - 1.0).max(f64::MIN_POSITIVE);
        let together = ((alpha * s * d).sqrt() + (beta * presence).sqrt()).powi(2);
        let together = together / any(2.0 * d - 1.0);
        apart.max(together)
    }
}
