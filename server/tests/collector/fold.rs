//! Partial totals of `hushbin estimate`: estimates from parts have the same bytes as those from all
//! reports. Damaged and repeated parts are named.
//!
//! `HUSHBIN_FOLD_REPORTS` sets the number of reports. `HUSHBIN_FOLD_DIR` keeps them in that
//! directory, to be folded by hand.

use std::env;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use hushbin::{Report, Task};
use hushbin_analysis::estimate::{EstimateOptions, EstimateQuery, Totals, estimates_for_query};
use hushbin_tests::process::command;
use hushbin_tests::uploads::{Uploads, draft};

/// Several kinds of questions, all with lists.
const VISITS: &str = r#"{
    "id": "visits", "epsilon": 4.0, "questions": [
        { "name": "theme", "kind": "choice", "options": ["dark", "light", "a,b"] },
        { "name": "features", "kind": "set", "options": ["search", "export"], "sparsity": 1 },
        { "name": "delay", "kind": "number", "min": 0, "max": 640, "bins": 64, "want": "quantiles" }
    ]
}"#;

/// Reports of several bins.
const SCORES: &str = r#"{
    "id": "scores", "items": ["one", "two", "three"], "sparsity": 2, "epsilon": 1.0,
    "value": "real", "mechanism": { "name": "hash-bin", "level": "event", "bins": 2 }
}"#;

const SETTINGS: &str = r#"{
    "id": "settings", "items": 40, "sparsity": 3, "epsilon": 2.0, "value": "sign"
}"#;

/// Command that folds the reports on standard input.
const FOLD: [&str; 5] = ["estimate", "--task", "task.json", "--format", "totals"];

struct Folder {
    directory: tempfile::TempDir,
    task: Task,
}

impl Folder {
    fn new(json: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("task.json"), json).unwrap();
        let task = draft(json).resolve_task().unwrap();
        Self { directory, task }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs a command with this file as standard input.
    fn run(&self, words: &[&str], input: &Path) -> Output {
        let mut command = command();
        command.args(words).current_dir(self.directory.path());
        command.stdin(File::open(input).unwrap());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.output().unwrap()
    }

    fn fold(&self, input: &[u8], more: &[&str]) -> Output {
        fs::write(self.path("input"), input).unwrap();
        let input = match more {
            [] => &["--input", "delimited"],
            more => more,
        };
        let words = [&FOLD[..], input].concat();
        self.run(&words, &self.path("input"))
    }

    fn merge(&self, lines: &[u8], more: &[&str]) -> Output {
        fs::write(self.path("lines"), lines).unwrap();
        let words = [
            &["estimate", "--task", "task.json", "lines", "--format"],
            more,
        ]
        .concat();
        self.run(&words, Path::new("/dev/null"))
    }

    fn reports(&self, seed: u64, count: usize) -> Vec<Report> {
        Uploads::new(&self.task, seed).make(count).reports
    }

    fn expected(&self, reports: &[Report], question: &str) -> serde_json::Value {
        let mut totals = Totals::new(&self.task);
        reports.iter().for_each(|report| totals.add_report(report));
        let options = EstimateOptions {
            question_name: (!question.is_empty()).then(|| question.to_owned()),
            ..EstimateOptions::default()
        };
        let query = EstimateQuery::new(&self.task, &options).unwrap();
        serde_json::to_value(estimates_for_query(&self.task, &totals, &query)).unwrap()
    }
}

/// Prefixes each report with its length, which is below 128.
fn delimited(reports: &[Report]) -> Vec<u8> {
    let mut all = Vec::new();
    for report in reports {
        let mut bytes = Vec::new();
        report.encode(&mut bytes);
        assert!(bytes.len() < 128);
        all.push(bytes.len() as u8);
        all.extend(bytes);
    }
    all
}

fn hex(reports: &[Report]) -> Vec<u8> {
    let mut all = String::new();
    for report in reports {
        let mut bytes = Vec::new();
        report.encode(&mut bytes);
        all.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
        all.push('\n');
    }
    all.into_bytes()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn succeeds(output: &Output) -> Vec<u8> {
    assert!(output.status.success(), "{}", said(output));
    output.stdout.clone()
}

#[track_caller]
fn fails(output: &Output, expected: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", said(output));
    assert!(said(output).contains(expected), "{}", said(output));
}

#[test]
fn parts_add_up_to_what_one_process_estimates() {
    for (json, questions) in [
        (VISITS, &["theme", "features", "delay"][..]),
        (SCORES, &[""]),
        (SETTINGS, &[""]),
    ] {
        let folder = Folder::new(json);
        let parts: Vec<Vec<Report>> = (0..4).map(|seed| folder.reports(seed, 150)).collect();
        let all = parts.concat();
        let one = succeeds(&folder.fold(&delimited(&all), &[]));
        let mut lines = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let folded = match index % 2 {
                0 => folder.fold(&delimited(part), &[]),
                _ => folder.fold(&hex(part), &["--input", "hex"]),
            };
            lines.extend(succeeds(&folded));
        }
        // Two parts without reports.
        let nothing = succeeds(&folder.fold(&[], &[]));
        lines.extend([nothing.clone(), nothing].concat());
        let merged = succeeds(&folder.merge(&lines, &["totals"]));
        assert_ne!(merged, one, "the parts are others");
        for question in questions {
            let asked = match *question {
                "" => vec!["json"],
                name => vec!["json", "--question", name],
            };
            let expected = folder.expected(&all, question);
            let of = |lines: &[u8]| succeeds(&folder.merge(lines, &asked));
            assert_eq!(of(&lines), of(&one), "{question}");
            assert_eq!(of(&merged), of(&one), "{question}");
            let found: serde_json::Value = serde_json::from_slice(&of(&one)).unwrap();
            assert_eq!(found, expected, "{question}");
        }
        // Standard input replaces the files. The output file is not overwritten.
        fs::write(folder.path("all"), &lines).unwrap();
        let words = [&FOLD[..], &["--input", "totals"]].concat();
        assert_eq!(succeeds(&folder.run(&words, &folder.path("all"))), merged);
        let out = [&words[..], &["--out", "merged"]].concat();
        succeeds(&folder.run(&out, &folder.path("all")));
        assert_eq!(fs::read(folder.path("merged")).unwrap(), merged);
        fails(&folder.run(&out, &folder.path("all")), "already exists");
    }
}

#[test]
fn a_part_that_comes_twice_is_named() {
    let folder = Folder::new(SETTINGS);
    let [one, other] = [1, 2].map(|seed| folder.reports(seed, 20));
    let fold = |reports: &[Report]| succeeds(&folder.fold(&delimited(reports), &[]));
    let (one, other) = (fold(&one), fold(&other));
    let twice = [&one[..], &other, &one].concat();
    let expected = "lines, line 3 and lines, line 1 hold the same reports";
    fails(&folder.merge(&twice, &["json"]), expected);
    let merged = succeeds(&folder.merge(&twice[..one.len() + other.len()], &["totals"]));
    let again = [&merged[..], &other].concat();
    fails(&folder.merge(&again, &["json"]), "hold the same reports");
}

#[test]
fn a_part_that_is_empty_is_named() {
    let folder = Folder::new(SETTINGS);
    let line = succeeds(&folder.fold(&delimited(&folder.reports(1, 20)), &[]));
    fs::write(folder.path("part"), &line).unwrap();
    let said = " is empty, expected lines of partial totals";
    for nothing in ["", "\n"] {
        fs::write(folder.path("nothing"), nothing).unwrap();
        let estimate = ["estimate", "--task", "task.json", "--format", "json"];
        for files in [["part", "nothing"], ["nothing", "part"]] {
            let output = folder.run(&[&estimate[..], &files].concat(), &folder.path("part"));
            fails(&output, &format!("nothing{said}"));
        }
        let input = [&estimate[..], &["--input", "totals"]].concat();
        let output = folder.run(&input, &folder.path("nothing"));
        fails(&output, &format!("standard input{said}"));
    }
}

#[test]
fn whatever_is_changed_is_noticed() {
    let folder = Folder::new(SETTINGS);
    let line = succeeds(&folder.fold(&delimited(&folder.reports(1, 20)), &[]));
    let whole = succeeds(&folder.merge(&line, &["json"]));
    // Every 7th byte is changed, so that every part of a line is hit.
    for place in (0..line.len()).step_by(7) {
        let mut changed = line.clone();
        changed[place] ^= 1;
        let output = folder.merge(&changed, &["json"]);
        let harmless = output.status.success() && output.stdout == whole;
        assert!(harmless || output.status.code() == Some(1), "{place}");
        assert!(!harmless || place + 1 == line.len(), "{place}");
    }
    for end in [1, line.len() / 2, line.len() - 2] {
        fails(&folder.merge(&line[..end], &["json"]), "lines, line 1: ");
    }
    let other = Folder::new(SCORES);
    fails(&other.merge(&line, &["json"]), "fingerprint");
}

#[test]
fn what_is_no_report_is_named_and_nothing_is_folded() {
    let folder = Folder::new(SETTINGS);
    let reports = folder.reports(1, 3);
    let good = delimited(&reports);
    let cut = &good[..good.len() - 1];
    fails(&folder.fold(cut, &[]), "standard input, report 3: ");
    let long = [&good[..], &[0xff, 0xff, 3], &[0; 100]].concat();
    fails(
        &folder.fold(&long, &[]),
        "report 4: it has 65535 bytes, expected at most ",
    );
    let endless = [&good[..], &[0xff; 20]].concat();
    fails(
        &folder.fold(&endless, &[]),
        "report 4: expected a length below 2³²",
    );
    fails(&folder.fold(&[0], &[]), "standard input, report 1: ");
    fails(
        &folder.fold(&[good[0], 0xff], &[]),
        "standard input, report 1: ",
    );
    let lines = hex(&reports);
    for (text, line) in [("\n", 4), ("0g\n", 4), ("ff\n", 4), ("é\n", 4)] {
        let input = [&lines[..], text.as_bytes()].concat();
        let expected = format!("standard input, line {line}: ");
        fails(&folder.fold(&input, &["--input", "hex"]), &expected);
    }
    let windows = String::from_utf8(lines.clone())
        .unwrap()
        .replace('\n', "\r\n");
    let folded = folder.fold(windows.as_bytes(), &["--input", "hex"]);
    assert_eq!(succeeds(&folded), succeeds(&folder.fold(&good, &[])));
    let words = ["estimate", "--format", "totals", "--input", "hex"];
    fails(&folder.run(&words, Path::new("/dev/null")), "--task");
}

#[test]
fn items_without_a_list_are_not_in_totals() {
    let open = SETTINGS.replace("\"items\": 40", "\"items\": \"open\"");
    let folder = Folder::new(&open);
    let line = succeeds(&folder.fold(&delimited(&folder.reports(1, 5)), &[]));
    let output = folder.merge(&line, &["json", "--items", "dark-mode"]);
    fails(&output, "estimate from reports");
}

/// The data that `cat` writes to a pipe can be read only once.
/// Two processes fold half each, and one process folds all. Neither needs more memory for all
/// reports than for a tenth of them.
#[cfg(unix)]
#[test]
fn partial_totals_come_through_pipes() {
    let folder = Folder::new(SETTINGS);
    let mut lines = Vec::new();
    for seed in 0..60 {
        let line = succeeds(&folder.fold(&delimited(&folder.reports(seed, 3)), &[]));
        fs::write(folder.path(&format!("part{seed}")), &line).unwrap();
        lines.extend(line);
    }
    assert!(lines.len() > 1 << 14, "more than is buffered");
    let expected = succeeds(&folder.merge(&lines, &["totals"]));
    let through = |parts: std::ops::Range<usize>, more: &[String]| {
        let mut cat = std::process::Command::new("cat")
            .args(parts.map(|part| format!("part{part}")))
            .current_dir(folder.directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut command = command();
        command.args(FOLD).args(more).arg("/dev/stdin");
        command.current_dir(folder.directory.path());
        command.stdin(cat.stdout.take().unwrap());
        let output = command.output().unwrap();
        cat.wait().unwrap();
        succeeds(&output)
    };
    assert_eq!(through(0..60, &[]), expected);
    assert_eq!(through(1..60, &["part0".to_owned()]), expected);
    let others: Vec<String> = (1..60).map(|part| format!("part{part}")).collect();
    assert_eq!(through(0..1, &others), expected);
}

#[test]
fn partial_totals_that_begin_oddly_are_named() {
    let folder = Folder::new(SETTINGS);
    let line = succeeds(&folder.fold(&delimited(&folder.reports(1, 20)), &[]));
    let whole = succeeds(&folder.merge(&line, &["json"]));
    for end in 1..line.len() - 1 {
        if end < 20 || end % 100 == 0 || end + 20 > line.len() {
            let output = folder.merge(&line[..end], &["json"]);
            fails(&output, "lines, line 1: expected partial totals");
        }
    }
    let blank = [b"\n \r\n", &line[..]].concat();
    assert_eq!(succeeds(&folder.merge(&blank, &["json"])), whole);
    let cut = &blank[..blank.len() / 2];
    fails(
        &folder.merge(cut, &["json"]),
        "lines, line 3: expected partial totals",
    );
    let mark = ["\u{feff}".as_bytes(), &line].concat();
    assert_eq!(succeeds(&folder.merge(&mark, &["json"])), whole);
    fs::create_dir(folder.path("parts")).unwrap();
    fs::write(folder.path("part"), &line).unwrap();
    for files in [&["parts"][..], &["part", "parts"]] {
        let words = [&FOLD[..], files].concat();
        fails(&folder.run(&words, Path::new("/dev/null")), "parts: ");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let folder = Folder::new(SETTINGS);
    let line = succeeds(&folder.fold(&delimited(&folder.reports(1, 20)), &[]));
    for (option, value) in [
        ("--question", ""),
        ("--items", "a"),
        ("--confidence", "0.95"),
        ("--post-processing", "projection"),
        ("--quantiles", "0.5"),
        ("--false-discovery-rate", "0.1"),
        ("--alphabet", "ab"),
    ] {
        let output = folder.merge(&line, &["totals", option, value]);
        let expected = format!("{option} needs --format csv or json");
        fails(&output, &expected);
    }
    let output = folder.merge(&line, &["json", "--alphabet", "ab"]);
    fails(&output, "--alphabet is only for questions of kind \"text\"");
}

/// Two halves by two processes, and all by one; each with no more memory for all of its reports
/// than for a tenth of them.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_reports() {
    let count: usize =
        env::var("HUSHBIN_FOLD_REPORTS").map_or(200_000, |text| text.parse().unwrap());
    let folder = Folder::new(SETTINGS);
    let kept = env::var_os("HUSHBIN_FOLD_DIR").map(PathBuf::from);
    let mut folded = Vec::new();
    for part in [0..2, 0..1, 1..2] {
        let mut child = command()
            .args(FOLD)
            .args(["--input", "delimited"])
            .current_dir(folder.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = BufWriter::with_capacity(1 << 16, child.stdin.take().unwrap());
        let mut copy = kept.as_ref().map(|kept| {
            let name = format!("reports.{}-{}", part.start, part.end);
            BufWriter::new(File::create(kept.join(name)).unwrap())
        });
        let peak = |id: u32| {
            let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
            let line = status.lines().find(|line| line.starts_with("VmHWM:"));
            let number = line.unwrap().split_whitespace().nth(1).unwrap();
            number.parse::<u64>().unwrap()
        };
        let mut early = 0;
        for half in part.clone() {
            let mut uploads = Uploads::new(&folder.task, half);
            let chunks = 20;
            for chunk in 0..chunks {
                let bytes = delimited(&uploads.make(count / 2 / chunks).reports);
                input.write_all(&bytes).unwrap();
                if let Some(copy) = &mut copy {
                    copy.write_all(&bytes).unwrap();
                }
                if chunk == chunks / 10 && half == part.start {
                    early = peak(child.id());
                }
            }
        }
        input.flush().unwrap();
        let late = peak(child.id());
        println!("{part:?}: {early} kB, then {late} kB");
        assert!(late < early + 4096, "{early} kB grew to {late} kB");
        drop(input);
        let output = child.wait_with_output().unwrap();
        folded.push(succeeds(&output));
    }
    let [all, one, other] = &folded[..] else {
        panic!("there are three");
    };
    let of = |lines: &[u8]| succeeds(&folder.merge(lines, &["json"]));
    assert_eq!(of(&[&one[..], other].concat()), of(all));
}
