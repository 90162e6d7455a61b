//! Tests that the proven bound is valid for batches that violate P1's reduction, and that it is the
//! privacy blanket's sum.

use std::collections::BTreeMap;

use hushbin_analysis::accounting::{ReportMixture, compute_batch_privacy, delta_bounds};
use hushbin_tests::mixtures::heaviest;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// Probabilities that a report's bucket is favoured by the first of two inputs alone, by the second
/// alone, and by both.
type Kinds = [f64; 3];
/// Probabilities of the numbers of reports of each kind.
type Counts = BTreeMap<[u32; 3], f64>;

fn more(counts: &Counts, kinds: Kinds) -> Counts {
    let neither = 1.0 - kinds.iter().sum::<f64>();
    let mut sum = Counts::new();
    for (counted, p) in counts {
        *sum.entry(*counted).or_default() += p * neither;
        for (kind, way) in kinds.iter().enumerate().filter(|(_, way)| **way > 0.0) {
            let mut with = *counted;
            with[kind] += 1;
            *sum.entry(with).or_default() += p * way;
        }
    }
    sum
}

fn batch(reports: impl IntoIterator<Item = Kinds>) -> Counts {
    let start = Counts::from([([0; 3], 1.0)]);
    reports
        .into_iter()
        .fold(start, |counts, kinds| more(&counts, kinds))
}

/// Returns δ(ε_c) between two batches.
fn divergence(p: &Counts, q: &Counts, central: f64) -> f64 {
    let beyond = |(seen, p): (&[u32; 3], &f64)| {
        (p - central.exp() * q.get(seen).copied().unwrap_or(0.0)).max(0.0)
    };
    p.iter().map(beyond).sum()
}

/// Favoured sets of c of t buckets, two of which overlap in `overlap` buckets.
#[derive(Debug, Clone, Copy)]
struct Sets {
    c: u32,
    t: u32,
    overlap: u32,
    epsilon: f64,
}

impl Sets {
    /// Returns the kinds of a report whose sender favours these numbers of buckets, of either
    /// input's alone and of both inputs'.
    fn report(&self, favoured: [u32; 3]) -> Kinds {
        let e = self.epsilon.exp();
        let omega = f64::from(self.c) * e + f64::from(self.t - self.c);
        let alone = self.c - self.overlap;
        let of = [alone, alone, self.overlap];
        std::array::from_fn(|i| {
            let inside = f64::from(favoured[i]);
            (inside * e + f64::from(of[i]) - inside) / omega
        })
    }

    fn first(&self) -> Kinds {
        self.report([self.c - self.overlap, 0, self.overlap])
    }

    fn second(&self) -> Kinds {
        self.report([0, self.c - self.overlap, self.overlap])
    }

    /// Returns the greatest δ(ε_c) over batches of n. The other people have the first input, the
    /// second, both kinds or, if there is room, neither.
    fn worst(&self, n: u32, central: f64) -> f64 {
        let others = n - 1;
        let alone = self.c - self.overlap;
        let mut inputs = vec![self.first(), self.second()];
        if self.t >= 3 * self.c - self.overlap {
            inputs.push(self.report([0; 3]));
        }
        if self.overlap == 0 && alone >= 2 {
            inputs.push(self.report([alone / 2, self.c - alone / 2, 0]));
        }
        let mut worst = 0.0_f64;
        for have in &inputs {
            for also in &inputs {
                for part in [0, 1, 2, others / 2, others] {
                    let part = part.min(others) as usize;
                    let reports = std::iter::repeat_n(*have, part)
                        .chain(std::iter::repeat_n(*also, others as usize - part));
                    let others = batch(reports);
                    let (p, q) = (more(&others, self.first()), more(&others, self.second()));
                    let found = divergence(&p, &q, central).max(divergence(&q, &p, central));
                    worst = worst.max(found);
                }
            }
        }
        worst
    }
}

/// Two people and three answers: the other person has the first answer. Up to ε_c = ε only two
/// equal answers have such a loss, with e²α² against e·α².
#[test]
fn the_reduction_is_no_bound_for_two_people() {
    let epsilon = 1.0_f64;
    let e = epsilon.exp();
    let mixture = heaviest(1, 3, epsilon);
    let alpha = 1.0 / (e + 2.0);
    for central in [0.85, 0.9, 0.99] {
        let excess = e - f64::exp(central);
        let truth = e * excess * alpha * alpha;
        let reduction = delta_bounds(&mixture, 2, central)
            .unwrap()
            .reduction_upper_delta;
        assert!((reduction / (excess * alpha * alpha) - 1.0).abs() < 1e-9);
        let proven = delta_bounds(&mixture, 2, central)
            .unwrap()
            .proven_upper_delta;
        assert!(proven >= truth, "{proven}, {truth}");
        // The bound is exact here.
        assert!(proven < truth * (1.0 + 1e-9), "{proven}, {truth}");
    }
}

#[test]
fn no_batch_gives_away_more_than_is_proven() {
    let mut beyond_the_reduction = 0;
    for (c, t) in [(1, 2), (1, 3), (1, 20), (2, 5), (4, 17), (5, 7), (3, 4)] {
        for epsilon in [0.1, 1.0, 3.0] {
            let mixture = heaviest(c, t, epsilon);
            let least = (2 * c).saturating_sub(t);
            for overlap in [least, least + 1, c - 1] {
                if overlap < least || overlap >= c {
                    continue;
                }
                let sets = Sets {
                    c,
                    t,
                    overlap,
                    epsilon,
                };
                for n in [2, 3, 6, 10] {
                    for part in [0.0, 0.3, 0.7, 0.95] {
                        let central = part * epsilon;
                        let worst = sets.worst(n, central);
                        let proven = delta_bounds(&mixture, n.into(), central)
                            .unwrap()
                            .proven_upper_delta;
                        assert!(
                            worst <= proven * (1.0 + 1e-12),
                            "{sets:?}, n = {n}, ε_c = {central}: {worst}, {proven}"
                        );
                        let reduction = delta_bounds(&mixture, n.into(), central)
                            .unwrap()
                            .reduction_upper_delta;
                        beyond_the_reduction += u32::from(worst > reduction * 1.001);
                        // Bound for any ε-LDP randomizer.
                        let any = ReportMixture::for_any_randomizer(epsilon).unwrap();
                        let any = delta_bounds(&any, n.into(), central)
                            .unwrap()
                            .proven_upper_delta;
                        assert!(proven <= any * (1.0 + 1e-9), "{sets:?}: {proven}, {any}");
                    }
                }
            }
        }
    }
    // Some of the batches must exceed the reduction.
    assert!(beyond_the_reduction > 100, "{beyond_the_reduction}");
}

/// Larger batches, with many people of either input.
#[test]
fn what_is_proven_holds_for_more_people() {
    for (c, t, epsilon, n) in [(4, 17, 1.0, 20), (1, 20, 3.0, 40), (5, 7, 1.0, 20)] {
        let sets = Sets {
            c,
            t,
            overlap: (2_u32 * c).saturating_sub(t),
            epsilon,
        };
        for delta in [1e-3, 1e-6, 1e-9] {
            let found =
                compute_batch_privacy(&heaviest(c, t, epsilon), n.into(), 1.0, delta).unwrap();
            let at = |central| sets.worst(n, central);
            let proven = at(found.central_epsilon);
            assert!(
                proven <= delta * (1.0 + 1e-9) || found.central_epsilon == epsilon,
                "{found:?}: {proven}"
            );
            if delta < 1e-5 {
                assert!(at(found.reduction_epsilon.unwrap()) > delta, "{found:?}");
            }
        }
    }
}

fn rational(number: f64) -> BigRational {
    BigRational::from_float(number).unwrap()
}

/// Returns the privacy blanket's δ(ε_c) by definition, summed over the number N of other people's
/// reports in the blanket. exp(ε) and exp(ε_c) are the nearest doubles.
fn exact(c: u32, t: u32, epsilon: f64, n: u32, central: f64) -> BigRational {
    let whole = |number: u32| BigRational::from_integer(number.into());
    let (e, k) = (rational(epsilon.exp()), rational(central.exp()));
    let omega = &e * whole(c) + whole(t - c);
    let few = whole(c.min(t - c));
    let own = [&e * &few / &omega, &few / &omega];
    let blanket = [&few / whole(t), &few / whole(t)];
    let covered = whole(t) / &omega;
    let step = |counts: &BTreeMap<[u32; 2], BigRational>, ways: &[BigRational; 2]| {
        let neither = BigRational::one() - &ways[0] - &ways[1];
        let mut sum = BTreeMap::<[u32; 2], BigRational>::new();
        for (&[a, b], p) in counts {
            for (to, way) in [
                ([a + 1, b], &ways[0]),
                ([a, b + 1], &ways[1]),
                ([a, b], &neither),
            ] {
                *sum.entry(to).or_insert_with(BigRational::zero) += p * way;
            }
        }
        sum
    };
    let mut counts = BTreeMap::from([([0; 2], BigRational::one())]);
    let mut weight: BigRational = (1..n).map(|_| BigRational::one() - &covered).product();
    let mut sum = BigRational::zero();
    for known in 0..n {
        if known > 0 {
            counts = step(&counts, &blanket);
            weight = weight * whole(n - known) / whole(known) * &covered
                / (BigRational::one() - &covered);
        }
        let p = step(&counts, &own);
        let q = step(&counts, &[own[1].clone(), own[0].clone()]);
        for (seen, p) in &p {
            let excess = p - &k * &q[seen];
            if excess > BigRational::zero() {
                sum += &weight * excess;
            }
        }
    }
    sum
}

/// The proven bound is never below the blanket's sum, and hardly above.
#[test]
fn it_is_the_privacy_blanket_exactly() {
    for (c, t) in [(1, 3), (4, 17), (5, 7), (1, 300)] {
        for epsilon in [0.05, 1.0, 4.0] {
            let mixture = heaviest(c, t, epsilon);
            for n in [2, 5, 12] {
                for part in [0.0, 0.1, 0.5, 0.9] {
                    let central = part * epsilon;
                    let sum = exact(c, t, epsilon, n, central);
                    let proven = delta_bounds(&mixture, n.into(), central)
                        .unwrap()
                        .proven_upper_delta;
                    let at = format!("c = {c} of {t}, ε = {epsilon}, n = {n}, ε_c = {central}");
                    assert!(sum <= rational(proven), "{at}");
                    let sum = sum.to_f64().unwrap();
                    assert!(
                        proven <= sum * (1.0 + 1e-9) + 1e-25,
                        "{at}: {proven}, {sum}"
                    );
                }
            }
        }
    }
}
