//! Feldman, McMillan, Talwar, "Stronger Privacy Amplification by Shuffling for
//! Rényi and Approximate Differential Privacy" (SODA 2023), for any randomizer:
//! α = 1/(e + 1), because a report need only be a clone of one of the two inputs.

use hushbin::Error;

use super::bound::{Batch, Kind, Published, Scope, Value};
use crate::accounting::account::account;
use crate::accounting::mixture::Mixture;

pub(super) fn bounds(batch: &Batch) -> Result<[Published; 2], Error> {
    let any = Mixture::generic(batch.epsilon)?;
    let exact = account(&any, batch.n, 1.0, batch.delta)?.central_epsilon;
    Ok([
        batch.published(
            "stronger clones",
            "Feldman et al. 2023",
            Kind::ClosedForm,
            Scope::AnyRandomizer,
            closed_form(batch),
        ),
        batch.published(
            "stronger clones, exact sum",
            "Feldman et al. 2023",
            Kind::Numeric,
            Scope::AnyRandomizer,
            Ok(exact),
        ),
    ])
}

/// ε_c = ln(1 + (e − 1)·(4·√(2·ln(4/δ)/((e + 1)·n)) + 4/n)).
fn closed_form(batch: &Batch) -> Value {
    let (e, n) = (batch.epsilon.exp(), batch.n as f64);
    if e + 1.0 > n / (8.0 * (2.0 / batch.delta).ln()) {
        return Err("local epsilon of at most ln(n/(8 ln(2/delta)) - 1)");
    }
    let many = 4.0 * (2.0 * (4.0 / batch.delta).ln() / ((e + 1.0) * n)).sqrt() + 4.0 / n;
    Ok((batch.epsilon.exp_m1() * many).ln_1p())
}
