//! PrivKV: one item of all, whether it is there and with which sign.

use hushbin::sample::{ExpLowerBound, Threshold, below};
use hushbin::{Entry, Error};
use rand_core::CryptoRng;

use super::heard::{Heard, Linear};
use super::oracle::{Moments, Oracle, Presence, Setting};
use super::slots::{coin, sign};
use crate::competitors::favoured::rounded_down;
use crate::competitors::numbers::rounds_up;

/// PrivKV (Ye, Hu, Meng, Zheng, "PrivKV: Key-Value Data Collection with Local Differential
/// Privacy", IEEE S&P 2019): an item, drawn uniformly and public. Whether it is there is kept
/// with p₁ = e₁/(e₁ + 1); the sign of one that was there is kept with p₂ = e₂/(e₂ + 1), one
/// that was not takes a fair sign.
///
/// Its loss is not ε₁ + ε₂ but max(ε₁ + ln(2/(1 + exp(−ε₂))), ε₁, ε₂): an item that was not
/// there has a fair sign, which tells less from either sign than those tell from each other.
///
/// ```
/// use hushbin_study::competitors::ratings::{Oracle, PrivKv, Setting};
///
/// let setting = Setting { items: 100, sparsity: 4, epsilon: 1.0, delta: 0.0, distance: 1.0 };
/// let [published, calibrated] = [PrivKv::published(&setting)?, PrivKv::calibrated(&setting)?];
/// assert!((published.loss() - 0.719).abs() < 1e-3);
/// assert!(calibrated.loss() <= 1.0 && calibrated.loss() > 1.0 - 1e-12);
/// assert!(calibrated.moments().mean()[1] < 0.5 * published.moments().mean()[1]);
/// # Ok::<(), hushbin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivKv {
    items: u32,
    presence: Threshold,
    sign: Threshold,
}

impl PrivKv {
    /// As published: ε₁ = ε₂ = ε/2.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub fn published(setting: &Setting) -> Result<Self, Error> {
        let half = setting.pure()?.epsilon() / 2.0;
        Self::with(setting, half, half)
    }

    /// With ε₂ = ε and ε₁ = ln((e + 1)/2), which together spend ε.
    ///
    /// # Errors
    /// As [`Setting::budget`].
    pub fn calibrated(setting: &Setting) -> Result<Self, Error> {
        let e = setting.pure()?.e();
        Ok(Self {
            items: setting.items,
            // e₁/(e₁ + 1) with e₁ = (e + 1)/2.
            presence: rounded_down((e + 1.0) / (e + 3.0), 0),
            sign: rounded_down(e / (e + 1.0), 0),
        })
    }

    /// With an ε₁ of presence and an ε₂ of signs, whatever ε is.
    ///
    /// # Errors
    /// As [`Setting::budget`]; [`Error::Combination`] where one of them is not above 0, or
    /// above 12.
    pub fn with(setting: &Setting, presence: f64, sign: f64) -> Result<Self, Error> {
        setting.pure()?;
        let right = |epsilon: f64| epsilon > 0.0 && epsilon <= 12.0;
        if !right(presence) || !right(sign) {
            return Err(Error::Combination {
                reason: "PrivKV needs an epsilon above 0 and up to 12, of presence and of signs",
            });
        }
        let kept = |epsilon: f64| {
            let e = ExpLowerBound::new(epsilon).to_f64();
            rounded_down(e / (e + 1.0), 0)
        };
        Ok(Self {
            items: setting.items,
            presence: kept(presence),
            sign: kept(sign),
        })
    }

    /// p₁ and p₂ of the realised thresholds.
    #[must_use]
    pub fn kept(&self) -> [f64; 2] {
        [self.presence.probability(), self.sign.probability()]
    }

    /// 2p − 1 of both.
    fn leans(&self) -> [f64; 2] {
        [self.presence, self.sign].map(|kept| kept.probability() - kept.complement())
    }
}

impl Oracle for PrivKv {
    fn loss(&self) -> f64 {
        let [p, r] = [self.presence, self.sign].map(Threshold::probability);
        let [q, s] = [self.presence, self.sign].map(Threshold::complement);
        // Absent told from there; a sign from absent, both ways; and from the other sign.
        let ratios = [p / q, 2.0 * p * r / q, q / (2.0 * p * s), r / s];
        ratios.into_iter().fold(1.0, f64::max).ln()
    }

    fn bits(&self) -> f64 {
        f64::from(self.items).log2().ceil() + 2.0
    }

    fn linear(&self) -> Linear {
        let d = f64::from(self.items);
        let [presence, sign] = self.leans();
        Linear {
            mean: d / (self.presence.probability() * sign),
            // What those without it would say is subtracted of those who are asked.
            presence: Some([d / presence, 0.0]),
        }
    }

    fn moments(&self) -> Moments {
        let d = f64::from(self.items);
        let (p, q) = (self.presence.probability(), self.presence.complement());
        let [presence, sign] = self.leans();
        let square = d / (p * sign).powi(2);
        let absent = d * p * q / presence.powi(2);
        let present = d * (p.powi(3) + q.powi(3)) / presence.powi(2) - 1.0;
        Moments {
            mean_square: [square * p, square * q],
            presence: Some(Presence {
                variance: [present, absent],
                product: d * p / presence,
            }),
        }
    }

    fn hear(&self, entries: &[Entry], heard: &mut Heard, rng: &mut dyn CryptoRng) {
        let drawn = below(rng, self.items) as usize;
        let own = entries.iter().find(|entry| entry.item == drawn as u64);
        heard.reports += 1;
        let present = self.presence.sample(rng) == own.is_some();
        heard.presence[drawn] -= self.presence.complement();
        if !present {
            return;
        }
        let up = match own {
            Some(entry) => rounds_up(entry.value, rng) == self.sign.sample(rng),
            None => coin(rng),
        };
        heard.presence[drawn] += 1.0;
        heard.signs[drawn] += sign(up);
    }
}
