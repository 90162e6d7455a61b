//! Tests that measured errors agree with an independent program and with predictions.

use super::table::Line;
use super::tables;

const FIGURES: &str = include_str!("../../../../../tests/reference/figures.csv");

/// Returns our name of a mechanism, given the other program's name.
fn mechanism(theirs: &str) -> &'static str {
    match theirs {
        "Collision" => "Collision",
        "CoCo" => "CoCo",
        "CoCo_tdefault" => "CoCo, t of Collision",
        other => panic!("{other}"),
    }
}

/// Returns our name of an estimand, given the other program's names. The other program's
/// frequencies are of items with either sign.
fn estimand(theirs: &str, post: &str) -> String {
    let own = match theirs {
        "frequency" => "nonmissing",
        other => other,
    };
    match post {
        "none" => own.to_owned(),
        _ => format!("{own}, {post}"),
    }
}

/// Errors of the papers' own mechanisms are within three standard errors of an independent
/// simulation in 99 of 100 cells, or in all but one. No cell is beyond five.
#[test]
fn the_papers_mechanisms_err_as_another_program_says() {
    let lines = tables().of("p1-ratings");
    let (mut cells, mut beyond) = (0, Vec::new());
    for record in csv::Reader::from_reader(FIGURES.as_bytes()).records() {
        let record = record.unwrap();
        let number = |place: usize| -> f64 { record[place].parse().unwrap() };
        let theirs = estimand(&record[1], &record[2]);
        let found = lines.iter().find(|line| {
            line.mechanism == mechanism(&record[0])
                && line.estimand == theirs
                && (line.people, line.items) == (number(3) as u64, number(4) as u32)
                && (line.sparsity, line.epsilon) == (number(5) as u32, number(6))
                && line.metric == format!("ln {}", &record[7])
        });
        let Some(line) = found else { continue };
        // A repeat has the same variance in both programs, so the two estimates of this variance
        // are pooled.
        let (own, theirs) = (f64::from(line.repeats), number(10));
        let variance = own * line.standard_error.powi(2);
        let pooled =
            ((own - 1.0) * variance + (theirs - 1.0) * number(9).powi(2)) / (own + theirs - 2.0);
        let deviation = (pooled * (1.0 / own + 1.0 / theirs)).sqrt();
        let distance = (line.mean - number(8)) / deviation;
        cells += 1;
        assert!(distance.abs() < 5.0, "{line:?} {record:?}: {distance}");
        if distance.abs() > 3.0 {
            beyond.push(format!("{line:?}: {distance:.2} standard errors"));
        }
    }
    println!(
        "{cells} cells, {} beyond three standard errors",
        beyond.len()
    );
    assert!(cells >= 48, "{cells}");
    assert!(beyond.len() <= (cells / 100).max(1), "{beyond:#?}");
}

/// Unbiased mechanisms have the predicted mean squared error: each within five standard errors, and
/// all together within 5 per cent.
#[test]
fn errors_are_those_predicted() {
    let mut compared = 0;
    for experiment in ["p1-ratings", "p2-ratings"] {
        let lines = tables().of(experiment);
        let of = |metric: &str| -> Vec<&Line> {
            lines.iter().filter(|line| line.metric == metric).collect()
        };
        let measured = of("MSE");
        let mut ratios: Vec<(&str, f64)> = Vec::new();
        for predicted in of("predicted MSE") {
            let name = predicted.mechanism.as_str();
            let own = measured
                .iter()
                .find(|line| line.is_beside(predicted))
                .unwrap();
            // An average of at least 256 squared errors is close to normal. Its variance is at
            // least 2/d of its square, which few repeats may underestimate.
            let repeats = f64::from(own.repeats);
            let shown = own.standard_error * (repeats / (repeats - 2.0).max(1.0)).sqrt();
            let least = predicted.mean * (2.0 / (f64::from(own.items) * repeats)).sqrt();
            let reach = 5.0 * shown.max(least);
            let slack = if own.repeats < 8 {
                0.1 * predicted.mean
            } else {
                0.0
            };
            let distance = (own.mean - predicted.mean).abs();
            assert!(distance < reach + slack, "{own:?} {predicted:?}");
            ratios.push((name, own.mean / predicted.mean));
            compared += 1;
        }
        let mut names: Vec<&str> = ratios.iter().map(|own| own.0).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let own: Vec<f64> = ratios
                .iter()
                .filter(|own| own.0 == name)
                .map(|own| own.1)
                .collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            assert!(
                (mean - 1.0).abs() < 0.05,
                "{experiment}, {name}: {mean} of what is predicted"
            );
        }
    }
    assert!(compared >= 80, "{compared}");
}
