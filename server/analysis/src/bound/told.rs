//! What reports tell of signs and of presence, and what estimates made of it cost.

/// A₁ = E‖E[x | z]‖² and A₂ = E‖E[n − s/d | z]‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

impl Told {
    pub(super) const NOTHING: Self = Self {
        sign: 0.0,
        presence: 0.0,
    };

    /// λ₁·A₁ + λ₂·A₂.
    pub(super) fn weighed(&self, weights: [f64; 2]) -> f64 {
        weights[0] * self.sign + weights[1] * self.presence
    }

    /// The one of more weight.
    pub(super) fn or(self, other: Self, weights: [f64; 2]) -> Self {
        if other.weighed(weights) > self.weighed(weights) {
            other
        } else {
            self
        }
    }
}

/// The squared error sign/A₁ + presence/A₂; a part that costs nothing need not be told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

/// Sets of inputs are added until another gains less than this part.
const PRECISION: f64 = 1e-9;
/// A search that still gains after so many ends: what it has, a mechanism reaches.
const SETS: u32 = 40;

impl Cost {
    pub(super) fn of(&self, told: Told) -> f64 {
        let part = |cost: f64, told: f64| if cost > 0.0 { cost / told } else { 0.0 };
        part(self.sign, told.sign) + part(self.presence, told.presence)
    }

    /// How fast it falls with what is told.
    fn slope(&self, told: Told) -> [f64; 2] {
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

    /// The best mixture of two: the cost is convex between them.
    fn best_between(&self, a: Told, b: Told) -> Told {
        let way = [b.sign - a.sign, b.presence - a.presence];
        let at = |part: f64| Told {
            sign: a.sign + part * way[0],
            presence: a.presence + part * way[1],
        };
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

    fn cheaper(&self, a: Told, b: Told) -> Told {
        if self.of(b) < self.of(a) { b } else { a }
    }

    /// The least over all mixtures of sets of inputs, where `most` gives the set that
    /// tells most for weights of A₁ and A₂.
    ///
    /// No set tells more, weighed by the slope at the best mixture found, than that
    /// mixture does: then, as the cost is convex, no mixture is cheaper. Until then the
    /// set that does is added. In the plane the best mixture is of two.
    pub(super) fn least(&self, most: impl Fn([f64; 2]) -> Told) -> f64 {
        let first: &[[f64; 2]] = match (self.sign > 0.0, self.presence > 0.0) {
            (true, true) => &[[1.0, 0.0], [0.0, 1.0]],
            (true, false) => &[[1.0, 0.0]],
            (false, _) => &[[0.0, 1.0]],
        };
        let mut sets: Vec<Told> = first.iter().map(|weights| most(*weights)).collect();
        let mut best = sets[0];
        for _ in 0..SETS {
            let newest = sets[sets.len() - 1];
            for &other in &sets {
                best = self.cheaper(best, self.best_between(newest, other));
            }
            let weights = self.slope(best);
            let next = most(weights);
            if next.weighed(weights) <= best.weighed(weights) * (1.0 + PRECISION) {
                break;
            }
            sets.push(next);
        }
        self.of(best)
    }
}
