//! Lower bound on the worst-case variance of unbiased mechanisms for one number.
//!
//! Up to ε = 0.7122 there is a closed form. Above, the bound is known only at each ε for which the
//! program contains a dual certificate (of linear programming). A certificate contains multipliers
//! λ, β and α for each of several evenly spaced inputs x. For each input and an output y, let g(y)
//! = λy² − βy − α. Let F(y) = Σ g⁺ − e·Σ g⁻, where the sums are over the inputs, g⁺ and g⁻ are the
//! positive and the negative part of g(y), and e = exp(ε). The λ sum to 1. If F(y) ≥ 0 for all y,
//! every unbiased ε-private mechanism has a worst-case variance of at least Σ (α + βx − λx²).
//! Otherwise the minimum of F is added to this sum. A wrong certificate therefore only lowers the
//! bound.

use std::sync::LazyLock;

use serde::Deserialize;

/// Dual certificate at one ε: the multipliers λ, β and α of N evenly spaced inputs from 0 to 1. If
/// an input x has the multipliers λ, β and α, then −x has λ, −β and α.
#[derive(Debug, Deserialize)]
struct DualCertificate {
    epsilon: f64,
    lambda: Vec<f64>,
    beta: Vec<f64>,
    alpha: Vec<f64>,
}

/// Multipliers λ, β and α of one input x in a dual certificate.
#[derive(Debug, Clone, Copy)]
struct DualMultipliersOfInput {
    input: f64,
    square_multiplier: f64,
    linear_multiplier: f64,
    constant_multiplier: f64,
}

static DUAL_CERTIFICATES: LazyLock<Vec<DualCertificate>> = LazyLock::new(|| {
    let text = include_str!("certificates.json");
    serde_json::from_str(text).expect("the file is part of the program")
});

/// Largest |y| of the outputs y at which the dual function F is evaluated. All sign changes of the
/// polynomials g are well within ±`MAX_OUTPUT_MAGNITUDE`.
const MAX_OUTPUT_MAGNITUDE: f64 = 1e6;

/// Returns a lower bound on the worst-case variance of one unbiased report of a number in [−1, 1].
/// Returns `None` if no bound is known at this ε.
///
/// Up to ε = 0.7122 the bound is exact.
///
/// ```
/// use hushbin_study::competitors::variance_lower_bound;
///
/// assert!((variance_lower_bound(0.5).unwrap() - 16.0028).abs() < 1e-4);
/// assert!((variance_lower_bound(2.0).unwrap() - 0.8653).abs() < 1e-4);
/// assert_eq!(variance_lower_bound(2.01), None);
/// ```
#[must_use]
pub fn variance_lower_bound(epsilon: f64) -> Option<f64> {
    let g = (0.5 * epsilon).tanh();
    // The condition of the closed form: true up to ε = 0.7122.
    if 2.0 * g <= (2.0 * (-epsilon).exp()).ln_1p() {
        return Some(1.0 / (g.tanh() * g) - 1.0);
    }
    // A certificate proves a bound only at its own ε, so the comparison is exact.
    let own = DUAL_CERTIFICATES
        .iter()
        .find(|own| own.epsilon == epsilon)?;
    Some(own.variance_bound())
}

impl DualCertificate {
    /// Returns the lower bound on the variance that the certificate proves. The multipliers are
    /// scaled so that the λ sum to 1.
    fn variance_bound(&self) -> f64 {
        let inputs = self.multipliers_of_signed_inputs();
        let sum = inputs.iter().map(|own| {
            own.constant_multiplier
                + (own.linear_multiplier - own.square_multiplier * own.input) * own.input
        });
        let total: f64 = inputs.iter().map(|own| own.square_multiplier).sum();
        (sum.sum::<f64>() + dual_function_minimum(&inputs, self.epsilon.exp())) / total
    }

    /// Returns the multipliers of all inputs, including the negative inputs.
    fn multipliers_of_signed_inputs(&self) -> Vec<DualMultipliersOfInput> {
        let last = self.lambda.len() as f64 - 1.0;
        let all = self.lambda.iter().zip(&self.beta).zip(&self.alpha);
        let both = all
            .enumerate()
            .flat_map(|(place, ((lambda, beta), alpha))| {
                // The input 0 appears once, every other input with both signs.
                let signs: &[f64] = if place == 0 { &[1.0] } else { &[-1.0, 1.0] };
                signs.iter().map(move |sign| DualMultipliersOfInput {
                    input: sign * place as f64 / last,
                    square_multiplier: *lambda,
                    linear_multiplier: sign * beta,
                    constant_multiplier: *alpha,
                })
            });
        both.collect()
    }
}

/// Returns the minimum, over all outputs y, of the dual function F in the module comment, or 0 if F
/// is positive everywhere. F is quadratic between the sign changes of the polynomials g.
fn dual_function_minimum(inputs: &[DualMultipliersOfInput], e: f64) -> f64 {
    let mut turns = vec![-MAX_OUTPUT_MAGNITUDE, MAX_OUTPUT_MAGNITUDE];
    turns.extend(inputs.iter().flat_map(DualMultipliersOfInput::sign_changes));
    turns.sort_by(f64::total_cmp);
    let of_segment = |ends: &[f64]| {
        let middle = ends[0].midpoint(ends[1]);
        let (mut square, mut line, mut flat) = (0.0, 0.0, 0.0);
        for own in inputs {
            // g keeps its sign within a segment, so its value in the middle decides.
            let weight = if own.polynomial_at(middle) >= 0.0 {
                1.0
            } else {
                e
            };
            square += weight * own.square_multiplier;
            line -= weight * own.linear_multiplier;
            flat -= weight * own.constant_multiplier;
        }
        let turn = (-0.5 * line / square).clamp(ends[0], ends[1]);
        let at = |y: f64| (square * y + line) * y + flat;
        at(turn).min(at(ends[0])).min(at(ends[1]))
    };
    turns.windows(2).map(of_segment).fold(0.0, f64::min)
}

impl DualMultipliersOfInput {
    /// Returns the polynomial g(y) = λy² − βy − α at an output y.
    fn polynomial_at(&self, y: f64) -> f64 {
        (self.square_multiplier * y - self.linear_multiplier) * y - self.constant_multiplier
    }

    /// Returns the outputs y at which the polynomial g(y) = λy² − βy − α changes its sign.
    fn sign_changes(&self) -> Vec<f64> {
        let square = self.linear_multiplier * self.linear_multiplier
            + 4.0 * self.square_multiplier * self.constant_multiplier;
        if self.square_multiplier > 0.0 && square >= 0.0 {
            let root = square.sqrt();
            return [-root, root]
                .map(|root| 0.5 * (self.linear_multiplier + root) / self.square_multiplier)
                .into();
        }
        if self.square_multiplier == 0.0 && self.linear_multiplier != 0.0 {
            return vec![-self.constant_multiplier / self.linear_multiplier];
        }
        Vec::new()
    }
}
