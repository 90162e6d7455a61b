//! Feldman, McMillan, Talwar, "Hiding Among the Clones: A Simple and Nearly
//! Optimal Analysis of Privacy Amplification by Shuffling" (FOCS 2021), for any
//! randomizer.
//!
//! Every other report is with probability exp(−ε) a clone of the one looked at,
//! of either of its two inputs alike: C ~ Binomial(n − 1, exp(−ε)),
//! A ~ Binomial(C, 1/2), and the report looked at adds to A with probability
//! e/(e + 1) for one input and 1/(e + 1) for the other, else to C − A. That is
//! the pair that is summed up here, with P(neither) = 0, but for C.

use hushbin::Error;

use super::bound::{Batch, Kind, Published, Scope, Value};
use crate::accounting::mixture::Mixture;
use crate::accounting::privacy_profile::PrivacyProfile;

pub(super) fn bounds(batch: &Batch) -> Result<[Published; 2], Error> {
    Ok([
        batch.published(
            "clones",
            "Feldman et al. 2021, Theorem 3.1",
            Kind::ClosedForm,
            Scope::AnyRandomizer,
            closed_form(batch),
        ),
        batch.published(
            "clones, exact sum",
            "Feldman et al. 2021, Section 3",
            Kind::Numeric,
            Scope::AnyRandomizer,
            Ok(exact(batch)?),
        ),
    ])
}

/// ε_c = ln(1 + (e − 1)/(e + 1)·(8·√(e·ln(4/δ)/n) + 8e/n)).
fn closed_form(batch: &Batch) -> Value {
    let (e, n) = (batch.epsilon.exp(), batch.n as f64);
    if e > n / (16.0 * (2.0 / batch.delta).ln()) {
        return Err("local epsilon of at most ln(n/(16 ln(2/delta)))");
    }
    let many = 8.0 * (e * (4.0 / batch.delta).ln() / n).sqrt() + 8.0 * e / n;
    Ok((batch.epsilon.exp_m1() / (e + 1.0) * many).ln_1p())
}

fn exact(batch: &Batch) -> Result<f64, Error> {
    let any = Mixture::generic(batch.epsilon)?;
    let clone = [(-batch.epsilon).exp(), -(-batch.epsilon).exp_m1()];
    let profile = PrivacyProfile::among_clones(any, clone, batch.n, batch.delta);
    let start = profile.gaussian_epsilon(batch.delta);
    Ok(profile.epsilon(start, batch.delta).upper)
}
