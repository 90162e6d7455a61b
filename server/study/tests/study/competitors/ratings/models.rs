//! Models of the mechanisms for ratings: lists of all reports with their probabilities, computed
//! from the stated parameters.

use hushbin::Entry;
use hushbin_study::competitors::ratings::{
    HarmonyMechanism, HashedSignBitOracle, KFoldRepetition, NaivePerturbation, OneSparseOracle,
    OracleSetting, PUBLISHED_RATING_ORACLES, PckvGrr, PckvProbabilities, PckvUe, PrivKv,
    PrivKvThreeAnswers, PrivacyUnit, RatingOracle, ReportSums, SignedItemHashOracle,
    SingleEntrySampling,
};
use hushbin_study::competitors::{SupportProbabilities, TwoPointMechanism};

/// Returns a setting with these parameters, a δ for the mechanisms that need one, and a distance L.
pub(super) fn setting(items: u32, sparsity: u32, epsilon: f64) -> OracleSetting {
    OracleSetting {
        item_count: items,
        sparsity,
        epsilon,
        delta: 1e-5,
        protected_distance: 2.5,
    }
}

/// Function that returns the probability of every report for an input. The order of reports is the
/// same for all inputs.
pub(super) type Law = Box<dyn Fn(&[Entry]) -> Vec<f64>>;

/// Mechanism with the list of all its reports.
pub(super) struct Model {
    pub(super) name: &'static str,
    pub(super) protects: PrivacyUnit,
    pub(super) oracle: Box<dyn RatingOracle>,
    pub(super) law: Law,
    /// Contribution of each report to the sums: the presence of every item, then the sign of every
    /// item.
    pub(super) heard: Vec<Vec<f64>>,
}

/// Returns the sums as one list.
pub(super) fn listed(heard: &ReportSums) -> Vec<f64> {
    heard
        .presence_counts
        .iter()
        .chain(&heard.sign_sums)
        .copied()
        .collect()
}

/// Returns the contribution of a report that has a presence and a sign for one item.
fn at(items: u32, item: u32, presence: f64, sign: f64) -> Vec<f64> {
    let mut heard = ReportSums::new(items);
    if item < items {
        heard.presence_counts[item as usize] = presence;
        heard.sign_sums[item as usize] = sign;
    }
    listed(&heard)
}

/// Content of a slot: an item with a value, or a dummy.
#[derive(Clone, Copy)]
enum Slot {
    Entry(u32, f64),
    Dummy(u32),
}

/// Returns exactly s slots: the entries, then dummies.
fn slots(input: &[Entry], sparsity: u32) -> Vec<Slot> {
    assert!(input.len() <= sparsity as usize);
    let entry = |slot: u32| {
        let entry = input.get(slot as usize);
        let dummy = || Slot::Dummy(slot - input.len() as u32);
        entry.map_or_else(dummy, |entry| Slot::Entry(entry.item as u32, entry.value))
    };
    (0..sparsity).map(entry).collect()
}

/// Returns an input's value of an item; `None` if the input does not have the item.
fn value(input: &[Entry], item: u32) -> Option<f64> {
    let entry = input.iter().find(|entry| entry.item == u64::from(item));
    entry.map(|entry| entry.value)
}

/// Returns the average of these distributions.
fn average(laws: &[Vec<f64>]) -> Vec<f64> {
    let report = |i: usize| laws.iter().map(|law| law[i]).sum::<f64>() / laws.len() as f64;
    (0..laws[0].len()).map(report).collect()
}

/// Returns the probabilities that a number is rounded to 1 and to −1.
fn rounded(value: f64) -> [f64; 2] {
    [(1.0 + value) / 2.0, (1.0 - value) / 2.0]
}

/// Returns all vectors of length `places` with digits below `each`. The first digit varies fastest.
fn vectors(places: u32, each: u32) -> Vec<Vec<u32>> {
    let digits = |index: u32| (0..places).map(|j| index / each.pow(j) % each).collect();
    (0..each.pow(places)).map(digits).collect()
}

fn harmony(setting: &OracleSetting) -> (Law, Vec<Vec<f64>>) {
    let (d, points) = (
        setting.item_count,
        *HarmonyMechanism::new(setting)
            .unwrap()
            .two_point_mechanism(),
    );
    let heard = (0..d).flat_map(|j| [1.0, -1.0].map(|sign| at(d, j, 0.0, sign)));
    let law = move |input: &[Entry]| {
        let item = |j| response(&points, value(input, j).unwrap_or(0.0));
        let all = (0..d).flat_map(item);
        all.map(|p| p / f64::from(d)).collect()
    };
    (Box::new(law), heard.collect())
}

fn response(points: &TwoPointMechanism, value: f64) -> [f64; 2] {
    [
        points.plus_probability(value),
        points.plus_probability(-value),
    ]
}

/// Returns the model of a report that names one of the d items and has one of three answers:
/// absent, + or −.
fn three(d: u32, offset: f64, answers: [[f64; 3]; 3]) -> (Law, Vec<Vec<f64>>) {
    let item = |j| {
        [(0.0, 0.0), (1.0, 1.0), (1.0, -1.0)]
            .map(|(presence, sign)| at(d, j, presence - offset, sign))
    };
    let [absent, plus, minus] = answers;
    let law = move |input: &[Entry]| {
        let item = |j| match value(input, j) {
            None => absent,
            Some(value) => {
                let [up, down] = rounded(value);
                std::array::from_fn(|i| up * plus[i] + down * minus[i])
            }
        };
        let all = (0..d).flat_map(item);
        all.map(|p| p / f64::from(d)).collect()
    };
    (Box::new(law), (0..d).flat_map(item).collect())
}

fn privkv(setting: &OracleSetting, oracle: &PrivKv) -> (Law, Vec<Vec<f64>>) {
    let [p, sign] = oracle.truth_probabilities();
    let (own, other) = (p * sign, p * (1.0 - sign));
    let fair = (1.0 - p) / 2.0;
    let answers = [
        [p, fair, fair],
        [1.0 - p, own, other],
        [1.0 - p, other, own],
    ];
    three(setting.item_count, 1.0 - p, answers)
}

fn three_answers(setting: &OracleSetting) -> (Law, Vec<Vec<f64>>) {
    let SupportProbabilities {
        own_answer_probability: p,
        other_answer_probability: q,
    } = PrivKvThreeAnswers::new(setting)
        .unwrap()
        .response_probabilities();
    let answers = [[p, q, q], [q, p, q], [q, q, p]];
    three(setting.item_count, 2.0 * q, answers)
}

/// Returns the model of PCKV-UE. A report is a vector over items and dummies with the values
/// nothing, + and −.
fn ue(setting: &OracleSetting) -> (Law, Vec<Vec<f64>>) {
    let (d, s) = (setting.item_count, setting.sparsity);
    let PckvProbabilities {
        drawn_item_probability: a,
        other_item_probability: b,
        true_sign_probability: p,
        ..
    } = PckvUe::new(setting).unwrap().response_probabilities();
    let all = vectors(d + s, 3);
    let heard = |report: &Vec<u32>| {
        let items = || report[..d as usize].iter();
        let presence = items().map(|&told| f64::from(told.min(1)));
        let signs = items().map(|&told| [0.0, 1.0, -1.0][told as usize]);
        presence.chain(signs).collect()
    };
    let heard = all.iter().map(heard).collect();
    let law = move |input: &[Entry]| {
        let slot = |slot: &Slot| {
            let (own, [up, down]) = match *slot {
                Slot::Entry(item, value) => (item, rounded(value)),
                Slot::Dummy(dummy) => (d + dummy, [0.5; 2]),
            };
            let own_told = [
                1.0 - a,
                a * (up * p + down * (1.0 - p)),
                a * (down * p + up * (1.0 - p)),
            ];
            let told = |(item, &told): (u32, &u32)| match (item == own, told) {
                (true, told) => own_told[told as usize],
                (false, 0) => 1.0 - b,
                (false, _) => b / 2.0,
            };
            let report = |report: &Vec<u32>| (0..).zip(report).map(told).product();
            all.iter().map(report).collect()
        };
        average(&slots(input, s).iter().map(slot).collect::<Vec<_>>())
    };
    (Box::new(law), heard)
}

/// Returns the model of PCKV-GRR. A report is an item or dummy with a sign.
fn grr(setting: &OracleSetting, oracle: &PckvGrr) -> (Law, Vec<Vec<f64>>) {
    let (d, s) = (setting.item_count, setting.sparsity);
    let PckvProbabilities {
        drawn_item_probability: a,
        true_sign_probability: p,
        ..
    } = oracle.response_probabilities();
    let heard = (0..d + s).flat_map(|j| [1.0, -1.0].map(|sign| at(d, j, 1.0, sign)));
    let law = move |input: &[Entry]| {
        let slot = |slot: &Slot| {
            let (own, [up, down]) = match *slot {
                Slot::Entry(item, value) => (item, rounded(value)),
                Slot::Dummy(dummy) => (d + dummy, [0.5; 2]),
            };
            let told = |j| match j == own {
                true => [
                    a * (up * p + down * (1.0 - p)),
                    a * (down * p + up * (1.0 - p)),
                ],
                false => [(1.0 - a) / f64::from(d + s - 1) / 2.0; 2],
            };
            (0..d + s).flat_map(told).collect()
        };
        average(&slots(input, s).iter().map(slot).collect::<Vec<_>>())
    };
    (Box::new(law), heard.collect())
}

/// Function that returns the probability of every answer about a slot, and the contribution of
/// every answer to the sums.
type Answers = (Box<dyn Fn(Slot) -> Vec<f64>>, Vec<Vec<f64>>);

/// Returns the model of OLH's answers. An outcome is the set of elements in the reported bucket,
/// with one bit for each signed item and each dummy. Hash functions map elements to independent
/// buckets.
fn hits(setting: &OracleSetting) -> Answers {
    let d = setting.item_count;
    let hash = SignedItemHashOracle::new(setting).unwrap();
    let SupportProbabilities {
        own_answer_probability: p,
        other_answer_probability: q,
    } = hash.local_hash().support_probabilities();
    let elements = 2 * d + setting.sparsity;
    let heard = |set: u32| {
        let hit = |element: u32| f64::from(set >> element & 1);
        let presence = (0..d).map(|j| hit(2 * j) + hit(2 * j + 1));
        let signs = (0..d).map(|j| hit(2 * j) - hit(2 * j + 1));
        presence.chain(signs).collect()
    };
    let of = move |own: u32| {
        let element = move |set: u32, element: u32| {
            let p = if element == own { p } else { q };
            if set >> element & 1 == 1 { p } else { 1.0 - p }
        };
        let set = move |set: u32| (0..elements).map(|e| element(set, e)).product::<f64>();
        (0..1 << elements).map(set).collect::<Vec<f64>>()
    };
    let slot = move |slot: Slot| match slot {
        Slot::Dummy(dummy) => of(2 * d + dummy),
        Slot::Entry(item, value) => mixed(value, &[of(2 * item), of(2 * item + 1)]),
    };
    (Box::new(slot), (0..1 << elements).map(heard).collect())
}

/// Returns the distribution for a value, as a mixture of the distributions for the values 1 and −1.
fn mixed(value: f64, ends: &[Vec<f64>; 2]) -> Vec<f64> {
    let [up, down] = rounded(value);
    let both = ends[0].iter().zip(&ends[1]);
    both.map(|(plus, minus)| up * plus + down * minus).collect()
}

/// Returns the model of one-bit answers. An outcome consists of the hashed signs of all items and
/// the bit.
fn bits(setting: &OracleSetting) -> Answers {
    let d = setting.item_count;
    let points = *HashedSignBitOracle::new(setting)
        .unwrap()
        .two_point_mechanism();
    let all = move || (0..2_u32 << d).map(move |bits| (bits >> 1, bits & 1 == 0));
    let sign = |set: u32, item: u32| [1.0, -1.0][(set >> item & 1) as usize];
    let heard = move |(set, up): (u32, bool)| {
        let answer = if up { 1.0 } else { -1.0 };
        let signs = (0..d).map(|item| answer * sign(set, item));
        vec![0.0; d as usize].into_iter().chain(signs).collect()
    };
    let slot = move |slot: Slot| {
        let answer = |(set, up): (u32, bool)| {
            let value = match slot {
                Slot::Dummy(_) => 0.0,
                Slot::Entry(item, value) => value * sign(set, item),
            };
            points.plus_probability(if up { value } else { -value }) / f64::from(1 << d)
        };
        all().map(answer).collect()
    };
    (Box::new(slot), all().map(heard).collect())
}

/// Returns the model of sampling: the report is an answer about one random slot.
fn sampled(s: u32, (answer, heard): Answers) -> (Law, Vec<Vec<f64>>) {
    let law = move |input: &[Entry]| {
        let laws: Vec<Vec<f64>> = slots(input, s).into_iter().map(&answer).collect();
        average(&laws)
    };
    (Box::new(law), heard)
}

/// Returns the model of k-fold repetition with one or two slots, in random order or in the order of
/// items.
fn repeated(s: u32, random: bool, (answer, heard): Answers) -> (Law, Vec<Vec<f64>>) {
    let add = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| a + b).collect();
    let all = match s {
        1 => heard,
        2 => (heard.iter())
            .flat_map(|first| heard.iter().map(move |second| add(first, second)))
            .collect(),
        _ => panic!("one or two slots are listed"),
    };
    let law = move |input: &[Entry]| {
        let answers: Vec<Vec<f64>> = slots(input, s).into_iter().map(&answer).collect();
        let [first, second] = match &answers[..] {
            [only] => return only.clone(),
            [first, second] => [first, second],
            _ => panic!("one or two slots are listed"),
        };
        let ordered = |a: &Vec<f64>, b: &Vec<f64>| {
            let pairs = a.iter().flat_map(|p| b.iter().map(move |q| p * q));
            pairs.collect::<Vec<f64>>()
        };
        let [forth, back] = [ordered(first, second), ordered(second, first)];
        if random {
            average(&[forth, back])
        } else {
            forth
        }
    };
    (Box::new(law), all)
}

/// Returns the distribution of k-fold repetition with OLH, for one or two slots.
pub(super) fn repeated_hits(setting: &OracleSetting, random: bool) -> Law {
    repeated(setting.sparsity, random, hits(setting)).0
}

/// Returns the distribution of k-fold repetition with one-bit answers, for one or two slots.
pub(super) fn repeated_bits(setting: &OracleSetting, random: bool) -> Law {
    repeated(setting.sparsity, random, bits(setting)).0
}

/// Returns the model of naive perturbation. A report has a sign for every coordinate.
pub(super) fn naive(setting: &OracleSetting, oracle: &NaivePerturbation) -> (Law, Vec<Vec<f64>>) {
    let (d, points) = (setting.item_count, *oracle.two_point_mechanism());
    let heard = |set: Vec<u32>| {
        let signs = set.into_iter().map(|down| [1.0, -1.0][down as usize]);
        vec![0.0; d as usize].into_iter().chain(signs).collect()
    };
    let law = move |input: &[Entry]| {
        let coordinate = |(item, &down): (u32, &u32)| {
            response(&points, value(input, item).unwrap_or(0.0))[down as usize]
        };
        let report = |set: Vec<u32>| (0..).zip(&set).map(coordinate).product();
        vectors(d, 2).into_iter().map(report).collect()
    };
    (
        Box::new(law),
        vectors(d, 2).into_iter().map(heard).collect(),
    )
}

/// Returns the models of all mechanisms whose reports can be listed. These are all mechanisms
/// except those that add noise to every coordinate.
pub(super) fn models(setting: &OracleSetting) -> Vec<Model> {
    let s = setting.sparsity;
    let listed = |name: &str| match name {
        "Harmony" => Some(harmony(setting)),
        "PrivKV" => Some(privkv(
            setting,
            &PrivKv::with_published_budget_split(setting).unwrap(),
        )),
        "PrivKV, calibrated" => Some(privkv(
            setting,
            &PrivKv::with_calibrated_budget_split(setting).unwrap(),
        )),
        "PrivKV, three answers" => Some(three_answers(setting)),
        "PCKV-UE" => Some(ue(setting)),
        "PCKV-GRR" => Some(grr(
            setting,
            &PckvGrr::without_amplification(setting).unwrap(),
        )),
        "PCKV-AGRR" => Some(grr(setting, &PckvGrr::with_amplification(setting).unwrap())),
        "sampling, OLH" => Some(sampled(s, hits(setting))),
        "sampling, one bit" => Some(sampled(s, bits(setting))),
        "k-fold, OLH" => Some(repeated(s, true, hits(setting))),
        "k-fold, one bit" => Some(repeated(s, true, bits(setting))),
        "naive bits, event" => Some(naive(
            setting,
            &NaivePerturbation::with_event_level_privacy(setting).unwrap(),
        )),
        "naive bits, user" => Some(naive(
            setting,
            &NaivePerturbation::with_user_level_privacy(setting).unwrap(),
        )),
        other => {
            let noise = other.starts_with("Gaussian") || other.starts_with("Laplace");
            assert!(noise, "{other} is not listed");
            None
        }
    };
    // Mechanisms from the registry equal those that are constructed directly.
    assert_eq!(
        SingleEntrySampling::<SignedItemHashOracle>::new(setting)
            .unwrap()
            .report_estimate_moments(),
        named("sampling, OLH", setting).report_estimate_moments()
    );
    assert_eq!(
        KFoldRepetition::<HashedSignBitOracle>::new(setting)
            .unwrap()
            .report_estimate_moments(),
        named("k-fold, one bit", setting).report_estimate_moments()
    );
    let model = |named: &hushbin_study::competitors::ratings::NamedOracle| {
        let (law, heard) = listed(named.name)?;
        Some(Model {
            name: named.name,
            protects: named.privacy_unit,
            oracle: (named.build)(setting).unwrap(),
            law,
            heard,
        })
    };
    PUBLISHED_RATING_ORACLES.iter().filter_map(model).collect()
}

/// Returns the mechanism with this name in the registry.
pub(super) fn named(name: &str, setting: &OracleSetting) -> Box<dyn RatingOracle> {
    let named = PUBLISHED_RATING_ORACLES
        .iter()
        .find(|named| named.name == name);
    (named.unwrap().build)(setting).unwrap()
}

/// Returns all inputs of at most `most` entries with these values.
pub(super) fn inputs(items: u32, most: u32, values: &[f64]) -> Vec<Vec<Entry>> {
    let each = values.len() as u32 + 1;
    let input = |digits: Vec<u32>| -> Vec<Entry> {
        let entry = |(item, digit): (u64, u32)| {
            let value = *values.get(digit.checked_sub(1)? as usize)?;
            Some(Entry { item, value })
        };
        (0..).zip(digits).filter_map(entry).collect()
    };
    let all = vectors(items, each).into_iter().map(input);
    all.filter(|input| input.len() <= most as usize).collect()
}

/// Returns true if two inputs differ in at most one entry: in its value, in its item, or in its
/// presence.
fn one_entry_apart(a: &[Entry], b: &[Entry]) -> bool {
    let only = |a: &[Entry], b: &[Entry]| a.iter().filter(|entry| !b.contains(entry)).count();
    only(a, b) <= 1 && only(b, a) <= 1
}

/// Returns true if two inputs are neighbours, which ε makes indistinguishable. `distance` is the L
/// of mechanisms that protect inputs at most L apart.
pub(super) fn neighbours(protects: PrivacyUnit, distance: f64, a: &[Entry], b: &[Entry]) -> bool {
    match protects {
        PrivacyUnit::UserLevel => true,
        PrivacyUnit::EventLevel => one_entry_apart(a, b),
        PrivacyUnit::WithinDistance => {
            let items = a.iter().chain(b).map(|entry| entry.item as u32 + 1);
            let [a, b] = [a, b].map(|input| vector(items.clone().max().unwrap_or(0), input));
            let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
            apart.sum::<f64>() <= distance
        }
    }
}

/// Returns an input's values of all items, with 0 for missing entries.
pub(super) fn vector(items: u32, input: &[Entry]) -> Vec<f64> {
    let value = |item| value(input, item).unwrap_or(0.0);
    (0..items).map(value).collect()
}
