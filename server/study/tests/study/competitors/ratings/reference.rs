//! Tests that numbers agree with an independent program, to one part in 10⁹.

use hushbin::Mechanism;
use hushbin::bounds::EPSILON_RANGE;
use hushbin::hash::HashFamily;
use hushbin::mechanism::hash_bin::{
    DEFAULT_GRID_STEPS_PER_UNIT, HashBin, PrivacyLevel, SumNoiseKind, clipped_sum_second_moment,
    share_surviving_clipping,
};
use hushbin_study::competitors::ratings::{
    EstimateMoments, HarmonyMechanism, HashedSignBitOracle, KFoldRepetition, NaivePerturbation,
    OracleSetting, PckvGrr, PckvProbabilities, PckvUe, PrivKv, PrivKvThreeAnswers, RatingOracle,
    SignedItemHashOracle, SingleEntrySampling, drafts_as_printed,
};
use hushbin_tests::contest::task;
use serde_json::{Value, json};

use super::models::named;

const REFERENCE: &str = include_str!("../../../../../../tests/reference/competitors.json");

/// Returns the rows of a kind, and checks their number.
fn rows(kind: &str, count: usize) -> Vec<Value> {
    let mut all: Value = serde_json::from_str(REFERENCE).unwrap();
    let rows = all[kind].take();
    let rows = rows.as_array().unwrap().clone();
    assert_eq!(rows.len(), count, "{kind}");
    rows
}

fn number(row: &Value, field: &str) -> f64 {
    row[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{row}: {field}"))
}

fn whole(row: &Value, field: &str) -> u32 {
    row[field].as_u64().unwrap() as u32
}

fn near(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9 * theirs.abs()
}

fn assert_near(ours: f64, row: &Value, field: &str) {
    assert!(near(ours, number(row, field)), "{row}: {field} {ours}");
}

fn setting(row: &Value, items: u32, sparsity: u32) -> OracleSetting {
    assert!(EPSILON_RANGE.contains(number(row, "epsilon")));
    OracleSetting {
        item_count: items,
        sparsity,
        epsilon: number(row, "epsilon"),
        delta: 0.0,
        protected_distance: 1.0,
    }
}

/// Returns the variances of the estimated non-missing frequency, for a person with the item and for
/// a person without it.
fn presence(moments: &EstimateMoments) -> [f64; 2] {
    moments
        .presence_moments
        .unwrap()
        .frequency_estimate_variances
}

#[test]
fn privkv_is_the_reference() {
    let (three, two): (Vec<Value>, Vec<Value>) =
        (rows("privkv", 6).into_iter()).partition(|row| row.get("three_answers").is_some());
    assert_eq!((three.len(), two.len()), (3, 3));
    for row in three {
        let setting = setting(&row, whole(&row, "d"), 1);
        let moments = PrivKvThreeAnswers::new(&setting)
            .unwrap()
            .report_estimate_moments();
        let [own, opposite, other] = moments.frequency_variances_by_sign().unwrap();
        // The opposite sign has the same variance as an absent item.
        assert!((opposite / other - 1.0).abs() < 1e-9);
        for (i, ours) in [own, other].into_iter().enumerate() {
            assert!(
                near(ours, row["variance"][i].as_f64().unwrap()),
                "{row}: {ours}"
            );
        }
    }
    for row in two {
        let setting = OracleSetting {
            item_count: whole(&row, "d"),
            sparsity: 1,
            epsilon: 1.0,
            delta: 0.0,
            protected_distance: 1.0,
        };
        let [key, value] = ["key_epsilon", "value_epsilon"].map(|field| number(&row, field));
        let own = PrivKv::with_presence_and_sign_epsilon(&setting, key, value).unwrap();
        assert_near(own.privacy_loss(), &row, "real_epsilon");
        let moments = own.report_estimate_moments();
        for (field, ours) in [
            ("presence", presence(&moments)),
            ("mean", moments.mean_variances_by_presence()),
        ] {
            for (i, ours) in ours.into_iter().enumerate() {
                assert!(
                    near(ours, row[field][i].as_f64().unwrap()),
                    "{row}: {field}, {ours}"
                );
            }
        }
    }
}

#[test]
fn pckv_is_the_reference() {
    for row in rows("pckv", 9) {
        let setting = setting(&row, whole(&row, "d"), whole(&row, "l"));
        let (rates, oracle): (PckvProbabilities, Box<dyn RatingOracle>) =
            match row["name"].as_str().unwrap() {
                "ue" => {
                    let own = PckvUe::new(&setting).unwrap();
                    (own.response_probabilities(), Box::new(own))
                }
                "grr" => {
                    let own = PckvGrr::without_amplification(&setting).unwrap();
                    (own.response_probabilities(), Box::new(own))
                }
                "agrr" => {
                    let own = PckvGrr::with_amplification(&setting).unwrap();
                    (own.response_probabilities(), Box::new(own))
                }
                other => panic!("{other}"),
            };
        assert_near(rates.drawn_item_probability, &row, "a");
        assert_near(rates.other_item_probability, &row, "b");
        assert_near(rates.true_sign_probability, &row, "p");
        assert_near(oracle.privacy_loss(), &row, "real_epsilon");
        let moments = oracle.report_estimate_moments();
        let (presence, mean) = (presence(&moments), moments.mean_variances_by_presence());
        let [own, opposite, absent] = moments.frequency_variances_by_sign().unwrap();
        let signs = [[own, opposite], [absent, absent]];
        for (i, who) in ["member", "other"].into_iter().enumerate() {
            assert_near(presence[i], &row[who], "presence");
            assert_near(mean[i], &row[who], "mean");
            assert_near(signs[i][0], &row[who], "own_sign");
            assert_near(signs[i][1], &row[who], "other_sign");
            // Expectations of the non-missing frequency, of the mean, and of the frequencies of the
            // person's sign and of the opposite sign.
            let expected = [[1.0, 1.0, 1.0, 0.0], [0.0; 4]][i];
            for (ours, theirs) in expected.iter().zip(row[who]["expect"].as_array().unwrap()) {
                assert!((ours - theirs.as_f64().unwrap()).abs() < 1e-9, "{row}");
            }
        }
    }
}

/// Returns the sum of the variances of all d means, or of all 2d frequencies, for a person with s
/// entries of ±1.
fn total(setting: &OracleSetting, moments: &EstimateMoments, frequencies: bool) -> f64 {
    let (d, s) = (f64::from(setting.item_count), f64::from(setting.sparsity));
    if !frequencies {
        let [own, other] = moments.mean_variances_by_presence();
        return s * own + (d - s) * other;
    }
    let [own, opposite, other] = moments.frequency_variances_by_sign().unwrap();
    s * (own + opposite) + (d - s) * 2.0 * other
}

#[test]
fn totals_are_the_reference() {
    for row in rows("oracle", 9) {
        let setting = setting(&row, whole(&row, "d"), whole(&row, "s"));
        let total = |name, frequencies| {
            total(
                &setting,
                &named(name, &setting).report_estimate_moments(),
                frequencies,
            )
        };
        for (name, frequencies, field) in [
            ("PCKV-UE", true, "ue_frequency_total"),
            ("PCKV-UE", false, "ue_mean_total"),
            ("PCKV-GRR", true, "grr_frequency_total"),
            ("PCKV-GRR", false, "grr_mean_total"),
            ("PCKV-AGRR", true, "agrr_frequency_total"),
            ("PCKV-AGRR", false, "agrr_mean_total"),
            ("PrivKV, three answers", true, "privkv3_frequency_total"),
            ("PrivKV", false, "privkv_mean_total"),
            ("sampling, OLH", true, "sampling_olh_frequency_total"),
        ] {
            assert_near(total(name, frequencies), &row, field);
        }
        let paper = drafts_as_printed::collision_draft(setting.sparsity, setting.epsilon);
        let task = task(
            setting.item_count,
            setting.sparsity,
            setting.epsilon,
            &paper,
        );
        let question = &task.questions()[0];
        let Mechanism::Collision(collision) = question.mechanism() else {
            panic!("{row}")
        };
        assert_eq!(collision.buckets_per_hash(), whole(&row, "collision_t"));
        let rates = collision.hit_probabilities(&question.domain(), setting.epsilon);
        assert_near(
            rates.total_variance(&question.domain()),
            &row,
            "collision_frequency_total",
        );
    }
}

/// Compares variances of means for a person without the item. For OLH, frequencies are compared,
/// also for a person with the item.
#[test]
fn means_are_the_reference() {
    for row in rows("dense", 3) {
        let of = |items, sparsity| setting(&row, items, sparsity);
        let harmony = HarmonyMechanism::new(&of(1378, 6)).unwrap();
        assert_near(harmony.two_point_mechanism().estimate_scale(), &row, "A");
        assert_near(
            harmony
                .report_estimate_moments()
                .mean_variances_by_presence()[1],
            &row,
            "harmony_d_1378",
        );
        let six = of(1378, 6);
        let absent = |oracle: &dyn RatingOracle| {
            oracle
                .report_estimate_moments()
                .mean_variances_by_presence()[1]
        };
        let repeated = KFoldRepetition::<HashedSignBitOracle>::new(&six).unwrap();
        assert_near(absent(&repeated), &row, "kfold_bit_k_6");
        let sampling = SingleEntrySampling::<HashedSignBitOracle>::new(&six).unwrap();
        assert_near(absent(&sampling), &row, "sampling_bit_k_6");
        let event = NaivePerturbation::with_event_level_privacy(&six).unwrap();
        assert_near(absent(&event), &row, "naive_bit_event");
        let user = NaivePerturbation::with_user_level_privacy(&six).unwrap();
        assert_near(absent(&user), &row, "naive_bit_user_k_6");
        // Variances of one sign's frequency, for a person with the item at this sign and for a
        // person without the item.
        let hashes = KFoldRepetition::<SignedItemHashOracle>::new(&six)
            .unwrap()
            .report_estimate_moments();
        let [own, _, other] = hashes.frequency_variances_by_sign().unwrap();
        for (i, ours) in [own, other].into_iter().enumerate() {
            let theirs = row["kfold_olh_k_6"][i].as_f64().unwrap();
            assert!(near(ours, theirs), "{row}: {ours}");
        }
    }
}

/// SUCCINCT as printed at user level is hash-bin with one bin, except that hash-bin's clipping
/// bound is a multiple of the grid's step.
#[test]
fn one_clipped_bin_is_the_reference() {
    for row in rows("succinct", 2) {
        let (k, epsilon) = (whole(&row, "k"), number(&row, "epsilon"));
        let n = number(&row, "n");
        let clip = (2.0 * f64::from(k) * (4.0 * n / number(&row, "beta")).ln()).sqrt();
        assert_near(clip, &row, "clip");
        let left = share_surviving_clipping(k, clip);
        assert_near(left, &row, "left");
        let other = clipped_sum_second_moment(k, clip) + 8.0 * (clip / epsilon).powi(2);
        assert_near(other, &row, "other");
        assert_near(other - left * left, &row, "member");

        let paper = json!({ "name": "hash-bin", "level": "user", "clip": up_to_grid(clip),
            "noise": "laplace", "bins": 1, "hashing": "independent" });
        let task = task(1378, k, epsilon, &paper);
        let question = &task.questions()[0];
        let Mechanism::HashBin(own) = question.mechanism() else {
            panic!("{row}")
        };
        let clip = up_to_grid(clip);
        let level = PrivacyLevel::User {
            clip,
            noise: SumNoiseKind::Laplace,
        };
        let same = HashBin::new(
            level,
            HashFamily::Independent,
            1,
            DEFAULT_GRID_STEPS_PER_UNIT,
        )
        .unwrap();
        assert_eq!(own, &same);
        let rates = own.estimate_scale_and_variance(&question.domain(), epsilon);
        let square = rates.input_sum_second_moment(k);
        for (field, left) in [("member", own.share_surviving_clipping(k)), ("other", 0.0)] {
            let ours = rates.value_variance(square, left);
            // The drawn noise is discrete, and the clipping bound is larger by up to one step.
            let formula =
                clipped_sum_second_moment(k, clip) + 8.0 * (clip / epsilon).powi(2) - left * left;
            assert!(
                (ours / formula - 1.0).abs() < 1e-6,
                "{row}: {ours}, {formula}"
            );
            let more = ours / number(&row, field) - 1.0;
            assert!(
                (0.0..2.5 / f64::from(DEFAULT_GRID_STEPS_PER_UNIT) / clip).contains(&more),
                "{row}: {more}"
            );
        }
    }
}

fn up_to_grid(clip: f64) -> f64 {
    (clip * f64::from(DEFAULT_GRID_STEPS_PER_UNIT)).ceil() / f64::from(DEFAULT_GRID_STEPS_PER_UNIT)
}
