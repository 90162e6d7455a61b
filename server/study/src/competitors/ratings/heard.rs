//! What reports add up to, and the estimates that are linear in it.

/// Sums over reports: of every item how often it was said to be there, and the signs said.
///
/// ```
/// use hushbin_study::competitors::ratings::{Heard, Linear};
///
/// let mut heard = Heard::new(2);
/// heard.reports = 4;
/// heard.presence[1] += 3.0;
/// heard.signs[1] -= 1.0;
/// let linear = Linear { mean: 2.0, presence: Some([2.0, 0.5]) };
/// assert_eq!(linear.means(&heard), [0.0, -0.5]);
/// assert_eq!(linear.presences(&heard).unwrap(), [-1.0, 0.5]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// How many reports there are.
    pub reports: u64,
    /// By item, how often it was said to be there; of an oracle that asks a person about one
    /// item, less what those without it would say.
    pub presence: Vec<f64>,
    /// By item, the sum of the signs or noisy values said of it.
    pub signs: Vec<f64>,
}

impl Heard {
    /// Nothing yet of so many items.
    #[must_use]
    pub fn new(items: u32) -> Self {
        Self {
            reports: 0,
            presence: vec![0.0; items as usize],
            signs: vec![0.0; items as usize],
        }
    }
}

/// How estimates without bias follow from sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// The mean is this times the average sign.
    pub mean: f64,
    /// The non-missing frequency is the first times (the average presence less the second);
    /// `None` where the oracle says nothing of it.
    pub presence: Option<[f64; 2]>,
}

impl Linear {
    /// Of means alone, which are so many times the average sign.
    pub(super) const fn of_means(mean: f64) -> Self {
        Self {
            mean,
            presence: None,
        }
    }

    /// The mean of every item, a missing entry counting as 0.
    #[must_use]
    pub fn means(&self, heard: &Heard) -> Vec<f64> {
        let scale = self.mean / heard.reports as f64;
        heard.signs.iter().map(|sum| scale * sum).collect()
    }

    /// The non-missing frequency of every item, where it is estimated.
    #[must_use]
    pub fn presences(&self, heard: &Heard) -> Option<Vec<f64>> {
        let [scale, offset] = self.presence?;
        let reports = heard.reports as f64;
        let presence = |sum: &f64| scale * (sum / reports - offset);
        Some(heard.presence.iter().map(presence).collect())
    }

    /// The frequency of every item with a positive value, and with a negative one: half the
    /// sum and half the difference of non-missing frequency and mean.
    #[must_use]
    pub fn frequencies(&self, heard: &Heard) -> Option<[Vec<f64>; 2]> {
        let (presences, means) = (self.presences(heard)?, self.means(heard));
        let of = |sign: f64| {
            let both = presences.iter().zip(&means);
            both.map(|(presence, mean)| 0.5 * (presence + sign * mean))
                .collect()
        };
        Some([of(1.0), of(-1.0)])
    }
}
