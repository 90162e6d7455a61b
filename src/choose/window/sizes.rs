//! Search for the sizes of the window mechanism: drawn attributes m, atoms t, and favoured atoms k.

use alloc::vec::Vec;

use super::draft::{Draft, VarianceObjective};
use super::values::{self, VarianceCoefficients};
use crate::bounds;
use crate::choose::budget::{PreparedBudget, PrivacyBudget};
use crate::domain::Domain;
use crate::mechanism::window::{Rates, Window};

/// Search for the sizes m, t and k.
struct SizeSearch<'a> {
    attributes: u32,
    limit: PreparedBudget,
    draft: &'a Draft,
}

/// Sizes m, t and k, with the atoms' best values and the worst-case variance.
struct SizesWithVariance {
    drawn: u32,
    atoms: u32,
    favoured: u32,
    values: Vec<f64>,
    variance: f64,
}

/// Maximum number of atoms for which values are chosen.
pub(super) const MOST_ATOMS: u32 = 128;
/// Maximum number of atoms to try. More atoms gain little at any ε up to 6.
const TRIED_ATOMS: u32 = 64;
/// Relative precision of variances, for the comparison of sizes and for the final values.
const PRECISION: [f64; 2] = [1e-4, 1e-6];
/// Ratio of the variance with twice as many atoms to the variance before. Above this ratio, the
/// search for more atoms ends.
const DOUBLING_RATIO_LIMIT: f64 = 0.999;
/// Acceptable ratio of a variance to the minimum variance, in exchange for fewer atoms.
const VARIANCE_TOLERANCE: f64 = 1.004;
/// Integers that are tried as the greatest value of an atom. All values are scaled to fit.
const MAX_VALUE_RANGE: core::ops::RangeInclusive<u32> = 500..=1000;

/// Returns the best parameters that a draft allows and that stay within the budget. Returns `None`
/// if there are no such parameters.
pub(super) fn best_window(domain: &Domain, budget: PrivacyBudget, draft: &Draft) -> Option<Window> {
    let attributes = domain.item_count().unwrap_or(0);
    let sizes = SizeSearch {
        attributes,
        limit: budget.precompute_exp(),
        draft,
    };
    let most = attributes.min(bounds::DRAWN.max as u32);
    let drawn = draft.drawn.map_or(1..=most, |own| own..=own);
    if let (Some(t), Some(k), Some(values)) = (draft.atoms, draft.favoured, &draft.values) {
        let windows = drawn.filter_map(|m| Window::new(m, t, k, values.as_slice()).ok());
        let kept = windows.filter(|own| {
            sizes
                .allowed_cell_counts(own.drawn_attributes(), [t, k])
                .is_some()
        });
        let variance = |own: &Window| own.rates(domain, budget.epsilon).worst_variance();
        return kept.min_by(|a, b| variance(a).total_cmp(&variance(b)));
    }
    let all = drawn.filter_map(|drawn| sizes.best_for_drawn(drawn));
    let mut best = all.min_by(|a, b| a.variance.total_cmp(&b.variance))?;
    let mut variance: fn(&Rates) -> f64 = Rates::worst_variance;
    if draft.objective == Some(VarianceObjective::Average) {
        // The sizes stay those of the worst case: only the values differ.
        let squares = sizes.variance_coefficients(best.drawn, [best.atoms, best.favoured])?;
        best.values =
            values::least_average_variance_values(best.atoms, best.favoured, squares, best.values);
        variance = Rates::average_variance;
    }
    round_to_integers(&best, |own| variance(&own.rates(domain, budget.epsilon)))
}

impl SizeSearch<'_> {
    /// Returns the best sizes for reports that cover `drawn` attributes.
    fn best_for_drawn(&self, drawn: u32) -> Option<SizesWithVariance> {
        let best = match (self.draft.atoms, self.draft.favoured) {
            (Some(t), Some(k)) => self.with_rough_values(drawn, [t, k]),
            (Some(t), None) => (1..=t / 2)
                .filter_map(|k| self.with_rough_values(drawn, [t, k]))
                .min_by(|a, b| a.variance.total_cmp(&b.variance)),
            (None, Some(k)) => {
                let previous = self.best_with_fewest_atoms(drawn);
                self.best_with_favoured(
                    drawn,
                    k,
                    previous.as_ref(),
                    max_atoms_within_cells(MOST_ATOMS, drawn),
                )
            }
            (None, None) => self.best_with_fewest_atoms(drawn),
        }?;
        self.with_best_values(drawn, [best.atoms, best.favoured], PRECISION[1])
    }

    /// Returns the sizes with the fewest atoms, among sizes with nearly the minimum variance.
    ///
    /// Doubling both the atoms and the favoured atoms never increases the variance, because each
    /// pair of new atoms can have the value of one old atom. The search therefore ends when
    /// doubling has gained little.
    fn best_with_fewest_atoms(&self, drawn: u32) -> Option<SizesWithVariance> {
        let most = max_atoms_within_cells(TRIED_ATOMS, drawn);
        let mut tried: Vec<SizesWithVariance> = Vec::new();
        // Every k to 5, then steps of about a fifth.
        let next = |k: &u32| Some(k + 1 + k / 5);
        let all = core::iter::successors(Some(1), next);
        for favoured in all.take_while(|k| 2 * k <= most) {
            let is_last = tried.last().is_some_and(|own| own.atoms == most);
            tried.extend(self.best_with_favoured(drawn, favoured, tried.last(), most));
            let halved = |own: &&SizesWithVariance| 2 * own.favoured <= favoured;
            let before = least_variance(tried.iter().filter(halved));
            if is_last || least_variance(&tried) > DOUBLING_RATIO_LIMIT * before {
                break;
            }
        }
        let most = VARIANCE_TOLERANCE * least_variance(&tried);
        tried.into_iter().find(|own| own.variance <= most)
    }

    /// Returns the best sizes with k favoured atoms.
    ///
    /// The variance is unimodal in the number of atoms. The search starts with the share of
    /// favoured atoms that an earlier result, `previous`, had.
    fn best_with_favoured(
        &self,
        drawn: u32,
        k: u32,
        previous: Option<&SizesWithVariance>,
        most: u32,
    ) -> Option<SizesWithVariance> {
        let first = previous.map_or(2 * k, |own| {
            (own.atoms * k).div_ceil(own.favoured).min(most)
        });
        let first = (first..=most).find(|t| self.allowed_cell_counts(drawn, [*t, k]).is_some())?;
        let mut best = self.with_rough_values(drawn, [first, k])?;
        let more: [&mut dyn Iterator<Item = u32>; 2] =
            [&mut (first + 1..=most), &mut (2 * k..first).rev()];
        for sizes in more {
            // More atoms first, then fewer. The budget or the number of cells ends either
            // direction.
            for found in sizes.map_while(|t| self.with_rough_values(drawn, [t, k])) {
                if found.variance >= best.variance {
                    break;
                }
                best = found;
            }
            if best.atoms > first {
                break;
            }
        }
        Some(best)
    }

    /// Returns the sizes with approximate values, precise enough to compare variances.
    fn with_rough_values(&self, drawn: u32, sizes: [u32; 2]) -> Option<SizesWithVariance> {
        self.with_best_values(drawn, sizes, PRECISION[0])
    }

    /// Returns the number of cells and the number of favoured cells. Returns `None` if there are
    /// too many cells or favoured atoms, or if the sizes exceed the budget.
    fn allowed_cell_counts(&self, drawn: u32, [atoms, favoured]: [u32; 2]) -> Option<[u32; 2]> {
        let cells = atoms
            .checked_pow(drawn)
            .filter(|cells| favoured <= atoms / 2 && *cells <= Window::MOST_CELLS)?;
        let inside = favoured.pow(drawn);
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        self.limit
            .allows_favoured_and_others(c, others)
            .then_some([cells, inside])
    }

    /// Returns the sizes with the best values. The variance has the relative precision `precision`.
    fn with_best_values(
        &self,
        drawn: u32,
        [atoms, favoured]: [u32; 2],
        precision: f64,
    ) -> Option<SizesWithVariance> {
        let squares = self.variance_coefficients(drawn, [atoms, favoured])?;
        let (values, variance) = values::minimax_values(atoms, favoured, squares, precision);
        Some(SizesWithVariance {
            drawn,
            atoms,
            favoured,
            values,
            variance,
        })
    }

    /// Returns the coefficients of an estimate's variance, or `None` if the sizes are not allowed.
    fn variance_coefficients(
        &self,
        drawn: u32,
        [atoms, favoured]: [u32; 2],
    ) -> Option<VarianceCoefficients> {
        let [cells, inside] = self.allowed_cell_counts(drawn, [atoms, favoured])?;
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        let [k, t] = [f64::from(favoured), f64::from(atoms)];
        let e = self.limit.e;
        let all = c * e + others;
        // Probability of an atom that the level does not favour, and the excess probability of a
        // favoured atom.
        let other = f64::from(cells) / t / all;
        let gap = c / k * (e - 1.0) / all;
        // A report covers m of d attributes, so an estimate has this share of reports.
        let share = f64::from(drawn) / f64::from(self.attributes);
        Some(VarianceCoefficients {
            any: other / (share * gap * gap),
            favoured: 1.0 / (share * gap),
        })
    }
}

/// Returns the maximum number of atoms, at most `most`, whose number of cells is allowed.
fn max_atoms_within_cells(most: u32, drawn: u32) -> u32 {
    let kept = |t: &u32| t.saturating_pow(drawn) <= Window::MOST_CELLS;
    (2..=most).rev().find(kept).unwrap_or(2)
}

/// Returns the least variance of these sizes, or infinity if there are none.
fn least_variance<'a>(all: impl IntoIterator<Item = &'a SizesWithVariance>) -> f64 {
    let variances = all.into_iter().map(|own| own.variance);
    variances.fold(f64::INFINITY, f64::min)
}

/// Returns the window mechanism with integer values. Several scales are tried, and the scale of
/// minimum variance is used.
fn round_to_integers(
    found: &SizesWithVariance,
    variance: impl Fn(&Window) -> f64,
) -> Option<Window> {
    let last = found.values.last()?;
    let mut best: Option<(f64, Window)> = None;
    for greatest in MAX_VALUE_RANGE {
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
