//! Search for the sizes of the window mechanism: drawn attributes m, atoms t, and favoured atoms k.

use alloc::vec::Vec;

use super::draft::{ParametersDraft, VarianceObjective};
use super::values::{self, VarianceCoefficients};
use crate::bounds;
use crate::choose::budget::{PreparedBudget, PrivacyBudget};
use crate::domain::Domain;
use crate::mechanism::window::{EstimateScaleAndVariance, Window};

/// Search for the sizes m, t and k.
struct SizeSearch<'a> {
    attribute_count: u32,
    prepared_budget: PreparedBudget,
    draft: &'a ParametersDraft,
}

/// Sizes m, t and k, with the atoms' best values and the worst-case variance.
struct SizesWithVariance {
    drawn_attribute_count: u32,
    atom_count: u32,
    favoured_atom_count: u32,
    atom_values: Vec<f64>,
    worst_case_variance: f64,
}

/// Maximum number of atoms for which values are chosen.
pub(super) const MAX_ATOMS_FOR_VALUE_CHOICE: u32 = 128;
/// Maximum number of atoms to try. More atoms gain little at any ε up to 6.
const MAX_TRIED_ATOMS: u32 = 64;
/// Relative precision of variances, for the comparison of sizes and for the final values.
const SEARCH_AND_FINAL_PRECISIONS: [f64; 2] = [1e-4, 1e-6];
/// Ratio of the variance with twice as many atoms to the variance before. Above this ratio, the
/// search for more atoms ends.
const MAX_DOUBLING_VARIANCE_RATIO: f64 = 0.999;
/// Acceptable ratio of a variance to the minimum variance, in exchange for fewer atoms.
const MAX_VARIANCE_RATIO: f64 = 1.004;
/// Integers that are tried as the greatest value of an atom. All values are scaled to fit.
const TRIED_MAX_ATOM_VALUES: core::ops::RangeInclusive<u32> = 500..=1000;

/// Returns the best parameters that a draft allows and that stay within the budget. Returns `None`
/// if there are no such parameters.
pub(super) fn best_window(
    domain: &Domain,
    budget: PrivacyBudget,
    draft: &ParametersDraft,
) -> Option<Window> {
    let attributes = domain.item_count().unwrap_or(0);
    let sizes = SizeSearch {
        attribute_count: attributes,
        prepared_budget: budget.with_precomputed_exp(),
        draft,
    };
    let most = attributes.min(bounds::DRAWN_ATTRIBUTE_COUNT_RANGE.max as u32);
    let drawn = draft.drawn.map_or(1..=most, |own| own..=own);
    if let (Some(t), Some(k), Some(values)) = (draft.atoms, draft.favoured, &draft.values) {
        let windows = drawn.filter_map(|m| Window::new(m, t, k, values.as_slice()).ok());
        let kept = windows.filter(|own| {
            sizes
                .cells_and_favoured_cells(own.drawn_attribute_count(), [t, k])
                .is_some()
        });
        let variance = |own: &Window| {
            own.estimate_scale_and_variance(domain, budget.epsilon)
                .max_variance()
        };
        return kept.min_by(|a, b| variance(a).total_cmp(&variance(b)));
    }
    let all = drawn.filter_map(|drawn| sizes.best_for_drawn_attributes(drawn));
    let mut best = all.min_by(|a, b| a.worst_case_variance.total_cmp(&b.worst_case_variance))?;
    let mut variance: fn(&EstimateScaleAndVariance) -> f64 = EstimateScaleAndVariance::max_variance;
    if draft.objective == Some(VarianceObjective::Average) {
        // The sizes stay those of the worst case: only the values differ.
        let squares = sizes.variance_coefficients(
            best.drawn_attribute_count,
            [best.atom_count, best.favoured_atom_count],
        )?;
        best.atom_values = values::least_average_variance_values(
            best.atom_count,
            best.favoured_atom_count,
            squares,
            best.atom_values,
        );
        variance = EstimateScaleAndVariance::uniform_average_variance;
    }
    best_integer_valued_window(&best, |own| {
        variance(&own.estimate_scale_and_variance(domain, budget.epsilon))
    })
}

impl SizeSearch<'_> {
    /// Returns the best sizes for reports that cover `drawn` attributes.
    fn best_for_drawn_attributes(&self, drawn: u32) -> Option<SizesWithVariance> {
        let best = match (self.draft.atoms, self.draft.favoured) {
            (Some(t), Some(k)) => self.sizes_with_rough_values(drawn, [t, k]),
            (Some(t), None) => (1..=t / 2)
                .filter_map(|k| self.sizes_with_rough_values(drawn, [t, k]))
                .min_by(|a, b| a.worst_case_variance.total_cmp(&b.worst_case_variance)),
            (None, Some(k)) => {
                let previous = self.best_with_fewest_atoms(drawn);
                self.best_with_favoured_atoms(
                    drawn,
                    k,
                    previous.as_ref(),
                    max_atoms_within_cells(MAX_ATOMS_FOR_VALUE_CHOICE, drawn),
                )
            }
            (None, None) => self.best_with_fewest_atoms(drawn),
        }?;
        self.sizes_with_best_values(
            drawn,
            [best.atom_count, best.favoured_atom_count],
            SEARCH_AND_FINAL_PRECISIONS[1],
        )
    }

    /// Returns the sizes with the fewest atoms, among sizes with nearly the minimum variance.
    ///
    /// Doubling both the atoms and the favoured atoms never increases the variance, because each
    /// pair of new atoms can have the value of one old atom. The search therefore ends when
    /// doubling has gained little.
    fn best_with_fewest_atoms(&self, drawn: u32) -> Option<SizesWithVariance> {
        let most = max_atoms_within_cells(MAX_TRIED_ATOMS, drawn);
        let mut tried: Vec<SizesWithVariance> = Vec::new();
        // Every k to 5, then steps of about a fifth.
        let next = |k: &u32| Some(k + 1 + k / 5);
        let all = core::iter::successors(Some(1), next);
        for favoured in all.take_while(|k| 2 * k <= most) {
            let is_last = tried.last().is_some_and(|own| own.atom_count == most);
            tried.extend(self.best_with_favoured_atoms(drawn, favoured, tried.last(), most));
            let halved = |own: &&SizesWithVariance| 2 * own.favoured_atom_count <= favoured;
            let before = min_worst_case_variance(tried.iter().filter(halved));
            if is_last || min_worst_case_variance(&tried) > MAX_DOUBLING_VARIANCE_RATIO * before {
                break;
            }
        }
        let most = MAX_VARIANCE_RATIO * min_worst_case_variance(&tried);
        tried
            .into_iter()
            .find(|own| own.worst_case_variance <= most)
    }

    /// Returns the best sizes with k favoured atoms.
    ///
    /// The variance is unimodal in the number of atoms. The search starts with the share of
    /// favoured atoms that an earlier result, `previous`, had.
    fn best_with_favoured_atoms(
        &self,
        drawn: u32,
        k: u32,
        previous: Option<&SizesWithVariance>,
        most: u32,
    ) -> Option<SizesWithVariance> {
        let first = previous.map_or(2 * k, |own| {
            (own.atom_count * k)
                .div_ceil(own.favoured_atom_count)
                .min(most)
        });
        let first =
            (first..=most).find(|t| self.cells_and_favoured_cells(drawn, [*t, k]).is_some())?;
        let mut best = self.sizes_with_rough_values(drawn, [first, k])?;
        let more: [&mut dyn Iterator<Item = u32>; 2] =
            [&mut (first + 1..=most), &mut (2 * k..first).rev()];
        for sizes in more {
            // More atoms first, then fewer. The budget or the number of cells ends either
            // direction.
            for found in sizes.map_while(|t| self.sizes_with_rough_values(drawn, [t, k])) {
                if found.worst_case_variance >= best.worst_case_variance {
                    break;
                }
                best = found;
            }
            if best.atom_count > first {
                break;
            }
        }
        Some(best)
    }

    /// Returns the sizes with approximate values, precise enough to compare variances.
    fn sizes_with_rough_values(&self, drawn: u32, sizes: [u32; 2]) -> Option<SizesWithVariance> {
        self.sizes_with_best_values(drawn, sizes, SEARCH_AND_FINAL_PRECISIONS[0])
    }

    /// Returns the number of cells and the number of favoured cells. Returns `None` if there are
    /// too many cells or favoured atoms, or if the sizes exceed the budget.
    fn cells_and_favoured_cells(
        &self,
        drawn: u32,
        [atoms, favoured]: [u32; 2],
    ) -> Option<[u32; 2]> {
        let cells = atoms
            .checked_pow(drawn)
            .filter(|cells| favoured <= atoms / 2 && *cells <= Window::MAX_CELL_COUNT)?;
        let inside = favoured.pow(drawn);
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        self.prepared_budget
            .allows_favoured_other_counts(c, others)
            .then_some([cells, inside])
    }

    /// Returns the sizes with the best values. The variance has the relative precision `precision`.
    fn sizes_with_best_values(
        &self,
        drawn: u32,
        [atoms, favoured]: [u32; 2],
        precision: f64,
    ) -> Option<SizesWithVariance> {
        let squares = self.variance_coefficients(drawn, [atoms, favoured])?;
        let (values, variance) = values::minimax_atom_values(atoms, favoured, squares, precision);
        Some(SizesWithVariance {
            drawn_attribute_count: drawn,
            atom_count: atoms,
            favoured_atom_count: favoured,
            atom_values: values,
            worst_case_variance: variance,
        })
    }

    /// Returns the coefficients of an estimate's variance, or `None` if the sizes are not allowed.
    fn variance_coefficients(
        &self,
        drawn: u32,
        [atoms, favoured]: [u32; 2],
    ) -> Option<VarianceCoefficients> {
        let [cells, inside] = self.cells_and_favoured_cells(drawn, [atoms, favoured])?;
        let [c, others] = [f64::from(inside), f64::from(cells - inside)];
        let [k, t] = [f64::from(favoured), f64::from(atoms)];
        let e = self.prepared_budget.exp_epsilon;
        let all = c * e + others;
        // Probability of an atom that the level does not favour, and the excess probability of a
        // favoured atom.
        let other = f64::from(cells) / t / all;
        let gap = c / k * (e - 1.0) / all;
        // A report covers m of d attributes, so an estimate has this share of reports.
        let share = f64::from(drawn) / f64::from(self.attribute_count);
        Some(VarianceCoefficients {
            all_atoms_coefficient: other / (share * gap * gap),
            favoured_atoms_coefficient: 1.0 / (share * gap),
        })
    }
}

/// Returns the maximum number of atoms, at most `most`, whose number of cells is allowed.
fn max_atoms_within_cells(most: u32, drawn: u32) -> u32 {
    let kept = |t: &u32| t.saturating_pow(drawn) <= Window::MAX_CELL_COUNT;
    (2..=most).rev().find(kept).unwrap_or(2)
}

/// Returns the least variance of these sizes, or infinity if there are none.
fn min_worst_case_variance<'a>(all: impl IntoIterator<Item = &'a SizesWithVariance>) -> f64 {
    let variances = all.into_iter().map(|own| own.worst_case_variance);
    variances.fold(f64::INFINITY, f64::min)
}

/// Returns the window mechanism with integer values. Several scales are tried, and the scale of
/// minimum variance is used.
fn best_integer_valued_window(
    found: &SizesWithVariance,
    variance: impl Fn(&Window) -> f64,
) -> Option<Window> {
    let last = found.atom_values.last()?;
    let mut best: Option<(f64, Window)> = None;
    for greatest in TRIED_MAX_ATOM_VALUES {
        let scale = f64::from(greatest) / last;
        let integer = |value: &f64| libm::round(scale * value) as u32;
        let values: Vec<u32> = found.atom_values.iter().map(integer).collect();
        let own = Window::new(
            found.drawn_attribute_count,
            found.atom_count,
            found.favoured_atom_count,
            values,
        )
        .ok()?;
        let variance = variance(&own);
        if best.as_ref().is_none_or(|(least, _)| variance < *least) {
            best = Some((variance, own));
        }
    }
    best.map(|(_, own)| own)
}
