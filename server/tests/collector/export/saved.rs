//! Parquet files saved again by other tools: `tests/reference/parquet`.

use super::*;

const ALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/reference/parquet");

const TASK: [&str; 2] = ["--task", "reports.csv.task.json"];

fn estimate(file: &str, more: &[&str]) -> Output {
    let mut command = process::command();
    command.current_dir(ALL).args(["estimate", file]);
    command.args(["--format", "json"]).args(more);
    command.output().unwrap()
}

/// Writes the files that `save.py` reads.
#[test]
#[ignore = "writes to the repository"]
fn write() {
    let collecting = Collecting::new();
    for format in FORMATS {
        let out = format!("{ALL}/reports.{format}");
        succeeds(&collecting.export("visits", format, &["--out", &out]));
    }
}

#[test]
fn files_that_tools_have_saved_again_give_the_same_estimates() {
    let saved = fs::read_dir(format!("{ALL}/saved")).unwrap();
    let saved: Vec<_> = saved.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(saved.len(), 38, "{saved:?}");
    // Reports of `theme` have buckets, those of `layout` do not.
    for question in ["theme", "layout"] {
        let asked = [&TASK[..], &["--question", question]].concat();
        let expected = estimate("reports.csv", &asked);
        for file in &saved {
            let file = format!("saved/{}", file.to_str().unwrap());
            let estimated = estimate(&file, &asked);
            assert!(
                succeeds(&estimated) == succeeds(&expected),
                "{file}: {}",
                said(&estimated)
            );
        }
    }
}

/// The description is in the footer, which few tools keep, or else in a file next to the reports.
#[test]
fn descriptions_of_files_saved_again_are_in_the_footer_or_beside() {
    let asked = ["--question", "theme"];
    let expected = estimate("reports.csv", &asked);
    let kept = estimate("saved/pyarrow-footer.parquet", &asked);
    assert!(succeeds(&kept) == succeeds(&expected));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.parquet");
    fs::copy(format!("{ALL}/saved/polars-zstd.parquet"), &path).unwrap();
    let path = path.to_str().unwrap();
    let beside = format!("{path}.task.json");
    fails(&estimate(path, &asked), &[&beside, "--task"]);
    fs::copy(format!("{ALL}/reports.csv.task.json"), &beside).unwrap();
    assert!(succeeds(&estimate(path, &asked)) == succeeds(&expected));
    change(Path::new(&beside), 1, "{", "{\"version\":2,");
    fails(&estimate(path, &asked), &[&beside, "version 2"]);
}

#[test]
fn columns_that_hold_no_reports_are_named() {
    let asked = [&TASK[..], &["--question", "theme"]].concat();
    for (file, expected) in [
        (
            "no-seed",
            "has no column seed with a value in each row, expected batch, question, seed, bucket, \
             report",
        ),
        ("list", "has no column seed with a value in each row"),
        (
            "time",
            "row 1: batch is TimestampMicros(1), expected 0 to 18446744073709551615",
        ),
        (
            "flag",
            "row 1: bucket is Bool(true), expected 0 to 4294967295",
        ),
        ("double", "row 1: seed is Double("),
        (
            "signed",
            "row 4: seed is -1, expected 0 to 18446744073709551615",
        ),
        (
            "wide",
            "row 1: bucket is 4294967296, expected 0 to 4294967295",
        ),
        ("null", "row 3: report is Null, expected text"),
        ("bytes", "row 1: report is Bytes("),
        ("short", "row 1: report is malformed at byte"),
    ] {
        let file = format!("refused/{file}.parquet");
        let output = estimate(&file, &asked);
        fails(&output, &[&file, expected]);
        assert!(output.stdout.is_empty());
    }
}
