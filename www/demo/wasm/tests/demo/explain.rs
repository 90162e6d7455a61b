//! Tests of explained reports, against the randomizer that makes them and the definitions.

use hushbin::domain::SignedItem;
use hushbin::mechanism::{collision, hash_bin, window};
use hushbin::{ErrorCode, Randomizer, Report, Task, Upload, UploadId};
use hushbin_analysis::estimate::Estimand;
use hushbin_demo::explain::{
    AnswerPlacement, EpsilonScope, ExplainError, Explainer, MeasuredBound, Outcome, Reported,
    UploadFieldName,
};
use hushbin_tests::uploads::draft;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const COLLISIONS: [&str; 3] = [
    r#"{ "name": "collision", "rule": "heaviest", "favoured": 2, "hashing": "balanced", "buckets": 6 }"#,
    r#"{ "name": "collision", "rule": "heaviest", "favoured": 4, "hashing": "independent", "buckets": 5 }"#,
    r#"{ "name": "collision", "rule": "occupied", "hashing": "balanced", "buckets": 5 }"#,
];
const COCOS: [&str; 3] = [
    r#"{ "name": "coco", "rule": "strongest", "favoured": 2, "hashing": "balanced", "buckets": 6 }"#,
    r#"{ "name": "coco", "rule": "strongest", "favoured": 1, "hashing": "balanced", "buckets": 2 }"#,
    r#"{ "name": "coco", "rule": "strongest", "favoured": 3, "hashing": "independent", "buckets": 8 }"#,
];
const USER: &str = r#"{ "name": "hash-bin", "level": "user", "clip": 1.5, "noise": "two-point",
    "hashing": "balanced", "bins": 1, "grid": 1024 }"#;
const EVENT: &str =
    r#"{ "name": "hash-bin", "level": "event", "hashing": "balanced", "bins": 3, "grid": 64 }"#;

/// Mechanisms whose reports have few possible responses.
fn discrete() -> impl Iterator<Item = &'static str> {
    COLLISIONS.into_iter().chain(COCOS).chain([USER])
}

fn task(mechanism: &str, epsilon: f64) -> Task {
    let json = format!(
        r#"{{ "id": "explained", "items": ["a", "b", "c", "d"], "sparsity": 3,
            "epsilon": {epsilon}, "value": "sign", "mechanism": {mechanism} }}"#
    );
    draft(&json).resolve_task().unwrap()
}

fn explainer(mechanism: &str) -> Explainer {
    Explainer::new(&task(mechanism, 2.0)).unwrap()
}

fn signed(values: &[(u64, bool)]) -> Vec<SignedItem> {
    let signed = |&(item, negative)| SignedItem {
        item,
        is_negative: negative,
    };
    values.iter().map(signed).collect()
}

/// Answers: yes to a, no to c.
fn answers() -> Vec<SignedItem> {
    signed(&[(0, false), (2, true)])
}

/// Makes reports of answers, one upload each.
fn uploads(task: &Task, answers: &[SignedItem], count: usize) -> Vec<Vec<u8>> {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut randomizer = Randomizer::new(task);
    let entry = |signed: &SignedItem| hushbin::Entry {
        item: signed.item,
        value: if signed.is_negative { -1.0 } else { 1.0 },
    };
    let input: Vec<_> = answers.iter().map(entry).collect();
    let mut upload = || {
        let report = randomizer.randomize(&input, &mut rng).unwrap().report;
        let reports = vec![report];
        let id = UploadId([9; 16]);
        Upload { id, reports }.encode(&task.fingerprint())
    };
    (0..count).map(|_| upload()).collect()
}

/// Lists all possible reports under a seed.
fn reports(task: &Task, seed: u64) -> Vec<Report> {
    let of = |bucket| collision::Report { seed, bucket };
    match task.questions()[0].mechanism() {
        hushbin::Mechanism::Collision(collision) => (0..collision.total_buckets())
            .map(|bucket| Report::Collision(of(bucket)))
            .collect(),
        hushbin::Mechanism::Coco(coco) => (0..coco.total_buckets())
            .map(|bucket| Report::Coco(of(bucket)))
            .collect(),
        hushbin::Mechanism::HashBin(_) => [true, false]
            .map(|plus| {
                let response = hash_bin::RandomisedResponse::Sign(plus);
                Report::HashBin(hash_bin::Report { seed, response })
            })
            .to_vec(),
        hushbin::Mechanism::Pattern(pattern) => (0..pattern.output_count())
            .map(|bucket| Report::Pattern(of(bucket)))
            .collect(),
        hushbin::Mechanism::Window(window) => (0..window.atom_combination_count())
            .map(|bucket| Report::Window(window::Report { seed, bucket }))
            .collect(),
    }
}

/// Returns the probabilities of all possible reports, in the order of [`reports`].
fn chances(placement: &AnswerPlacement) -> Vec<f64> {
    match placement {
        AnswerPlacement::Buckets { buckets, .. } => buckets.iter().map(|one| one.chance).collect(),
        AnswerPlacement::Sides { pairs } => pairs
            .iter()
            .flat_map(|pair| [pair.plus.chance, pair.minus.chance])
            .collect(),
        AnswerPlacement::Sign { plus, minus, .. } => vec![plus.chance, minus.chance],
        AnswerPlacement::Bins { .. } | AnswerPlacement::Atoms { .. } => Vec::new(),
    }
}

#[test]
fn uploads_are_taken_apart_as_they_were_encoded() {
    for mechanism in discrete().chain([EVENT]) {
        let (task, explainer) = (task(mechanism, 2.0), explainer(mechanism));
        for upload in uploads(&task, &answers(), 40) {
            let found = explainer.dissect_upload(&upload).unwrap();
            let mut end = 0;
            for part in &found.parts {
                assert_eq!(part.from, end);
                end = part.to;
            }
            assert_eq!(end, upload.len());
            let bytes = |name| {
                let part = found.parts.iter().find(|part| part.name == name).unwrap();
                &upload[part.from..part.to]
            };
            assert_eq!(bytes(UploadFieldName::Version), [1]);
            assert_eq!(bytes(UploadFieldName::Task), task.fingerprint().0);
            assert_eq!(bytes(UploadFieldName::Id), [9; 16]);
            assert_eq!(bytes(UploadFieldName::Count), [1]);
            let (seed, response) = (
                bytes(UploadFieldName::Seed),
                bytes(UploadFieldName::Response),
            );
            let seed = u64::from_le_bytes(seed.try_into().unwrap());
            match (
                &found.response,
                explainer.decode_sole_report(&upload).unwrap(),
            ) {
                (Reported::Bucket { bucket }, Report::Collision(report)) => {
                    assert_eq!((report.seed, report.bucket), (seed, *bucket));
                    assert_eq!(response, [*bucket as u8]);
                }
                (Reported::Side { pair, plus }, Report::Coco(report)) => {
                    assert_eq!(report.seed, seed);
                    assert_eq!(report.bucket, 2 * pair + u32::from(!plus));
                }
                (Reported::Sign { plus }, Report::HashBin(report)) => {
                    assert_eq!(report.seed, seed);
                    assert_eq!(response, [u8::from(*plus)]);
                }
                (Reported::Bins { values }, Report::HashBin(report)) => {
                    let hash_bin::RandomisedResponse::Bins(steps) = report.response else {
                        panic!("{report:?}")
                    };
                    let scaled: Vec<f64> = steps.iter().map(|&step| step as f64 / 64.0).collect();
                    assert_eq!(*values, scaled);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn other_uploads_are_refused() {
    let (task, explainer) = (task(COLLISIONS[0], 2.0), explainer(COLLISIONS[0]));
    let upload = uploads(&task, &[], 1).remove(0);
    let mut two = Upload::decode(&upload, &task).unwrap();
    two.reports.push(two.reports[0].clone());
    let two = two.encode(&task.fingerprint());
    assert_eq!(
        explainer.dissect_upload(&two),
        Err(ExplainError::NotOneReport(2))
    );
    let code = |bytes: &[u8]| match explainer.dissect_upload(bytes) {
        Err(ExplainError::InvalidArgument(error)) => error.code(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(&upload[..upload.len() - 1]), ErrorCode::Malformed);
    assert_eq!(code(&[&upload[..], &[0]].concat()), ErrorCode::Malformed);
    assert_eq!(
        code(&[&[2], &upload[1..]].concat()),
        ErrorCode::UnsupportedVersion
    );
    assert_eq!(code(&[]), ErrorCode::Malformed);
}

#[test]
fn answers_are_items_of_the_task() {
    let explainer = explainer(COLLISIONS[0]);
    let named = explainer.signed_answers([("c", -1), ("a", 1)]).unwrap();
    assert_eq!(named, answers());
    let missing = explainer.signed_answers([("e", 1)]).unwrap_err();
    assert_eq!(missing.code(), "no-item");
    let all = ["a", "b", "c", "d"].map(|name| (name, 1));
    let many = explainer.signed_answers(all).unwrap_err();
    assert_eq!(
        many,
        ExplainError::TooManyAnsweredItems { given: 4, most: 3 }
    );
}

#[test]
fn only_small_closed_tasks_are_explained() {
    let refused = |json: &str| Explainer::new(&draft(json).resolve_task().unwrap()).unwrap_err();
    for json in [
        r#"{ "id": "open", "items": "open", "sparsity": 2, "epsilon": 1.0, "value": "sign" }"#,
        r#"{ "id": "large", "items": 40, "sparsity": 13, "epsilon": 1.0, "value": "sign" }"#,
    ] {
        assert_eq!(refused(json), ExplainError::TaskTooLarge);
    }
}

#[test]
fn every_answer_and_padding_falls_somewhere() {
    for mechanism in discrete().chain([EVENT]) {
        let (task, explainer) = (task(mechanism, 2.0), explainer(mechanism));
        for upload in uploads(&task, &answers(), 40) {
            let report = explainer.decode_sole_report(&upload).unwrap();
            let contrary = signed(&[(0, true), (2, false)]);
            let [own, other] =
                [answers(), contrary].map(|answers| explainer.place(&answers, &report).unwrap());
            match (own, other) {
                (AnswerPlacement::Buckets { buckets, shared }, _) => {
                    let held: usize = buckets.iter().map(|one| one.answers.len()).sum();
                    let paddings: u32 = buckets.iter().map(|one| one.paddings).sum();
                    assert_eq!((held, paddings), (2, 1));
                    // 2·4 + 3 elements.
                    let balanced = mechanism.contains("balanced");
                    let per_bucket = 11_u32.div_ceil(buckets.len() as u32);
                    assert_eq!(shared, balanced.then_some(per_bucket));
                }
                (
                    AnswerPlacement::Sides { pairs: own },
                    AnswerPlacement::Sides { pairs: other },
                ) => {
                    let paddings: u32 = own.iter().map(|pair| pair.paddings).sum();
                    assert_eq!(paddings, 1);
                    for (own, other) in own.iter().zip(&other) {
                        // The opposite answers push to the other sides.
                        let items = |outcome: &Outcome| {
                            outcome
                                .answers
                                .iter()
                                .map(|one| one.item)
                                .collect::<Vec<_>>()
                        };
                        assert_eq!(items(&own.plus), items(&other.minus));
                        assert_eq!(items(&own.minus), items(&other.plus));
                    }
                }
                (
                    AnswerPlacement::Sign { sum, plus, minus },
                    AnswerPlacement::Sign { sum: contrary, .. },
                ) => {
                    assert_eq!(sum, plus.answers.len() as f64 - minus.answers.len() as f64);
                    assert_eq!(sum, -contrary);
                }
                (AnswerPlacement::Bins { bins }, AnswerPlacement::Bins { bins: other }) => {
                    assert_eq!(bins.iter().map(|bin| bin.answers.len()).sum::<usize>(), 2);
                    for (bin, other) in bins.iter().zip(&other) {
                        let pushes = bin.answers.iter().map(|one| f64::from(one.push));
                        assert_eq!(bin.sum, pushes.sum::<f64>());
                        assert_eq!(bin.sum, -other.sum);
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Inputs of several sizes, one of which exceeds the sparsity.
#[test]
fn chances_are_those_of_reports_and_keep_to_epsilon() {
    let inputs = [
        answers(),
        Vec::new(),
        signed(&[(0, true), (1, false), (3, false)]),
        signed(&[(0, true), (1, false), (2, false), (3, false)]),
        signed(&[(1, true)]),
    ];
    let bound = f64::exp(2.0) * (1.0 + 1e-12);
    for mechanism in discrete() {
        let (task, explainer) = (task(mechanism, 2.0), explainer(mechanism));
        for seed in 0..40 {
            let reports = reports(&task, seed);
            let tables = inputs.each_ref().map(|input| {
                let chances = chances(&explainer.place(input, &reports[0]).unwrap());
                assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for (chance, report) in chances.iter().zip(&reports) {
                    let likelihood = explainer.log_likelihood(input, report).unwrap();
                    assert!((chance.ln() - likelihood).abs() < 1e-12);
                }
                chances
            });
            for one in &tables {
                for other in &tables {
                    assert!(one.iter().zip(other).all(|(p, q)| p / q <= bound));
                }
            }
        }
    }
}

/// The average probability of the drawn responses must be the expected sum of squares. It would
/// differ if the probabilities were not the randomizer's.
#[test]
fn chances_are_those_of_the_randomizer() {
    for mechanism in discrete() {
        let (task, explainer) = (task(mechanism, 2.0), explainer(mechanism));
        let (mut sum, mut squares) = (0.0, 0.0);
        for upload in uploads(&task, &answers(), 5000) {
            let report = explainer.decode_sole_report(&upload).unwrap();
            let expected: f64 = chances(&explainer.place(&answers(), &report).unwrap())
                .iter()
                .map(|p| p * p)
                .sum();
            let drawn = explainer.log_likelihood(&answers(), &report).unwrap().exp();
            sum += drawn - expected;
            squares += (drawn - expected).powi(2);
        }
        // Five standard errors. By chance the deviation is larger for one seed in 10⁶.
        assert!(
            f64::abs(sum) < 5.0 * f64::sqrt(squares),
            "{mechanism}: {sum}"
        );
        assert!(squares / 5000.0 > 1e-5, "{mechanism}");
    }
}

#[test]
fn noisy_bins_have_probabilities_that_sum_to_one() {
    let one = EVENT.replace(r#""bins": 3"#, r#""bins": 1"#);
    let explainer = explainer(&one);
    let likelihood = |steps| {
        let response = hash_bin::RandomisedResponse::Bins(vec![steps]);
        let report = Report::HashBin(hash_bin::Report { seed: 3, response });
        explainer.log_likelihood(&answers(), &report).unwrap().exp()
    };
    let sum: f64 = (-40 * 64..=40 * 64).map(likelihood).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    // 2/ε.
    assert!((explainer.noise_scale().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn noisy_bins_stay_within_epsilon_for_one_answer_and_twice_that_for_two() {
    let explainer = explainer(EVENT);
    assert_eq!(explainer.epsilon_scope(), EpsilonScope::Entry);
    let flipped = [
        signed(&[(0, true), (2, true)]),
        signed(&[(0, false)]),
        signed(&[(0, false), (1, false), (2, true)]),
    ];
    let both = signed(&[(0, true), (2, false)]);
    for seed in 0..100 {
        let response = hash_bin::RandomisedResponse::Bins(
            [-3, 0, 5].map(|bin| 64 * bin + seed as i64).to_vec(),
        );
        let report = Report::HashBin(hash_bin::Report { seed, response });
        let likelihood = |input: &[SignedItem]| explainer.log_likelihood(input, &report).unwrap();
        let loss = |input: &[SignedItem]| (likelihood(&answers()) - likelihood(input)).abs();
        assert!(flipped.iter().all(|input| loss(input) <= 2.0 + 1e-9));
        assert!(loss(&both) <= 4.0 + 1e-9);
    }
}

/// At ε = 8 the noise has a scale of 1/4. A sum with a wrong bin or sign would be off by a whole
/// number.
#[test]
fn noisy_bins_centre_on_the_sums_of_the_randomizer() {
    let task = task(EVENT, 8.0);
    let explainer = Explainer::new(&task).unwrap();
    let mut off = 0.0;
    for upload in uploads(&task, &answers(), 4000) {
        let Reported::Bins { values } = explainer.dissect_upload(&upload).unwrap().response else {
            panic!("bins are reported")
        };
        let report = explainer.decode_sole_report(&upload).unwrap();
        let AnswerPlacement::Bins { bins } = explainer.place(&answers(), &report).unwrap() else {
            panic!("answers fall into bins")
        };
        off += bins
            .iter()
            .zip(values)
            .map(|(bin, value)| (value - bin.sum).abs())
            .sum::<f64>();
    }
    // |noise| has a mean and a standard deviation of 1/4, up to the grid. Six standard errors of
    // the mean over 12,000 bins are 0.014.
    assert!((off / 12_000.0 - 0.25).abs() < 0.014, "{off}");
}

#[test]
fn beliefs_move_by_the_likelihood_ratio_and_never_past_the_bound() {
    for mechanism in discrete() {
        let (task, explainer) = (task(mechanism, 2.0), explainer(mechanism));
        for seed in 0..40 {
            for report in reports(&task, seed) {
                let found = explainer
                    .belief_in_claim(&answers(), &report, 0, 1, 0.3)
                    .unwrap();
                let [least, most] = found.bounds;
                assert!(least - 1e-12 <= found.after && found.after <= most + 1e-12);
                let likelihood = |values: &[(u64, bool)]| {
                    let input = signed(values);
                    explainer.log_likelihood(&input, &report).unwrap().exp()
                };
                let contrary =
                    0.5 * (likelihood(&[(0, true), (2, true)]) + likelihood(&[(2, true)]));
                let ratio = likelihood(&[(0, false), (2, true)]) / contrary;
                assert!((found.ratio - ratio).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn what_reports_tell_is_what_is_estimated() {
    assert_eq!(explainer(COCOS[0]).estimands(), [Estimand::Mean]);
    assert_eq!(explainer(EVENT).estimands(), [Estimand::Mean]);
    assert_eq!(
        explainer(COLLISIONS[0]).estimands(),
        Estimand::RATING_ESTIMANDS
    );
}

/// Audits 10,000 reports of each input, made at ε by the task's randomizer.
fn audited(mechanism: &str, epsilon: f64) -> MeasuredBound {
    let explainer = Explainer::new(&task(mechanism, 1.0)).unwrap();
    let made = task(mechanism, epsilon);
    let mut audit = explainer.audit();
    for (which, input) in explainer.extreme_inputs().iter().enumerate() {
        for uploads in uploads(&made, input, 10_000).chunks(500) {
            let packed: Vec<u8> = uploads.iter().flat_map(|one| &one[34..]).copied().collect();
            audit
                .add_reports(which, uploads.len() as u32, &packed)
                .unwrap();
        }
    }
    audit.measure_bound(0.999)
}

/// The measured logarithm has a standard error below 0.05, and at least 0.1 is subtracted from it.
/// With a tolerance of 0.1, this fails by chance for one seed in 10⁶.
#[test]
fn an_audit_stays_below_what_is_kept_and_catches_twice_that() {
    for mechanism in [COLLISIONS[0], COCOS[1], USER, EVENT] {
        let kept = audited(mechanism, 1.0).empirical_lower_bound;
        assert!((0.5..1.1).contains(&kept), "{mechanism}: {kept}");
        let broken = audited(mechanism, 2.0);
        let bound = broken.empirical_lower_bound;
        assert!((1.2..2.1).contains(&bound), "{mechanism}: {bound}");
        assert_eq!((broken.likelier.trials, broken.other.trials), (7500, 7500));
    }
}

#[test]
fn an_audit_refuses_what_are_no_reports() {
    let mut audit = explainer(COLLISIONS[0]).audit();
    assert_eq!(
        audit.add_reports(0, 2, &[0; 9]).unwrap_err().code(),
        "parameter"
    );
    assert_eq!(audit.add_reports(0, 1, &[0; 9]), Ok(()));
}
