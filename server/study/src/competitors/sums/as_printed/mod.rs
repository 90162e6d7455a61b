//! Parameters that the paper prints wrong or larger than necessary, with one table for each
//! parameter. A table has the parameters and the privacy loss that they really cause. No function
//! of this module randomises an answer.
//!
//! | table | printed parameter |
//! |---|---|
//! | [`budget_rows`] | δ₀ = δ/(2d) of one of 2d coordinates |
//! | [`uniform_probability_rows`] | γ = c·(r + 1)/n of (r + 1)^d cells |
//! | [`calibration_rows`] | NB(3·(1 + ln(1/δ)), exp(−0.2·ε/k)) |
//! | [`closed_form_probability_rows`] | γ = c·M/(n − 1), compared with the least γ |

mod budget;
mod calibration;
mod closed_form;
mod uniform_probability;

pub use budget::{BudgetRow, budget_row, budget_rows};
pub use calibration::{CalibrationRow, calibration_row, calibration_rows};
pub use closed_form::{
    ClosedFormProbabilityRow, closed_form_probability_row, closed_form_probability_rows,
};
pub use uniform_probability::{
    ConstantOrigin, UniformProbabilityRow, row_with_enumerated_delta, row_with_paper_constant,
    uniform_probability_rows,
};
