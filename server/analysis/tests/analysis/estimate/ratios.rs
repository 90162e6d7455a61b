//! Tests of measured errors against P1's mechanisms and against predictions: a small version of the
//! bench `accuracy`.

use hushbin_tests::contest::{Contest, Ratio};

/// Fails by chance with a probability below 10⁻⁵: the ratio is close to normal.
const STANDARD_ERRORS: f64 = 4.5;

fn check(contest: &Contest, at_most: f64) {
    let predicted = contest.predicted();
    let Ratio {
        measured,
        standard_error,
    } = contest.measure(1000, 100, || ());
    println!("{measured:.3} ± {standard_error:.3}, predicted {predicted:.3}");
    let reach = STANDARD_ERRORS * standard_error;
    assert!(
        (measured - predicted).abs() < reach,
        "{measured} ± {standard_error} instead of {predicted}"
    );
    assert!(reach < 0.1, "too few runs: ± {standard_error}");
    assert!(
        predicted <= at_most,
        "{predicted} is predicted, not {at_most}"
    );
}

#[test]
fn means_come_out_closer_than_under_the_papers_coco() {
    check(&Contest::of_means(256, 64, 1.0), 0.71);
}

#[test]
fn frequencies_come_out_closer_than_under_the_papers_collision() {
    check(&Contest::of_frequencies(256, 64, 1.0), 0.73);
}
