//! Bounds on the privacy loss of one batch, on a grid. Upper and lower bounds are computed from the
//! privacy profile δ(ε_c).
//!
//! δ is convex in x = exp(ε_c), so between two grid points it is below the chord that connects
//! them. The measure of losses whose δ follows the chords therefore bounds the batch from above. It
//! is the best such measure on the grid ("connect the dots", Doroshenko, Ghazi, Kamath, Kumar,
//! Manurangsi 2022). Upper bounds on δ at the grid points are enough. If these bounds are not
//! convex, their lower convex hull is used. It consists of chords between some of the points, and δ
//! is below a chord if it is below both of its ends.
//!
//! For a bound from below, the chords are lowered until δ is above them. How far is determined by
//! the neighbouring chords: as δ is convex, it is above the continuation of a neighbouring chord.
//!
//! It is enough to bound one batch. The δ of a composition increases with the δ of each batch at
//! every ε_c, as shown by replacing one batch after the other. Losses below 0 need no separate
//! bound. If the two inputs are exchanged, the batch has the same profile, and therefore δ(−ε_c) =
//! 1 − exp(−ε_c) + exp(−ε_c)·δ(ε_c). A mirrored measure with total mass M has M − M·exp(−ε_c) +
//! exp(−ε_c)·δ(ε_c) instead. This is an upper bound if M ≥ 1, and a lower bound if M ≤ 1.

/// Side of the true value on which a bound lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accounting) enum BoundSide {
    Above,
    Below,
}

impl BoundSide {
    /// Returns `value`, increased (above) or decreased (below) by the fraction `relative`.
    pub(super) fn shift_outward(self, value: f64, relative: f64) -> f64 {
        match self {
            Self::Above => value * (1.0 + relative),
            Self::Below => value * (1.0 - relative).max(0.0),
        }
    }
}

/// Lower and upper bounds on the δ of one batch at the points of a grid of ε_c.
#[derive(Debug)]
pub(in crate::accounting) struct DeltaBoundsOnGrid {
    grid_step: f64,
    lower_deltas: Vec<f64>,
    upper_deltas: Vec<f64>,
}

/// Measure over privacy losses on a grid. Only the masses at losses of 0 or more are stored. The
/// masses at negative losses follow from these by symmetry.
#[derive(Debug)]
pub(in crate::accounting) struct PrivacyLossMeasure {
    pub(super) bound_side: BoundSide,
    pub(super) grid_step: f64,
    /// Masses at the losses 0, h, 2h, ..., where h is `step`.
    pub(super) nonnegative_loss_masses: Vec<f64>,
    /// Mass at infinite loss.
    pub(super) infinite_loss_mass: f64,
}

impl DeltaBoundsOnGrid {
    /// Creates the curve from lower and upper bounds on δ at ε_c = 0, `step`, 2·`step`, ...
    pub(super) fn new(step: f64, lower: Vec<f64>, mut upper: Vec<f64>) -> Self {
        // δ decreases with ε_c, so an upper bound is also valid at all later points.
        for i in 1..upper.len() {
            upper[i] = upper[i].min(upper[i - 1]);
        }
        Self {
            grid_step: step,
            lower_deltas: lower,
            upper_deltas: upper,
        }
    }

    /// Returns a measure whose δ is nowhere below the δ of the batch.
    pub(in crate::accounting) fn upper_loss_measure(&self) -> PrivacyLossMeasure {
        let last = self.upper_deltas.len() - 1;
        // The δ that remains at the end of the grid is counted as infinite loss.
        let infinite = self.upper_deltas[last];
        let mut half = self.masses_from_hull(&self.upper_deltas, BoundSide::Above);
        // The remaining mass has loss 0. `slack` covers rounding errors of the sum.
        let slack = f64::EPSILON * (2 * last + 8) as f64;
        half[0] =
            (1.0 - infinite - total_nonzero_loss_mass(&half, self.grid_step)).max(0.0) + slack;
        PrivacyLossMeasure {
            bound_side: BoundSide::Above,
            grid_step: self.grid_step,
            nonnegative_loss_masses: half,
            infinite_loss_mass: infinite,
        }
    }

    /// Returns a measure whose δ is nowhere above the δ of the batch.
    pub(in crate::accounting) fn lower_loss_measure(&self) -> PrivacyLossMeasure {
        let parts: Vec<f64> = (0..self.upper_deltas.len() - 1)
            .map(|i| self.min_delta_to_chord_ratio(i))
            .collect();
        let mut dots: Vec<f64> = (0..parts.len())
            .map(|i| self.upper_deltas[i] * parts[i].min(parts[i.saturating_sub(1)]))
            .collect();
        // A lower bound has no mass beyond the grid.
        dots.push(0.0);
        let mut half = self.masses_from_hull(&dots, BoundSide::Below);
        let all = total_nonzero_loss_mass(&half, self.grid_step)
            * (1.0 + f64::EPSILON * (2 * half.len() + 8) as f64);
        if all > 1.0 {
            for mass in &mut half {
                *mass /= all * (1.0 + 4.0 * f64::EPSILON);
            }
        } else {
            half[0] = (1.0 - all - 4.0 * f64::EPSILON).max(0.0);
        }
        PrivacyLossMeasure {
            bound_side: BoundSide::Below,
            grid_step: self.grid_step,
            nonnegative_loss_masses: half,
            infinite_loss_mass: 0.0,
        }
    }

    /// Returns a lower bound on δ divided by the chord, between the grid points `i` and `i` + 1.
    /// The chord connects the upper bounds at these two points. In the last interval, the chord
    /// ends at 0.
    fn min_delta_to_chord_ratio(&self, i: usize) -> f64 {
        let (low, high) = (&self.lower_deltas, &self.upper_deltas);
        let growth = self.grid_step.exp();
        // Two bounds on the decrease of δ from i to i + 1: as steep as before i, and as steep as
        // after i + 1. Left of 0, δ is computed from its values right of 0.
        let before = if i == 0 {
            self.grid_step.exp_m1() * (1.0 - low[0]) + high[1] - low[0]
        } else {
            growth * (high[i - 1] - low[i])
        };
        let before = before.max(0.0) * (1.0 + 1e-12);
        let after = high
            .get(i + 2)
            .map_or(0.0, |next| (low[i + 1] - next) / growth);
        let after = after.max(0.0) * (1.0 - 1e-12);
        let end = if i + 2 < high.len() { high[i + 1] } else { 0.0 };
        let part = |t: f64| {
            let least = (low[i] - t * before).max(low[i + 1] + (1.0 - t) * after);
            let chord = high[i] - t * (high[i] - end);
            // Where δ is 0, the quotient would be 0/0. The ratio does not matter there.
            if least >= chord {
                1.0
            } else {
                (least / chord).max(0.0)
            }
        };
        // The quotient of linear functions is smallest at an end, or where the two lower bounds
        // cross.
        let cross = (low[i] - low[i + 1] - after) / (before - after);
        let crossed = if cross > 0.0 && cross < 1.0 {
            part(cross)
        } else {
            1.0
        };
        // The last factor covers rounding errors that raise the hull.
        part(0.0).min(part(1.0)).min(crossed) * (1.0 - 1e-11)
    }

    /// Returns the masses of a measure at h, 2h, ... The measure's δ is the lower convex hull of
    /// `dots`, the values of δ at the grid points. The mass at index 0 remains 0.
    ///
    /// Let x = exp(ε_c). The mass at a grid point is x times the change of δ's slope there, where
    /// the slope is the derivative with respect to x.
    fn masses_from_hull(&self, dots: &[f64], side: BoundSide) -> Vec<f64> {
        // Decrease of δ on the chord into a point and on the chord out of it, per unit of x and
        // times x at that point.
        let into = |from: usize, at: usize| {
            let width = (at - from) as f64 * self.grid_step;
            let fall = (dots[from] - dots[at]) / -(-width).exp_m1();
            side.shift_outward(fall, f64::EPSILON * (8.0 + width))
        };
        let out = |at: usize, to: usize| {
            let width = (to - at) as f64 * self.grid_step;
            let fall = (dots[at] - dots[to]) / width.exp_m1();
            let other = match side {
                BoundSide::Above => BoundSide::Below,
                BoundSide::Below => BoundSide::Above,
            };
            other.shift_outward(fall, f64::EPSILON * (8.0 + width))
        };
        let mut hull = vec![0];
        for next in 1..dots.len() {
            while let [.., from, at] = hull[..] {
                if into(from, at) > out(at, next) {
                    break;
                }
                hull.pop();
            }
            hull.push(next);
        }
        let mut half = vec![0.0; dots.len()];
        for window in hull.windows(3) {
            let [from, at, to] = [window[0], window[1], window[2]];
            half[at] = into(from, at) - out(at, to);
        }
        if let [.., from, at] = hull[..] {
            half[at] = into(from, at);
        }
        half.iter_mut()
            .for_each(|mass| *mass = side.shift_outward(mass.max(0.0), f64::EPSILON));
        half
    }
}

/// Returns the total of the masses at positive losses and of the mirrored masses. The mass at 0
/// is not included.
fn total_nonzero_loss_mass(half: &[f64], step: f64) -> f64 {
    let mirrored = |(i, mass): (usize, &f64)| mass * (1.0 + (-(i as f64) * step).exp());
    half.iter().enumerate().skip(1).map(mirrored).sum()
}
