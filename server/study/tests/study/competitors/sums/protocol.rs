//! Tests of people's messages and of their sums. Tests of draws have fixed seeds, and each fails by
//! chance with probability 10⁻⁶.

use hushbin_study::competitors::Budget;
use hushbin_study::competitors::sums::{
    CoordinateBudget, CoordinateMessage, NegativeBinomial, VectorSumProtocol,
};
use hushbin_tests::significance::{Moments, assert_distributed, assert_moments};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Returns counts of draws and the probabilities of the same cells. Each cell has an expected count
/// of at least 40.
fn cells(law: &NegativeBinomial, draws: impl Iterator<Item = u64>) -> (Vec<u64>, Vec<f64>) {
    const DRAWS: u64 = 40_000;
    let (mut ends, mut expected) = (Vec::new(), Vec::new());
    let mut sum = 0.0;
    for (k, p) in law.probabilities().into_iter().enumerate() {
        sum += p;
        if sum * DRAWS as f64 > 40.0 {
            ends.push(k as u64);
            expected.push(sum);
            sum = 0.0;
        }
    }
    ends.pop();
    let last = expected.pop().unwrap();
    *expected.last_mut().unwrap() += last + sum;
    ends.pop();
    let mut counts = vec![0; expected.len()];
    for draw in draws.take(DRAWS as usize) {
        counts[ends.partition_point(|&end| end < draw)] += 1;
    }
    (counts, expected)
}

#[test]
fn shares_add_up_to_the_law() {
    let mut rng = generator(1);
    for (r, p, people) in [
        (1.0, 0.6, 1),
        (1.0, 0.96, 7),
        (4.0, 0.6, 3),
        (44.4, 0.951, 1),
        (44.4, 0.951, 20),
        (0.3, 0.99, 2),
    ] {
        let law = NegativeBinomial::new(r, p).unwrap();
        let share = law.per_person_distribution(people);
        let draws =
            std::iter::repeat_with(|| (0..people).map(|_| share.draw_count(&mut rng)).sum());
        let (counts, expected) = cells(&law, draws);
        assert_distributed(&counts, &expected, &format!("{law:?} of {people}"));
    }
}

/// Returns n people with three coordinates each. Some values lie between two levels.
fn people(n: u32) -> Vec<Vec<f64>> {
    let row = |i: u32| vec![f64::from(i % 7) / 3.0 - 1.0, 0.3, -1.0];
    (0..n).map(row).collect()
}

/// Returns the average of f(1 − f) over people, where f is the fractional part of L times the value
/// of coordinate j.
fn rounding(rows: &[Vec<f64>], j: usize, levels: f64) -> f64 {
    let of = |row: &Vec<f64>| {
        let scaled = levels * row[j];
        let f = scaled - scaled.floor();
        f * (1.0 - f)
    };
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
}

/// Sums are unbiased and have the predicted variance. The number of messages is as predicted.
#[test]
fn sums_are_as_predicted() {
    const RUNS: u32 = 1500;
    let n = 60;
    let mut rng = generator(2);
    for (levels, epsilon, honest) in [(1, 3.0, 60), (2, 8.0, 60), (3, 10.0, 40)] {
        let each = CoordinateBudget::with_epsilon_and_delta(epsilon, 0.05).unwrap();
        let sum = VectorSumProtocol::new(3, levels, honest, &each).unwrap();
        let rows = people(n);
        let mut moments = [Moments::default(); 3];
        let mut messages = Moments::default();
        for _ in 0..RUNS {
            let mut sent = Vec::new();
            for row in &rows {
                sent.extend(sum.draw_messages(row, &mut rng).unwrap());
            }
            // Sorting stands for shuffling: the order of messages does not matter.
            sent.sort_unstable();
            let sums = sum.estimate_sums(sent.iter().copied()).unwrap();
            for (moments, found) in moments.iter_mut().zip(sums) {
                moments.add(found);
            }
            messages.add(sent.len() as f64);
        }
        let l = f64::from(levels);
        let mut tests: Vec<_> = (0..3)
            .map(|j| {
                let truth = rows.iter().map(|row| row[j]).sum();
                let variance = sum.variance(n, rounding(&rows, j, l));
                let what = format!("{levels} levels, coordinate {j}");
                (what, moments[j], truth, Some(variance))
            })
            .collect();
        let nothing = |x: f64| (1.0 - (l * x).abs()).max(0.0);
        let own = 3.0 * f64::from(n) - rows.iter().flatten().map(|&x| nothing(x)).sum::<f64>();
        let all = own + sum.expected_noise_messages(n);
        tests.push((format!("{levels} levels, messages"), messages, all, None));
        assert_moments(&tests);
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let each = CoordinateBudget::new(2, &Budget::new(1.0, 1e-3).unwrap()).unwrap();
    let sum = VectorSumProtocol::new(2, 2, 100, &each).unwrap();
    let mut rng = generator(3);
    for wrong in [vec![0.0], vec![0.0, 1.1], vec![f64::NAN, 0.0]] {
        assert!(sum.draw_messages(&wrong, &mut rng).is_err());
    }
    let message = |coordinate, value| CoordinateMessage { coordinate, value };
    for wrong in [
        message(2, 1),
        message(0, 0),
        message(1, -3),
        message(1, i32::MIN),
    ] {
        assert!(sum.estimate_sums([wrong]).is_err());
    }
    let fine = [message(0, 2), message(0, -1), message(1, -2)];
    assert_eq!(sum.estimate_sums(fine).unwrap(), [0.5, -1.0]);
    assert!(VectorSumProtocol::new(0, 2, 100, &each).is_err());
    assert!(VectorSumProtocol::new(2, 0, 100, &each).is_err());
    assert!(VectorSumProtocol::new(2, 2, 0, &each).is_err());
    // Refused: δ = 0, and an ε₀ that needs more than 10⁷ messages.
    assert!(CoordinateBudget::new(2, &Budget::new(1.0, 0.0).unwrap()).is_err());
    assert!(
        VectorSumProtocol::new(
            2,
            64,
            100,
            &CoordinateBudget::with_epsilon_and_delta(1e-6, 1e-6).unwrap()
        )
        .is_err()
    );
}
