//! Effect of forged reports, compared with the influence that the collector states.
//!
//! The forger picks the seed and the bucket that count most, and also the question. The test reads
//! the estimates of an honest crowd, then those of the same crowd with forged reports added.

use axum::http::StatusCode;
use hushbin::domain::SignedItem;
use hushbin::mechanism::{coco, collision, pattern, window};
use hushbin::task::{PrefixLengths, QuestionKind};
use hushbin::{Entry, Mechanism, Randomizer, Report, Task, Upload, UploadId};
use hushbin_analysis::estimate::{Estimand, Estimator, FORGED_REPORT_FRACTION, Totals};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::support::App;

/// Numbers of questions, with the weight of each further one. The first question is answered by all
/// reports, by a fifth, and by an eighth.
const ASKED: [(usize, usize); 3] = [(1, 1), (3, 2), (8, 1)];
/// Number of seeds that a forger tries.
const SEEDS: usize = 300;

/// A task with this first question and further flags.
fn task(epsilon: f64, question: &Value, (questions, weight): (usize, usize)) -> String {
    let mut first = question.clone();
    first["name"] = "q".into();
    first["weight"] = 1.into();
    let flag = |at| json!({ "name": format!("flag {at}"), "kind": "flag", "weight": weight });
    let all: Vec<Value> = [first]
        .into_iter()
        .chain((1..questions).map(flag))
        .collect();
    json!({ "id": "t", "epsilon": epsilon, "questions": all }).to_string()
}

/// Sends reports in uploads with distinct ids.
async fn send(app: &App, task: &Task, reports: &[Report], first: u8) {
    for (id, part) in (first..).zip(reports.chunks(2000)) {
        let upload = Upload {
            id: UploadId([id; 16]),
            reports: part.to_vec(),
        };
        let sent = app.post("t", upload.encode(&task.fingerprint())).await;
        assert_eq!(sent.status, StatusCode::CREATED);
    }
}

/// Number of forged reports that are the fraction [`MADE_UP`] of all, given the number of honest
/// ones.
fn forged(honest: usize) -> usize {
    let forged = honest as f64 * FORGED_REPORT_FRACTION / (1.0 - FORGED_REPORT_FRACTION);
    assert!((forged - forged.round()).abs() < 1e-9);
    forged.round() as usize
}

/// An honest crowd whose noise nearly cancels in one estimate.
struct Crowd<'a> {
    task: &'a Task,
    /// Number of honest reports.
    reports: usize,
    /// Share of reports that enter the estimate.
    share: f64,
    /// Returns whether a report with this seed enters the estimate.
    counts: &'a dyn Fn(u64) -> bool,
    /// Deviation of a report from its expected score, upwards or downwards.
    excess: &'a dyn Fn(&Report) -> f64,
    /// Greatest difference between two reports' scores.
    reach: f64,
}

impl Crowd<'_> {
    /// Draws answers to the first question from `answer`, and selects reports whose excess sums to
    /// 0 or little more.
    fn reports(&self, seed: u64, answer: &dyn Fn(&mut ChaCha20Rng) -> Vec<Entry>) -> Vec<Report> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut randomizer = Randomizer::new(self.task);
        let own = self.reports as f64 * self.share;
        assert!((own - own.round()).abs() < 1e-9, "{own} reports");
        let mut left = [self.reports - own.round() as usize, own.round() as usize];
        let no = [Entry {
            item: 0,
            value: 1.0,
        }];
        let (mut reports, mut sum) = (Vec::new(), 0.0);
        while left != [0, 0] {
            let answer = answer(&mut rng);
            let mut answers: Vec<&[Entry]> = vec![&no; self.task.questions().len()];
            answers[0] = &answer;
            let made = randomizer.randomize_answers(&answers, &mut rng).unwrap();
            let own = (self.counts)(made.report.seed());
            if left[usize::from(own)] == 0 {
                continue;
            }
            if own {
                let next = sum + (self.excess)(&made.report);
                if next < 0.0 || next > sum.max(self.reach) {
                    continue;
                }
                sum = next;
            }
            left[usize::from(own)] -= 1;
            reports.push(made.report);
        }
        reports
    }
}

/// Returns the stated influence on an estimate of the first question.
async fn stated(app: &App, estimate: &str, up: bool) -> f64 {
    let shown = app.get("/tasks/t/influence").await.json();
    let all = shown["influence"].as_array().unwrap();
    let own = |own: &&Value| own["question"] == "q" && own["estimand"] == estimate;
    let own = all.iter().find(own).unwrap_or_else(|| panic!("{shown}"));
    own[if up { "up" } else { "down" }].as_f64().unwrap()
}

/// A question, and the estimate that the forger moves.
struct Case {
    question: Value,
    /// Name of the estimate, and the estimand it sums.
    estimate: (&'static str, Estimand),
    /// Possible sums of items, each with its JSON pointer in the collector's answer.
    sums: Vec<(Vec<u64>, String)>,
    /// Least and greatest possible truth, each with the answer that gives it.
    people: [(f64, Vec<Entry>); 2],
    /// Query parameters besides the question.
    query: &'static str,
}

impl Case {
    /// Creates a case whose people answer with entries of an item and a value.
    fn new(
        question: Value,
        estimate: (&'static str, Estimand),
        sums: Vec<(Vec<u64>, String)>,
        people: [(f64, &[(u64, f64)]); 2],
    ) -> Self {
        let entry = |&(item, value): &(u64, f64)| Entry { item, value };
        Self {
            question,
            estimate,
            sums,
            people: people.map(|(edge, answer)| (edge, answer.iter().map(entry).collect())),
            query: "",
        }
    }

    /// Returns the measured effect of forged reports divided by the stated one.
    async fn moved(&self, asked: (usize, usize), up: bool) -> f64 {
        let app = App::with(&[&task(1.0, &self.question, asked)]);
        let task = app.task("t");
        let estimator = Estimator::for_task(task.clone());
        let sign = if up { 1.0 } else { -1.0 };
        let counted = |report: &Report, items: &[u64]| -> f64 {
            let mut totals = Totals::new(&task);
            totals.add_report(report);
            let points = estimator.point_estimates(&totals, 0, items).into_iter();
            let points = points.map(|own| own.get(self.estimate.1).unwrap().estimate);
            sign * points.sum::<f64>()
        };
        let counts = |seed| task.question_selector().question_index_for_seed(seed) == 0;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut best: Option<(Report, &[u64], &str)> = None;
        for report in forgeries(&task, &counts) {
            for (items, place) in &self.sums {
                let own = counted(&report, items);
                least = least.min(own);
                if own > most {
                    most = own;
                    best = Some((report.clone(), items, place));
                }
            }
        }
        let (report, items, place) = best.unwrap();
        let (edge, answer) = &self.people[usize::from(!up)];
        let crowd = Crowd {
            task: &task,
            reports: 3960,
            share: task.question_report_share(0),
            counts: &counts,
            excess: &|report| counted(report, items) - sign * edge,
            reach: most - least,
        };
        let read = async || {
            let path = format!("/tasks/t/estimates?question=q{}", self.query);
            let answer = app.get(&path).await.json();
            let found = answer.pointer(place).and_then(Value::as_f64);
            found.unwrap_or_else(|| panic!("{place} in {answer}"))
        };
        send(&app, &task, &crowd.reports(1, &|_| answer.clone()), 0).await;
        let before = read().await;
        let forged = vec![report; forged(crowd.reports)];
        send(&app, &task, &forged, 100).await;
        sign * (read().await - before) / stated(&app, self.estimate.0, up).await
    }
}

/// Every report under the seeds that a forger tries, if it enters the estimate.
fn forgeries(task: &Task, counts: &dyn Fn(u64) -> bool) -> impl Iterator<Item = Report> {
    let seeds = (0..).filter(|seed| counts(*seed)).take(SEEDS);
    seeds.flat_map(|seed| outputs(task, seed))
}

/// Every report under one seed, for a mechanism with buckets and the first question.
fn outputs(task: &Task, seed: u64) -> Vec<Report> {
    let question = &task.questions()[0];
    let count = match question.mechanism() {
        Mechanism::Collision(own) => own.total_buckets(),
        Mechanism::Coco(own) => own.total_buckets(),
        Mechanism::Pattern(own) => own.output_count(),
        Mechanism::Window(own) => own.atom_combination_count(),
        Mechanism::HashBin(_) => panic!("hash-bin of {question:?}"),
    };
    let report = |bucket| match question.mechanism() {
        Mechanism::Coco(_) => Report::Coco(coco::Report { seed, bucket }),
        Mechanism::Pattern(_) => Report::Pattern(pattern::Report { seed, bucket }),
        Mechanism::Window(_) => Report::Window(window::Report { seed, bucket }),
        _ => Report::Collision(collision::Report { seed, bucket }),
    };
    (0..count).map(report).collect()
}

/// Checks each case up and down, with each number of questions.
async fn check(cases: Vec<Case>) {
    for case in &cases {
        for (asked, up) in ASKED
            .into_iter()
            .flat_map(|asked| [(asked, true), (asked, false)])
        {
            let moved = case.moved(asked, up).await;
            let (question, estimate) = (&case.question, case.estimate.0);
            println!("{moved:.4} of {estimate}, {asked:?}, up {up}: {question}");
            assert!(
                (0.97..1.0 + 1e-9).contains(&moved),
                "{moved} of what is stated, {estimate} of {asked:?}, up {up}: {question}"
            );
        }
    }
}

/// Estimate of this name for the first item.
fn item(name: &str) -> Vec<(Vec<u64>, String)> {
    vec![(vec![0], format!("/estimates/0/{name}/estimate"))]
}

#[tokio::test]
async fn forged_choices_and_sets_move_shares_as_far_as_is_stated() {
    let share = ("share", Estimand::Share);
    let together = json!([
        { "name": "a", "kind": "choice", "options": 3 }, { "name": "b", "kind": "flag" },
    ]);
    check(vec![
        Case::new(
            json!({ "kind": "choice", "options": 4 }),
            share,
            item("share"),
            [(0.0, &[(1, 1.0)]), (1.0, &[(0, 1.0)])],
        ),
        Case::new(
            json!({ "kind": "set", "options": 6, "sparsity": 2 }),
            share,
            item("share"),
            [(0.0, &[(1, 1.0), (2, 1.0)]), (1.0, &[(0, 1.0), (3, 1.0)])],
        ),
        Case::new(
            json!({ "kind": "together", "of": together }),
            share,
            [0, 3]
                .map(|item| (vec![item], format!("/estimates/{item}/share/estimate")))
                .into(),
            [(0.0, &[(0, 1.0), (1, 1.0)]), (1.0, &[(0, 0.0), (1, 0.0)])],
        ),
    ])
    .await;
}

#[tokio::test]
async fn forged_numbers_move_means_and_bins_as_far_as_is_stated() {
    let bins = |mut question: Value, bins: u64, range: [f64; 2]| {
        question["kind"] = "number".into();
        let below = |edge: u64| {
            let place = format!("/number/distribution/{}/estimate", edge - 1);
            ((0..edge).collect(), place)
        };
        let [min, max] = range;
        Case::new(
            question,
            ("below", Estimand::Share),
            (1..bins).map(below).collect(),
            [(0.0, &[(0, max)]), (1.0, &[(0, min)])],
        )
    };
    check(vec![
        Case::new(
            json!({ "kind": "number", "min": -5, "max": 15 }),
            ("mean", Estimand::Mean),
            vec![(vec![0], "/number/mean/estimate".to_owned())],
            [(-1.0, &[(0, -5.0)]), (1.0, &[(0, 15.0)])],
        ),
        bins(json!({ "edges": [0, 1, 2, 3, 5, 8] }), 5, [0.0, 8.0]),
        bins(
            json!({ "min": 0, "max": 8, "bins": 8, "want": "quantiles" }),
            8,
            [0.0, 8.0],
        ),
    ])
    .await;
}

#[tokio::test]
async fn forged_ratings_move_all_estimates_as_far_as_is_stated() {
    let rated = json!({ "kind": "ratings", "items": 4, "sparsity": 2, "value": "sign" });
    let case = |name, estimand, least: f64, worst: &[(u64, f64)], best: &[(u64, f64)]| {
        let people = [(least, worst), (1.0, best)];
        Case::new(rated.clone(), (name, estimand), item(name), people)
    };
    let [plus, minus] = [1.0, -1.0].map(|sign| [(0, sign), (1, 1.0)]);
    let other = [(1, 1.0), (2, -1.0)];
    check(vec![
        case("mean", Estimand::Mean, -1.0, &minus, &plus),
        case("plus", Estimand::Plus, 0.0, &other, &plus),
        case("nonmissing", Estimand::Nonmissing, 0.0, &other, &minus),
    ])
    .await;
}

#[tokio::test]
async fn forged_crosses_move_cells_and_margins_as_far_as_is_stated() {
    let cases = |column: Value, columns: u64, [min, max]: [f64; 2]| {
        let mut columns_of = column;
        columns_of["name"] = "column".into();
        let of = json!([{ "name": "row", "kind": "choice", "options": 3 }, columns_of]);
        let question = json!({ "kind": "cross", "of": of });
        let margins = vec![
            (
                (0..columns).collect(),
                "/cross/rows/shares/0/share/estimate".to_owned(),
            ),
            (
                (0..3).map(|row| row * columns).collect(),
                "/cross/columns/shares/0/share/estimate".to_owned(),
            ),
        ];
        let case = |name, sums| {
            let people: [(f64, &[(u64, f64)]); 2] = [(0.0, &[(2, max)]), (1.0, &[(0, min)])];
            Case::new(question.clone(), (name, Estimand::Share), sums, people)
        };
        [case("share", item("share")), case("margin", margins)]
    };
    let choice = json!({ "kind": "choice", "options": 4 });
    let number = json!({ "kind": "number", "min": 0, "max": 30, "levels": 2 });
    let of_choice = cases(choice, 4, [0.0, 3.0]);
    let mut of_number = cases(number, 2, [0.0, 30.0]);
    // Levels have shares only if cells are named, and they have no margin.
    of_number[0].query = "&items=row%3A%200%2C%20column%3A%200";
    of_number[1].sums.truncate(1);
    check(of_choice.into_iter().chain(of_number).collect()).await;
}

/// A prefix of a text that is found, with the rarest of these lengths.
struct Text {
    lengths: [u32; 4],
    /// Text of the people who have the prefix, and text of the rest.
    texts: [&'static str; 2],
    prefix: &'static str,
    alphabet: &'static str,
    /// List that contains the text.
    list: &'static str,
}

impl Text {
    /// Returns the measured effect of forged reports divided by the stated one, if a share of
    /// people has the prefix.
    async fn moved(&self, asked: (usize, usize), up: bool, share: f64) -> f64 {
        for seed in 0..20 {
            if let Some(moved) = self.moved_in(asked, up, share, seed).await {
                return moved;
            }
        }
        panic!("{:?} is not among {}", self.prefix, self.list);
    }

    /// Measures the effect in one crowd. `None` if chance finds a text that continues the prefix.
    async fn moved_in(
        &self,
        asked: (usize, usize),
        up: bool,
        share: f64,
        seed: u64,
    ) -> Option<f64> {
        let app = App::with(&[&task(
            4.0,
            &json!({ "kind": "text", "prefixes": self.lengths }),
            asked,
        )]);
        let task = app.task("t");
        let question = &task.questions()[0];
        let (QuestionKind::Text(prefixes), Mechanism::Collision(own)) =
            (question.kind(), question.mechanism())
        else {
            unreachable!()
        };
        let (domain, sign) = (question.domain(), if up { 1.0 } else { -1.0 });
        let (rates, support) = (
            own.hit_probabilities(&domain, 4.0),
            own.hit_decoder(&domain),
        );
        let element = domain.element_of_signed_item(SignedItem {
            item: PrefixLengths::text_or_prefix_hash(self.prefix, true),
            is_negative: false,
        });
        let counted = |report: &Report| {
            let Report::Collision(report) = report else {
                unreachable!()
            };
            let hit = f64::from(u8::from(support.is_hit(report, element)));
            sign * (hit - rates.p_false) / rates.hit_probability_gap()
        };
        let length = self.prefix.len() as u32;
        let counts = |seed| {
            let own = prefixes.lengths()[prefixes.drawn_prefix_index(seed)] == length;
            own && task.question_selector().question_index_for_seed(seed) == 0
        };
        let by_count = |a: &Report, b: &Report| counted(a).total_cmp(&counted(b));
        let forged_report = forgeries(&task, &counts).max_by(by_count).unwrap();
        let crowd = Crowd {
            task: &task,
            reports: 79_200,
            share: 0.25 * task.question_report_share(0),
            counts: &counts,
            excess: &|report| counted(report) - sign * share,
            reach: 1.0 / rates.hit_probability_gap(),
        };
        let entries = self.texts.map(|text| -> Vec<Entry> {
            let entry = |item| Entry { item, value: 1.0 };
            prefixes
                .prefix_hashes(text)
                .into_iter()
                .map(entry)
                .collect()
        });
        let answer = |rng: &mut ChaCha20Rng| {
            let has = f64::from(rng.next_u32()) < share * 2_f64.powi(32);
            entries[usize::from(!has)].clone()
        };
        let read = async || {
            let path = format!(
                "/tasks/t/heavy-hitters?question=q&alphabet={}",
                self.alphabet
            );
            let answer = app.get(&path).await.json();
            let texts = answer[self.list].as_array().unwrap().iter();
            let mut own =
                texts.filter(|text| text["text"] == self.prefix && text["is_prefix"] == true);
            own.next().map(|text| text["estimate"].as_f64().unwrap())
        };
        send(&app, &task, &crowd.reports(seed, &answer), 0).await;
        let before = read().await?;
        send(
            &app,
            &task,
            &vec![forged_report; forged(crowd.reports)],
            100,
        )
        .await;
        let after = read().await.unwrap();
        Some(sign * (after - before) / stated(&app, "share", up).await)
    }
}

/// A rare text moves a little less than one that no person has, because it has to be found.
#[tokio::test]
async fn forged_texts_move_prefixes_of_the_rarest_length_as_far_as_is_stated() {
    for text in [
        Text {
            lengths: [1, 2, 2, 2],
            texts: ["aé", "b"],
            prefix: "a",
            alphabet: "a",
            list: "dead_ends",
        },
        Text {
            lengths: [1, 1, 1, 3],
            texts: ["abbab", "b"],
            prefix: "abb",
            alphabet: "ab",
            list: "texts",
        },
    ] {
        for asked in ASKED {
            for (up, share, least) in [(true, 0.06, 0.9), (false, 1.0, 0.97)] {
                let moved = text.moved(asked, up, share).await;
                println!("{moved:.4} of {:?}, {asked:?}, up {up}", text.lengths);
                assert!(
                    (least..1.0 + 1e-9).contains(&moved),
                    "{moved} of what is stated, {:?} of {asked:?}, up {up}",
                    text.lengths
                );
            }
        }
    }
}
