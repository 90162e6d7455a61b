//! `hushbin simulate`: the error that it predicts is the one that it finds.

use std::fs;

use crate::support::simulation::Simulation;
use serde_json::json;

const ITEMS: u32 = 40;
const PEOPLE: usize = 500;
const RUNS: u32 = 400;
/// Fails by chance with a probability below 10⁻⁵ for each comparison: averages of
/// 400 runs are close to normal.
const STANDARD_ERRORS: f64 = 4.5;

/// Where hash-bin's sum is clipped, so is what it adds to the noise. Of 16
/// entries the sum would have a variance of 16 where the noise has one of 1/2,
/// and is clipped to one below 4.
#[test]
fn clipped_sums_add_what_is_left_of_them() {
    let ones = vec![1.0; 16];
    let few: Vec<f64> = (1..=8).map(|i| f64::from(i) / 8.0).collect();
    let many: Vec<f64> = (1..=20).map(|i| f64::from(i) / 20.0).collect();
    // The sum of many values of different size is taken as normal.
    for (magnitudes, clip, slack) in [(ones, 2.0, 0.0), (few, 0.75, 0.0), (many, 2.0, 0.01)] {
        let simulation = Simulation::new();
        let task = json!({
            "id": "clipped", "items": ITEMS, "sparsity": 1, "epsilon": 8.0, "value": "real",
            "mechanism": { "name": "hash-bin", "noise": "laplace", "clip": clip },
        });
        fs::write(simulation.task(), task.to_string()).unwrap();
        let people = (0..PEOPLE).map(|_| &magnitudes[..]);
        simulation.scatter(ITEMS, people, 1);
        let found = simulation.run("mean", RUNS, 1);
        let number = |name: &str| found[name].as_f64().unwrap();
        let (measured, predicted) = (number("mse"), number("predicted_mse"));
        let reach = STANDARD_ERRORS * number("mse_standard_error");
        println!("{measured:.4e} ± {reach:.1e}, predicted {predicted:.4e}");
        assert!(
            (measured - predicted).abs() < reach + slack * predicted,
            "{measured} ± {reach} instead of {predicted} at {clip}"
        );
        assert!(reach < 0.06 * predicted, "too few runs: ± {reach}");
    }
}
