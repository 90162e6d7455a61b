use hushbin::sums::{Message, SumRandomizer, SumTask, SumTaskDraft, UnitStepParameters};
use hushbin_analysis::estimate::{EstimateError, EstimateOptions, TotalsError};
use hushbin_analysis::sums::{SumEstimates, SumQuery, SumQueryError, SumTotals, resolve_sum_draft};
use hushbin_tests::significance::assert_means;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::draft;

/// Returns the totals of people with these answers.
pub(super) fn batch(task: &SumTask, answers: &[Vec<f64>], rng: &mut ChaCha20Rng) -> SumTotals {
    let (mut randomizer, mut sent) = (SumRandomizer::new(task), Vec::new());
    let mut totals = SumTotals::new(task);
    totals.add_people(answers.len() as u64);
    for answer in answers {
        randomizer.randomize(answer, rng, &mut sent).unwrap();
        sent.iter().for_each(|message| totals.add_message(*message));
    }
    totals
}

fn query(task: &SumTask, options: &EstimateOptions) -> SumQuery {
    SumQuery::new(task, options).unwrap()
}

/// Observations of many batches: means, variances and the coverage of intervals.
struct Observed {
    means: Vec<(String, f64, f64, f64)>,
    /// Ratio of observed variances to the stated ones.
    variances: Vec<f64>,
    covered: f64,
    simultaneously: f64,
}

fn observe(task: &SumTask, answers: &[Vec<f64>], batches: u32) -> Observed {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let query = query(task, &EstimateOptions::default());
    let items = answers[0].len();
    let truth: Vec<f64> = (0..items)
        .map(|item| answers.iter().map(|own| own[item]).sum::<f64>() / answers.len() as f64)
        .collect();
    let mut sums = vec![[0.0; 3]; items];
    let (mut covered, mut simultaneously) = (0, 0);
    for _ in 0..batches {
        let totals = batch(task, answers, &mut rng);
        let estimates = SumEstimates::new(task, &totals, &query).unwrap();
        assert_eq!(estimates.people, answers.len() as u64);
        let mut all = true;
        for ((sum, own), truth) in sums.iter_mut().zip(&estimates.estimates).zip(&truth) {
            let mean = own.mean;
            sum[0] += mean.estimate;
            sum[1] += mean.estimate * mean.estimate;
            sum[2] += mean.standard_error * mean.standard_error;
            let holds = |[low, high]: [f64; 2]| low <= *truth && *truth <= high;
            covered += u32::from(holds(mean.interval));
            all &= holds(mean.simultaneous_interval);
        }
        simultaneously += u32::from(all);
    }
    let n = f64::from(batches);
    let rows = sums.iter().zip(&truth);
    Observed {
        means: rows
            .map(|([sum, squares, _], truth)| ("a mean".to_owned(), *sum, *squares, *truth))
            .collect(),
        variances: sums
            .iter()
            .map(|[sum, squares, stated]| (squares - sum * sum / n) / stated)
            .collect(),
        covered: f64::from(covered) / n / items as f64,
        simultaneously: f64::from(simultaneously) / n,
    }
}

const BATCHES: u32 = 4000;

/// Answers halfway between two levels, where rounding costs most: the stated worst case is
/// attained.
#[test]
fn numbers_are_unbiased_and_vary_as_stated() {
    let task = resolve_sum_draft(&draft("numbers", 4, 300, 1.0)).unwrap();
    let levels = f64::from(
        task.message_parameters()
            .unit_steps()
            .unwrap()
            .messages_per_unit(),
    );
    let half = |up: f64| (levels - 0.5 - up) / levels;
    let answers: Vec<Vec<f64>> = (0..300)
        .map(|person| {
            let sign = if person % 3 == 0 { -1.0 } else { 1.0 };
            vec![
                sign * half(0.0),
                half(0.0),
                -half(0.0),
                sign * half(levels - 1.0),
            ]
        })
        .collect();
    let observed = observe(&task, &answers, BATCHES);
    assert_means(BATCHES.into(), &observed.means);
    let variance = observed.variances.iter().sum::<f64>() / 4.0;
    // The variance of 16,000 numbers is precise to 1.1 per cent; 5 is more than four times that.
    assert!((variance - 1.0).abs() < 0.05, "{variance}");
    assert!(
        (observed.covered - 0.95).abs() < 0.01,
        "{}",
        observed.covered
    );
    let together = observed.simultaneously;
    assert!((0.935..0.97).contains(&together), "{together}");
}

#[test]
fn vectors_are_unbiased_and_vary_as_stated() {
    let task = resolve_sum_draft(&draft("vector", 3, 300, 2.0)).unwrap();
    let answers = vec![vec![0.6, -0.3, 0.1]; 300];
    let observed = observe(&task, &answers, BATCHES);
    assert_means(BATCHES.into(), &observed.means);
    let variance = observed.variances.iter().sum::<f64>() / 3.0;
    // Rounding costs less than the stated worst case.
    assert!((0.8..1.05).contains(&variance), "{variance}");
    assert!(observed.covered > 0.94, "{}", observed.covered);
}

#[test]
fn what_only_some_tell_is_covered_too() {
    let own = resolve_sum_draft(&draft("numbers", 6, 300, 2.0)).unwrap();
    let messages = own.message_parameters().unit_steps().unwrap();
    // Two of six coordinates, with noise that suffices for six.
    let (levels, trials, noise) = (
        messages.messages_per_unit(),
        messages.noise_trial_count(),
        messages.max_noise_messages(),
    );
    let messages =
        UnitStepParameters::new(levels, 2, trials, messages.noise_threshold(), noise).unwrap();
    let task = resolve_sum_draft(&SumTaskDraft {
        message_parameters: Some(messages.into()),
        ..SumTaskDraft::from(own)
    });
    let task = task.unwrap();
    let answers: Vec<Vec<f64>> = (0..300)
        .map(|person| match person % 2 {
            0 => vec![1.0, 0.0, 0.1, -0.7, 1.0, -1.0],
            _ => vec![1.0, 0.0, -0.1, -0.2, -1.0, -1.0],
        })
        .collect();
    let observed = observe(&task, &answers, BATCHES);
    assert_means(BATCHES.into(), &observed.means);
    for variance in observed.variances {
        assert!(variance < 1.05, "{variance}");
    }
    assert!(observed.covered > 0.945, "{}", observed.covered);
}

/// One batch of more than ten million messages.
#[test]
fn there_is_no_bias_at_ten_million_messages() {
    let task = resolve_sum_draft(&draft("numbers", 16, 100_000, 1.0)).unwrap();
    let answer: Vec<f64> = (0..16).map(|item| f64::from(item) / 8.0 - 0.93).collect();
    let answers = vec![answer.clone(); 100_000];
    let totals = batch(&task, &answers, &mut ChaCha20Rng::seed_from_u64(3));
    assert!(totals.message_count() > 10_000_000);
    let estimates =
        SumEstimates::new(&task, &totals, &query(&task, &EstimateOptions::default())).unwrap();
    for (own, truth) in estimates.estimates.iter().zip(&answer) {
        let off = (own.mean.estimate - truth) / own.mean.standard_error;
        // All 16 are within 5 σ with probability 1 − 10⁻⁵.
        assert!(off.abs() < 5.0, "{off}");
        assert!(own.mean.standard_error < 0.0005);
    }
}

#[test]
fn what_is_asked_for_is_checked() {
    let task = resolve_sum_draft(&draft("numbers", 3, 300, 2.0)).unwrap();
    let refused = |options: EstimateOptions| SumQuery::new(&task, &options).unwrap_err();
    let named = |names: &[&str]| EstimateOptions {
        item_names: Some(names.iter().map(|own| (*own).to_owned()).collect()),
        ..EstimateOptions::default()
    };
    assert!(SumQuery::new(&task, &named(&["2", "0"])).is_ok());
    assert!(matches!(
        refused(named(&["3"])),
        SumQueryError::InvalidEstimateQuery(EstimateError::UnknownItem { .. })
    ));
    assert!(matches!(
        refused(named(&["1", "1"])),
        SumQueryError::InvalidEstimateQuery(EstimateError::DuplicateItem { .. })
    ));
    let quantiles = EstimateOptions {
        quantiles: Some(vec![0.5]),
        ..EstimateOptions::default()
    };
    assert_eq!(
        refused(quantiles),
        SumQueryError::OptionNotForSums { what: "quantiles" }
    );
    let sure = EstimateOptions {
        confidence: 1.0,
        ..EstimateOptions::default()
    };
    assert!(matches!(
        refused(sure),
        SumQueryError::InvalidEstimateQuery(EstimateError::ConfidenceOutOfRange { .. })
    ));
}

#[test]
fn tables_say_what_json_says() {
    let task = resolve_sum_draft(&draft("numbers", 2, 300, 2.0)).unwrap();
    let answers = vec![vec![0.25, -0.5]; 300];
    let totals = batch(&task, &answers, &mut ChaCha20Rng::seed_from_u64(3));
    let estimates =
        SumEstimates::new(&task, &totals, &query(&task, &EstimateOptions::default())).unwrap();
    let mut csv = Vec::new();
    estimates.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let json = serde_json::to_value(&estimates).unwrap();
    let mean = &json["estimates"][1]["mean"];
    let line = format!("1,mean,{},{}", mean["estimate"], mean["standard_error"]);
    assert!(
        csv.lines().nth(3).unwrap().starts_with(&line),
        "{csv}\n{line}"
    );
    assert_eq!(csv.lines().count(), 1 + 2 * 2);
    assert_eq!(json["people"], 300.0);
    assert_eq!(json["privacy"]["trust"], "shuffler");
    assert!(json["privacy"].get("epsilon").is_none());
}

/// A spreadsheet would run such names as formulas.
#[test]
fn hostile_names_are_neutralised_in_tables() {
    let draft: SumTaskDraft = serde_json::from_value(serde_json::json!({
        "id": "sum", "trust": "shuffler", "epsilon": 2.0, "delta": 1e-6, "people": 300,
        "numbers": [
            { "name": "=1+1", "min": -1, "max": 1 }, { "name": "'b", "min": -1, "max": 1 },
        ],
    }))
    .unwrap();
    let task = resolve_sum_draft(&draft).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let totals = batch(&task, &vec![vec![0.25, -0.5]; 300], &mut rng);
    let estimates =
        SumEstimates::new(&task, &totals, &query(&task, &EstimateOptions::default())).unwrap();
    let mut csv = Vec::new();
    estimates.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    for row in ["\n'=1+1,mean,", "\n'=1+1,sum,", "\n''b,mean,"] {
        assert!(csv.contains(row), "{csv}");
    }
    // Negative numbers stay numbers.
    assert!(csv.contains(",-"), "{csv}");
}

#[test]
fn totals_are_stored_and_merged_as_they_are_folded() {
    let task = resolve_sum_draft(&draft("numbers", 3, 300, 2.0)).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let [one, other] = [0.5, -0.5].map(|own| batch(&task, &vec![vec![own; 3]; 20], &mut rng));
    let mut merged = SumTotals::decode(&task, &one.encode()).unwrap();
    merged.merge(&SumTotals::decode(&task, &other.encode()).unwrap());
    assert_eq!(merged.people_count(), 40);
    assert_eq!(
        merged.message_count(),
        one.message_count() + other.message_count()
    );
    for coordinate in 0..3 {
        let [up, down] = merged.counts_by_sign(coordinate);
        let [a, b] = [
            one.counts_by_sign(coordinate),
            other.counts_by_sign(coordinate),
        ];
        assert_eq!([up, down], [a[0] + b[0], a[1] + b[1]]);
    }
    let bytes = merged.encode();
    for length in 0..bytes.len() {
        assert!(SumTotals::decode(&task, &bytes[..length]).is_err());
    }
    let mut none = SumTotals::new(&task).encode();
    none[19] = 1;
    assert!(matches!(
        SumTotals::decode(&task, &none),
        Err(TotalsError::CountTooLarge { .. })
    ));
    let unknown = Message::SignedUnitStep {
        coordinate: 3,
        negative: false,
    };
    let fold = std::panic::catch_unwind(move || SumTotals::new(&task).add_message(unknown));
    assert!(fold.is_err());
}
