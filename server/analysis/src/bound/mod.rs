//! The bound: how far a mechanism is from the best that any could be.
//!
//! Let x be one of the inputs with exactly s entries of ±1 among d items, and n = |x|
//! say which items it has. From one report z of any ε-LDP mechanism let g estimate x and
//! h estimate n without bias, E\[g | x\] = x and E\[h | x\] = n. [`least`] says how small
//! the variance can be that [`Objective`] weighs and that
//! [`Mechanism::predict`] predicts, and [`Distance`] how many times that a mechanism
//! has: as many times more people it takes for the same error.
//!
//! # What is minimised
//!
//! Means cost E‖g‖² − s over the d items. The frequencies of the items with either sign
//! are (h ± g)/2 and cost (E‖g‖² + E‖h‖²)/2 − s over 2d numbers. A weighed average of
//! both is α·E‖g‖² + β·E‖h‖² less a constant, over d, with α = a + b/4 and β = b/4 where
//! a + b = 1 weigh means and frequencies. The entries of h may be taken to add up to s,
//! as n's do, since leaving off what is along (1, …, 1) keeps it unbiased; with
//! h′ = h − s/d, E‖h‖² = s²/d + E‖h′‖². Of a question without signs, a choice or a set,
//! shares are what n alone says: α = 0, β = 1. What is subtracted is always (α + β)·s.
//!
//! # The bound
//!
//! Let x be uniform, μ = E\[x | z\] and η = E\[n − s/d | z\]. Being unbiased, E\[g·μᵀ\] = E\[g·xᵀ\]
//! = (s/d)·1, and E\[h′·ηᵀ\] = c·P with c = s(d − s)/(d(d − 1)) and P the projection across (1, …,
//! 1). The g of least E‖g‖² with E\[g·μᵀ\] = C is C·M⁻¹·μ, M = E\[μ·μᵀ\], so that E‖g‖² ≥ (s/d)²·tr
//! M⁻¹ ≥ s²/A₁ with A₁ = tr M = E‖μ‖²; likewise E‖h′‖² ≥ V²/A₂ with V = c(d − 1) = s(d − s)/d and
//! A₂ = E‖η‖². So the cost is at least α·s²/A₁ + β·V²/A₂ at some (A₁, A₂) that a mechanism reaches.
//! These are a convex set, as mechanisms can be mixed, and λ₁·A₁ + λ₂·A₂ is an average over z of
//! λ₁·‖E\[x·q(z|x)\]‖²/q(z)² + λ₂·‖E\[(n − s/d)·q(z|x)\]‖²/q(z)², q(z) = E\[q(z|x)\]: the square of
//! a convex function over a positive linear one, which is greatest at a corner of the likelihoods
//! that ε allows: e on a set S of inputs and 1 elsewhere, e = exp ε. So with v(x) = (√λ₁·x, √λ₂·(n
//! − s/d))
//!
//! max λ₁·A₁ + λ₂·A₂ = max over S of ((e − 1)·‖E\[v·1_S\]‖/(1 + (e − 1)·Pr S))².
//!
//! **It is reached.** Let the reports be the permutations of items with flips of their signs, e
//! times as likely where they take the input into S: as many do so with one input as with any
//! other, so that this is ε-LDP. M and E\[ηηᵀ\] are then multiples of 1 and of P, and (s/A₁)·μ,
//! which is turned as x is, is on average a multiple of x: unbiased. So for every S there is a
//! mechanism with its A₁ and A₂, and the least cost over sets and their mixtures is that of the
//! best mechanism, for the average input and for the worst.
//!
//! # Sets of at most s items
//!
//! An estimate that is unbiased for all sets of at most s items is so for sets of s and for the
//! empty set. Let H be the sum of h's entries, and ρ the ratio of z's probabilities for the empty
//! set and for an average one of s items. Over sets of s items E\[H\] = s, E\[ρ·H\] = 0 and
//! E\[ρ\] = 1. With B = E\[(ρ − 1)²\] Chapman and Robbins' inequality is E\[H²\] ≥ s²·(1 + 1/B), so
//! E‖h‖² ≥ V²/A₂ + (s²/d)·(1 + 1/B). By the convexity above the best reports favour a set S, with
//! the empty set inside or outside; turned at random they are a mechanism for both sizes. Ratings
//! keep the bound for exactly s entries: items with fair signs fill an input up without bias.
//!
//! # Which sets
//!
//! Let ρ be the root of the maximum. With w the direction of E\[v·1_S\], ρ·(1 + (e − 1)·Pr S) = (e
//! − 1)·E\[⟨w, v⟩·1_S\], or ρ = (e − 1)·E\[(⟨w, v⟩ − ρ)·1_S\], which for given w and ρ is greatest
//! where S is all inputs with ⟨w, v⟩ > ρ: the threshold is the value itself. Inputs with ⟨w, v⟩ = ρ
//! add nothing, so parts of a tie need not be looked at, and ρ = max over w of the root of ρ = (e −
//! 1)·E\[(⟨w, v⟩ − ρ)⁺\].
//!
//! - One entry, s = 1: all sets there can be are looked at; exact.
//! - At most 16 inputs: all subsets of them; exact.
//! - Otherwise directions: w the same on k items and 0 elsewhere, where ⟨w, x⟩ is a
//!   hypergeometric number of fair signs, and for means two levels. Each is reached by a
//!   mechanism, but a better one may exist: the bound is then **too high and the distance
//!   too small**, if by anything. Any directions at all, in ascent from random ones on domains
//!   of up to 8 items, found means of at most 5 per cent less variance at ε = 0.01, and 1.6 per
//!   cent from ε = 0.25 on. Up to five items that weigh differently beside k equal ones, d from
//!   16 to 256, found at most 3.5 per cent less at ε = 0.01, and none from ε = 1 on.
//!
//! # What is proven for all directions
//!
//! Let P = Pr S and Y = ⟨w, v⟩ with ‖w‖ = 1, of mean 0 and variance at most σ². Then
//! ‖E\[v·1_S\]‖ = E\[Y·1_S\] is at most ‖v‖·P and, by Cauchy and Schwarz, σ·√(P(1 − P));
//! for signs alone Y is symmetric and S where it is positive, so that it is at most
//! σ·√(P/2) and P ≤ 1/2. The best P in these gives
//!
//! - A₁ ≤ (s/d)·((e − 1)/(e + 1))² up to e = 3, then (s/d)·(e − 1)/8, and from
//!   e = 2d + 1 on s·((e − 1)/(2d + e − 1))², as σ² = s/d and ‖v‖² = s;
//! - A₂ ≤ c·(e − 1)²/(4e), and from e = d − 1 on V·((e − 1)/(d + e − 1))², as σ² = c and
//!   ‖v‖² = V = c(d − 1);
//! - of both, weighed so that λ₁·s/d = λ₂·c = 1, as much as of A₂ with 2d − 1 dimensions
//!   instead of d − 1: σ² = 1, ‖v‖² = 2d − 1.
//!
//! Each bounds the cost from below, and the greater is [`Least::proven`]. For means
//! it is met at s = 1 where the best k is whole. For small ε it is up to π/2 times too low: there
//! |Y| would have to be constant and is more like a Gaussian's.
//!
//! [`Mechanism::predict`]: hushbin::Mechanism::predict

mod at_most;
mod enumerated;
mod levels;
mod number;
mod one_entry;
mod sums;
#[cfg(test)]
mod tests;
mod told;

use hushbin::Mechanism;
use hushbin::choose::{Objective, Population};
use hushbin::domain::Domain;
use hushbin::mechanism::Neighbours;
use hushbin::task::Kind;
use serde::Serialize;

use at_most::AtMost;
use enumerated::Enumerated;
use levels::Levels;
use one_entry::OneEntry;
use told::{Cost, Told};

/// How a bound was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// Over all sets of inputs: no mechanism does better.
    Exact,
    /// Over directions of one level or two: a better mechanism may be found.
    Directions,
    /// Of the mean of one number, between two ε where no mechanism is proven to do better.
    Interpolated,
}

/// The least variance that a mechanism can have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// Of one report, averaged as the objective weighs it, for an input of s entries of
    /// ±1. A mechanism has it, for shares one that answers for s items and for none.
    pub variance: f64,
    /// What that was found by.
    pub kind: BoundKind,
    /// What no mechanism is below, at most [`Least::variance`].
    pub proven: f64,
}

/// How many times the least variance a mechanism has, which is how many times the people it takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "wasm", derive(tsify::Tsify))]
pub struct Distance {
    /// Over the variance of the best mechanism found: at least 1.
    pub times_bound: f64,
    /// Over what no mechanism is proven to be below.
    pub at_most: f64,
    /// Whether the best mechanism found is the best possible.
    pub bound: BoundKind,
    /// In plain words.
    pub text: String,
}

impl Distance {
    /// `inputs` says of which inputs there is a mechanism that has the least, if not for all.
    fn new(times_bound: f64, at_most: f64, bound: BoundKind, inputs: &str) -> Self {
        let known = more(times_bound);
        let proven = more(at_most);
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

/// So many times the people, in words.
fn more(times: f64) -> String {
    let percent = (100.0 * (times - 1.0)).round();
    if percent < 1.0 {
        "no more people than".to_owned()
    } else if percent < 100.0 {
        format!("{percent}% more people than")
    } else {
        format!("{times:.1} times as many people as")
    }
}

/// The least variance over a domain at local ε; `None` for an open domain, where it has
/// no meaning. Of a question without signs it is that of shares, whatever the objective.
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
        let question = Question::new(items, entries, epsilon, objective);
        if question.parts[0] == 0.0 && entries == items {
            return None;
        }
        question
    } else if entries < items {
        Question::of_shares(items, entries, epsilon)
    } else {
        // Everybody has everything.
        return None;
    };
    let (mut cost, mut kind) = question.reached();
    if domain.is_padded() && question.parts[0] == 0.0 {
        cost = cost.max(question.of_at_most());
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

/// How far a mechanism is from the best, for people with s entries of ±1 each.
///
/// `None` where the bound says nothing of it: for an open domain; where it protects less than whole
/// inputs, or with a δ; where it is biased or does not estimate what the objective weighs.
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
    let predicted = mechanism.predict(domain, epsilon, &population);
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
    // Nothing is below but by rounding.
    let over = |least: f64| (error.variance / least).max(1.0);
    Some(Distance::new(
        over(least.variance),
        over(least.proven),
        least.kind,
        &inputs,
    ))
}

/// How far a question's mechanism is from the best; `None` as for [`distance`], where the
/// question has no such estimates or parts that are asked together, and of a number with bins
/// or a cross with one, whose cells' single shares are not what matters.
///
/// Of the mean of one number it is by the worst variance, and `None` above ε = 6.
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
    // Of parts not any set of options can be given, of which the bound is.
    let parts = matches!(question.kind(), Kind::Together(_));
    // Shares have no mean.
    let means = *objective != Objective::FREQUENCY && !domain.is_rated();
    let far = || distance(&domain, question.mechanism(), question.epsilon(), objective);
    (!cells && !parts && !means).then(far).flatten()
}

/// What is asked of a closed domain: see the module.
#[derive(Debug, Clone, Copy)]
struct Question {
    items: u32,
    entries: u32,
    /// e − 1.
    excess: f64,
    /// α and β.
    parts: [f64; 2],
}

impl Question {
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

    /// Of what is there or not.
    fn of_shares(items: u32, entries: u32, epsilon: f64) -> Self {
        Self {
            parts: [0.0, 1.0],
            ..Self::new(items, entries, epsilon, &Objective::MEAN)
        }
    }

    fn d_and_s(&self) -> [f64; 2] {
        [self.items, self.entries].map(f64::from)
    }

    /// V = s(d − s)/d.
    fn spread(&self) -> f64 {
        let [d, s] = self.d_and_s();
        s * (d - s) / d
    }

    /// The variance at a cost.
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

    /// The least cost that a mechanism is found to have.
    fn reached(&self) -> (f64, BoundKind) {
        let Self {
            items,
            entries,
            excess,
            ..
        } = *self;
        let exact = |most: &dyn Fn([f64; 2]) -> Told| (self.cost().least(most), BoundKind::Exact);
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

    /// The least cost of shares that a mechanism is found to have where inputs may be empty.
    fn of_at_most(&self) -> f64 {
        let [d, s] = self.d_and_s();
        let sets = AtMost::new(self.items, self.entries, self.excess);
        let total = Cost {
            sign: self.parts[1] * s * s / d,
            ..self.cost()
        };
        total.least(|weights| sets.most(weights))
    }

    /// The cost that no mechanism is below.
    fn proven(&self) -> f64 {
        let [d, s] = self.d_and_s();
        let [alpha, beta] = self.parts;
        let excess = self.excess;
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
        // V²/c.
        let presence = self.spread() * (d - 1.0);
        let apart =
            alpha * s * d / symmetric + beta * presence / any(d - 1.0).max(f64::MIN_POSITIVE);
        let together = ((alpha * s * d).sqrt() + (beta * presence).sqrt()).powi(2);
        let together = together / any(2.0 * d - 1.0);
        apart.max(together)
    }
}
