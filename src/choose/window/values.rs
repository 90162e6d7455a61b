//! The values of atoms at which the worst variance is least.
//!
//! For a fixed mixture of two neighbouring levels the variance of an estimate is a positive
//! semidefinite quadratic form of the values, so its maximum over all mixtures is convex. A
//! barrier method (Boyd and Vandenberghe, "Convex Optimization", 2004, §11.3) minimises it,
//! subject to values that ascend and a last level of 1.

use alloc::vec;
use alloc::vec::Vec;

use crate::solve::{factorise, solve};

/// What the variance of one report's estimate is made of, for values whose last level is 1:
/// the mean square at a level is `any`·Σ Y² + `favoured`·Σ Y² over the level's atoms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Squares {
    pub(super) any: f64,
    pub(super) favoured: f64,
}

/// t atoms of which k are favoured, and the squares that they cost.
#[derive(Debug, Clone, Copy)]
struct Programme {
    atoms: usize,
    window: usize,
    squares: Squares,
}

/// The constraints that a variance is below the bound and that values ascend, at a point.
struct Slacks {
    variances: Vec<f64>,
    steps: Vec<f64>,
}

/// The derivatives, by the values, of the greatest variance between two levels.
struct Between {
    gradient: Vec<f64>,
    /// Diagonal of the second derivative.
    diagonal: Vec<f64>,
    /// The second derivative less its diagonal is Σ weight·v·vᵀ over these.
    outer: [(f64, Vec<f64>); 2],
}

/// The barrier is made so much steeper at each stage.
const STEEPER: f64 = 20.0;
/// Newton steps of a stage, at most.
const MOST_STEPS: u32 = 50;

/// The values of the upper half's atoms, ascending, that sum to 1 over the last k, and the
/// worst variance of one report's estimate. It is above the least by at most this part of
/// itself where Newton's method converges, as it does for all k that are near the best.
pub(super) fn best(atoms: u32, favoured: u32, squares: Squares, precision: f64) -> (Vec<f64>, f64) {
    let programme = Programme::new(atoms, favoured, squares);
    let half = programme.half();
    let mut point: Vec<f64> = (1..=half).map(|place| place as f64).collect();
    programme.scale(&mut point);
    let mut bound = 1.1 * programme.worst(&point) + 1e-3;
    let constraints = (programme.segments().len() + half) as f64;
    let mut steepness = constraints / bound;
    while constraints / steepness > precision * bound {
        steepness *= STEEPER;
        programme.centre(&mut point, &mut bound, steepness);
    }
    // Values that are 0 but for the last k can be better where it does not converge.
    let mut last = vec![0.0; half];
    last[half - programme.window..].fill(1.0 / f64::from(favoured));
    let all = [point, last].map(|own| (programme.worst(&own), own));
    let [(worst, point), (other, last)] = all;
    if worst <= other {
        (point, worst)
    } else {
        (last, other)
    }
}

/// The values of the same sum with the least variance on average over numbers spread evenly, by
/// coordinate search from those of [`best`]. They differ from them by little.
///
/// The steps between values are the coordinates: as they are 0 or more, values ascend.
pub(super) fn best_on_average(
    atoms: u32,
    favoured: u32,
    squares: Squares,
    worst: Vec<f64>,
) -> Vec<f64> {
    let programme = Programme::new(atoms, favoured, squares);
    let mut values = worst;
    let mut least = programme.average(&values);
    let mut step = 0.1 * values.last().copied().unwrap_or(0.0);
    let smallest = 1e-5 * step;
    while step > smallest {
        let mut is_best = true;
        for at in 0..values.len() {
            let before = if at == 0 { 0.0 } else { values[at - 1] };
            for by in [step, -step.min(values[at] - before)] {
                let mut next = values.clone();
                next[at..].iter_mut().for_each(|value| *value += by);
                programme.scale(&mut next);
                let average = programme.average(&next);
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

impl Programme {
    const fn new(atoms: u32, favoured: u32, squares: Squares) -> Self {
        Self {
            atoms: atoms as usize,
            window: favoured as usize,
            squares,
        }
    }

    /// Scales the upper half's values to a last level of 1.
    fn scale(&self, point: &mut [f64]) {
        let top: f64 = point[self.half() - self.window..].iter().sum();
        point.iter_mut().for_each(|value| *value /= top);
    }

    const fn half(&self) -> usize {
        self.atoms / 2
    }

    /// Pairs of neighbouring levels that stand at 0 or above; the others mirror them.
    const fn segments(&self) -> core::ops::Range<usize> {
        let last = self.atoms - self.window;
        last / 2..last
    }

    /// The place of an atom's value in the upper half, and its sign; none for a middle atom.
    const fn place(&self, atom: usize) -> Option<(usize, f64)> {
        let half = self.half();
        if atom < half {
            Some((half - 1 - atom, -1.0))
        } else if 2 * atom + 1 == self.atoms {
            None
        } else {
            Some((atom - self.atoms.div_ceil(2), 1.0))
        }
    }

    fn values(&self, point: &[f64]) -> Vec<f64> {
        let value = |atom| self.place(atom).map_or(0.0, |(at, sign)| sign * point[at]);
        (0..self.atoms).map(value).collect()
    }

    fn worst(&self, point: &[f64]) -> f64 {
        let values = self.values(point);
        let of = |level| self.between(&values, level).0;
        self.segments().map(of).fold(0.0, f64::max)
    }

    /// The average variance over numbers spread evenly from -1 to 1. The mean square is linear
    /// between levels.
    fn average(&self, point: &[f64]) -> f64 {
        let Squares { any, favoured } = self.squares;
        let values = self.values(point);
        let squared = |own: &[f64]| own.iter().map(|y| y * y).sum::<f64>();
        let all = any * squared(&values);
        let level = |own: &[f64]| (own.iter().sum::<f64>(), all + favoured * squared(own));
        let levels: Vec<(f64, f64)> = values.windows(self.window).map(level).collect();
        let between = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1);
        let squares: f64 = levels.windows(2).map(between).sum();
        0.25 * squares - 1.0 / 3.0
    }

    /// The greatest variance between a level and the next, and the part of the next at which
    /// it is reached.
    ///
    /// With a part λ the variance is A + λB − (W + λΔ)², which is concave in λ.
    fn between(&self, values: &[f64], level: usize) -> (f64, f64) {
        let Squares { any, favoured } = self.squares;
        let squared = |own: &[f64]| own.iter().map(|y| y * y).sum::<f64>();
        let own = &values[level..level + self.window];
        let (leaves, joins) = (values[level], values[level + self.window]);
        let at = any * squared(values) + favoured * squared(own);
        let more = favoured * (joins * joins - leaves * leaves);
        let (stands, step) = (own.iter().sum::<f64>(), joins - leaves);
        let part = if step > 0.0 {
            ((0.5 * more / step - stands) / step).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let number = stands + part * step;
        (at + part * more - number * number, part)
    }

    fn derivatives(&self, point: &[f64], values: &[f64], level: usize) -> Between {
        let Squares { any, favoured } = self.squares;
        let (_, part) = self.between(values, level);
        let half = self.half();
        let mut diagonal = vec![4.0 * any; half];
        let (mut number, mut turns, mut moves) =
            (vec![0.0; half], vec![0.0; half], vec![0.0; half]);
        for atom in level..=level + self.window {
            let Some((at, sign)) = self.place(atom) else {
                continue;
            };
            // By how much of it each atom is favoured, and how that changes with the part.
            let (weight, change) = if atom == level {
                (1.0 - part, -1.0)
            } else if atom == level + self.window {
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
        let (stands, step) = (dot(&number), dot(&moves));
        let gradient = (0..half)
            .map(|at| diagonal[at] * point[at] - 2.0 * stands * number[at])
            .collect();
        // The part at which the variance is greatest moves with the values.
        let inner = part > 0.0 && part < 1.0 && step > 0.0;
        for at in 0..half {
            turns[at] -= 2.0 * (step * number[at] + stands * moves[at]);
        }
        let weight = if inner { 0.5 / (step * step) } else { 0.0 };
        Between {
            gradient,
            diagonal,
            outer: [(-2.0, number), (weight, turns)],
        }
    }

    fn slacks(&self, point: &[f64], bound: f64) -> Slacks {
        let values = self.values(point);
        let below = |level| bound - self.between(&values, level).0;
        let mut before = 0.0;
        let step = |value: &f64| value - core::mem::replace(&mut before, *value);
        Slacks {
            variances: self.segments().map(below).collect(),
            steps: point.iter().map(step).collect(),
        }
    }

    /// Newton's method to the point where the bound's cost and the barrier balance.
    fn centre(&self, point: &mut Vec<f64>, bound: &mut f64, steepness: f64) {
        for _ in 0..MOST_STEPS {
            let slacks = self.slacks(point, *bound);
            let (step, decrement) = self.newton(point, &slacks, steepness);
            if decrement < 1e-3 {
                return;
            }
            let before = steepness * *bound + slacks.barrier();
            let mut length = 1.0;
            loop {
                let next: Vec<f64> = (point.iter().zip(&step))
                    .map(|(value, step)| value + length * step)
                    .collect();
                let next_bound = *bound + length * step[self.half()];
                let there = self.slacks(&next, next_bound);
                let falls = || {
                    let after = steepness * next_bound + there.barrier();
                    after <= before - 0.1 * length * decrement
                };
                if there.keeps(&slacks) && falls() {
                    (*point, *bound) = (next, next_bound);
                    break;
                }
                length *= 0.5;
                if length < 1e-10 {
                    return;
                }
            }
        }
    }

    /// Newton's step of the values and then of the bound, in the plane on which the last
    /// level stays at 1, and by how much it is expected to lower the cost, doubled.
    fn newton(&self, point: &[f64], slacks: &Slacks, steepness: f64) -> (Vec<f64>, f64) {
        let half = self.half();
        let size = half + 1;
        let mut matrix = vec![0.0; size * size];
        let mut gradient = vec![0.0; size];
        gradient[half] = steepness;
        let values = self.values(point);
        for (level, slack) in self.segments().zip(&slacks.variances) {
            let own = self.derivatives(point, &values, level);
            let mut normal = own.gradient.clone();
            normal.push(-1.0);
            add(&mut matrix, &normal, 1.0 / (slack * slack));
            for (weight, direction) in &own.outer {
                let mut direction = direction.clone();
                direction.push(0.0);
                add(&mut matrix, &direction, weight / slack);
            }
            for at in 0..half {
                matrix[at * size + at] += own.diagonal[at] / slack;
            }
            for (sum, part) in gradient.iter_mut().zip(&normal) {
                *sum += part / slack;
            }
        }
        for (at, step) in slacks.steps.iter().enumerate() {
            let mut normal = vec![0.0; size];
            normal[at] = 1.0;
            if at > 0 {
                normal[at - 1] = -1.0;
            }
            add(&mut matrix, &normal, 1.0 / (step * step));
            for (sum, part) in gradient.iter_mut().zip(&normal) {
                *sum -= part / step;
            }
        }
        factorise(&mut matrix, size);
        let mut plane = vec![0.0; size];
        plane[half - self.window..half].fill(1.0);
        let straight = solve(&matrix, &gradient);
        let back = solve(&matrix, &plane);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let share = dot(&plane, &straight) / dot(&plane, &back);
        let step: Vec<f64> = (straight.iter().zip(&back))
            .map(|(straight, back)| share * back - straight)
            .collect();
        let decrement = -dot(&gradient, &step);
        (step, decrement)
    }
}

impl Slacks {
    fn all(&self) -> impl Iterator<Item = &f64> {
        self.variances.iter().chain(&self.steps)
    }

    fn barrier(&self) -> f64 {
        -self.all().map(|slack| libm::log(*slack)).sum::<f64>()
    }

    /// Whether each is at least a tenth of what it was.
    fn keeps(&self, before: &Self) -> bool {
        self.all()
            .zip(before.all())
            .all(|(own, before)| *own > 0.1 * before)
    }
}

/// Adds weight·v·vᵀ.
fn add(matrix: &mut [f64], v: &[f64], weight: f64) {
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
