//! Tests that reports are drawn with the stated probabilities. Scripted random words find the
//! thresholds exactly, and counts of draws are compared with the model. Each comparison of counts
//! fails by chance with probability 10⁻⁶ at most.

use hushbin::ErrorCode;
use hushbin::sample::draw_below;
use hushbin_study::competitors::{
    GaussianMechanism, LocalHash, MajorityMechanism, RandomizedResponse, SampledTwoPointMechanism,
    TwoPointMechanism, UnaryEncoding,
};
use hushbin_tests::generators::{Scripted, seeded};
use hushbin_tests::significance::{Moments, assert_distributed, assert_moments, assert_rates};

use super::models::{budget, direct, majority, sampled, two_points, unary};

const DRAWS: u64 = 100_000;

/// Returns the threshold of a draw: the least random word for which `holds` is false.
fn threshold(holds: impl Fn(u64) -> bool) -> u64 {
    assert!(holds(0) && !holds(u64::MAX));
    let (mut inside, mut outside) = (0, u64::MAX);
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    outside
}

/// Returns the probability that a threshold represents.
fn part(threshold: u64) -> f64 {
    threshold as f64 / 2.0_f64.powi(64)
}

fn count(law: &[f64], what: &str, mut draw: impl FnMut() -> usize) {
    let mut counts = vec![0; law.len()];
    for _ in 0..DRAWS {
        counts[draw()] += 1;
    }
    assert_distributed(&counts, law, what);
}

#[test]
fn answers_are_drawn_by_their_threshold() {
    let grr = RandomizedResponse::new(5, &budget(1.0, 1e-3)).unwrap();
    let report = |words: &[u64]| grr.randomize(2, &mut Scripted::new(words)).unwrap();
    let own = threshold(|word| report(&[word]) == 2);
    assert_eq!(
        part(own),
        grr.support_probabilities().own_answer_probability
    );
    // Otherwise a different answer is reported, each for a quarter of the words.
    let quarters = [0, 1, 2, 3].map(|quarter: u64| quarter << 30 | 1);
    let others = quarters.map(|word| report(&[own, word]));
    assert_eq!(others, [0, 1, 3, 4]);
    assert_eq!(draw_below(&mut Scripted::new(&[quarters[2]]), 4), 2);

    let mut rng = seeded(1);
    for answer in [0, 3, 4] {
        count(&direct(&grr, answer), "GRR", || {
            grr.randomize(answer, &mut rng).unwrap() as usize
        });
    }
}

#[test]
fn bits_are_drawn_by_their_thresholds() {
    let bits = UnaryEncoding::optimized_encoding(3, &budget(1.0, 0.0)).unwrap();
    for place in 0..3 {
        let report = |word| {
            let mut words = [0; 3];
            words[place] = word;
            bits.randomize(1, &mut Scripted::new(&words)).unwrap()[place]
        };
        let rates = bits.support_probabilities();
        let expected = if place == 1 {
            rates.own_answer_probability
        } else {
            rates.other_answer_probability
        };
        assert_eq!(part(threshold(report)), expected);
    }
    let mut rng = seeded(2);
    count(&unary(&bits, 1), "OUE", || {
        let set = bits.randomize(1, &mut rng).unwrap();
        (0..)
            .zip(set)
            .map(|(place, set)| usize::from(set) << place)
            .sum()
    });
}

/// A report supports the person's answer with probability p, and every other answer with q = 1/g.
/// The latter holds because two answers are in the same bucket with probability 1/g.
#[test]
fn hashed_answers_are_supported_as_often_as_stated() {
    let mut rng = seeded(3);
    for (k, g) in [(4, 2), (7, 3), (1000, 4), (50, 13)] {
        let hash = LocalHash::new(k, g, &budget(1.0, 0.0)).unwrap();
        let rates = hash.support_probabilities();
        let mut supported = [0; 4];
        let asked = [1, 0, k / 2, k - 1];
        for _ in 0..DRAWS {
            let report = hash.randomize(1, &mut rng).unwrap();
            for (sum, answer) in supported.iter_mut().zip(asked) {
                *sum += u64::from(hash.report_supports_answer(&report, answer));
            }
        }
        let events = asked.into_iter().zip(supported).map(|(answer, count)| {
            let p = if answer == 1 {
                rates.own_answer_probability
            } else {
                rates.other_answer_probability
            };
            (format!("{answer} of {k}, g = {g}"), count, p)
        });
        assert_rates(DRAWS, &events.collect::<Vec<_>>());
        for (answer, supported) in asked.into_iter().zip(supported) {
            let estimate = rates.estimate_share(supported, DRAWS);
            let sigma = (rates.single_report_variance(answer == 1) / DRAWS as f64).sqrt();
            let truth = f64::from(u8::from(answer == 1));
            assert!((estimate - truth).abs() < 6.0 * sigma, "{answer} of {k}");
        }
    }
    let hash = LocalHash::new(4, 3, &budget(1.0, 0.0)).unwrap();
    let report = |words: &[u64]| hash.randomize(2, &mut Scripted::new(words)).unwrap();
    let own = threshold(|word| hash.report_supports_answer(&report(&[99, word]), 2));
    assert_eq!(
        part(own),
        hash.support_probabilities().own_answer_probability
    );
    assert_eq!(report(&[99, own]).seed, 99);
    let others = [0, 1 << 31].map(|word| report(&[99, own, word | 1]).bucket);
    assert!(others[0] < others[1] && others.iter().all(|&o| o != report(&[99, 0]).bucket));
}

/// Rounding numbers ±1 to signs takes no random word. The first word decides whether a favoured
/// vector is reported. Each further word is a vector, which is reported if it agrees with this
/// decision.
#[test]
fn majorities_are_drawn_by_their_threshold() {
    let own = MajorityMechanism::new(3, &budget(1.0, 0.01)).unwrap();
    let person = [1.0, -1.0, 1.0];
    let report = |words: &[u64]| {
        let mut script = Scripted::new(words);
        let signs = own.randomize_to_signs(&person, &mut script).unwrap();
        let bits: u64 = (0..).zip(signs).map(|(j, up)| u64::from(up) << j).sum();
        (bits, script.taken)
    };
    let favoured = |o: u64| (o ^ 0b101).count_ones() <= 1;
    let decided = threshold(|word| favoured(report(&[word, 0b010, 0b101]).0));
    assert_eq!(part(decided), own.favoured_probability());
    for o in 0..8 {
        for (word, inside) in [(0, true), (decided - 1, true), (decided, false)] {
            // The first two vectors do not agree with the decision and are rejected.
            let other = if inside { 0b010 } else { 0b101 };
            let words = [word, other, other, o, if inside { 0b101 } else { 0b010 }];
            let (drawn, taken) = report(&words);
            let expected = if favoured(o) == inside {
                (o, 4)
            } else {
                (words[4], 5)
            };
            assert_eq!((drawn, taken), expected);
        }
    }

    let mut rng = seeded(4);
    for (d, threshold, person) in [
        (3, 2, vec![0.5, -0.25, 1.0]),
        (4, 3, vec![0.0, -1.0, 0.3, 0.9]),
        (4, 4, vec![1.0, 1.0, -1.0, 1.0]),
        (4, 1, vec![0.2, 0.4, -0.6, 0.8]),
    ] {
        let own =
            MajorityMechanism::with_agreement_threshold(d, threshold, &budget(1.5, 0.001)).unwrap();
        count(&majority(&own, &person), &format!("{own:?}"), || {
            let signs = own.randomize_to_signs(&person, &mut rng).unwrap();
            (0..).zip(signs).map(|(j, up)| usize::from(up) << j).sum()
        });
    }
}

/// Tests more attributes than a random word has bits.
#[test]
fn large_majorities_are_unbiased() {
    let own = MajorityMechanism::new(100, &budget(4.0, 0.0)).unwrap();
    let person: Vec<f64> = (0..100).map(|j| f64::from(j) / 50.0 - 1.0).collect();
    let mut rng = seeded(5);
    let mut drawn = vec![Moments::default(); 100];
    for _ in 0..20_000 {
        let signs = own.randomize_to_signs(&person, &mut rng).unwrap();
        for (own_drawn, up) in drawn.iter_mut().zip(signs) {
            own_drawn.add(own.estimate_mean(if up { 1 } else { -1 }, 1));
        }
    }
    let of = |(j, moments): (usize, Moments)| {
        let x = person[j];
        (
            format!("attribute {j}"),
            moments,
            x,
            Some(own.single_report_variance(x)),
        )
    };
    assert_moments(&drawn.into_iter().enumerate().map(of).collect::<Vec<_>>());
}

#[test]
fn two_points_are_drawn_by_their_threshold() {
    let points = TwoPointMechanism::new(&budget(2.0, 0.01));
    // Rounding the number 1 takes no random word.
    let plus = threshold(|word| points.randomize(1.0, &mut Scripted::new(&[word])).unwrap());
    assert!((part(plus) - points.plus_probability(1.0)).abs() < 1e-15);
    // A number ±1/4 keeps its sign for a quarter of the words. Otherwise the next word decides like
    // a coin.
    let rounded = |word, coin| {
        let words = [word, coin, 0];
        points.randomize(-0.25, &mut Scripted::new(&words)).unwrap()
    };
    assert_eq!(threshold(|word| !rounded(word, 1 << 63)), 1 << 62);
    assert_eq!(threshold(|coin| !rounded(u64::MAX, coin)), 1 << 63);
    let mut rng = seeded(6);
    for x in [-1.0, -0.3, 0.0, 0.7] {
        count(&two_points(&points, x), "two points", || {
            usize::from(points.randomize(x, &mut rng).unwrap())
        });
    }
}

#[test]
fn sampled_two_points_are_drawn_as_stated() {
    let own = SampledTwoPointMechanism::with_drawn_count(4, 2, 3.0, 0.01).unwrap();
    let each = TwoPointMechanism::new(&budget(1.5, 0.005));
    let person = [0.5, -1.0, 0.0, 0.8];
    let outcomes = sampled(&own, &each, &person);
    let law: Vec<f64> = outcomes.iter().map(|&(_, _, p)| p).collect();
    assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut rng = seeded(7);
    count(&law, "Mechanism-2", || {
        let report = own.randomize(&person, &mut rng).unwrap();
        let set: u32 = report.iter().map(|(j, _)| 1 << j).sum();
        let signs: u32 = report.iter().map(|&(j, up)| u32::from(up) << j).sum();
        let drawn = |&(a, b, _): &(u32, u32, f64)| (a, b) == (set, signs);
        outcomes.iter().position(drawn).unwrap()
    });
}

#[test]
fn normal_noise_has_its_variance() {
    let noise = GaussianMechanism::for_numbers(3, &budget(1.0, 1e-5)).unwrap();
    let person = [0.5, -1.0, 0.0];
    let mut rng = seeded(8);
    let mut drawn = [Moments::default(); 3];
    for _ in 0..DRAWS {
        let noisy = noise.add_noise(&person, &mut rng);
        drawn.iter_mut().zip(noisy).for_each(|(own, x)| own.add(x));
    }
    let of = |(x, moments): (f64, Moments)| (format!("at {x}"), moments, x, Some(noise.variance()));
    assert_moments(&person.into_iter().zip(drawn).map(of).collect::<Vec<_>>());
}

#[test]
fn wrong_inputs_are_refused() {
    let budget = budget(1.0, 0.0);
    let mut rng = seeded(9);
    let code = |error: hushbin::Error| error.code();
    let unknown = Some(ErrorCode::UnknownItem);
    let grr = RandomizedResponse::new(3, &budget).unwrap();
    assert_eq!(grr.randomize(3, &mut rng).map_err(code).err(), unknown);
    let bits = UnaryEncoding::symmetric_encoding(3, &budget).unwrap();
    assert_eq!(bits.randomize(3, &mut rng).map_err(code).err(), unknown);
    let hash = LocalHash::new(3, 2, &budget).unwrap();
    assert_eq!(hash.randomize(3, &mut rng).map_err(code).err(), unknown);

    let cube = MajorityMechanism::new(2, &budget).unwrap();
    let sampled = SampledTwoPointMechanism::new(2, 1.0, 0.0).unwrap();
    let points = TwoPointMechanism::new(&budget);
    for (person, expected) in [
        (&[0.0][..], ErrorCode::WrongAnswerCount),
        (&[0.0, 1.1], ErrorCode::ValueOutOfRange),
        (&[f64::NAN, 0.0], ErrorCode::ValueOutOfRange),
        (&[0.0, f64::NEG_INFINITY], ErrorCode::ValueOutOfRange),
    ] {
        let expected = Some(expected);
        assert_eq!(
            cube.randomize_to_signs(person, &mut rng)
                .map_err(code)
                .err(),
            expected
        );
        assert_eq!(
            sampled.randomize(person, &mut rng).map_err(code).err(),
            expected
        );
    }
    let refused = points.randomize(-1.5, &mut rng).map_err(code).err();
    assert_eq!(refused, Some(ErrorCode::ValueOutOfRange));
}
