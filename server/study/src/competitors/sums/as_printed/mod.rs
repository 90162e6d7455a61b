//! Parameters that the paper prints wrong or larger than necessary, with one table for each
//! parameter. A table has the parameters and the privacy loss that they really cause. No function
//! of this module randomises an answer.
//!
//! | table | printed parameter |
//! |---|---|
//! | [`budgets`] | δ₀ = δ/(2d) of one of 2d coordinates |
//! | [`gammas`] | γ = c·(r + 1)/n of (r + 1)^d cells |
//! | [`calibrations`] | NB(3·(1 + ln(1/δ)), exp(−0.2·ε/k)) |
//! | [`closed_forms`] | γ = c·M/(n − 1), compared with the least γ |

mod budget;
mod calibration;
mod closed_form;
mod gamma;

pub use budget::{BudgetRow, budget, budgets};
pub use calibration::{CalibrationRow, calibration, calibrations};
pub use closed_form::{ClosedFormRow, closed_form, closed_forms};
pub use gamma::{ConstantOrigin, GammaRow, enumerated_gamma, gammas, paper_gamma};
