//! The privacy profile of a batch: δ as a function of ε_c, and its inverse, the
//! least ε_c at a δ.
//!
//! Two profiles are kept side by side: the reduction's, a
//! [hockey-stick divergence](super::hockey_stick), and what is proven of the batch,
//! the [privacy blanket](super::privacy_blanket)'s. They are one where every report
//! of the blanket tells something.

use super::hockey_stick;
use super::method::Method;
use super::mixture::Mixture;
use super::privacy_blanket::{Batch, PrivacyBlanket};
use super::telling::Telling;
use crate::numeric::roots::{greatest_below, least_above, newton};

/// How much of δ may be left out of the sum, and is added.
const CUT: f64 = 1e-12;
/// A factor beyond which the blanket's sum is not bounded by it.
const FAR_OUT: f64 = 1e3;
/// Less than this part that the reduction leaves out is not looked into further.
const VISIBLE: f64 = 1e-3;

/// δ(ε_c) of one batch size, for δ about one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrivacyProfile {
    mixture: Mixture,
    telling: Telling,
    /// −ln of what may be left out of a sum.
    far: f64,
    blanket: Option<PrivacyBlanket>,
}

/// Bounds on a δ.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeltaBounds {
    /// The reduction's is not below.
    pub(super) lower: f64,
    /// The reduction's, as computed.
    pub(super) near: f64,
    /// The reduction's is not above.
    pub(super) above: f64,
    /// What is proven of the batch is not above.
    pub(super) upper: f64,
    /// −dδ/dε_c of the reduction's.
    pub(super) fall: f64,
}

/// Bounds on the least ε_c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EpsilonBounds {
    /// By the reduction it is above this, and at most `reduction`.
    pub(super) lower: f64,
    pub(super) reduction: f64,
    /// It is proven to be at most this.
    pub(super) upper: f64,
}

impl PrivacyProfile {
    /// Of `n` reports, sharp for δ from `delta`. Of other reports 2α tell
    /// something.
    pub(super) fn new(mixture: Mixture, n: u64, delta: f64) -> Self {
        let (alpha, rest) = (mixture.alpha(), mixture.rest());
        let p = [2.0 * alpha, rest + alpha * mixture.epsilon().exp_m1()];
        Self::among(mixture, p, n, delta)
    }

    /// Of other reports another part tells something, p and 1 − p, while the
    /// report looked at always does: with P(neither) = 0 nothing below depends on
    /// p but P(C).
    pub(super) fn among_clones(mixture: Mixture, p: [f64; 2], n: u64, delta: f64) -> Self {
        debug_assert!(mixture.rest() == 0.0);
        Self::among(mixture, p, n, delta)
    }

    fn among(mixture: Mixture, p: [f64; 2], n: u64, delta: f64) -> Self {
        let far = -(0.5 * CUT * delta).ln();
        Self {
            mixture,
            telling: Telling::new(n as f64, p, far),
            far: far + mixture.epsilon(),
            blanket: PrivacyBlanket::new(&mixture, p),
        }
    }

    /// Of any randomizer of the same ε.
    fn of_any_randomizer(&self, delta: f64) -> Self {
        let any = Mixture::generic(self.mixture.epsilon());
        let any = any.expect("the ε of a mixture is in range");
        Self::new(any, self.telling.n as u64, delta)
    }

    /// Whether the blanket's sum is long, and bounded instead.
    fn is_bounded(&self, blanket: &PrivacyBlanket) -> bool {
        !blanket.is_short(&self.telling, self.far)
    }

    /// What the batch is accounted for by.
    pub(super) fn method(&self) -> Method {
        match &self.blanket {
            Some(blanket) if self.is_bounded(blanket) => Method::BoundedSum,
            _ => Method::ExactSum,
        }
    }

    /// How many terms a sum has.
    pub(super) fn width(&self) -> f64 {
        self.telling.width()
    }

    /// The ε_c of `delta` in the limit of large batches: the loss is nearly
    /// Gaussian, and the spread of the Gaussian is 2α(e − 1) between two reports by
    /// the √(np) of all.
    pub(super) fn gaussian_epsilon(&self, delta: f64) -> f64 {
        let apart = 2.0 * self.mixture.alpha() * self.mixture.epsilon().exp_m1();
        let spread = apart / self.telling.mean().sqrt();
        let mut square: f64 = 2.0 * (1.0 / delta).ln();
        for _ in 0..4 {
            square = 2.0 * (spread / (2.5 * delta * square)).ln().max(0.5);
        }
        spread * square.sqrt()
    }

    /// δ at `central`, from 0 to the local ε.
    pub(super) fn delta(&self, central: f64) -> DeltaBounds {
        self.bounds(central, self.blanket)
    }

    /// The reduction's alone, in less time; what is proven is only that δ is at
    /// most 1.
    pub(super) fn reduction_delta(&self, central: f64) -> DeltaBounds {
        DeltaBounds {
            upper: 1.0,
            ..self.bounds(central, None)
        }
    }

    fn bounds(&self, central: f64, blanket: Option<PrivacyBlanket>) -> DeltaBounds {
        let (telling, far) = (&self.telling, self.far);
        let batch = Batch::new(telling, self.mixture.epsilon(), central);
        // Where its sum over z is long, the blanket's is bounded by factors.
        let bounded = blanket.filter(|blanket| self.is_bounded(blanket));
        let found = hockey_stick::sum(&self.mixture, telling, &batch, bounded.as_ref());
        let (delta, error) = (found.delta, found.error);
        let above = (delta + error + telling.outside).min(1.0);
        let upper = match (blanket, bounded) {
            (None, _) => above,
            (Some(blanket), None) => blanket.sum(&batch, telling, far) + telling.outside,
            // Far out, where next to nothing is left of δ, a factor says little, or
            // is none.
            (Some(_), Some(_)) if found.greatest.is_nan() || found.greatest > FAR_OUT => {
                let cut = 2.0 * (-far).exp() / CUT;
                self.of_any_randomizer(cut).reduction_delta(central).above
            }
            (Some(_), Some(blanket)) => {
                let before = blanket.unlikely(&batch, telling.first, found.steep);
                delta + found.more + found.greatest * error + before + telling.outside
            }
        };
        DeltaBounds {
            lower: (delta - error).max(0.0),
            near: delta.max(0.0),
            above,
            upper: upper.clamp(above, 1.0),
            fall: found.fall,
        }
    }

    /// Bounds on the least ε_c at which δ(ε_c) is at most `delta`: the local ε
    /// always is enough. The search starts at `start`.
    pub(super) fn epsilon(&self, start: f64, delta: f64) -> EpsilonBounds {
        let most = self.mixture.epsilon();
        let near = newton(most, start, delta, |central| {
            let found = self.reduction_delta(central);
            (found.near, found.fall)
        });
        let reduction = least_above(near, most, |central| {
            self.reduction_delta(central).above <= delta
        });
        let upper = if self.blanket.is_none() || reduction >= most {
            reduction
        } else {
            self.proven_epsilon(reduction, delta)
        };
        EpsilonBounds {
            lower: greatest_below(near, |central| self.reduction_delta(central).lower > delta),
            reduction,
            upper,
        }
    }

    /// The least ε_c that is proven by the blanket, from the reduction's: what any
    /// randomizer of the same ε keeps to, where that is less.
    fn proven_epsilon(&self, reduction: f64, delta: f64) -> f64 {
        let most = self.mixture.epsilon();
        let near = newton(most, reduction, delta, |central| {
            let found = self.delta(central);
            (found.upper, found.fall)
        });
        let own = least_above(near, most, |central| self.delta(central).upper <= delta);
        let any = if own <= reduction * (1.0 + VISIBLE) {
            own
        } else {
            self.of_any_randomizer(delta).epsilon(own, delta).upper
        };
        any.min(own).max(reduction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushbin::hash::Hashing;
    use hushbin::mechanism::collision::{Collision, Rule};

    /// Where the sum over z is bounded, it is never below the sum, and by little
    /// above.
    #[test]
    fn what_is_bounded_is_above_the_sum() {
        let mut bounded = 0;
        for (favoured, t, epsilon) in [(4, 17, 1.0), (1, 300, 3.0), (5, 7, 0.5), (1, 40, 8.0)] {
            let rule = Rule::Heaviest { favoured };
            let collision = Collision::new(rule, Hashing::Independent, t).unwrap();
            let mixture = Mixture::collision(&collision, 1, epsilon).unwrap();
            for n in [10_000, 100_000] {
                for delta in [1e-2, 1e-6, 1e-12] {
                    let profile = PrivacyProfile::new(mixture, n, delta);
                    let blanket = profile.blanket.unwrap();
                    if !profile.is_bounded(&blanket) {
                        continue;
                    }
                    bounded += 1;
                    let likely = profile.gaussian_epsilon(delta);
                    for part in [0.0, 0.3, 1.0, 1.5, 4.0, 20.0] {
                        let central = (part * likely).min(epsilon);
                        let batch = Batch::new(&profile.telling, epsilon, central);
                        let sum = blanket.sum(&batch, &profile.telling, profile.far);
                        let upper = profile.delta(central).upper;
                        let at = format!("{mixture:?}, {n}, {central}: {sum}, {upper}");
                        assert!(upper >= sum * (1.0 - 1e-10), "{at}");
                        if part <= 1.0 {
                            assert!(upper <= 1.2 * sum + 2.0 * profile.telling.outside, "{at}");
                        }
                    }
                }
            }
        }
        assert!(bounded > 12, "{bounded}");
    }
}
