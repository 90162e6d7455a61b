//! Information of reports about signs and about presence, and the squared error of estimates that
//! have this information. The module [`bound`](super) defines the symbols.

/// Information of a mechanism's report z about its input. `sign` is the information about the signs
/// x, A₁ = E‖E[x | z]‖². `presence` is the information about the presence n of items, A₂ = E‖E[n −
/// s/d | z]‖², for s of d items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Information {
    pub(super) sign_information: f64,
    pub(super) presence_information: f64,
}

impl Information {
    pub(super) const ZERO: Self = Self {
        sign_information: 0.0,
        presence_information: 0.0,
    };

    /// Returns the weighted sum λ₁·A₁ + λ₂·A₂ of the information about signs and about presence.
    /// `weights` are λ₁ and λ₂.
    pub(super) fn weighted_component_sum(&self, weights: [f64; 2]) -> f64 {
        weights[0] * self.sign_information + weights[1] * self.presence_information
    }

    /// Returns `self` or `other`, whichever has the greater weighted information.
    pub(super) fn max_by_weight(self, other: Self, weights: [f64; 2]) -> Self {
        if other.weighted_component_sum(weights) > self.weighted_component_sum(weights) {
            other
        } else {
            self
        }
    }
}

/// Squared error as a function of information: `sign`/A₁ + `presence`/A₂, where A₁ is the
/// information about signs and A₂ about presence. If a numerator is 0, its term is 0 for any
/// information.
#[derive(Debug, Clone, Copy)]
pub(super) struct InformationCost {
    pub(super) sign_numerator: f64,
    pub(super) presence_numerator: f64,
}

/// Relative gain in weighted information below which the search stops adding sets of inputs.
const MIN_RELATIVE_GAIN: f64 = 1e-9;
/// Maximum number of sets that the search adds. Stopping early is safe: a mechanism attains every
/// intermediate result.
const MAX_ADDED_SETS: u32 = 40;

impl InformationCost {
    /// Returns the squared error of estimates from reports with this information.
    pub(super) fn squared_error(&self, told: Information) -> f64 {
        let part = |cost: f64, told: f64| if cost > 0.0 { cost / told } else { 0.0 };
        part(self.sign_numerator, told.sign_information)
            + part(self.presence_numerator, told.presence_information)
    }

    /// Returns the decrease of the squared error per unit of information about signs, and per unit
    /// of information about presence.
    fn decrease_per_information(&self, told: Information) -> [f64; 2] {
        let part = |cost: f64, told: f64| {
            if cost > 0.0 {
                cost / (told * told)
            } else {
                0.0
            }
        };
        [
            part(self.sign_numerator, told.sign_information),
            part(self.presence_numerator, told.presence_information),
        ]
    }

    /// Returns the information of the best mixture of two mechanisms. The best mixture has the
    /// smallest squared error.
    fn best_mixture_of_two(&self, a: Information, b: Information) -> Information {
        let way = [
            b.sign_information - a.sign_information,
            b.presence_information - a.presence_information,
        ];
        let at = |part: f64| Information {
            sign_information: a.sign_information + part * way[0],
            presence_information: a.presence_information + part * way[1],
        };
        // The squared error is convex in the mixing weight, so its slope changes sign once.
        let falls = |part: f64| {
            let slope = self.decrease_per_information(at(part));
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
        self.with_smaller_cost(self.with_smaller_cost(a, b), at(low))
    }

    fn with_smaller_cost(&self, a: Information, b: Information) -> Information {
        if self.squared_error(b) < self.squared_error(a) {
            b
        } else {
            a
        }
    }

    /// Returns the smallest squared error over all mixtures of sets of inputs. For given weights,
    /// `most` returns the information of the set with the greatest weighted information.
    ///
    /// In each step, the slope of the squared error at the best mixture gives the weights. If some
    /// set has more weighted information than the mixture, this set is added. Otherwise the search
    /// ends: since the squared error is convex, no mixture is then better.
    pub(super) fn smallest_over_mixtures(&self, most: impl Fn([f64; 2]) -> Information) -> f64 {
        let first: &[[f64; 2]] = match (self.sign_numerator > 0.0, self.presence_numerator > 0.0) {
            (true, true) => &[[1.0, 0.0], [0.0, 1.0]],
            (true, false) => &[[1.0, 0.0]],
            (false, _) => &[[0.0, 1.0]],
        };
        let mut sets: Vec<Information> = first.iter().map(|weights| most(*weights)).collect();
        let mut best = sets[0];
        // Information has two components, so the best mixture needs only two sets.
        for _ in 0..MAX_ADDED_SETS {
            let newest = sets[sets.len() - 1];
            for &other in &sets {
                best = self.with_smaller_cost(best, self.best_mixture_of_two(newest, other));
            }
            let weights = self.decrease_per_information(best);
            let next = most(weights);
            if next.weighted_component_sum(weights)
                <= best.weighted_component_sum(weights) * (1.0 + MIN_RELATIVE_GAIN)
            {
                break;
            }
            sets.push(next);
        }
        self.squared_error(best)
    }
}
