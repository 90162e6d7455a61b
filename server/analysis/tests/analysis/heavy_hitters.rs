//! Tests of the search for unlisted texts, on known crowds.

use hushbin::task::QuestionKind;
use hushbin::{Entry, Randomizer, Task, TaskDraft};
use hushbin_analysis::estimate::{EstimateError, EstimateQuery};
use hushbin_analysis::heavy_hitters::{
    DetectableShare, FoundText, SearchError, SearchOptions, SearchResult, TextReports, TextSearch,
};
use hushbin_tests::generators::seeded;
use serde_json::json;

fn task(epsilon: f64, prefixes: &[u32]) -> Task {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": epsilon,
        "questions": [{ "name": "query", "kind": "text", "prefixes": prefixes }],
    }))
    .unwrap();
    draft.resolve_task().unwrap()
}

/// Returns the reports of this number of people with each text.
fn reports(task: &Task, crowd: &[(&str, usize)], seed: u64) -> TextReports {
    let question = &task.questions()[0];
    let QuestionKind::Text(prefixes) = question.kind() else {
        unreachable!()
    };
    let mut reports = TextReports::new(task, 0).unwrap();
    let mut rng = seeded(seed);
    let mut randomizer = Randomizer::new(task);
    for &(text, people) in crowd {
        let keys = prefixes.prefix_hashes(text).into_iter();
        let entries: Vec<Entry> = keys.map(|item| Entry { item, value: 1.0 }).collect();
        for _ in 0..people {
            let made = randomizer.randomize(&entries, &mut rng).unwrap();
            assert!(!made.was_sampled_down);
            reports.add_report(&made.report);
        }
    }
    reports
}

fn search(task: &Task, reports: &TextReports, alphabet: &str) -> SearchResult {
    let options = SearchOptions {
        alphabet: alphabet.to_owned(),
        ..SearchOptions::default()
    };
    let search = TextSearch::new(task, options).unwrap();
    search.find_texts(reports, &|| false).unwrap()
}

fn covers(text: &FoundText, share: f64) -> bool {
    let [low, high] = text.simultaneous_interval;
    low <= share && share <= high
}

/// Texts of all lengths: the empty text, one that ends with a prefix, one that ends between two,
/// one of maximum length, and one that is longer.
#[test]
fn texts_of_all_lengths_are_found() {
    let task = task(4.0, &[1, 3, 4]);
    let crowd = [
        ("", 8),
        ("a", 12),
        ("ab", 16),
        ("bcab", 20),
        ("cabacab", 24),
        ("bb", 20),
    ];
    let crowd = crowd.map(|(text, percent)| (text, 600 * percent));
    let people: usize = crowd.iter().map(|(_, people)| people).sum();
    let reports = reports(&task, &crowd, 7);
    assert_eq!(reports.len(), people);
    let found = search(&task, &reports, "abc");
    assert_eq!((found.reports, found.confidence), (people as u64, 0.95));
    let mut texts: Vec<_> = found
        .texts
        .iter()
        .map(|t| (&t.text[..], t.is_prefix))
        .collect();
    texts.sort_unstable();
    let expected = [
        ("", false),
        ("a", false),
        ("ab", false),
        ("bb", false),
        ("bcab", false),
        ("caba", true),
    ];
    assert_eq!(texts, expected);
    assert_eq!(found.dead_ends, []);
    for text in &found.texts {
        let own = crowd.iter().find(|(own, _)| {
            own.starts_with(&text.text[..]) && (text.is_prefix || *own == text.text)
        });
        let share = own.unwrap().1 as f64 / people as f64;
        assert!(covers(text, share), "{text:?}, {share}");
        assert!((text.estimate - share).abs() < 4.5 * text.standard_error);
    }
    // Reports of all longer prefixes also reveal a text that ends early.
    let of = |name: &str| found.texts.iter().find(|text| text.text == name).unwrap();
    assert_eq!(of("").sample_size, people as u64);
    let lengths: Vec<u64> = found.steps.iter().map(|step| step.reports).collect();
    assert_eq!(of("ab").sample_size, lengths[1] + lengths[2]);
    assert_eq!(of("caba").sample_size, lengths[2]);
    assert!(found.texts.is_sorted_by(|a, b| a.estimate >= b.estimate));
    // 1 + 2·3 texts and prefixes of one letter. Longer ones add one or two letters.
    let steps: Vec<_> = found
        .steps
        .iter()
        .map(|step| (step.length, step.candidates))
        .collect();
    assert_eq!(steps[0], (1, 7));
    assert_eq!(steps[1].0, 3);
    assert!(steps[1].1 >= 3 * (3 + 9 + 9), "{steps:?}");
}

/// Texts with letters outside the alphabet end in the longest prefix without them.
#[test]
fn other_letters_are_dead_ends() {
    let task = task(6.0, &[2, 4, 4]);
    let crowd = [("ab", 6000), ("abé", 7000), ("éé", 4000)];
    let reports = reports(&task, &crowd, 3);
    let found = search(&task, &reports, "ab");
    let names = |texts: &[FoundText]| -> Vec<(String, bool)> {
        let name = |text: &FoundText| (text.text.clone(), text.is_prefix);
        texts.iter().map(name).collect()
    };
    assert_eq!(names(&found.texts), [("ab".to_owned(), false)]);
    assert_eq!(names(&found.dead_ends), [("ab".to_owned(), true)]);
    assert!(covers(&found.dead_ends[0], 7.0 / 17.0), "{found:?}");
    let all = search(&task, &reports, "abé");
    assert_eq!(all.texts.len(), 3);
    assert_eq!(all.dead_ends, []);
}

/// Texts of the stated share are found in 99 of 100 crowds. At most 1 crowd in 40 yields a text
/// that no person has, and intervals are valid in 95 of 100.
///
/// With these failure probabilities, 200 crowds exceed each limit below with probability under
/// 10⁻⁴.
#[test]
fn shares_that_are_stated_are_found_and_nothing_else() {
    let task = task(3.0, &[1, 2, 3, 3]);
    let question = &task.questions()[0];
    let (alphabet, people) = ("abcdef", 8000_usize);
    let stated = DetectableShare::new(question, people as u64, alphabet.len(), 0.95, 0.99).unwrap();
    assert!((0.05..0.3).contains(&stated.share), "{stated:?}");
    let least = (stated.share * people as f64).ceil() as usize;
    // Two texts at the least share. The rest of the people have three more texts.
    let rest = (people - 2 * least) / 3;
    let crowd = [
        ("abc", least),
        ("fed", least),
        ("dada", rest),
        ("ace", rest),
        ("b", people - 2 * least - 2 * rest),
    ];
    let (mut lost, mut invented, mut uncovered) = (0, 0, 0);
    for seed in 0..200 {
        let found = search(&task, &reports(&task, &crowd, 100 + seed), alphabet);
        let has = |name: &str| found.texts.iter().any(|text| text.text == name);
        lost += [!has("abc"), !has("fed")]
            .map(u32::from)
            .iter()
            .sum::<u32>();
        let all = found.texts.iter().chain(&found.dead_ends);
        let mut holds = true;
        let mut is_invented = false;
        for text in all {
            let own = |own: &&(&str, usize)| {
                own.0 == text.text
                    || text.is_prefix
                        && own.0.len() > text.text.len()
                        && own.0.starts_with(&text.text[..])
            };
            let people: usize = crowd.iter().filter(own).map(|(_, people)| people).sum();
            is_invented |= people == 0;
            holds &= covers(text, people as f64 / 8000.0);
        }
        invented += u32::from(is_invented);
        uncovered += u32::from(!holds);
    }
    // Limits for 400 chances of 1 in 100, and 200 each of 1 in 40 and 1 in 20.
    assert!(lost <= 13, "{lost} lost");
    assert!(invented <= 15, "{invented} invented");
    assert!(uncovered <= 23, "{uncovered} uncovered");
}

/// People without common texts: the search finds no text.
#[test]
fn nothing_is_found_of_noise() {
    let task = task(1.0, &[1, 2, 3, 3]);
    let texts: Vec<String> = (0..3000).map(|i| format!("{i:04}")).collect();
    let crowd: Vec<(&str, usize)> = texts.iter().map(|text| (&text[..], 1)).collect();
    let mut invented = 0;
    for seed in 0..40 {
        let found = search(&task, &reports(&task, &crowd, seed), "abcdefgh");
        invented += found.texts.len() + found.dead_ends.len();
    }
    assert!(invented <= 4, "{invented}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let task = task(1.0, &[2, 4]);
    let refused = |options: SearchOptions| TextSearch::new(&task, options).unwrap_err();
    for alphabet in ["", "aba"] {
        let options = SearchOptions {
            alphabet: alphabet.to_owned(),
            ..SearchOptions::default()
        };
        assert!(matches!(
            refused(options),
            SearchError::InvalidAlphabet { .. }
        ));
    }
    for confidence in [0.0, 1.0, f64::NAN] {
        let options = SearchOptions {
            confidence,
            ..SearchOptions::default()
        };
        assert!(matches!(
            refused(options),
            SearchError::ConfidenceOutOfRange { .. }
        ));
    }
    let few = SearchOptions {
        alphabet: "abc".to_owned(),
        max_hashes_per_length: 300_000,
        ..SearchOptions::default()
    };
    let heard = reports(&task, &[("ab", 1000)], 1);
    let found = TextSearch::new(&task, few)
        .unwrap()
        .find_texts(&heard, &|| false);
    assert!(found.is_ok());
    let many = SearchOptions {
        max_hashes_per_length: 4000,
        ..SearchOptions::default()
    };
    let error = TextSearch::new(&task, many)
        .unwrap()
        .find_texts(&heard, &|| false)
        .unwrap_err();
    let message = error.to_string();
    // 38 + 2·38² candidates of the default letters.
    assert!(message.contains("2926 candidates"), "{message}");
    let given_up = TextSearch::new(&task, SearchOptions::default())
        .unwrap()
        .find_texts(&heard, &|| true);
    assert_eq!(given_up.unwrap_err(), SearchError::SearchCancelled);

    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "t", "epsilon": 1.0, "questions": [{ "name": "on", "kind": "flag" }],
    }))
    .unwrap();
    let asks_else = draft.resolve_task().unwrap();
    assert!(TextReports::new(&asks_else, 0).is_none());
    let flag = &asks_else.questions()[0];
    assert!(DetectableShare::new(flag, 1000, 2, 0.95, 0.9).is_none());
    let error = TextSearch::new(&asks_else, SearchOptions::default()).unwrap_err();
    assert_eq!(
        error,
        SearchError::NotTextQuestion {
            question: "on".to_owned()
        }
    );

    let listed = EstimateQuery::new(
        &task,
        &hushbin_analysis::estimate::EstimateOptions::default(),
    );
    assert!(matches!(
        listed,
        Err(EstimateError::TextQuestionNeedsSearch { .. })
    ));
}

/// A spreadsheet would run such texts as formulas.
#[test]
fn hostile_texts_are_neutralised_in_csv() {
    let text = |text: &str| FoundText {
        text: text.to_owned(),
        is_prefix: false,
        estimate: -0.25,
        standard_error: 0.5,
        simultaneous_interval: [-1.0, 1.0],
        sample_size: 100,
    };
    let found = SearchResult {
        question: "q".to_owned(),
        reports: 100,
        confidence: 0.95,
        alphabet: "=-a".to_owned(),
        texts: vec![text("=1"), text("-a"), text("a=")],
        dead_ends: vec![text("@b")],
        steps: Vec::new(),
    };
    let mut csv = Vec::new();
    found.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let expected = [
        "'=1,false,false,100,-0.25",
        "'-a,",
        "a=,",
        "'@b,false,true,",
    ];
    for (line, start) in csv.lines().skip(1).zip(expected) {
        assert!(line.starts_with(start), "{line}");
    }
}
