//! Balle, Bell, Gascón, Nissim, "The Privacy Blanket of the Shuffle Model" (CRYPTO 2019), Section
//! 5.
//!
//! n is the number of reports, ε is the local and ε_c the central privacy loss, and e = exp(ε).
//! With probability γ, which does not depend on the input, a report is drawn from a fixed
//! distribution ω, the blanket. Let P and Q be the report's distributions for two inputs. Let W ~
//! ω, k = exp(ε_c), a = k − 1 and L = (P(W) − k·Q(W))/ω(W). With independent copies L₁, L₂, … of L,
//!
//! δ(ε_c) ≤ E[max(0, L₁ + ... + L_M)]/(γn), M ~ Binomial(n, γ),
//!
//! and E[L] = −a. Hoeffding's inequality bounds the expectation by the range b of L. Bennett's
//! inequality uses its greatest value b₊ and its second moment v. Integrating the tail bounds
//! yields
//!
//! E[...] ≤ b²/(4a)·exp(−2Ma²/b²), or b₊/ln(1 + u)·exp(−M·v/b₊²·φ(u)),
//!
//! with u = a·b₊/v and φ(u) = (1 + u)·ln(1 + u) − u. The average over M has a closed form.
//!
//! Any ε-LDP randomizer has a blanket with γ ≥ exp(−ε). For such a randomizer, the code uses the
//! paper's generic bounds on L, which hold for γ ≤ 1.
//!
//! For reports that favour buckets, tighter bounds on L are known. Given its seed, a report is one
//! of t buckets. A bucket has probability r/Ω, where 1 ≤ r ≤ e, and the t numbers r sum to Ω = ce +
//! t − c. For a second input, r is written r′. Subtracting the uniform distribution with weight γ =
//! t/Ω leaves all probabilities at least 0. Therefore ω is uniform, and:
//!
//! - L = γ(r − k·r′), hence L ≤ γ(e − k);
//! - the range of L is γ(e − 1)(k + 1);
//! - E[L²] = γ²·E[r² − 2k·rr′ + k²·r′²].
//!
//! E[r²] is convex in r. With the given range and sum, it is greatest if c of the r are e and the
//! rest are 1. E[rr′] is linear in r and in r′, so it is least for numbers of this form. Among
//! them, E[rr′] is least if the favoured buckets of the two inputs differ as much as possible:
//! min(c, t − c) favoured buckets of each input are not favoured by the other. Therefore
//!
//! v = γ²·[a²·(ce² + t − c) + 2k·min(c, t − c)·(e − 1)²]/t.

use super::bound::{BoundScope, BoundedBatch, FavouredBucketCounts, PublishedBound};

/// Bounds on the random loss L in the module comment, at one central ε_c.
#[derive(Debug, Clone, Copy)]
struct BlanketLossBounds {
    /// Length b of the interval that contains the loss L.
    loss_range: f64,
    /// Upper bound b₊ on the loss L.
    max_loss: f64,
    /// Upper bound v on the second moment of the loss L.
    max_second_moment: f64,
}

#[derive(Debug, Clone, Copy)]
struct PrivacyBlanket {
    epsilon: f64,
    honest_report_count: f64,
    blanket_probability: f64,
    favoured_buckets: Option<FavouredBucketCounts>,
}

const PAPER_CITATION: &str = "Balle et al. 2019, Section 5";

pub(super) fn blanket_bounds(batch: &BoundedBatch) -> [PublishedBound; 4] {
    let any = PrivacyBlanket {
        epsilon: batch.epsilon,
        honest_report_count: batch.honest_report_count as f64,
        blanket_probability: (-batch.epsilon).exp(),
        favoured_buckets: None,
    };
    let own = batch
        .favoured_buckets
        .map(|favoured| PrivacyBlanket {
            blanket_probability: favoured.bucket_count() / favoured.total_weight(batch.epsilon),
            favoured_buckets: Some(favoured),
            ..any
        })
        .ok_or("a report that favours buckets, c of t");
    let hoeffding = |blanket: PrivacyBlanket| {
        batch.least_central_epsilon(|central| blanket.hoeffding_delta(central))
    };
    let bennett = |blanket: PrivacyBlanket| {
        batch.least_central_epsilon(|central| blanket.bennett_delta(central))
    };
    let numeric = |name, scope, value| batch.published_bound(name, PAPER_CITATION, scope, value);
    let (all, one) = (BoundScope::AnyRandomizer, BoundScope::BatchMechanism);
    [
        numeric("privacy blanket, Hoeffding", all, Ok(hoeffding(any))),
        numeric("privacy blanket, Bennett", all, Ok(bennett(any))),
        numeric("own privacy blanket, Hoeffding", one, own.map(hoeffding)),
        numeric("own privacy blanket, Bennett", one, own.map(bennett)),
    ]
}

impl PrivacyBlanket {
    fn loss_bounds(&self, central: f64) -> BlanketLossBounds {
        let (e, k, a) = (self.epsilon.exp(), central.exp(), central.exp_m1());
        let Some(favoured) = self.favoured_buckets else {
            // Generic bounds of the paper: P/ω and Q/ω lie between exp(−ε) and exp(ε).
            return BlanketLossBounds {
                loss_range: (k + 1.0) * (e - 1.0 / e),
                max_loss: e - k / e,
                max_second_moment: e * (k * k + 1.0) - 2.0 * k * (-3.0 * self.epsilon).exp(),
            };
        };
        let FavouredBucketCounts {
            favoured_count: count,
            other_count: others,
        } = favoured;
        let gain = self.epsilon.exp_m1();
        let squares = a * a * (count * e * e + others) + 2.0 * k * count.min(others) * gain * gain;
        BlanketLossBounds {
            loss_range: self.blanket_probability * gain * (k + 1.0),
            max_loss: self.blanket_probability * k * (self.epsilon - central).exp_m1(),
            max_second_moment: self.blanket_probability * self.blanket_probability * squares
                / favoured.bucket_count(),
        }
    }

    /// Returns `factor`/(γn) times the mean of exp(−`rate`·M), where M ~ Binomial(n, γ) is the
    /// number of reports from the blanket. The case M = 0 contributes 0 to the mean.
    fn mean_over_blanket_count(&self, factor: f64, rate: f64) -> f64 {
        // E[exp(−rate·M)] is (1 − γ·(1 − exp(−rate)))ⁿ. The term for M = 0 is subtracted from this
        // mean.
        let power = |lost: f64| {
            (self.honest_report_count * (-self.blanket_probability * lost).ln_1p()).exp()
        };
        let some = power(-(-rate).exp_m1()) - power(1.0);
        factor * some / (self.blanket_probability * self.honest_report_count)
    }

    /// Returns the bound on δ by Hoeffding's inequality. `central` is the central ε, between 0 and
    /// the local ε.
    fn hoeffding_delta(&self, central: f64) -> f64 {
        let (
            a,
            BlanketLossBounds {
                loss_range: range, ..
            },
        ) = (central.exp_m1(), self.loss_bounds(central));
        let square = range * range;
        self.mean_over_blanket_count(square / (4.0 * a), 2.0 * a * a / square)
    }

    /// Returns the bound on δ by Bennett's inequality. `central` is the central ε, between 0 and
    /// the local ε.
    fn bennett_delta(&self, central: f64) -> f64 {
        let (
            a,
            BlanketLossBounds {
                max_loss: greatest,
                max_second_moment: square,
                ..
            },
        ) = (central.exp_m1(), self.loss_bounds(central));
        let u = a * greatest / square;
        // For small u, (1 + u)·ln(1 + u) − u suffers from cancellation. Bernstein's bound is
        // smaller than φ(u) by less than one part in 10⁹.
        let phi = if u < 1e-4 {
            u * u / (2.0 * (1.0 + u / 3.0))
        } else {
            (1.0 + u) * u.ln_1p() - u
        };
        self.mean_over_blanket_count(greatest / u.ln_1p(), square / (greatest * greatest) * phi)
    }
}

#[cfg(test)]
mod tests {
    use hushbin::TaskDraft;
    use hushbin::domain::SignedItem;
    use hushbin_analysis::accounting::ReportMixture;
    use hushbin_analysis::likelihood::core_bucket_probability_fn;
    use serde_json::{Value, json};

    use super::*;

    /// Returns all inputs that have at most three entries, for three items with a sign.
    fn inputs() -> Vec<Vec<SignedItem>> {
        let sign = |code: u32, item: u32| match code / 3_u32.pow(item) % 3 {
            0 => None,
            sign => Some(SignedItem {
                item: item.into(),
                is_negative: sign == 1,
            }),
        };
        let of = |code| (0..3).filter_map(|item| sign(code, item)).collect();
        (0..27).map(of).collect()
    }

    /// Returns the greatest range, the greatest value and the greatest second moment of the loss L
    /// over any two inputs. They are computed from the probabilities with which reports are
    /// sampled.
    fn sampled(mechanism: &Value, central: f64) -> (PrivacyBlanket, BlanketLossBounds) {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "t", "items": 3, "sparsity": 3, "epsilon": 1.2, "value": "sign",
            "mechanism": mechanism,
        }))
        .unwrap();
        let task = draft.resolve_task().unwrap();
        let [count, others] = ReportMixture::for_task(&task)
            .unwrap()
            .favoured_and_other_counts()
            .unwrap();
        let favoured = FavouredBucketCounts {
            favoured_count: count,
            other_count: others,
        };
        let gamma = favoured.bucket_count() / favoured.total_weight(1.2);
        let blanket = PrivacyBlanket {
            epsilon: 1.2,
            honest_report_count: 1000.0,
            blanket_probability: gamma,
            favoured_buckets: Some(favoured),
        };
        let mut probabilities = core_bucket_probability_fn(&task.questions()[0]).unwrap();
        let t = favoured.bucket_count();
        let mut greatest = BlanketLossBounds {
            loss_range: 0.0,
            max_loss: f64::NEG_INFINITY,
            max_second_moment: 0.0,
        };
        for seed in 0..12 {
            let rows: Vec<Vec<f64>> = inputs()
                .iter()
                .map(|input| probabilities(seed, input, seed))
                .collect();
            let least = rows.iter().flatten().fold(f64::INFINITY, |a, &b| a.min(b));
            assert!(t * least > gamma * (1.0 - 1e-12), "{mechanism}: {least}");
            for (p, q) in rows.iter().flat_map(|p| rows.iter().map(move |q| (p, q))) {
                let losses = p.iter().zip(q).map(|(p, q)| t * (p - central.exp() * q));
                let (mut low, mut high, mut square) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
                for loss in losses {
                    low = loss.min(low);
                    high = loss.max(high);
                    square += loss * loss / t;
                }
                greatest = BlanketLossBounds {
                    loss_range: greatest.loss_range.max(high - low),
                    max_loss: greatest.max_loss.max(high),
                    max_second_moment: greatest.max_second_moment.max(square),
                };
            }
        }
        (blanket, greatest)
    }

    /// The bounds on the loss L are never below the values from the probabilities with which
    /// reports are sampled. They equal these values if two inputs can differ in all favoured
    /// buckets.
    #[test]
    fn losses_are_those_of_the_sampled_probabilities() {
        let of = |name, rule, buckets, favoured: Option<u32>| {
            let mut mechanism = json!({
                "name": name, "rule": rule, "buckets": buckets, "hashing": "independent",
            });
            if let Some(favoured) = favoured {
                mechanism["favoured"] = favoured.into();
            }
            mechanism
        };
        for (mechanism, tight) in [
            (of("collision", "occupied", 9, None), true),
            (of("collision", "occupied", 4, None), false),
            (of("collision", "heaviest", 9, Some(2)), true),
            (of("collision", "heaviest", 3, Some(2)), true),
            // With three items, chance decides which empty buckets are favoured.
            (of("collision", "heaviest", 5, Some(4)), false),
            (of("coco", "overwrite", 8, None), false),
            (of("coco", "strongest", 6, Some(2)), true),
        ] {
            for central in [0.001, 0.3, 1.0] {
                let (blanket, found) = sampled(&mechanism, central);
                let bound = blanket.loss_bounds(central);
                let at = format!("{mechanism}, ε_c = {central}: {found:?}, {bound:?}");
                for (found, bound) in [
                    (found.loss_range, bound.loss_range),
                    (found.max_loss, bound.max_loss),
                    (found.max_second_moment, bound.max_second_moment),
                ] {
                    assert!(found <= bound * (1.0 + 1e-9), "{at}");
                    assert!(!tight || found >= bound * (1.0 - 1e-9), "{at}");
                }
            }
        }
    }
}
