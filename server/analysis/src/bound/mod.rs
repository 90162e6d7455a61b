//! Distance of a mechanism from the best possible one.
//!
//! Let x be one of the inputs with exactly s entries of ±1 among d items. Let n = |x| be the
//! indicator of its items. From one report z of any ε-LDP mechanism let g estimate x and h estimate
//! n without bias, E\[g | x\] = x and E\[h | x\] = n. [`least`] returns the least possible
//! variance, as [`Objective`] weighs it and [`Mechanism::predict`] predicts it. [`Distance`] is a
//! mechanism's variance over that. It is also the ratio of people needed for the same error.
//!
//! # Objective
//!
//! Means cost E‖g‖² − s over the d items. The frequencies of the items with either sign are (h ±
//! g)/2 and cost (E‖g‖² + E‖h‖²)/2 − s over 2d numbers. A weighted average of both is α·E‖g‖² +
//! β·E‖h‖² less a constant, over d. Here α = a + b/4 and β = b/4, if a + b = 1 weigh means and
//! frequencies.
//!
//! The entries of h may be assumed to sum to s, as n's do: removing the component along (1, …, 1)
//! keeps it unbiased. With h′ = h − s/d, E‖h‖² = s²/d + E‖h′‖². For a question without signs, a
//! choice or a set, shares depend on n alone: α = 0, β = 1. The constant is always (α + β)·s.
//!
//! # The bound
//!
//! Let x be uniform, μ = E\[x | z\] and η = E\[n − s/d | z\].
//!
//! 1. Unbiasedness gives E\[g·μᵀ\] = E\[g·xᵀ\] = (s/d)·1, and E\[h′·ηᵀ\] = c·P. Here c = s(d −
//!    s)/(d(d − 1)) and P is the projection across (1, …, 1).
//! 2. The g of least E‖g‖² with E\[g·μᵀ\] = C is C·M⁻¹·μ, M = E\[μ·μᵀ\]. So E‖g‖² ≥ (s/d)²·tr M⁻¹ ≥
//!    s²/A₁ with A₁ = tr M = E‖μ‖².
//! 3. Likewise E‖h′‖² ≥ V²/A₂ with V = c(d − 1) = s(d − s)/d and A₂ = E‖η‖².
//! 4. So the cost is at least α·s²/A₁ + β·V²/A₂ at some (A₁, A₂) that a mechanism reaches.
//! 5. These pairs form a convex set, since mechanisms can be mixed. λ₁·A₁ + λ₂·A₂ is an average
//!    over z of λ₁·‖E\[x·q(z|x)\]‖²/q(z)² + λ₂·‖E\[(n − s/d)·q(z|x)\]‖²/q(z)², q(z) = E\[q(z|x)\].
//! 6. That is the square of a convex function over a positive linear one. Its maximum is at a
//!    corner of the likelihoods that ε allows: e on a set S of inputs and 1 elsewhere, e = exp ε.
//!
//! So with v(x) = (√λ₁·x, √λ₂·(n − s/d))
//!
//! max λ₁·A₁ + λ₂·A₂ = max over S of ((e − 1)·‖E\[v·1_S\]‖/(1 + (e − 1)·Pr S))².
//!
//! **It is attained.** Let the reports be the permutations of items with flips of signs, e times as
//! likely if they take the input into S. Every input has the same number of such reports, so this
//! is ε-LDP. M and E\[ηηᵀ\] are then multiples of 1 and of P. (s/A₁)·μ turns as x does, so on
//! average it is a multiple of x: it is unbiased. So for every S there is a mechanism with its A₁
//! and A₂. The least cost over sets and mixtures of sets is that of the best mechanism, for the
//! average input and for the worst.
//!
//! # Sets of at most s items
//!
//! An estimate that is unbiased for all sets of at most s items is unbiased for sets of s and for
//! the empty set. Let H be the sum of h's entries. Let ρ be the ratio of z's probabilities for the
//! empty set and for an average set of s items. Over sets of s items E\[H\] = s, E\[ρ·H\] = 0 and
//! E\[ρ\] = 1. With B = E\[(ρ − 1)²\] the Chapman–Robbins inequality is E\[H²\] ≥ s²·(1 + 1/B), so
//! E‖h‖² ≥ V²/A₂ + (s²/d)·(1 + 1/B).
//!
//! By the convexity above, the best reports favour a set S, with the empty set inside or outside.
//! Turned at random, they are a mechanism for both sizes. Ratings keep the bound for exactly s
//! entries: items with fair signs fill an input up without bias.
//!
//! # Which sets
//!
//! Let ρ be the root of the maximum and w the direction of E\[v·1_S\]. Then ρ·(1 + (e − 1)·Pr S) =
//! (e − 1)·E\[⟨w, v⟩·1_S\], or ρ = (e − 1)·E\[(⟨w, v⟩ − ρ)·1_S\]. For given w and ρ this is
//! greatest if S is all inputs with ⟨w, v⟩ > ρ: the threshold is the value itself. Inputs with ⟨w,
//! v⟩ = ρ add nothing, so parts of a tie need not be searched. Hence ρ = max over w of the root of
//! ρ = (e − 1)·E\[(⟨w, v⟩ − ρ)⁺\].
//!
//! - One entry, s = 1: all possible sets are searched; exact.
//! - At most 16 inputs: all subsets of inputs are searched; exact.
//! - Otherwise directions: w is constant on k items and 0 elsewhere, so ⟨w, x⟩ is a hypergeometric
//!   number of fair signs. For means directions of two levels are searched as well. A mechanism
//!   reaches each direction, but a better mechanism may exist. The bound is then **too high and the
//!   distance too small**, if they differ at all.
//!
//! Two wider searches show how much. Ascent from random directions on domains of up to 8 items
//! found means with at most 5 per cent less variance at ε = 0.01, and 1.6 per cent from ε = 0.25
//! on. Up to five items of different weight, in addition to k equal ones, d from 16 to 256, found
//! at most 3.5 per cent less at ε = 0.01, and none from ε = 1 on.
//!
//! # Proven bounds for all directions
//!
//! Let P = Pr S and Y = ⟨w, v⟩ with ‖w‖ = 1, of mean 0 and variance at most σ². Then ‖E\[v·1_S\]‖ =
//! E\[Y·1_S\]. This is at most ‖v‖·P and, by Cauchy and Schwarz, σ·√(P(1 − P)). For signs alone Y
//! is symmetric and S lies where Y is positive. So it is at most σ·√(P/2), and P ≤ 1/2. The best P
//! in these gives
//!
//! - A₁ ≤ (s/d)·((e − 1)/(e + 1))² up to e = 3, then (s/d)·(e − 1)/8, and from e = 2d + 1 on s·((e
//!   − 1)/(2d + e − 1))², as σ² = s/d and ‖v‖² = s;
//! - A₂ ≤ c·(e − 1)²/(4e), and from e = d − 1 on V·((e − 1)/(d + e − 1))², as σ² = c and ‖v‖² = V =
//!   c(d − 1);
//! - for both, weighted so that λ₁·s/d = λ₂·c = 1, the bound on A₂ with 2d − 1 dimensions instead
//!   of d − 1: σ² = 1, ‖v‖² = 2d − 1.
//!
//! Each bounds the cost from below, and the greater is [`Least::proven`]. For means it is attained
//! at s = 1 if the best k is a whole number. For small ε it is up to π/2 times too low. It would
//! need a constant |Y|, and the actual Y is more like a Gaussian.
//!
//! [`Mechanism::predict`]: hushbin::Mechanism::predict

mod at_most;
mod enumerated;
mod information;
mod levels;
mod number;
mod one_entry;
mod sums;
#[cfg(test)]
mod tests;

use hushbin::Mechanism;
use hushbin::choose::{Objective, Population};
use hushbin::domain::Domain;
use hushbin::mechanism::Neighbours;
use hushbin::task::Kind;
use serde::Serialize;

use at_most::AtMost;
use enumerated::Enumerated;
use information::{Cost, Information};
use levels::Levels;
use one_entry::OneEntry;

/// Method by which a bound was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// Search over all sets of inputs: no mechanism is better.
    Exact,
    /// Search over directions of one or two levels: a better mechanism may exist.
    Directions,
    /// Interpolation for the mean of one number, between two values of ε with a proven optimum.
    Interpolated,
}

/// Least variance that a mechanism can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// Least variance of one report, averaged as the objective weighs it, for an input of s entries
    /// of ±1. A mechanism attains it; for shares, that mechanism answers for s items and for none.
    pub variance: f64,
    /// Method by which `variance` was found.
    pub kind: BoundKind,
    /// Proven lower bound for every mechanism, at most [`Least::variance`].
    pub proven: f64,
}

/// Ratio of a mechanism's variance to the least one. It is also the ratio of people needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Distance {
    /// Ratio to the variance of the best mechanism found, at least 1.
    pub times_bound: f64,
    /// Ratio to the proven lower bound for every mechanism.
    pub at_most: f64,
    /// Relation of the best mechanism found to the best possible one.
    pub bound: BoundKind,
    /// Statement in plain words.
    pub text: String,
}

impl Distance {
    /// Returns the distance. `inputs` names the inputs for which the optimal mechanism exists, or
    /// is empty if all.
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

/// Returns the ratio of people, in words.
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

/// Returns the least variance over a domain at local ε.
///
/// `None` for an open domain, where a bound has no meaning. For a question without signs it is the
/// variance of shares, for any objective.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin::choose::Objective;
/// use hushbin_analysis::bound::{BoundKind, least};
///
/// let draft: TaskDraft = serde_json::from_str(
///     r#"{ "id": "ratings", "items": 256, "sparsity": 4, "epsilon": 1.0, "value": "sign" }"#,
/// ).unwrap();
/// let domain = draft.resolve().unwrap().questions()[0].domain();
/// let least = least(&domain, 1.0, &Objective::MEAN).unwrap();
/// assert_eq!(least.kind, BoundKind::Directions);
/// // In sum over all items, with the squares of the 4 entries: 5826.
/// assert_eq!((least.variance * 256.0 + 4.0).round(), 5826.0);
/// assert!(least.proven < least.variance);
/// ```
#[must_use]
pub fn least(domain: &Domain, epsilon: f64, objective: &Objective) -> Option<Least> {
    let (items, entries) = (domain.items()?, domain.sparsity());
    let question = if domain.is_rated() {
        let question = BoundProblem::new(items, entries, epsilon, objective);
        // Every person rates every item, so presence has no variance to bound.
        if question.parts[0] == 0.0 && entries == items {
            return None;
        }
        question
    } else if entries < items {
        BoundProblem::of_shares(items, entries, epsilon)
    } else {
        // Every person has every item.
        return None;
    };
    let (mut cost, mut kind) = question.attained();
    if domain.is_padded() && question.parts[0] == 0.0 {
        // An estimate for at most s items must also be valid for exactly s, so the greater cost
        // counts.
        cost = cost.max(question.attained_with_empty());
        // With one entry and up to 200 items every number of favoured items is tried.
        if entries > 1 || items > 200 {
            kind = BoundKind::Directions;
        }
    }
    Some(Least {
        variance: question.variance(cost),
        kind,
        proven: question.variance(question.proven()),
    })
}

/// Returns the distance of a mechanism from the best, for people with s entries of ±1 each.
///
/// `None` if the bound does not apply: for an open domain; for protection of less than whole
/// inputs, or with a δ; for a biased mechanism, or one that does not estimate the objective.
///
/// ```
/// use hushbin::TaskDraft;
/// use hushbin::choose::Objective;
/// use hushbin_analysis::bound::distance;
///
/// let draft: TaskDraft = serde_json::from_str(r#"{
///     "id": "ratings", "items": 256, "sparsity": 16, "epsilon": 3.0, "value": "sign",
///     "mechanism": "auto"
/// }"#).unwrap();
/// let task = draft.resolve().unwrap();
/// let question = &task.questions()[0];
/// let of = |objective| distance(&question.domain(), question.mechanism(), 3.0, &objective);
/// let means = of(Objective::MEAN).unwrap();
/// assert!(1.0 < means.times_bound && means.times_bound <= means.at_most);
/// // CoCo answers for means only.
/// assert!(of(Objective::FREQUENCY).is_none());
/// ```
///
/// # Panics
/// If the mechanism does not suit the domain; that of a [`Task`](hushbin::Task) does.
#[must_use]
pub fn distance(
    domain: &Domain,
    mechanism: &Mechanism,
    epsilon: f64,
    objective: &Objective,
) -> Option<Distance> {
    domain.items()?;
    if mechanism.neighbours() != Neighbours::Any || mechanism.delta() > 0.0 {
        return None;
    }
    let population = Population::even(1.0, domain.sparsity());
    let predicted = mechanism.predict_errors(domain, epsilon, &population);
    let error = if domain.is_rated() {
        objective.weigh(&predicted)?
    } else {
        Objective::FREQUENCY.weigh(&predicted)?
    };
    if error.squared_bias > 0.0 {
        return None;
    }
    let least = least(domain, epsilon, objective)?;
    let inputs = match domain.sparsity() {
        2.. if domain.is_padded() && !domain.is_rated() => {
            format!(" for sets of {} or none", domain.sparsity())
        }
        _ => String::new(),
    };
    // Ratios below 1 are rounding errors.
    let over = |least: f64| (error.variance / least).max(1.0);
    Some(Distance::new(
        over(least.variance),
        over(least.proven),
        least.kind,
        &inputs,
    ))
}

/// Returns the distance of a question's mechanism from the best.
///
/// `None` as for [`distance`], if the question has no such estimates, and for parts asked together.
/// `None` also for a number with bins or a cross with one: the share of a single cell is not what
/// matters there.
///
/// The mean of one number is judged by the worst variance, and `None` above ε = 6.
#[must_use]
pub fn of_question(question: &hushbin::Question, objective: &Objective) -> Option<Distance> {
    let domain = question.domain();
    if let (Kind::Numbers(of), Mechanism::Window(window)) = (question.kind(), question.mechanism())
        && of.is_alone()
    {
        let (least, exact) = number::least(question.epsilon())?;
        let kind = if exact {
            BoundKind::Exact
        } else {
            BoundKind::Interpolated
        };
        let variance = window.rates(&domain, question.epsilon()).worst_variance();
        let times = (variance / least).max(1.0);
        return (*objective == Objective::MEAN).then(|| Distance::new(times, times, kind, ""));
    }
    let cells = match question.kind() {
        Kind::Number(_) => true,
        Kind::Cross(cross) => cross.columns().scale().is_some(),
        _ => false,
    };
    // Parts asked together do not allow every set of options, but the bound assumes it.
    let parts = matches!(question.kind(), Kind::Together(_));
    // Shares have no mean.
    let means = *objective != Objective::FREQUENCY && !domain.is_rated();
    let far = || distance(&domain, question.mechanism(), question.epsilon(), objective);
    (!cells && !parts && !means).then(far).flatten()
}

/// Objective over a closed domain: see the module.
#[derive(Debug, Clone, Copy)]
struct BoundProblem {
    items: u32,
    entries: u32,
    /// Value e − 1.
    excess: f64,
    /// Weights α and β.
    parts: [f64; 2],
}

impl BoundProblem {
    fn new(items: u32, entries: u32, epsilon: f64, objective: &Objective) -> Self {
        let sum = objective.sum();
        let quarter = objective.frequency / sum / 4.0;
        let presence = objective.nonmissing / sum;
        Self {
            items,
            entries,
            excess: epsilon.exp_m1(),
            parts: [objective.mean / sum + quarter, presence + quarter],
        }
    }

    /// Returns the question for shares.
    fn of_shares(items: u32, entries: u32, epsilon: f64) -> Self {
        Self {
            parts: [0.0, 1.0],
            ..Self::new(items, entries, epsilon, &Objective::MEAN)
        }
    }

    fn d_and_s(&self) -> [f64; 2] {
        [self.items, self.entries].map(f64::from)
    }

    /// Returns V = s(d − s)/d.
    fn spread(&self) -> f64 {
        let [d, s] = self.d_and_s();
        s * (d - s) / d
    }

    /// Returns the variance at a cost.
    fn variance(&self, cost: f64) -> f64 {
        let [d, s] = self.d_and_s();
        let [alpha, beta] = self.parts;
        (cost + beta * s * s / d - s * (alpha + beta)) / d
    }

    fn cost(&self) -> Cost {
        let [sign, presence] = self.parts;
        Cost {
            sign: sign * f64::from(self.entries).powi(2),
            presence: presence * self.spread().powi(2),
        }
    }

    /// Returns the least cost found that a mechanism attains.
    fn attained(&self) -> (f64, BoundKind) {
        let Self {
            items,
            entries,
            excess,
            ..
        } = *self;
        let exact =
            |most: &dyn Fn([f64; 2]) -> Information| (self.cost().least(most), BoundKind::Exact);
        if entries == 1 {
            let sets = OneEntry::new(items, excess);
            return exact(&|weights| sets.most(weights));
        }
        if let Some(sets) = Enumerated::new(items, entries, excess) {
            return exact(&|weights| sets.most(weights));
        }
        (self.directions(), BoundKind::Directions)
    }

    fn directions(&self) -> f64 {
        let levels = Levels::new(self.items, self.entries, self.excess);
        self.cost().least(|weights| levels.most(weights))
    }

    /// Returns the least cost of shares found that a mechanism attains if inputs may be empty.
    fn attained_with_empty(&self) -> f64 {
        let [d, s] = self.d_and_s();
        let sets = AtMost::new(self.items, self.entries, self.excess);
        let total = Cost {
            sign: self.parts[1] * s * s / d,
            ..self.cost()
        };
        total.least(|weights| sets.most(weights))
    }

    /// Returns the proven lower bound on the cost of every mechanism.
    fn proven(&self) -> f64 {
        let [d, s] = self.d_and_s();
        let [alpha, beta] = self.parts;
        let excess = self.excess;
        // The bounds on A₁ and A₂ in the module's last section, up to the factors s/d and c.
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
        // Value V²/c.
        let presence = self.spread() * (d - 1.0);
        let apart =
            alpha * s * d / symmetric + beta * presence / any(d - 1.0).max(f64::MIN_POSITIVE);
        let together = ((alpha * s * d).sqrt() + (beta * presence).sqrt()).powi(2);
        let together = together / any(2.0 * d - 1.0);
        apart.max(together)
    }
}
