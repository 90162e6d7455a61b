//! Minimax values of atoms: the values of minimum worst-case variance.
//!
//! For a fixed mixture of two neighbouring levels, the variance of an estimate is a positive
//! semidefinite quadratic form of the values. Its maximum over all mixtures is therefore convex. A
//! barrier method (Boyd and Vandenberghe, "Convex Optimization", 2004, §11.3) minimises this
//! maximum, subject to ascending values and a last level of 1.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::{cholesky_factorise, solve_with_cholesky_factor};

/// Coefficients of the variance of one report's estimate, if the last level is 1. The mean square
/// at a level has two terms: `any`·Σ Y² over the values Y of all atoms, and `favoured`·Σ Y² over
/// the values Y of the atoms that the level favours.
#[derive(Debug, Clone, Copy)]
pub(super) struct VarianceCoefficients {
    pub(super) all_atoms_coefficient: f64,
    pub(super) favoured_atoms_coefficient: f64,
}

/// Convex optimisation problem for t atoms, of which a level favours k.
#[derive(Debug, Clone, Copy)]
struct ConvexProgramme {
    atom_count: usize,
    favoured_atom_count: usize,
    variance_coefficients: VarianceCoefficients,
}

/// Slacks of the constraints at a point. The constraints are variances below the bound, and
/// ascending values.
struct ConstraintSlacks {
    variance_slacks: Vec<f64>,
    value_step_slacks: Vec<f64>,
}

/// Derivatives of the maximum variance between two neighbouring levels, with respect to the values.
struct VarianceDerivatives {
    gradient: Vec<f64>,
    /// Diagonal part of the second derivative.
    hessian_diagonal: Vec<f64>,
    /// Terms of the remaining part of the second derivative, Σ weight·v·vᵀ, as pairs (weight, v).
    hessian_outer_products: [(f64, Vec<f64>); 2],
}

/// Factor by which the barrier becomes steeper at each stage.
const BARRIER_GROWTH_FACTOR: f64 = 20.0;
/// Maximum number of Newton steps in one stage of the barrier method.
const MAX_NEWTON_STEPS: u32 = 50;

/// Returns the minimax values and the worst-case variance for one report's estimate.
///
/// The values are those of the atoms in the upper half, ascending. The last k values sum to 1. If
/// Newton's method converges, the variance exceeds the minimum by at most the relative `precision`.
/// The method converges for all k near the best k.
pub(super) fn minimax_atom_values(
    atoms: u32,
    favoured: u32,
    squares: VarianceCoefficients,
    precision: f64,
) -> (Vec<f64>, f64) {
    let programme = ConvexProgramme::new(atoms, favoured, squares);
    let half = programme.upper_half_atom_count();
    let mut point: Vec<f64> = (1..=half).map(|place| place as f64).collect();
    programme.scale_last_level_to_one(&mut point);
    // The bound starts strictly above all variances, a feasible start for the barrier.
    let mut bound = 1.1 * programme.max_variance_over_range(&point) + 1e-3;
    let constraints = (programme.upper_level_pairs().len() + half) as f64;
    let mut steepness = constraints / bound;
    // constraints/steepness is the duality gap at the centre (Boyd and Vandenberghe, §11.3.1).
    while constraints / steepness > precision * bound {
        steepness *= BARRIER_GROWTH_FACTOR;
        programme.minimise_barrier_by_newton(&mut point, &mut bound, steepness);
    }
    // If Newton's method does not converge, values that are 0 except for the last k can be better.
    let mut last = vec![0.0; half];
    last[half - programme.favoured_atom_count..].fill(1.0 / f64::from(favoured));
    let all = [point, last].map(|own| (programme.max_variance_over_range(&own), own));
    let [(worst, point), (other, last)] = all;
    if worst <= other {
        (point, worst)
    } else {
        (last, other)
    }
}

/// Returns the values of minimum average variance over numbers spread evenly from −1 to 1. The last
/// k values again sum to 1. The coordinate search starts at `worst`, the values of
/// [`minimax_atom_values`], which differ little from the result.
///
/// The coordinates are the differences between successive values. They stay at 0 or above, so
/// values ascend.
pub(super) fn least_average_variance_values(
    atoms: u32,
    favoured: u32,
    squares: VarianceCoefficients,
    worst: Vec<f64>,
) -> Vec<f64> {
    let programme = ConvexProgramme::new(atoms, favoured, squares);
    let mut values = worst;
    let mut least = programme.average_variance_over_range(&values);
    let mut step = 0.1 * values.last().copied().unwrap_or(0.0);
    let smallest = 1e-5 * step;
    while step > smallest {
        let mut is_best = true;
        for at in 0..values.len() {
            let before = if at == 0 { 0.0 } else { values[at - 1] };
            for by in [step, -step.min(values[at] - before)] {
                let mut next = values.clone();
                next[at..].iter_mut().for_each(|value| *value += by);
                programme.scale_last_level_to_one(&mut next);
                let average = programme.average_variance_over_range(&next);
                if average < least * (1.0 - 1e-9) {
                    (values, least, is_best) = (next, average, false);
                    break;
                }
            }
        }
        if is_best {
            step *= 0.5;
        }
    }
    values
}

impl ConvexProgramme {
    const fn new(atoms: u32, favoured: u32, squares: VarianceCoefficients) -> Self {
        Self {
            atom_count: atoms as usize,
            favoured_atom_count: favoured as usize,
            variance_coefficients: squares,
        }
    }

    /// Scales the values of the upper half so that the last level is 1.
    fn scale_last_level_to_one(&self, point: &mut [f64]) {
        let top: f64 = point[self.upper_half_atom_count() - self.favoured_atom_count..]
            .iter()
            .sum();
        point.iter_mut().for_each(|value| *value /= top);
    }

    const fn upper_half_atom_count(&self) -> usize {
        self.atom_count / 2
    }

    /// Returns the indices of the pairs of neighbouring levels that reach above 0. The other pairs
    /// are mirror images of these.
    const fn upper_level_pairs(&self) -> core::ops::Range<usize> {
        let last = self.atom_count - self.favoured_atom_count;
        last / 2..last
    }

    /// Returns the index of an atom's value in the upper half, and its sign. Returns `None` for a
    /// middle atom, whose value is 0.
    const fn upper_half_index_and_sign(&self, atom: usize) -> Option<(usize, f64)> {
        let half = self.upper_half_atom_count();
        if atom < half {
            Some((half - 1 - atom, -1.0))
        } else if 2 * atom + 1 == self.atom_count {
            None
        } else {
            Some((atom - self.atom_count.div_ceil(2), 1.0))
        }
    }

    /// Returns the values of all atoms.
    fn mirror_upper_half_values(&self, point: &[f64]) -> Vec<f64> {
        let value = |atom| {
            self.upper_half_index_and_sign(atom)
                .map_or(0.0, |(at, sign)| sign * point[at])
        };
        (0..self.atom_count).map(value).collect()
    }

    /// Returns the worst-case variance over all numbers from −1 to 1.
    fn max_variance_over_range(&self, point: &[f64]) -> f64 {
        let values = self.mirror_upper_half_values(point);
        let of = |level| self.max_variance_between_levels(&values, level).0;
        self.upper_level_pairs().map(of).fold(0.0, f64::max)
    }

    /// Returns the average variance over numbers spread evenly from −1 to 1. Between levels the
    /// mean square is linear.
    fn average_variance_over_range(&self, point: &[f64]) -> f64 {
        let VarianceCoefficients {
            all_atoms_coefficient: any,
            favoured_atoms_coefficient: favoured,
        } = self.variance_coefficients;
        let values = self.mirror_upper_half_values(point);
        let squared = |own: &[f64]| own.iter().map(|y| y * y).sum::<f64>();
        let all = any * squared(&values);
        let level = |own: &[f64]| (own.iter().sum::<f64>(), all + favoured * squared(own));
        let levels: Vec<(f64, f64)> = values
            .windows(self.favoured_atom_count)
            .map(level)
            .collect();
        let between = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1);
        let squares: f64 = levels.windows(2).map(between).sum();
        // Numbers have the density 1/2, and a trapezoid adds another factor 1/2. E[x²] = 1/3.
        0.25 * squares - 1.0 / 3.0
    }

    /// Returns the maximum variance between a level and the next, and the weight λ of the next
    /// level at which the maximum is reached.
    ///
    /// Let A be the mean square at the level and W its mean. The next level has the mean square A +
    /// B and the mean W + Δ. At λ the variance is A + λB − (W + λΔ)², which is concave in λ.
    fn max_variance_between_levels(&self, values: &[f64], level: usize) -> (f64, f64) {
        let VarianceCoefficients {
            all_atoms_coefficient: any,
            favoured_atoms_coefficient: favoured,
        } = self.variance_coefficients;
        let squared = |own: &[f64]| own.iter().map(|y| y * y).sum::<f64>();
        let own = &values[level..level + self.favoured_atom_count];
        let (leaves, joins) = (values[level], values[level + self.favoured_atom_count]);
        let at = any * squared(values) + favoured * squared(own);
        let more = favoured * (joins * joins - leaves * leaves);
        let (mean, step) = (own.iter().sum::<f64>(), joins - leaves);
        let part = if step > 0.0 {
            ((0.5 * more / step - mean) / step).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let number = mean + part * step;
        (at + part * more - number * number, part)
    }

    /// Returns the derivatives of the maximum variance between a level and the next, with respect
    /// to the values.
    fn max_variance_derivatives(
        &self,
        point: &[f64],
        values: &[f64],
        level: usize,
    ) -> VarianceDerivatives {
        let VarianceCoefficients {
            all_atoms_coefficient: any,
            favoured_atoms_coefficient: favoured,
        } = self.variance_coefficients;
        let (_, part) = self.max_variance_between_levels(values, level);
        let half = self.upper_half_atom_count();
        let mut diagonal = vec![4.0 * any; half];
        let (mut number, mut turns, mut moves) =
            (vec![0.0; half], vec![0.0; half], vec![0.0; half]);
        for atom in level..=level + self.favoured_atom_count {
            let Some((at, sign)) = self.upper_half_index_and_sign(atom) else {
                continue;
            };
            // Weight with which the mixture favours each atom, and its derivative with respect to
            // the part.
            let (weight, change) = if atom == level {
                (1.0 - part, -1.0)
            } else if atom == level + self.favoured_atom_count {
                (part, 1.0)
            } else {
                (1.0, 0.0)
            };
            diagonal[at] += 2.0 * favoured * weight;
            number[at] += sign * weight;
            moves[at] += sign * change;
            turns[at] += 2.0 * favoured * change * point[at];
        }
        let dot = |v: &[f64]| v.iter().zip(point).map(|(a, b)| a * b).sum::<f64>();
        let (mean, step) = (dot(&number), dot(&moves));
        let gradient = (0..half)
            .map(|at| diagonal[at] * point[at] - 2.0 * mean * number[at])
            .collect();
        // The maximising part moves with the values. Inside (0, 1) this adds a rank-one term.
        let inner = part > 0.0 && part < 1.0 && step > 0.0;
        for at in 0..half {
            turns[at] -= 2.0 * (step * number[at] + mean * moves[at]);
        }
        let weight = if inner { 0.5 / (step * step) } else { 0.0 };
        VarianceDerivatives {
            gradient,
            hessian_diagonal: diagonal,
            hessian_outer_products: [(-2.0, number), (weight, turns)],
        }
    }

    fn constraint_slacks(&self, point: &[f64], bound: f64) -> ConstraintSlacks {
        let values = self.mirror_upper_half_values(point);
        let below = |level| bound - self.max_variance_between_levels(&values, level).0;
        let mut before = 0.0;
        let step = |value: &f64| value - core::mem::replace(&mut before, *value);
        ConstraintSlacks {
            variance_slacks: self.upper_level_pairs().map(below).collect(),
            value_step_slacks: point.iter().map(step).collect(),
        }
    }

    /// Minimises steepness·bound + barrier by Newton's method, starting at `point` and `bound`. The
    /// barrier is −Σ ln(slack) over all slacks.
    fn minimise_barrier_by_newton(&self, point: &mut Vec<f64>, bound: &mut f64, steepness: f64) {
        for _ in 0..MAX_NEWTON_STEPS {
            let slacks = self.constraint_slacks(point, *bound);
            let (step, decrement) = self.newton_step(point, &slacks, steepness);
            if decrement < 1e-3 {
                return;
            }
            let before = steepness * *bound + slacks.log_barrier();
            let mut length = 1.0;
            loop {
                let next: Vec<f64> = (point.iter().zip(&step))
                    .map(|(value, step)| value + length * step)
                    .collect();
                let next_bound = *bound + length * step[self.upper_half_atom_count()];
                let there = self.constraint_slacks(&next, next_bound);
                let falls = || {
                    let after = steepness * next_bound + there.log_barrier();
                    // Sufficient decrease (Armijo's rule).
                    after <= before - 0.1 * length * decrement
                };
                if there.stay_above_tenth_of(&slacks) && falls() {
                    (*point, *bound) = (next, next_bound);
                    break;
                }
                length *= 0.5;
                // Rounding prevents further progress.
                if length < 1e-10 {
                    return;
                }
            }
        }
    }

    /// Returns Newton's step of the values and of the bound, with twice the expected decrease of
    /// the cost. The step stays in the plane on which the last level is 1.
    fn newton_step(
        &self,
        point: &[f64],
        slacks: &ConstraintSlacks,
        steepness: f64,
    ) -> (Vec<f64>, f64) {
        let half = self.upper_half_atom_count();
        let size = half + 1;
        let mut matrix = vec![0.0; size * size];
        let mut gradient = vec![0.0; size];
        gradient[half] = steepness;
        let values = self.mirror_upper_half_values(point);
        for (level, slack) in self.upper_level_pairs().zip(&slacks.variance_slacks) {
            let own = self.max_variance_derivatives(point, &values, level);
            let mut normal = own.gradient.clone();
            normal.push(-1.0);
            add_outer_product(&mut matrix, &normal, 1.0 / (slack * slack));
            for (weight, direction) in &own.hessian_outer_products {
                let mut direction = direction.clone();
                direction.push(0.0);
                add_outer_product(&mut matrix, &direction, weight / slack);
            }
            for at in 0..half {
                matrix[at * size + at] += own.hessian_diagonal[at] / slack;
            }
            for (sum, part) in gradient.iter_mut().zip(&normal) {
                *sum += part / slack;
            }
        }
        for (at, step) in slacks.value_step_slacks.iter().enumerate() {
            let mut normal = vec![0.0; size];
            normal[at] = 1.0;
            if at > 0 {
                normal[at - 1] = -1.0;
            }
            add_outer_product(&mut matrix, &normal, 1.0 / (step * step));
            for (sum, part) in gradient.iter_mut().zip(&normal) {
                *sum -= part / step;
            }
        }
        cholesky_factorise(&mut matrix, size);
        let mut plane = vec![0.0; size];
        plane[half - self.favoured_atom_count..half].fill(1.0);
        let straight = solve_with_cholesky_factor(&matrix, &gradient);
        let back = solve_with_cholesky_factor(&matrix, &plane);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // Multiplier of the equality constraint: the step has no component that moves the last
        // level.
        let share = dot(&plane, &straight) / dot(&plane, &back);
        let step: Vec<f64> = (straight.iter().zip(&back))
            .map(|(straight, back)| share * back - straight)
            .collect();
        let decrement = -dot(&gradient, &step);
        (step, decrement)
    }
}

impl ConstraintSlacks {
    fn all_slacks(&self) -> impl Iterator<Item = &f64> {
        self.variance_slacks.iter().chain(&self.value_step_slacks)
    }

    fn log_barrier(&self) -> f64 {
        -self
            .all_slacks()
            .map(|slack| libm::log(*slack))
            .sum::<f64>()
    }

    /// Returns whether each slack is at least a tenth of its value in `before`.
    fn stay_above_tenth_of(&self, before: &Self) -> bool {
        self.all_slacks()
            .zip(before.all_slacks())
            .all(|(own, before)| *own > 0.1 * before)
    }
}

/// Adds the weighted outer product weight·v·vᵀ of a vector v to a square matrix.
fn add_outer_product(matrix: &mut [f64], v: &[f64], weight: f64) {
    if weight == 0.0 {
        return;
    }
    for (row, a) in matrix.chunks_exact_mut(v.len()).zip(v) {
        if *a != 0.0 {
            for (sum, b) in row.iter_mut().zip(v) {
                *sum += weight * a * b;
            }
        }
    }
}
