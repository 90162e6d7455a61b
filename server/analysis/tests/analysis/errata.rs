//! Tests of the errata that concern shuffling.
//!
//! The loss of a batch of shuffled reports is computed from the reports' own probabilities, without
//! the papers' reduction. It is compared with the reduction, for the printed α and the right one,
//! and with the proven bound.
//!
//! The tables of `analysis/src/docs/errata.md` are those computed here.

use std::f64::consts::LN_2;

use crate::support::reduction::{Pair, Reduction, divergence, least_central};
use hushbin::domain::{Domain, SignedItem};
use hushbin::mechanism::collision::{Collision, Randomizer};
use hushbin::{Mechanism, Task, TaskDraft};
use hushbin_analysis::accounting::{BatchPrivacy, ReportMixture, compute_batch_privacy};
use hushbin_tests::errata::assert_table;
use serde_json::{Value, json};
use statrs::function::factorial::ln_factorial;

/// Returns every batch of n reports, by the number of reports in each class of buckets. One
/// person's report falls into the classes with probabilities `p` or `q`, the other people's with
/// probabilities `others`.
fn batches(n: u64, p: &[f64], q: &[f64], others: &[f64]) -> Vec<Pair> {
    fn visit(left: u64, class: usize, counts: &mut Vec<u64>, batch: &mut impl FnMut(&[u64])) {
        if class == 1 {
            counts.push(left);
            batch(counts);
            counts.pop();
            return;
        }
        for count in 0..=left {
            counts.push(count);
            visit(left - count, class - 1, counts, batch);
            counts.pop();
        }
    }
    let mut batches = Vec::new();
    visit(n, p.len(), &mut Vec::new(), &mut |counts| {
        let cells = || counts.iter().zip(others);
        let log = |(&count, &p): (&u64, &f64)| count as f64 * p.ln() - ln_factorial(count);
        let everybody = (ln_factorial(n) + cells().map(log).sum::<f64>()).exp();
        // Each of the n reports is that person's with the same probability.
        let with = |own: &[f64]| {
            let ratios = cells()
                .zip(own)
                .map(|((&c, other), own)| c as f64 * own / other);
            everybody * ratios.sum::<f64>() / n as f64
        };
        batches.push((with(p), with(q)));
    });
    batches
}

/// Collision as in P1 over four items, four to a person, in twelve buckets. That is one bucket for
/// each signed item and padding, so none share a bucket.
struct Direct {
    domain: Domain,
    mixture: ReportMixture,
    collision: Collision,
    epsilon: f64,
}

const SPARSITY: u32 = 4;
const BUCKETS: u32 = 12;

impl Direct {
    fn new(epsilon: f64) -> Self {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "direct", "items": 4, "sparsity": SPARSITY, "epsilon": epsilon, "value": "sign",
            "mechanism": {
                "name": "collision", "rule": "occupied", "hashing": "balanced", "buckets": BUCKETS,
            },
        }))
        .unwrap();
        let task: Task = draft.resolve_task().unwrap();
        let Mechanism::Collision(collision) = task.questions()[0].mechanism() else {
            unreachable!("the task is one of Collision")
        };
        Self {
            domain: task.questions()[0].domain(),
            mixture: ReportMixture::for_task(&task).unwrap(),
            collision: *collision,
            epsilon,
        }
    }

    /// Returns the probabilities of the buckets for three people who share no element: one with
    /// every item at +1, one with every item at −1, one with none.
    fn rows(&self, seed: u64) -> [Vec<f64>; 3] {
        let mut randomizer = Randomizer::new(&self.collision, &self.domain, self.epsilon);
        let all = |negative| -> Vec<SignedItem> {
            (0..4)
                .map(|item| SignedItem {
                    item,
                    is_negative: negative,
                })
                .collect()
        };
        [all(false), all(true), vec![]]
            .map(|input| randomizer.exact_bucket_probabilities(seed, &input))
    }

    /// Returns the probabilities by the person whose favoured bucket it is. Under every seed each
    /// bucket is favoured by one of the three.
    fn classes(&self, seed: u64) -> [[f64; 3]; 3] {
        let rows = self.rows(seed);
        let mut classes = [[0.0; 3]; 3];
        for bucket in 0..BUCKETS as usize {
            let favours = |person: &usize| rows[*person][bucket] > 1.0 / f64::from(BUCKETS);
            let class: Vec<usize> = (0..3).filter(favours).collect();
            assert_eq!(class.len(), 1, "seed {seed}, bucket {bucket}");
            for (class_of, row) in classes.iter_mut().zip(&rows) {
                class_of[class[0]] += row[bucket];
            }
        }
        classes
    }

    /// Returns the first person against the second, in a crowd of the third.
    fn batches(&self, n: u64) -> Vec<Pair> {
        let [p, q, others] = self.classes(0);
        batches(n, &p, &q, &others)
    }

    /// Returns the same batches by brute force: every report that each of n people can send, under
    /// a separate seed each, and every person that a report can belong to.
    fn by_enumeration(&self, n: u32) -> Vec<Pair> {
        let rows: Vec<_> = (1..=u64::from(n)).map(|seed| self.rows(seed)).collect();
        let mut batches = Vec::new();
        for mut sent in 0..u64::from(BUCKETS).pow(n) {
            let mut bucket = || {
                let bucket = sent % u64::from(BUCKETS);
                sent /= u64::from(BUCKETS);
                bucket as usize
            };
            let likelihoods: Vec<[f64; 3]> = rows
                .iter()
                .map(|rows| (bucket(), rows))
                .map(|(bucket, rows)| [0, 1, 2].map(|person| rows[person][bucket]))
                .collect();
            let with = |person: usize| {
                let as_nth = |nth: usize| -> f64 {
                    let others = likelihoods.iter().enumerate();
                    others
                        .map(|(i, row)| row[if i == nth { person } else { 2 }])
                        .product()
                };
                (0..n as usize).map(as_nth).sum::<f64>() / f64::from(n)
            };
            batches.push((with(0), with(1)));
        }
        batches
    }

    fn omega(&self) -> f64 {
        f64::from(SPARSITY) * self.epsilon.exp() + f64::from(BUCKETS - SPARSITY)
    }

    fn right(&self, n: u64) -> Reduction {
        Reduction {
            alpha: f64::from(SPARSITY) / self.omega(),
            epsilon: self.epsilon,
            n,
        }
    }

    fn printed(&self, n: u64) -> Reduction {
        let right = self.right(n);
        Reduction {
            alpha: right.alpha * self.epsilon.exp_m1(),
            ..right
        }
    }
}

fn assert_close(ours: f64, exact: f64, relative: f64, what: &str) {
    let off = (ours - exact).abs();
    assert!(off <= relative * exact.abs(), "{what}: {ours}, {exact}");
}

/// Three ways to compute a divergence agree, and the direct sum agrees with independently computed
/// numbers.
#[test]
fn divergences_are_computed_rightly() {
    let direct = Direct::new(0.3);
    for seed in 0..1000 {
        let same = direct.classes(seed);
        for (row, first) in same
            .iter()
            .flatten()
            .zip(direct.classes(0).iter().flatten())
        {
            assert_close(*row, *first, 1e-14, "a class");
        }
    }
    for n in 1..=4 {
        let (slow, fast) = (direct.by_enumeration(n), direct.batches(u64::from(n)));
        for central in [0.0, 0.05, 0.1, 0.2, 0.29] {
            let (slow, fast) = (divergence(&slow, central), divergence(&fast, central));
            assert_close(fast, slow, 1e-10, "by classes");
        }
    }
    for reduction in [direct.right(600), direct.printed(600), generic(0.3, 600)] {
        let all = reduction.all();
        let whole: f64 = all.iter().map(|(p, _)| p).sum();
        assert_close(whole, 1.0, 1e-10, "the whole");
        for central in [0.0, 0.005, 0.02] {
            let (slow, fast) = (divergence(&all, central), reduction.divergence(central));
            assert_close(fast, slow, 1e-9, "by totals");
        }
    }
    let small = |row: &Reference| row.reduction.n <= 10_000;
    let known: Vec<Reference> = reference().into_iter().filter(small).collect();
    known.iter().for_each(Reference::check);
    assert!(known.len() > 50, "{}", known.len());
}

/// Row of independently computed numbers.
#[derive(Debug)]
struct Reference {
    rule: String,
    s: u64,
    t: f64,
    reduction: Reduction,
    delta: f64,
    central: f64,
}

impl Reference {
    /// Checks ε_c to one part in 10⁶.
    fn check(&self) {
        let at = |factor: f64| self.reduction.divergence(self.central * factor);
        assert!(at(1.0 + 1e-6) < self.delta, "{self:?}");
        assert!(at(1.0 - 1e-6) > self.delta, "{self:?}");
    }
}

fn reference() -> Vec<Reference> {
    let rows = include_str!("../../../../tests/reference/amplification.json");
    let rows: Vec<Value> = serde_json::from_str(rows).unwrap();
    let number = |row: &Value, field: &str| row[field].as_f64().unwrap();
    rows.iter()
        .map(|row| Reference {
            rule: row["rule"].as_str().unwrap_or_default().to_owned(),
            s: row["s"].as_u64().unwrap_or_default(),
            t: row["t"].as_f64().unwrap_or_default(),
            reduction: Reduction {
                alpha: number(row, "alpha"),
                epsilon: number(row, "epsilon"),
                n: row["n"].as_u64().unwrap(),
            },
            delta: number(row, "delta"),
            central: number(row, "epsilon_central"),
        })
        .collect()
}

const DELTA: f64 = 1e-4;
const N: u64 = 600;

/// P1's α of Collision, s(e − 1)/Ω: below ε = ln 2 the mechanism itself breaks its bound. With s/Ω
/// the reduction is attained if the other people differ from both.
#[test]
fn the_printed_alpha_of_collision_is_broken() {
    // A handful of reports already breaks it.
    let direct = Direct::new(0.3);
    for n in 1..=4 {
        let truth = divergence(&direct.by_enumeration(n), 0.1);
        let (n, right) = (u64::from(n), direct.right(u64::from(n)).divergence(0.1));
        assert_close(right, truth, 1e-9, "s/Ω");
        assert!(direct.printed(n).divergence(0.1) < 0.9 * truth, "n = {n}");
    }

    let rows: Vec<String> = [0.1, 0.3, 0.5, LN_2, 0.8]
        .into_iter()
        .map(|epsilon| {
            let direct = Direct::new(epsilon);
            let batches = direct.batches(N);
            let truth = least_central(epsilon, DELTA, |central| divergence(&batches, central));
            let (printed, right) = (direct.printed(N), direct.right(N));
            let (low, met) = (printed.central(DELTA), right.central(DELTA));
            assert_close(met, truth, 1e-6, "s/Ω");
            let proven = compute_batch_privacy(&direct.mixture, N, 1.0, DELTA).unwrap();
            let proven = proven.central_epsilon;
            assert!(truth < proven && proven < 1.02 * truth, "{proven}, {truth}");
            if epsilon < LN_2 {
                assert!(printed.divergence(low) <= DELTA && divergence(&batches, low) > DELTA);
            } else {
                assert!(low >= truth * (1.0 - 1e-6));
            }
            format!(
                "| {epsilon:.2} | {:.4} | {:.4} | {low:.4} | {met:.4} | {truth:.4} | {proven:.4} |",
                printed.alpha, right.alpha
            )
        })
        .collect();
    assert_table(
        "| ε | s(e − 1)/Ω | s/Ω | ε_c by the printed | ε_c by the right | ε_c by enumeration | proven |",
        &rows,
    );
    // Beyond (1 + √13)/2 the printed value makes P(neither) negative.
    let edge = ((1.0 + 13_f64.sqrt()) / 2.0).ln();
    assert!(Direct::new(edge - 1e-6).printed(N).rest() > 0.0);
    assert!(Direct::new(edge + 1e-6).printed(N).rest() < 0.0);
}

/// Reduction with the α of any ε-LDP randomizer.
fn generic(epsilon: f64, n: u64) -> Reduction {
    Reduction {
        alpha: 1.0 / (epsilon.exp() + 1.0),
        epsilon,
        n,
    }
}

fn generic_printed(epsilon: f64) -> Reduction {
    let right = generic(epsilon, N);
    Reduction {
        alpha: right.alpha * epsilon.exp_m1(),
        ..right
    }
}

/// P1's α of any randomizer, (e − 1)/(e + 1): randomised response on one bit and Collision break
/// its bound; 1/(e + 1) bounds both.
#[test]
fn the_printed_alpha_of_any_randomizer_is_broken() {
    let rows: Vec<String> = [0.1, 0.3, 0.5]
        .into_iter()
        .map(|epsilon: f64| {
            let e = epsilon.exp();
            let right = generic(epsilon, N);
            let printed = generic_printed(epsilon);
            let (yes, no) = ([e, 1.0], [1.0, e]);
            let [yes, no] = [yes, no].map(|weights| weights.map(|weight| weight / (e + 1.0)));
            let bits = batches(N, &yes, &no, &no);
            let collision = Direct::new(epsilon).batches(N);
            let [bits, collision] = [bits, collision].map(|batches| {
                least_central(epsilon, DELTA, |central| divergence(&batches, central))
            });
            let (low, high) = (printed.central(DELTA), right.central(DELTA));
            assert!(low < bits && low < collision);
            assert!(high >= bits && high >= collision);
            format!(
                "| {epsilon:.2} | {:.4} | {:.4} | {low:.4} | {high:.4} | {bits:.4} | {collision:.4} |",
                printed.alpha, right.alpha
            )
        })
        .collect();
    assert_table(
        "| ε | (e − 1)/(e + 1) | 1/(e + 1) | ε_c by the printed | ε_c by the right | randomised response | Collision |",
        &rows,
    );
    assert!(generic_printed(LN_2 - 1e-6).rest() > 0.0);
    assert!(generic_printed(LN_2 + 1e-6).rest() < 0.0);
}

/// P2 Theorem 3 against the numeric value.
#[test]
fn the_closed_form_is_far_from_tight() {
    let known = reference();
    let points = [
        (1, 0.1),
        (1, 1.0),
        (1, 4.0),
        (4, 0.1),
        (4, 0.5),
        (4, 1.0),
        (16, 1.0),
        (16, 2.0),
        (64, 0.1),
        (64, 1.0),
    ];
    let rows: Vec<String> = points
        .into_iter()
        .map(|(s, epsilon)| {
            let of = |row: &&Reference| {
                let Reduction { epsilon: of, n, .. } = row.reduction;
                row.rule == "occupied" && row.s == s && of == epsilon && n == 100_000
            };
            let row = known.iter().find(of).unwrap();
            row.check();
            let &Reference { t, central, .. } = row;
            let omega = s as f64 * epsilon.exp() + t - s as f64;
            assert_close(row.reduction.alpha, s as f64 / omega, 1e-12, "s/Ω");
            let sparse = Sparse {
                epsilon,
                c: s as u32,
                t: t as u32,
            };
            let n = row.reduction.n;
            let square = 14.0 * (2.0 / row.delta).ln() * omega / (n as f64 - 1.0);
            let printed = square.sqrt();
            assert!(printed > 5.0 * central);
            let proven = sparse.account(n, row.delta).central_epsilon;
            assert!(proven < central * (1.0 + 5e-4), "{proven}, {central}");
            let ratio = printed / central;
            format!("| {s} | {t} | {epsilon} | {printed:.3} | {central:.5} | {ratio:.0} |")
        })
        .collect();
    assert_table(
        "| s | t | ε | P2 Theorem 3 | P1 Theorem 1, right α | ratio |",
        &rows,
    );
}

/// Reports that favour c of t buckets, by three people who share as few as possible. If c > t − c,
/// every bucket is favoured by at least two of them.
#[derive(Debug, Clone, Copy)]
struct Sparse {
    epsilon: f64,
    c: u32,
    t: u32,
}

impl Sparse {
    /// Returns the probabilities, for each of three inputs, of the buckets that single out the
    /// first, the second and the third, and of the remaining buckets.
    fn rows(&self) -> [Vec<f64>; 3] {
        let single = self.c.min(self.t - self.c);
        assert!(3 * single <= self.t, "{self:?}");
        let e = self.epsilon.exp();
        let (inside, outside) = if 2 * self.c > self.t {
            (1.0, e)
        } else {
            (e, 1.0)
        };
        let omega = f64::from(self.c) * e + f64::from(self.t - self.c);
        let sizes = [single, single, single, self.t - 3 * single];
        [0, 1, 2].map(|input| {
            let weight = |class| if class == input { inside } else { outside };
            let classes = sizes.iter().enumerate().filter(|&(_, size)| *size > 0);
            classes
                .map(|(class, &size)| f64::from(size) * weight(class) / omega)
                .collect()
        })
    }

    /// Returns the first person against the second, in a crowd of people like the first, and in one
    /// of the third.
    fn crowds(&self, n: u64) -> [Vec<Pair>; 2] {
        let [p, q, third] = self.rows();
        [batches(n, &p, &q, &p), batches(n, &p, &q, &third)]
    }

    fn reduction(&self, n: u64) -> Reduction {
        let single = f64::from(self.c.min(self.t - self.c));
        let c = f64::from(self.c);
        Reduction {
            alpha: single / (c * self.epsilon.exp() + f64::from(self.t) - c),
            epsilon: self.epsilon,
            n,
        }
    }

    fn account(&self, n: u64, delta: f64) -> BatchPrivacy {
        let draft: TaskDraft = serde_json::from_value(json!({
            "id": "sparse", "items": 40, "sparsity": 4, "epsilon": self.epsilon, "value": "sign",
            "mechanism": {
                "name": "collision", "rule": "heaviest", "favoured": self.c, "buckets": self.t,
            },
        }))
        .unwrap();
        let mixture = ReportMixture::for_task(&draft.resolve_task().unwrap()).unwrap();
        compute_batch_privacy(&mixture, n, 1.0, delta).unwrap()
    }
}

/// Two people with three answers already break the reduction.
#[test]
fn two_reports_break_the_reduction() {
    let answers = Sparse {
        epsilon: 1.0,
        c: 1,
        t: 3,
    };
    let e = 1_f64.exp();
    let square = (e + 2.0).powi(-2);
    let [alike, _] = answers.crowds(2);
    for k in [(e * e + 1.0) / (e + 1.0) + 1e-9, 2.4, 2.6, e - 0.01] {
        let central = k.ln();
        let truth = divergence(&alike, central);
        assert_close(truth, e * (e - k) * square, 1e-9, "two people");
        let reduction = answers.reduction(2).divergence(central);
        assert_close(reduction, (e - k) * square, 1e-9, "the reduction");
    }
}

/// P1's Theorem 1, with the right α, fails if reports may be uninformative. The bound of the
/// privacy blanket is valid, and only slightly larger in large batches.
#[test]
fn the_reduction_is_broken_in_small_batches() {
    let points = [
        (1.0, 1, 3, 2, 1e-2),
        (1.0, 4, 17, 20, 1e-6),
        (1.0, 4, 17, 20, 1e-9),
        (1.0, 5, 7, 20, 1e-9),
        (3.0, 1, 20, 100, 1e-9),
        (1.0, 4, 17, 1000, 1e-8),
        (1.0, 4, 17, 1_000_000, 1e-8),
    ];
    let rows: Vec<String> = points
        .into_iter()
        .map(|(epsilon, c, t, n, delta)| {
            let sparse = Sparse { epsilon, c, t };
            let found = sparse.account(n, delta);
            let (reduction, proven) = (found.reduction_epsilon.unwrap(), found.central_epsilon);
            assert!(proven > reduction);
            if n <= 1000 {
                let slow = sparse.reduction(n).central(delta);
                assert_close(reduction, slow, 1e-6, "the reduction");
            }
            let crowds = if n > 100 {
                ["–", "–"].map(str::to_owned)
            } else {
                let truths = sparse.crowds(n).map(|crowd| {
                    assert!(divergence(&crowd, proven) <= delta * (1.0 + 1e-9));
                    least_central(epsilon, delta, |central| divergence(&crowd, central))
                });
                let [alike, third] = truths;
                assert!(alike.max(third) > 1.05 * reduction, "{truths:?}");
                truths.map(|truth| format!("{truth:.5}"))
            };
            let [alike, third] = crowds;
            let above = proven / reduction - 1.0;
            format!(
                "| {epsilon} | {c} | {t} | {n} | {delta:e} | {reduction:.5} | {alike} | {third} | {proven:.5} | {above:.1e} |",
            )
        })
        .collect();
    assert_table(
        "| ε | c | t | n | δ | ε_c by the reduction | others like the first | others like the third | proven | above the reduction by |",
        &rows,
    );
}
