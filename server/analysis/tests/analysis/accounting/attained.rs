//! Worst case of small batches, by every histogram of buckets that n people can send.
//!
//! It is compared with the proven bound and with P1's reduction. Only direct encoding is claimed to
//! attain the reduction.

use std::collections::BTreeMap;

use hushbin::domain::{Domain, SignedItem};
use hushbin::mechanism::window::{self, Window};
use hushbin::mechanism::{coco, collision};
use hushbin::{Entry, Mechanism, Task, TaskDraft};
use hushbin_analysis::accounting::{BatchPrivacy, ReportMixture, compute_batch_privacy};
use hushbin_tests::mixtures::heaviest;
use serde_json::{Value, json};

/// Probability of each histogram. Four bits count the reports of a bucket.
type Histograms = BTreeMap<u32, f64>;

/// Adds one report with these probabilities of the buckets.
fn more(histograms: &Histograms, report: &[f64]) -> Histograms {
    let mut sum = Histograms::new();
    for (histogram, p) in histograms {
        for (bucket, way) in report.iter().enumerate() {
            *sum.entry(histogram + (1 << (4 * bucket))).or_default() += p * way;
        }
    }
    sum
}

fn divergence(p: &Histograms, q: &Histograms, central: f64) -> f64 {
    p.iter()
        .map(|(seen, p)| (p - central.exp() * q[seen]).max(0.0))
        .sum()
}

/// Reports that people can send, by bucket, and the pairs of inputs to distinguish.
struct People {
    reports: Vec<Vec<f64>>,
    pairs: Vec<[usize; 2]>,
}

impl People {
    /// Every set of c of t buckets is some person's favoured set. By symmetry of the buckets, pairs
    /// differ only in overlap.
    fn favouring(c: u32, t: u32, epsilon: f64) -> Self {
        let sets: Vec<u32> = (0..1_u32 << t)
            .filter(|set| set.count_ones() == c)
            .collect();
        let omega = f64::from(c) * epsilon.exp() + f64::from(t - c);
        let weight = |set: u32, bucket: u32| {
            if set >> bucket & 1 == 1 {
                epsilon.exp()
            } else {
                1.0
            }
        };
        let report = |&set: &u32| (0..t).map(|bucket| weight(set, bucket) / omega).collect();
        let apart = |overlap| {
            sets.iter()
                .position(|set| (set & sets[0]).count_ones() == overlap)
        };
        Self {
            reports: sets.iter().map(report).collect(),
            pairs: (0..c).filter_map(apart).map(|other| [0, other]).collect(),
        }
    }

    /// Returns all inputs of a task without shared buckets. A seed then only renames the buckets.
    fn of(task: &Task) -> Self {
        let domain = task.questions()[0].domain();
        let items = domain.item_count().unwrap();
        let mut inputs = vec![Vec::new()];
        for item in 0..u64::from(items) {
            let with = |input: &Vec<SignedItem>, negative| {
                [
                    &input[..],
                    &[SignedItem {
                        item,
                        is_negative: negative,
                    }],
                ]
                .concat()
            };
            let more: Vec<_> = inputs
                .iter()
                .flat_map(|input| [with(input, false), with(input, true)])
                .collect();
            inputs.extend(more);
        }
        inputs.retain(|input| input.len() <= domain.sparsity() as usize);
        let reports: Vec<Vec<f64>> = match task.questions()[0].mechanism() {
            Mechanism::Collision(collision) => {
                let mut randomizer = collision::Randomizer::new(collision, &domain, task.epsilon());
                inputs
                    .iter()
                    .map(|input| randomizer.exact_bucket_probabilities(0, input))
                    .collect()
            }
            Mechanism::Coco(coco) => {
                let mut randomizer = coco::Randomizer::new(coco, &domain, task.epsilon());
                // Paddings have random signs.
                let signs = 1_u64 << domain.sparsity();
                let mut average = |input: &Vec<SignedItem>| {
                    let mut sum = vec![0.0; coco.buckets_per_hash() as usize];
                    for paddings in 0..signs {
                        let under = randomizer.exact_bucket_probabilities(0, input, paddings);
                        for (sum, p) in sum.iter_mut().zip(under) {
                            *sum += p / signs as f64;
                        }
                    }
                    sum
                };
                inputs.iter().map(&mut average).collect()
            }
            Mechanism::HashBin(_) | Mechanism::Window(_) | Mechanism::Pattern(_) => {
                unreachable!("no task here is of them")
            }
        };
        let all = 0..reports.len();
        let pairs = all
            .clone()
            .flat_map(|a| all.clone().map(move |b| [a, b]))
            .filter(|[a, b]| a < b);
        Self {
            pairs: pairs.collect(),
            reports,
        }
    }

    /// Returns all tuples of levels, under a seed that draws each attribute.
    fn of_window(window: &Window, attributes: u32, epsilon: f64) -> Self {
        let randomizer =
            window::Randomizer::new(window, &Domain::of_dense_inputs(attributes), epsilon);
        let levels = window.level_count();
        let report = |tuple: u32| {
            let level = |item: u32| tuple / levels.pow(item) % levels;
            let last = f64::from(window.favoured_atom_value_sum(levels - 1));
            let entry = |item: u32| Entry {
                item: item.into(),
                value: f64::from(window.favoured_atom_value_sum(level(item))) / last,
            };
            let tuple: Vec<Entry> = (0..attributes).map(entry).collect();
            randomizer.cell_probabilities(0, &tuple)
        };
        let reports: Vec<Vec<f64>> = (0..levels.pow(attributes)).map(report).collect();
        let all = 0..reports.len();
        let pairs = all
            .clone()
            .flat_map(|a| all.clone().map(move |b| [a, b]))
            .filter(|[a, b]| a < b);
        Self {
            pairs: pairs.collect(),
            reports,
        }
    }

    /// Returns the greatest δ of a batch of n at each ε_c, over all inputs of the other people.
    fn worst(&self, n: u32, centrals: &[f64]) -> Vec<f64> {
        let mut worst = vec![0.0; centrals.len()];
        let nobody = Histograms::from([(0, 1.0)]);
        self.visit(n - 1, 0, &nobody, &mut |others| {
            for pair in &self.pairs {
                let [p, q] = pair.map(|input| more(others, &self.reports[input]));
                for (&central, worst) in centrals.iter().zip(&mut worst) {
                    *worst = divergence(&p, &q, central)
                        .max(divergence(&q, &p, central))
                        .max(*worst);
                }
            }
        });
        worst
    }

    /// Visits the batches with `left` more people, in the order of inputs.
    fn visit(
        &self,
        left: u32,
        first: usize,
        others: &Histograms,
        found: &mut impl FnMut(&Histograms),
    ) {
        if left == 0 {
            return found(others);
        }
        for input in first..self.reports.len() {
            self.visit(left - 1, input, &more(others, &self.reports[input]), found);
        }
    }

    /// Returns the batch's δ at `central_epsilon` and at `reduction_lower_epsilon`.
    fn against(&self, n: u32, account: &BatchPrivacy) -> [f64; 2] {
        let found = self.worst(
            n,
            &[account.central_epsilon, account.reduction_lower_epsilon],
        );
        [found[0], found[1]]
    }
}

/// Returns whether the batch's δ is below the target at the reduction's lower side, if that side is
/// above 0.
fn less_than_said(lower: f64, account: &BatchPrivacy) -> bool {
    account.reduction_lower_epsilon > 0.0 && lower <= account.delta * (1.0 - 1e-6)
}

/// The proven ε_c always suffices. The reduction's lower side is more than enough in some batches
/// with t < 3c, and never with t ≥ 3c.
#[test]
fn favoured_sets_that_leave_no_third_need_not_attain_the_reduction() {
    let mut less = Vec::new();
    for (t, most) in [(2, 5), (3, 5), (4, 4), (5, 3), (6, 3)] {
        for c in 1..t {
            for epsilon in [0.5, 2.0] {
                let people = People::favouring(c, t, epsilon);
                for n in 2..=most {
                    for delta in [0.1, 0.01, 1e-4] {
                        let found =
                            compute_batch_privacy(&heaviest(c, t, epsilon), n.into(), 1.0, delta)
                                .unwrap();
                        let at = format!("{c} of {t}, ε = {epsilon}, n = {n}: {found:?}");
                        let [proven, lower] = people.against(n, &found);
                        assert!(proven <= delta * (1.0 + 1e-9), "{at}: {proven}");
                        assert!(!found.reduction_attained, "{at}");
                        if less_than_said(lower, &found) {
                            less.push((c, t, n));
                            assert!(t < 3 * c, "{at}: {lower}");
                        }
                    }
                }
            }
        }
    }
    assert!(
        less.contains(&(3, 4, 4)) && less.contains(&(1, 2, 5)),
        "{less:?}"
    );
}

/// Batches of the window, under one seed that draws all attributes, have at most the proven loss.
/// They attain the reduction if this is claimed.
#[test]
fn windows_give_away_no_more_than_is_proven() {
    let mut attained = 0;
    for (attributes, atoms, favoured, most) in [
        (1, 2, 1, 5),
        (1, 3, 1, 5),
        (1, 4, 1, 4),
        (1, 4, 2, 4),
        (1, 5, 2, 4),
        (1, 7, 2, 3),
        (2, 2, 1, 4),
    ] {
        let values: Vec<u32> = (1..=atoms / 2).collect();
        let window = Window::new(attributes, atoms, favoured, values).unwrap();
        let mechanism = Mechanism::Window(window.clone());
        for epsilon in [0.5, 2.0] {
            let domain = Domain::of_dense_inputs(attributes);
            let mixture = ReportMixture::for_mechanism(&mechanism, &domain, epsilon).unwrap();
            let people = People::of_window(&window, attributes, epsilon);
            for n in 2..=most {
                for delta in [0.1, 0.01, 1e-4] {
                    let found = compute_batch_privacy(&mixture, n.into(), 1.0, delta).unwrap();
                    let at = format!("{window:?}, ε = {epsilon}, n = {n}: {found:?}");
                    let [proven, lower] = people.against(n, &found);
                    assert!(proven <= delta * (1.0 + 1e-9), "{at}: {proven}");
                    let expected = favoured == 1 && window.atom_combination_count() > 2;
                    assert_eq!(found.reduction_attained, expected);
                    if found.reduction_attained {
                        attained += 1;
                        assert!(!less_than_said(lower, &found), "{at}: {lower}");
                    }
                }
            }
        }
    }
    assert!(attained > 20, "{attained}");
}

/// The documented ε_c of this batch, to four digits.
#[test]
fn three_of_four_buckets_give_away_less_than_the_reduction_says() {
    let people = People::favouring(3, 4, 2.0);
    let found = compute_batch_privacy(&heaviest(3, 4, 2.0), 4, 1.0, 0.01).unwrap();
    assert!(
        (found.reduction_lower_epsilon - 1.2784).abs() < 5e-5,
        "{found:?}"
    );
    let around = people.worst(4, &[1.2063, 1.2065]);
    assert!(around[0] > 0.01 && around[1] < 0.01, "{around:?}");
}

fn task(
    name: &str,
    rule: &str,
    favoured: Option<u32>,
    [items, sparsity, buckets]: [u32; 3],
) -> Task {
    let mut mechanism = json!({
        "name": name, "rule": rule, "hashing": "balanced", "buckets": buckets,
    });
    if let Some(favoured) = favoured {
        mechanism["favoured"] = json!(favoured);
    }
    let draft: Value = json!({
        "id": "t", "items": items, "sparsity": sparsity, "epsilon": 1.0, "value": "sign",
        "mechanism": mechanism,
    });
    let draft: TaskDraft = serde_json::from_value(draft).unwrap();
    draft.resolve_task().unwrap()
}

/// The reduction is attained if this is claimed. Otherwise, if elements have separate buckets, some
/// loss is smaller.
#[test]
fn direct_encoding_attains_the_reduction_where_that_is_said() {
    let mut attained = 0;
    for (name, rule, favoured, size, most) in [
        ("collision", "occupied", None, [1, 1, 3], 5),
        ("collision", "occupied", None, [1, 1, 5], 4),
        ("collision", "occupied", None, [2, 2, 6], 3),
        ("collision", "heaviest", Some(1), [1, 1, 4], 4),
        ("collision", "heaviest", Some(2), [1, 1, 4], 4),
        ("collision", "heaviest", Some(1), [2, 2, 6], 3),
        ("collision", "heaviest", Some(2), [2, 2, 6], 3),
        ("collision", "heaviest", Some(3), [2, 2, 7], 3),
        ("coco", "overwrite", None, [1, 1, 4], 5),
        ("coco", "overwrite", None, [2, 2, 8], 3),
        ("coco", "strongest", Some(1), [1, 1, 4], 5),
        ("coco", "strongest", Some(2), [1, 1, 4], 5),
        ("coco", "strongest", Some(1), [2, 2, 8], 3),
        ("coco", "strongest", Some(2), [2, 2, 8], 3),
        ("coco", "strongest", Some(3), [2, 2, 8], 3),
    ] {
        let task = task(name, rule, favoured, size);
        let mixture = ReportMixture::for_task(&task).unwrap();
        let people = People::of(&task);
        let mut less = 0;
        for n in 2..=most {
            for delta in [0.1, 0.01, 1e-3, 1e-5] {
                let found = compute_batch_privacy(&mixture, n.into(), 1.0, delta).unwrap();
                let at = format!("{rule} {favoured:?}, {size:?}, n = {n}: {found:?}");
                let [proven, lower] = people.against(n, &found);
                assert!(proven <= delta * (1.0 + 1e-9), "{at}: {proven}");
                assert_eq!(found.reduction_attained, mixture.attains_reduction());
                less += u32::from(less_than_said(lower, &found));
            }
        }
        let at = format!("{rule} {favoured:?}, {size:?}: {less}");
        assert_eq!(mixture.attains_reduction(), less == 0, "{at}");
        assert_eq!(
            mixture.attains_reduction(),
            favoured.is_none_or(|c| c == size[1]),
            "{at}"
        );
        attained += u32::from(mixture.attains_reduction());
    }
    assert_eq!(attained, 9);
}

/// Shared buckets, independent hashes, and unknown randomizers.
#[test]
fn nothing_else_is_said_to_attain_it() {
    let attains = |task: &Task| ReportMixture::for_task(task).unwrap().attains_reduction();
    assert!(attains(&task("collision", "occupied", None, [4, 4, 12])));
    assert!(!attains(&task("collision", "occupied", None, [4, 4, 11])));
    assert!(attains(&task("coco", "overwrite", None, [4, 4, 16])));
    assert!(!attains(&task("coco", "overwrite", None, [4, 4, 14])));
    let of = |text: Value| {
        let draft: TaskDraft = serde_json::from_value(text).unwrap();
        attains(&draft.resolve_task().unwrap())
    };
    let independent = json!({
        "name": "collision", "rule": "occupied", "hashing": "independent", "buckets": 12,
    });
    for items in [json!(4), json!("open")] {
        assert!(!of(json!({
            "id": "t", "items": items, "sparsity": 4, "epsilon": 1.0, "value": "sign",
            "mechanism": independent,
        })));
    }
    assert!(!of(json!({
        "id": "t", "items": 4, "sparsity": 4, "epsilon": 1.0, "value": "sign",
        "mechanism": { "name": "hash-bin", "level": "user" },
    })));
    assert!(
        !ReportMixture::for_any_randomizer(1.0)
            .unwrap()
            .attains_reduction()
    );
}
