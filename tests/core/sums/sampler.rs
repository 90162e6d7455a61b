use hushbin::ErrorCode;
use hushbin::sums::{CodingLoss, Message, SumRandomizer, SumTask, SummedQuantity};
use hushbin_tests::significance::{assert_distributed, assert_means, assert_rates, assert_uniform};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{ball, messages, numbers, task};

const DRAWS: u64 = 40_000;

/// Returns N⁺ and N⁻ of each coordinate, and the number of blank messages.
fn counts(messages: &[Message], coordinates: usize) -> (Vec<[i64; 2]>, usize) {
    let (mut counts, mut blank) = (vec![[0, 0]; coordinates], 0);
    for message in messages {
        match *message {
            Message::Blank => blank += 1,
            Message::Cell(_) => unreachable!("numbers have coordinates"),
            Message::SignedUnitStep {
                coordinate,
                negative,
            } => counts[coordinate as usize][usize::from(negative)] += 1,
        }
    }
    (counts, blank)
}

fn draw(task: &SumTask, answer: &[f64], mut visit: impl FnMut(&[Message])) {
    let (mut randomizer, mut sent) = (SumRandomizer::new(task), Vec::new());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..DRAWS {
        let lost = randomizer.randomize(answer, &mut rng, &mut sent).unwrap();
        assert!(!lost.was_clipped && lost.omitted_length < 1e-11);
        let sent_count = sent.len() as u32;
        assert_eq!(task.message_count_range(), sent_count..=sent_count);
        visit(&sent);
    }
}

/// Probabilities of 0, 1, … successes among `trials`.
fn binomial(trials: i32, q: f64) -> Vec<f64> {
    let mut all = vec![0.0; trials as usize + 1];
    all[0] = 1.0;
    for _ in 0..trials {
        for at in (0..all.len()).rev() {
            let below = if at > 0 { all[at - 1] } else { 0.0 };
            all[at] = all[at] * (1.0 - q) + below * q;
        }
    }
    all
}

#[test]
fn noise_is_binomial_and_does_not_depend_on_the_answer() {
    // There is room for the greatest noise: 2 coordinates, 2 signs, 3 trials.
    let task = task(numbers(2), messages([4, 2, 3], 0.3, 12));
    for answer in [[1.0, -0.5], [0.0, 0.25], [-1.0, -1.0]] {
        let mut found = [[[0_u64; 4]; 2]; 2];
        draw(&task, &answer, |sent| {
            let (counts, _) = counts(sent, 2);
            for (coordinate, own) in answer.iter().enumerate() {
                // Multiples of 1/4 are reported exactly.
                let told = (own * 4.0) as i64;
                let noise = [
                    counts[coordinate][0] - told.max(0),
                    counts[coordinate][1] + told.min(0),
                ];
                for sign in 0..2 {
                    found[coordinate][sign][noise[sign] as usize] += 1;
                }
            }
        });
        for own in found.iter().flatten() {
            assert_distributed(own, &binomial(3, 0.3), "noise of one kind");
        }
    }
}

#[test]
fn noise_that_has_no_room_is_drawn_again() {
    let task = task(numbers(2), messages([1, 2, 2], 0.4, 3));
    let mut found = [0_u64; 4];
    draw(&task, &[0.0, 0.0], |sent| {
        let (_, blank) = counts(sent, 2);
        found[5 - blank] += 1;
    });
    let all = &binomial(8, 0.4)[..4];
    let inside: f64 = all.iter().sum();
    let given: Vec<f64> = all.iter().map(|own| own / inside).collect();
    assert_distributed(&found, &given, "noise that has room");
}

#[test]
fn values_are_rounded_without_bias_and_drawn_coordinates_are_any() {
    let task = task(numbers(3), messages([3, 2, 1], 0.1, 6));
    let answer = [0.37, -0.81, 1.0];
    let (mut sums, mut told) = ([[0.0; 2]; 3], [0_u64; 3]);
    draw(&task, &answer, |sent| {
        let (counts, _) = counts(sent, 3);
        for (sum, [up, down]) in sums.iter_mut().zip(&counts) {
            // The estimate is scaled by D/k and divided by L.
            let estimate = (up - down) as f64 * 1.5 / 3.0;
            sum[0] += estimate;
            sum[1] += estimate * estimate;
        }
        told[2] += u64::from(counts[2][0] >= 3);
    });
    let rows = sums.iter().zip(answer).enumerate();
    let rows = rows.map(|(at, ([sum, squares], mean))| (format!("{at}"), *sum, *squares, mean));
    assert_means(DRAWS, &rows.collect::<Vec<_>>());
    // The third coordinate, 3 up of 3 levels, is only reported if it is drawn.
    assert_rates(DRAWS, &[("drawn".into(), told[2], 2.0 / 3.0)]);
}

#[test]
fn a_message_has_any_place() {
    let task = task(numbers(1), messages([1, 1, 1], 1.0 / 64.0, 7));
    let mut places = [0_u64; 8];
    let up = Message::SignedUnitStep {
        coordinate: 0,
        negative: false,
    };
    draw(&task, &[1.0], |sent| {
        if counts(sent, 1).0[0] == [1, 0] {
            places[sent.iter().position(|own| *own == up).unwrap()] += 1;
        }
    });
    assert_uniform(&places, "places of what is told");
}

#[test]
fn a_vector_is_told_by_its_coefficients() {
    let task = task(ball(3, 10.0), messages([6, 8, 1], 1.0 / 16.0, 16));
    let SummedQuantity::BoundedVector(own) = task.summed_quantity() else {
        unreachable!("it is a ball")
    };
    let (frame, bound) = (own.frame(), own.coefficient_bound());
    let answer = [3.0, -4.0, 5.0];
    let mut sums = [[0.0; 2]; 3];
    draw(&task, &answer, |sent| {
        let (counts, _) = counts(sent, 8);
        let told = counts
            .iter()
            .map(|[up, down]| (up - down) as f64 * bound / 6.0);
        let vector = frame.coefficients_to_vector(&told.collect::<Vec<_>>());
        for (sum, own) in sums.iter_mut().zip(vector) {
            let estimate = own * 10.0;
            sum[0] += estimate;
            sum[1] += estimate * estimate;
        }
    });
    let rows = sums.iter().zip(answer).enumerate();
    let rows = rows.map(|(at, ([sum, squares], mean))| (format!("{at}"), *sum, *squares, mean));
    assert_means(DRAWS, &rows.collect::<Vec<_>>());
}

#[test]
fn what_is_beyond_limits_is_clipped_and_said_so() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut sent = Vec::new();
    let mut lost = |task: &SumTask, answer: &[f64]| -> CodingLoss {
        let mut randomizer = SumRandomizer::new(task);
        randomizer.randomize(answer, &mut rng, &mut sent).unwrap()
    };
    let own = task(numbers(2), messages([4, 2, 1], 0.1, 4));
    assert!(!lost(&own, &[1.0, -1.0]).was_clipped);
    assert!(lost(&own, &[1.0, -1.01]).was_clipped);
    let vectors = task(ball(2, 5.0), messages([4, 4, 1], 0.1, 8));
    assert!(!lost(&vectors, &[3.0, 4.0]).was_clipped);
    assert!(lost(&vectors, &[3.0, 4.1]).was_clipped);
    // Lengths whose square overflows, and smaller ones.
    for far in [f64::MAX, 1e200] {
        let found = lost(&vectors, &[far, -far]);
        assert!(
            found.was_clipped && found.omitted_length < 1e-11,
            "{found:?}"
        );
    }
    for near in [f64::MIN_POSITIVE, 5e-324, 0.0] {
        let found = lost(&vectors, &[near, -near]);
        assert!(
            !found.was_clipped && found.omitted_length < 1e-11,
            "{found:?}"
        );
    }
}

#[test]
fn what_is_no_answer_is_refused_and_nothing_drawn() {
    let own = task(numbers(2), messages([4, 2, 1], 0.1, 4));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut randomizer, mut sent) = (SumRandomizer::new(&own), Vec::new());
    let mut refused = |answer: &[f64]| {
        let error = randomizer.randomize(answer, &mut rng, &mut sent);
        error.unwrap_err().code()
    };
    assert_eq!(refused(&[1.0]), ErrorCode::WrongAnswerCount);
    assert_eq!(refused(&[1.0; 3]), ErrorCode::WrongAnswerCount);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(refused(&[0.0, value]), ErrorCode::ValueOutOfRange);
    }
    assert_eq!(rng, ChaCha20Rng::seed_from_u64(1));
}
