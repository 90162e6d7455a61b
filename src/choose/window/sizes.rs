//! How many numbers a report tells of, how many atoms they have, and how many are favoured.

use alloc::vec::Vec;

use super::draft::{Draft, Objective};
use super::values::{self, Squares};
use crate::bounds;
use crate::choose::budget::{Budget, Limit};
use crate::domain::Domain;
use crate::mechanism::window::{Rates, Window};

/// What is searched.
struct Sizes<'a> {
    attributes: u32,
    limit: Limit,
    draft: &'a Draft,
}

/// Sizes with their values, and the worst variance.
struct Found {
    drawn: u32,
    atoms: u32,
    favoured: u32,
    values: Vec<f64>,
    variance: f64,
}

/// Number of atoms up to which all are tried. Above it, each one tried is a seventh greater
/// than the one before.
const FEW_ATOMS: u32 = 12;
/// Greatest number of atoms whose values are chosen.
pub(super) const MOST_ATOMS: u32 = 128;
/// How many greater numbers of atoms in a row may be no better before the search ends.
const PATIENCE: usize = 4;
/// Sizes are compared by variances of this precision, and values are found to the second.
const PRECISION: [f64; 2] = [1e-4, 1e-6];
/// Fewer atoms are taken where their variance is within this of the least.
const AS_GOOD: f64 = 1.004;
/// Integers that the greatest value is scaled to.
const GREATEST: core::ops::RangeInclusive<u32> = 500..=1000;

/// The parameters that agree with a draft and keep to the budget; none where none do.
pub(super) fn best(domain: &Domain, budget: Budget, draft: &Draft) -> Option<Window> {
    let attributes = domain.items().unwrap_or(0);
    let sizes = Sizes {
        attributes,
        limit: budget.limit(),
        draft,
    };
    let most = attributes.min(bounds::DRAWN.max as u32);
    let drawn = draft.drawn.map_or(1..=most, |own| own..=own);
    if let (Some(t), Some(k), Some(values)) = (draft.atoms, draft.favoured, &draft.values) {
        let windows = drawn.filter_map(|m| Window::new(m, t, k, values.as_slice()).ok());
        let kept = windows.filter(|own| sizes.allows(own.drawn(), [t, k]).is_some());
        let variance = |own: &Window| own.rates(domain, budget.epsilon).worst_variance();
        return kept.min_by(|a, b| variance(a).total_cmp(&variance(b)));
    }
    let all = drawn.filter_map(|drawn| sizes.of(drawn));
    let mut best = all.min_by(|a, b| a.variance.total_cmp(&b.variance))?;
    let mut variance: fn(&Rates) -> f64 = Rates::worst_variance;
    if draft.objective == Some(Objective::Average) {
        let squares = sizes.squares(best.drawn, [best.atoms, best.favoured])?;
        best.values = values::best_on_average(best.atoms, best.favoured, squares, best.values);
        variance = Rates::average_variance;
    }
    rounded(&best, |own| variance(&own.rates(domain, budget.epsilon)))
}

impl Sizes<'_> {
    /// The best that tells of so many numbers.
    fn of(&self, drawn: u32) -> Option<Found> {
        let mut tried: Vec<Found> = Vec::new();
        let mut part = 0.5;
        let mut least = f64::INFINITY;
        let mut worse = 0;
        let next = |atoms: &u32| Some(atoms + 1 + if *atoms < FEW_ATOMS { 0 } else { atoms / 7 });
        let (first, most) = match (self.draft.atoms, self.draft.favoured) {
            (Some(t), _) => (t, t),
            (None, Some(k)) => (2 * k, self.most_atoms(drawn).max(3 * k)),
            (None, None) => (2, self.most_atoms(drawn)),
        };
        let sizes = core::iter::successors(Some(first), next);
        // Nothing is learnt from fewer atoms where some are said.
        let said = self.draft.atoms.or(self.draft.favoured).is_some();
        for atoms in sizes.take_while(|t| *t <= most.min(MOST_ATOMS)) {
            let near = |k: &u32| (f64::from(*k) - part * f64::from(atoms)).abs() <= 1.01;
            let all = self.draft.favoured.map_or(1..=atoms / 2, |k| k..=k);
            let any = atoms <= FEW_ATOMS || said;
            let solved = all
                .filter(|k| any || near(k))
                .filter_map(|k| self.solved(drawn, [atoms, k], PRECISION[0]));
            let Some(found) = solved.min_by(|a, b| a.variance.total_cmp(&b.variance)) else {
                continue;
            };
            worse = if found.variance < 0.999 * least {
                0
            } else {
                worse + 1
            };
            if found.variance < least {
                least = found.variance;
                part = f64::from(found.favoured) / f64::from(atoms);
            }
            tried.push(found);
            if worse > PATIENCE {
                break;
            }
        }
        let fewest = tried
            .into_iter()
            .find(|found| found.variance <= AS_GOOD * least)?;
        self.solved(drawn, [fewest.atoms, fewest.favoured], PRECISION[1])
    }

    /// The most atoms that are worth a try.
    const fn most_atoms(&self, drawn: u32) -> u32 {
        match (self.attributes, drawn) {
            (1, _) => 64,
            (_, 1 | 2) => 16,
            _ => 9,
        }
    }

    /// Counts cells and favoured cells; none where they are too many or do not keep to the
    /// budget.
    fn allows(&self, drawn: u32, [atoms, favoured]: [u32; 2]) -> Option<[u32; 2]> {
        let cells = atoms
            .checked_pow(drawn)
            .filter(|cells| favoured <= atoms / 2 && *cells <= Window::MOST_CELLS)?;
        let inside = favoured.pow(drawn);
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        self.limit.allows_sets(c, others).then_some([cells, inside])
    }

    fn solved(&self, drawn: u32, [atoms, favoured]: [u32; 2], precision: f64) -> Option<Found> {
        let squares = self.squares(drawn, [atoms, favoured])?;
        let (values, variance) = values::best(atoms, favoured, squares, precision);
        Some(Found {
            drawn,
            atoms,
            favoured,
            values,
            variance,
        })
    }

    /// What an estimate's variance is made of at these sizes; none where they do not keep to the
    /// budget.
    fn squares(&self, drawn: u32, [atoms, favoured]: [u32; 2]) -> Option<Squares> {
        let [cells, inside] = self.allows(drawn, [atoms, favoured])?;
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        let [k, t] = [f64::from(favoured), f64::from(atoms)];
        let e = self.limit.e;
        let all = c * e + others;
        // Of an atom that the level does not favour, and by how much likelier another is.
        let other = f64::from(cells) / t / all;
        let gap = c / k * (e - 1.0) / all;
        let share = f64::from(drawn) / f64::from(self.attributes);
        Some(Squares {
            any: other / (share * gap * gap),
            favoured: 1.0 / (share * gap),
        })
    }
}

/// With the integers that stand for the values best.
fn rounded(found: &Found, variance: impl Fn(&Window) -> f64) -> Option<Window> {
    let last = found.values.last()?;
    let mut best: Option<(f64, Window)> = None;
    for greatest in GREATEST {
        let scale = f64::from(greatest) / last;
        let integer = |value: &f64| libm::round(scale * value) as u32;
        let values: Vec<u32> = found.values.iter().map(integer).collect();
        let own = Window::new(found.drawn, found.atoms, found.favoured, values).ok()?;
        let variance = variance(&own);
        if best.as_ref().is_none_or(|(least, _)| variance < *least) {
            best = Some((variance, own));
        }
    }
    best.map(|(_, own)| own)
}
