//! Information of reports about signs and presence, and the cost of estimates made from it.

/// Information of a mechanism or a set: A₁ = E‖E[x | z]‖² (`sign`) and A₂ = E‖E[n − s/d | z]‖²
/// (`presence`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Information {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

impl Information {
    pub(super) const NOTHING: Self = Self {
        sign: 0.0,
        presence: 0.0,
    };

    /// Returns λ₁·A₁ + λ₂·A₂.
    pub(super) fn weighted(&self, weights: [f64; 2]) -> f64 {
        weights[0] * self.sign + weights[1] * self.presence
    }

    /// Returns the one with the greater weighted information.
    pub(super) fn max_by_weight(self, other: Self, weights: [f64; 2]) -> Self {
        if other.weighted(weights) > self.weighted(weights) {
            other
        } else {
            self
        }
    }
}

/// Cost (squared error) sign/A₁ + presence/A₂. A part of cost 0 needs no information.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

/// Relative gain below which no more sets of inputs are added.
const PRECISION: f64 = 1e-9;
/// Maximum number of sets. The result is valid after any number of them, since a mechanism attains
/// it.
const SETS: u32 = 40;

impl Cost {
    /// Returns the cost of estimates from this information.
    pub(super) fn of(&self, told: Information) -> f64 {
        let part = |cost: f64, told: f64| if cost > 0.0 { cost / told } else { 0.0 };
        part(self.sign, told.sign) + part(self.presence, told.presence)
    }

    /// Returns the decrease of the cost per unit of information.
    fn slope(&self, told: Information) -> [f64; 2] {
        let part = |cost: f64, told: f64| {
            if cost > 0.0 {
                cost / (told * told)
            } else {
                0.0
            }
        };
        [
            part(self.sign, told.sign),
            part(self.presence, told.presence),
        ]
    }

    /// Returns the best mixture of two. The cost is convex between them.
    fn best_between(&self, a: Information, b: Information) -> Information {
        let way = [b.sign - a.sign, b.presence - a.presence];
        let at = |part: f64| Information {
            sign: a.sign + part * way[0],
            presence: a.presence + part * way[1],
        };
        // The cost is convex along the way, so its slope changes sign once.
        let falls = |part: f64| {
            let slope = self.slope(at(part));
            slope[0] * way[0] + slope[1] * way[1] > 0.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if falls(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.cheaper(self.cheaper(a, b), at(low))
    }

    fn cheaper(&self, a: Information, b: Information) -> Information {
        if self.of(b) < self.of(a) { b } else { a }
    }

    /// Returns the least cost over all mixtures of sets of inputs. `most` returns the most
    /// informative set for weights of A₁ and A₂.
    ///
    /// The search ends once no set has more information than the best mixture, weighted by the
    /// slope there. As the cost is convex, no mixture is then cheaper. Until then that set is
    /// added.
    pub(super) fn least(&self, most: impl Fn([f64; 2]) -> Information) -> f64 {
        let first: &[[f64; 2]] = match (self.sign > 0.0, self.presence > 0.0) {
            (true, true) => &[[1.0, 0.0], [0.0, 1.0]],
            (true, false) => &[[1.0, 0.0]],
            (false, _) => &[[0.0, 1.0]],
        };
        let mut sets: Vec<Information> = first.iter().map(|weights| most(*weights)).collect();
        let mut best = sets[0];
        // In the plane the best mixture needs only two sets.
        for _ in 0..SETS {
            let newest = sets[sets.len() - 1];
            for &other in &sets {
                best = self.cheaper(best, self.best_between(newest, other));
            }
            let weights = self.slope(best);
            let next = most(weights);
            if next.weighted(weights) <= best.weighted(weights) * (1.0 + PRECISION) {
                break;
            }
            sets.push(next);
        }
        self.of(best)
    }
}
