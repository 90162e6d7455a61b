//! `hushbin journal erase`: deletes one report, and keeps the totals.

use data_encoding::HEXLOWER;
use hushbin::upload::upload_header;

use super::*;

/// Returns the rows of the exported reports of a task, without the header.
fn exported_rows(collecting: &Collecting, task: &str) -> Vec<String> {
    let exported = collecting.export(task, "csv", &[]);
    let text = String::from_utf8(succeeds(&exported).to_vec()).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The bytes of a report in hexadecimal are the last cell of its row.
fn report_in_row(row: &str) -> &str {
    row.rsplit(',').next().unwrap()
}

fn erase(collecting: &Collecting, task: &str, report: &str) -> Output {
    let mut command = process::command();
    command.args(["journal", "erase", "--task", task, report]);
    command.arg("--data").arg(collecting.path("data"));
    command.output().unwrap()
}

#[test]
fn one_report_is_erased_and_the_totals_stay() {
    let mut collecting = Collecting::new();
    // In development this also releases the open batch.
    let url = "/tasks/visits/estimates?question=theme&batches=1-3";
    let estimates = collecting.answer(url, "json");
    let tasks = ["visits", "scores"];
    let rows = tasks.map(|task| exported_rows(&collecting, task));
    let report = report_in_row(&rows[0][100]).to_owned();
    fails(
        &erase(&collecting, "visits", &report),
        &["in use by another"],
    );
    drop(collecting.collector.take());
    assert_eq!(
        exported_rows(&collecting, "visits"),
        rows[0],
        "nothing is erased so far"
    );

    // A report as upper-case digits is the same report.
    let erased = erase(&collecting, "visits", &report.to_uppercase());
    assert!(
        said(&erased).contains("deleted from batch 2"),
        "{}",
        said(&erased)
    );
    let mut expected = rows[0].clone();
    expected.remove(100);
    assert_eq!(exported_rows(&collecting, "visits"), expected);
    // Also the first and the last report of a task, which are in other batches.
    for row in [&rows[1][0], &rows[1][rows[1].len() - 1]] {
        succeeds(&erase(&collecting, "scores", report_in_row(row)));
    }
    assert_eq!(
        exported_rows(&collecting, "scores"),
        rows[1][1..rows[1].len() - 1]
    );
    let written = collecting.export("visits", "json", &["--out", "left.json"]);
    assert!(
        said(&written).contains(&format!("{} reports of 4 batches", expected.len())),
        "{}",
        said(&written)
    );
    succeeds(&collecting.estimate(&["left.json", "--question", "theme", "--format", "json"]));
    let checked = process::hushbin(&[
        "journal",
        "check",
        "--data",
        collecting.path("data").to_str().unwrap(),
    ]);
    succeeds(&checked);

    fails(
        &erase(&collecting, "visits", &report),
        &["no released batch", "erased before"],
    );
    fails(
        &erase(&collecting, "visits", &report[..4]),
        &["expected one report of task \"visits\""],
    );
    fails(&erase(&collecting, "visits", "0g"), &["not hexadecimal"]);
    let task = collecting.path("visits.json");
    let task = draft(&fs::read_to_string(task).unwrap());
    let task = task.resolve_task().unwrap();
    let mut upload = upload_header(UploadId([7; 16]), &task.fingerprint(), 1);
    upload.extend(HEXLOWER.decode(report.as_bytes()).unwrap());
    fails(
        &erase(&collecting, "visits", &HEXLOWER.encode(&upload)),
        &["a whole upload of task \"visits\"", "after the first 34"],
    );
    fails(
        &erase(&collecting, "visit", &report),
        &["\"visit\"", "\"visits\""],
    );

    // A collector goes on from there.
    let paths = tasks.map(|id| collecting.path(&format!("{id}.json")));
    let data = collecting.path("data");
    let mut collector = Collector::spawn(&data, &paths.each_ref().map(|path| &**path), &[]);
    collecting.client = Client::connect(collector.address()).unwrap();
    assert!(collecting.answer(url, "json") == estimates);
}
