//! How a mechanism divides itself between signs and presence.

/// E‖E[x | z]‖² of signs and E‖E[n − s/d | z]‖² of presence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

/// What an estimate costs that is made of what is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) sign: f64,
    pub(super) presence: f64,
}

/// More is not gained by one more set of inputs.
const PRECISION: f64 = 1e-9;
const ROUNDS: u32 = 30;

impl Cost {
    pub(super) fn of(&self, told: Told) -> f64 {
        let part = |cost: f64, told: f64| if cost > 0.0 { cost / told } else { 0.0 };
        part(self.sign, told.sign) + part(self.presence, told.presence)
    }

    fn slope(&self, told: Told) -> [f64; 2] {
        let part = |cost: f64, told: f64| if cost > 0.0 { cost / (told * told) } else { 0.0 };
        [part(self.sign, told.sign), part(self.presence, told.presence)]
    }

    /// The least over mixtures of two.
    fn between(&self, a: Told, b: Told) -> Told {
        let at = |t: f64| Told {
            sign: a.sign + t * (b.sign - a.sign),
            presence: a.presence + t * (b.presence - a.presence),
        };
        let falls = |t: f64| {
            let [sign, presence] = self.slope(at(t));
            sign * (b.sign - a.sign) + presence * (b.presence - a.presence) > 0.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if falls(middle) { low = middle } else { high = middle }
        }
        [a, b, at(low)].into_iter().min_by(|x, y| self.of(*x).total_cmp(&self.of(*y))).expect("three")
    }

    /// The least over all mixtures of what `most` finds for weights.
    pub(super) fn least(&self, first: &[[f64; 2]], mut most: impl FnMut([f64; 2]) -> Told) -> (f64, u32, usize) {
        let mut found: Vec<Told> = first.iter().map(|w| most(*w)).collect();
        for round in 0..ROUNDS {
            let mut best = found[0];
            for &a in &found {
                for &b in &found {
                    let mixed = self.between(a, b);
                    if self.of(mixed) < self.of(best) { best = mixed; }
                }
            }
            let weights = self.slope(best);
            let reach = |told: Told| weights[0] * told.sign + weights[1] * told.presence;
            let next = most(weights);
            if reach(next) <= reach(best) * (1.0 + PRECISION) {
                let is = found.iter().filter(|f| **f == best).count();
                return (self.of(best), round, is);
            }
            found.push(next);
        }
        unreachable!("few sets of inputs are found")
    }
}
