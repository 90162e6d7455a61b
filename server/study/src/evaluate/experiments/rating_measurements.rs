//! Measurements of the experiments on ratings: errors of simulated estimates, and predicted errors.

use hushbin::choose::Objective;
use hushbin::domain::Domain;
use hushbin_analysis::mechanism_optimality::least_variance;

use crate::evaluate::measure::experiment::{Measurement, StudyError};
use crate::evaluate::measure::measurement::{MSE, REPORT_BYTES_METRIC};
use crate::evaluate::measure::score::{
    CrowdTruth, ErrorSummary, project_onto_l1_ball, project_onto_scaled_simplex,
};
use crate::evaluate::mechanism::contestant::{
    ComparedRatingMechanism, PerReportSquaredErrors, QuestionSetting, ReportAccumulator,
};
use crate::evaluate::mechanism::simulate::{entries_of_first_items, question_point};

/// Name, in tables, of the estimand: means of items. The names of further estimands follow.
pub(super) const MEAN_ESTIMAND: &str = "mean";
/// Estimand: means of items, from frequencies that are projected onto the simplex of possible
/// frequencies. The next estimand is means that are projected onto the ball of possible means.
pub(super) const MEAN_SIMPLEX_ESTIMAND: &str = "mean, simplex";
pub(super) const MEAN_BALL_ESTIMAND: &str = "mean, ball";
/// Estimand: means of items after shrinkage by empirical Bayes.
pub(super) const MEAN_SHRUNKEN_ESTIMAND: &str = "mean, shrunken";
pub(super) const FREQUENCY_ESTIMAND: &str = "frequency";
/// Estimand: non-missing frequencies, the shares of people who have an item, with either sign.
pub(super) const NONMISSING_ESTIMAND: &str = "nonmissing";
pub(super) const NONMISSING_SIMPLEX_ESTIMAND: &str = "nonmissing, simplex";
pub(super) const FREQUENCY_SIMPLEX_ESTIMAND: &str = "frequency, simplex";

/// Name of a metric in tables: logarithm of the total variation error. The names of further metrics
/// follow.
pub(super) const LOG_TOTAL_ERROR_METRIC: &str = "ln TVE";
pub(super) const LOG_MAX_ERROR_METRIC: &str = "ln MAE";
pub(super) const PREDICTED_MSE: &str = "predicted MSE";
pub(super) const PREDICTED_MSE_OVER_BOUND: &str = "predicted MSE over bound";

/// Adds, for all estimands, the errors of one mechanism's estimates to the list of measurements.
pub(super) fn add_error_measurements(
    measured: &mut Vec<Measurement>,
    setting: &QuestionSetting,
    own: &ComparedRatingMechanism,
    accumulator: &ReportAccumulator<'_>,
    truth: &CrowdTruth,
) {
    let estimates = accumulator.estimates();
    let mut add = |estimand: &str, score: ErrorSummary| {
        for (metric, value) in [
            (LOG_TOTAL_ERROR_METRIC, score.total_absolute_error.ln()),
            (LOG_MAX_ERROR_METRIC, score.largest_absolute_error.ln()),
            (MSE, score.mean_squared_error),
        ] {
            let here = question_point(setting);
            measured.push(Measurement::new(here, &own.name, estimand, metric, value));
        }
    };
    let means = truth.true_means();
    add(MEAN_ESTIMAND, ErrorSummary::new(&estimates.means, &means));
    add(
        MEAN_BALL_ESTIMAND,
        ErrorSummary::new(
            &project_onto_l1_ball(&estimates.means, setting.sparsity),
            &means,
        ),
    );
    add(
        MEAN_SHRUNKEN_ESTIMAND,
        ErrorSummary::new(&estimates.shrunken_means(), &means),
    );
    let Some(signs) = &estimates.sign_frequencies else {
        return;
    };
    let frequencies = truth.true_sign_frequencies();
    let both = |[plus, minus]: &[Vec<f64>; 2], sign: f64| -> Vec<f64> {
        let both = plus.iter().zip(minus);
        both.map(|(plus, minus)| plus + sign * minus).collect()
    };
    let nonmissing = both(&frequencies, 1.0);
    let mut add_signs = |[of_signs, of_items]: [&str; 2], signs: &[Vec<f64>; 2]| {
        let score = ErrorSummary::new(signs.iter().flatten(), frequencies.iter().flatten());
        add(of_signs, score);
        add(of_items, ErrorSummary::new(&both(signs, 1.0), &nonmissing));
    };
    add_signs([FREQUENCY_ESTIMAND, NONMISSING_ESTIMAND], signs);
    let projected = project_onto_scaled_simplex(signs, setting.sparsity);
    add_signs(
        [FREQUENCY_SIMPLEX_ESTIMAND, NONMISSING_SIMPLEX_ESTIMAND],
        &projected,
    );
    let differences = both(&projected, -1.0);
    add(
        MEAN_SIMPLEX_ESTIMAND,
        ErrorSummary::new(&differences, &means),
    );
}

/// Adds those measurements that need no simulation. They are predicted errors, their ratios to the
/// lower bound, and lengths of reports.
pub(super) fn add_predicted_measurements(
    measured: &mut Vec<Measurement>,
    setting: &QuestionSetting,
    contestants: &[ComparedRatingMechanism],
) -> Result<(), StudyError> {
    let person = entries_of_first_items(setting.sparsity);
    let domain = Domain::of_rated_items(Some(setting.item_count), setting.sparsity);
    let bounds = [Objective::MEAN_ONLY, Objective::FREQUENCY_ONLY]
        .map(|objective| least_variance(&domain, setting.epsilon, &objective));
    for own in contestants {
        let mut add = |estimand: &str, metric: &str, value: f64| {
            let here = question_point(setting);
            measured.push(Measurement::new(here, &own.name, estimand, metric, value));
        };
        add("report", REPORT_BYTES_METRIC, own.report_bytes(&person)?);
        let PerReportSquaredErrors {
            mean_error: mean,
            frequency_error: frequency,
        } = own.squared_errors_per_report(setting);
        let predicted = [(MEAN_ESTIMAND, mean), (FREQUENCY_ESTIMAND, frequency)];
        for ((estimand, variance), bound) in predicted.into_iter().zip(&bounds) {
            let Some(variance) = variance else { continue };
            add(
                estimand,
                PREDICTED_MSE,
                variance / setting.people_count as f64,
            );
            if let Some(bound) = bound {
                add(
                    estimand,
                    PREDICTED_MSE_OVER_BOUND,
                    variance / bound.variance,
                );
            }
        }
    }
    Ok(())
}
