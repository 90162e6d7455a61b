//! The privacy budget: exp(ε) is bounded from below. The thresholds never spend more than
//! requested, nor noticeably less.

use hushbin::bounds;
use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{Collision, FavouredBucketRule};
use hushbin::mechanism::hash_bin::{HashBin, PrivacyLevel, SumNoiseKind};
use hushbin::sample::{ExpLowerBound, WeightAndCount, privacy_loss_of_ratio};
use num_bigint::BigUint;
use rand_chacha::rand_core::Rng;

use crate::support::exact::{Exact, Exp};
use crate::support::generators::seeded;

/// Doubles that are prone to rounding errors: the ends of the range, neighbours of whole numbers
/// and of multiples of ln 2, and decimal fractions.
fn awkward() -> Vec<f64> {
    let (least, most) = (bounds::EPSILON_RANGE.min, bounds::EPSILON_RANGE.max);
    let multiples = (1..=17).map(|q| f64::from(q) * std::f64::consts::LN_2);
    let centres = (1..=11).map(f64::from).chain(multiples);
    let mut values: Vec<f64> = centres
        .flat_map(|x| [x.next_down().next_down(), x.next_down(), x, x.next_up()])
        .collect();
    values.extend([least, least.next_up(), most.next_down(), most]);
    values.extend([0.1, 0.3, 0.7, 1.1, 1.0 / 3.0, std::f64::consts::LN_10, 3.7]);
    values
}

/// Returns the bound as a multiple of 2⁻⁶³, found through the one exact question that it answers.
/// It has at most 63 fraction bits, so nothing is lost.
fn exactly(bound: &ExpLowerBound) -> u128 {
    let covered =
        |n: u128| bound.is_at_least_ratio(WeightAndCount(n, 1), WeightAndCount(1 << 63, 1));
    let mut low = 0;
    for bit in (0..88).rev() {
        if covered(low | 1 << bit) {
            low |= 1 << bit;
        }
    }
    low
}

#[test]
fn exp_is_bounded_from_below_within_its_promise() {
    let mut rng = seeded(1);
    let spread = (0..4000).map(|_| f64::from(rng.next_u32()) / f64::from(1 << 28));
    let tiny = [0.0, f64::MIN_POSITIVE, 1e-300, 1e-18, 1e-9];
    let mut worst: f64 = 0.0;
    for epsilon in spread.chain(tiny).chain(awkward()) {
        let ours = BigUint::from(exactly(&ExpLowerBound::new(epsilon)));
        // Both are multiples of 2⁻²⁵⁶ now.
        let ours = ours << (256 - 63);
        let exp = Exp::of(epsilon);
        assert!(ours <= exp.low, "exp({epsilon:?}) is overstated");
        let short = &exp.high - &ours;
        assert!(&short << 57 <= exp.high, "exp({epsilon:?}) is off");
        let scaled: BigUint = (short << 80) / &exp.high;
        worst = worst.max(u128::try_from(scaled).unwrap() as f64 / 2f64.powi(80));
        let double = ExpLowerBound::new(epsilon).to_f64();
        assert!((double - epsilon.exp()).abs() <= 4.0 * f64::EPSILON * double);
    }
    // The bound is tight, too.
    assert!(worst > 2f64.powi(-60), "{worst:e}");
}

/// Rules, t and s from the smallest to the largest of any task.
fn parameters() -> Vec<(FavouredBucketRule, u32, u32)> {
    let mut parameters = Vec::new();
    for buckets in [2, 3, 5, 17, 100, 1378, 65_537, 3_000_001, 1 << 22] {
        for sparsity in [1, 2, 6, 64, 1024] {
            if buckets > sparsity {
                parameters.push((FavouredBucketRule::Occupied, buckets, sparsity));
            }
        }
        let mut favoured = vec![1, 2, 6, buckets / 3, buckets / 2, buckets - 1];
        favoured.sort_unstable();
        favoured.dedup();
        for favoured in favoured {
            if (1..buckets).contains(&favoured) {
                parameters.push((FavouredBucketRule::Heaviest { favoured }, buckets, 6));
            }
        }
    }
    parameters
}

/// Returns the greatest ratio of the probabilities of two buckets, from the thresholds.
fn realised_ratio(collision: &Collision, sparsity: u32, epsilon: f64) -> Exact {
    let thresholds = collision.thresholds(sparsity, epsilon);
    let cases = match collision.favouring_rule() {
        FavouredBucketRule::Occupied => 1..=sparsity,
        FavouredBucketRule::Heaviest { .. } => 1..=1,
    };
    let fraction = |weight: BigUint, count: u32| Exact::new_raw(weight, BigUint::from(count) << 64);
    let each = cases.map(|occupied| {
        let size = thresholds.favoured_count(occupied);
        let inside = BigUint::from(thresholds.favoured_threshold(occupied).0);
        let outside = (BigUint::from(1u8) << 64) - &inside;
        let others = collision.buckets_per_hash() - size;
        (fraction(inside, size), fraction(outside, others))
    });
    let (most, least) = each.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))).unwrap();
    most / least
}

/// Returns the smallest number, out of 2⁶⁴, that rounding changes by one: of words inside or
/// outside C.
fn least_weight(collision: &Collision, sparsity: u32, epsilon: f64) -> f64 {
    let thresholds = collision.thresholds(sparsity, epsilon);
    let inside = thresholds
        .favoured_threshold(1)
        .0
        .min(thresholds.favoured_threshold(sparsity).0);
    let outside = u64::MAX - thresholds.favoured_threshold(sparsity).0;
    inside.min(outside) as f64
}

#[test]
fn what_is_spent_is_what_was_asked_for() {
    let mut epsilons = awkward();
    let mut rng = seeded(2);
    epsilons.retain(|&e| bounds::EPSILON_RANGE.contains(e) && rng.next_u32().is_multiple_of(4));
    epsilons.extend([0.001, 0.01, 0.25, 1.0, 2.0, 12.0f64.next_down(), 12.0]);
    let mut sets = 0;
    for (rule, buckets, sparsity) in parameters() {
        let collision = Collision::new(rule, HashFamily::Independent, buckets).unwrap();
        for &epsilon in &epsilons {
            let case = || format!("{collision:?}, s = {sparsity}, ε = {epsilon:?}");
            let effective = collision.thresholds(sparsity, epsilon).effective_epsilon();
            assert!(effective <= epsilon, "{}", case());
            let lost = epsilon - effective;
            assert!(
                lost <= 1e-14 + 2.0 / least_weight(&collision, sparsity, epsilon),
                "{lost:e}: {}",
                case()
            );
            let usual = collision.favoured_count().is_none_or(|c| c <= buckets / 2);
            assert!(!usual || lost <= 1e-11, "{lost:e}: {}", case());
            // The stated loss covers the real one, tightly.
            let ratio = realised_ratio(&collision, sparsity, epsilon);
            assert!(ratio <= Exp::of(effective).low_ratio(), "{}", case());
            let below = Exp::of(effective - 2e-14).high_ratio();
            assert!(ratio >= below, "{effective:?}: {}", case());
            sets += 1;
        }
    }
    assert!(sets >= 2000, "{sets}");
}

/// CoCo's rules, T and s from the smallest to the largest of any task.
fn coco_parameters() -> Vec<(coco::FavouredSideRule, u32, u32)> {
    let mut parameters = Vec::new();
    for pairs in [1u32, 2, 3, 7, 65, 700, 65_537, 1 << 21] {
        for sparsity in [1, 2, 6, 64, pairs.saturating_sub(1).min(1024)] {
            if pairs > sparsity && sparsity > 0 {
                parameters.push((coco::FavouredSideRule::RandomEntryDecides, pairs, sparsity));
            }
        }
        let mut favoured = vec![1, 2.min(pairs), 6.min(pairs), pairs.div_ceil(2), pairs];
        favoured.dedup();
        for favoured in favoured {
            parameters.push((coco::FavouredSideRule::Strongest { favoured }, pairs, 6));
        }
    }
    parameters
}

/// Returns the greatest ratio of the probabilities of two buckets, and the smallest number of
/// words, out of 2⁶⁴, that rounding changes by one.
fn coco_realised(coco: &Coco, sparsity: u32, epsilon: f64) -> (Exact, BigUint) {
    let e = ExpLowerBound::new(epsilon);
    let whole: BigUint = BigUint::from(1u8) << 64;
    let t = coco.buckets_per_hash();
    let fraction = |weight: BigUint, count: u32| Exact::new_raw(weight, BigUint::from(count));
    match coco.favouring_rule() {
        coco::FavouredSideRule::Strongest { favoured } => {
            let inside = BigUint::from(e.favoured_probability(
                favoured.into(),
                favoured.into(),
                (t - favoured).into(),
            ));
            let outside = &whole - &inside;
            let least = inside.clone().min(outside.clone());
            let ratio = fraction(inside, favoured) / fraction(outside, t - favoured);
            (ratio, least)
        }
        coco::FavouredSideRule::RandomEntryDecides => {
            let pair = BigUint::from(e.pair_probability(sparsity, t - 2 * sparsity));
            let decided = BigUint::from(e.favoured_probability(1, 1, 1));
            let opposite = &whole - &decided;
            let least = pair.clone().min(opposite.clone());
            let mut levels = vec![fraction(&pair * decided, 1), fraction(&pair * opposite, 1)];
            levels.extend((1..=sparsity).map(|k| {
                let elsewhere = &whole - &pair * k;
                fraction(elsewhere * &whole, t - 2 * k)
            }));
            (
                levels.iter().max().unwrap() / levels.iter().min().unwrap(),
                least,
            )
        }
    }
}

#[test]
fn coco_spends_what_was_asked_for() {
    let mut epsilons = awkward();
    let mut rng = seeded(3);
    epsilons.retain(|&e| bounds::EPSILON_RANGE.contains(e) && rng.next_u32().is_multiple_of(3));
    epsilons.extend([0.001, 0.01, 0.25, 1.0, 2.0, 12.0f64.next_down(), 12.0]);
    let mut sets = 0;
    for (rule, pairs, sparsity) in coco_parameters() {
        let coco = Coco::new(rule, HashFamily::Independent, 2 * pairs).unwrap();
        for &epsilon in &epsilons {
            let case = || format!("{coco:?}, s = {sparsity}, ε = {epsilon:?}");
            let effective = coco.thresholds(sparsity, epsilon).effective_epsilon();
            assert!(effective <= epsilon, "{}", case());
            let (ratio, least) = coco_realised(&coco, sparsity, epsilon);
            // Only rounding is lost, which is not noticeable.
            let lost = epsilon - effective;
            let least = u64::try_from(least).unwrap() as f64;
            assert!(lost <= 1e-14 + 2.0 / least, "{lost:e}: {}", case());
            assert!(lost <= 1e-11, "{lost:e}: {}", case());
            // The stated loss covers the real one, tightly.
            assert!(ratio <= Exp::of(effective).low_ratio(), "{}", case());
            let below = Exp::of(effective - 2e-14).high_ratio();
            assert!(ratio >= below, "{effective:?}: {}", case());
            sets += 1;
        }
    }
    assert!(sets >= 1000, "{sets}");
}

/// Every level of hash-bin, from the smallest to the greatest parameters.
fn hash_bin_parameters() -> Vec<HashBin> {
    let mut parameters = Vec::new();
    for grid in [1, 2, 1024, 1 << 16] {
        let mut add = |level, bins| {
            // Parameters that the bounds refuse on a coarse grid are left out.
            parameters.extend(HashBin::new(level, HashFamily::Independent, bins, grid));
        };
        for bins in [1, 2, 100, 1 << 16] {
            add(PrivacyLevel::Event, bins);
            for distance in [1.0 / 65536.0, 0.3, 1.0, 7.7, 1000.1, 2048.0] {
                for delta in [None, Some(1e-15), Some(1e-6), Some(0.01)] {
                    add(PrivacyLevel::Neighbouring { distance, delta }, bins);
                }
            }
        }
        for noise in [SumNoiseKind::TwoPoint, SumNoiseKind::Laplace] {
            for clip in [1.0 / 65536.0, 0.5, 1.0, 1.5, 333.0, 1024.0] {
                add(PrivacyLevel::User { clip, noise }, 1);
            }
        }
    }
    parameters
}

#[test]
fn hash_bin_spends_what_was_asked_for() {
    let mut epsilons = awkward();
    let mut rng = seeded(4);
    epsilons.retain(|&e| bounds::EPSILON_RANGE.contains(e) && rng.next_u32().is_multiple_of(8));
    epsilons.extend([0.001, 0.01, 0.25, 1.0, 2.0, 12.0f64.next_down(), 12.0]);
    let whole: BigUint = BigUint::from(1u8) << 64;
    let (mut signs, mut bins) = (0, 0);
    for hash_bin in hash_bin_parameters() {
        for &epsilon in &epsilons {
            let case = || format!("{hash_bin:?}, ε = {epsilon:?}");
            let sampling = hash_bin.response_distribution(Some(100), epsilon);
            let effective = sampling.effective_epsilon();
            assert!(effective <= epsilon, "{}", case());
            let lost = epsilon - effective;
            let Some(noise) = sampling.laplace_noise() else {
                // P(plus) over P(minus), for a sum at the clip.
                let lean = ExpLowerBound::new(epsilon).sign_probability_difference(5, 5) >> 1;
                let plus = BigUint::from((1u64 << 63) + lean);
                let ratio = Exact::new_raw(plus.clone(), &whole - plus);
                assert!(ratio <= Exp::of(effective).low_ratio(), "{}", case());
                let below = Exp::of(effective - 2e-14).high_ratio();
                assert!(ratio >= below, "{effective:?}: {}", case());
                assert!(lost <= 1e-11, "{lost:e}: {}", case());
                signs += 1;
                continue;
            };
            // The loss of one step is the noise's rate, a double, times Δ.
            let spent = noise.rate() * hash_bin.sensitivity() as f64;
            assert!((spent / effective - 1.0).abs() <= 1e-15, "{}", case());
            assert!(lost < 2f64.powi(-24), "{lost:e}: {}", case());
            // The bounds of bins leave room for 45 scales beyond s values of 1.
            let limit = sampling.noisy_bin_limit().unwrap() as f64;
            assert!(limit >= 45.0 / noise.rate(), "{}", case());
            assert!(limit < 2f64.powi(53), "{}", case());
            bins += 1;
        }
    }
    assert!(signs >= 400 && bins >= 5000, "{signs} {bins}");
}

#[test]
#[should_panic(expected = "the requested ε covers the loss")]
fn a_loss_above_the_requested_is_refused() {
    // The bound is tight: e < 2.7183.
    let _ = privacy_loss_of_ratio(WeightAndCount(27_183, 1), WeightAndCount(10_000, 1), 1.0);
}
