//! A study that was cut off, and what the page holds.

use std::fs;
use std::path::Path;

use hushbin_tests::process::hushbin;

use super::directory;

const EXPERIMENTS: [&str; 2] = ["p1-buckets", "p2-ratings"];

fn evaluate(out: &Path, more: &[&str]) -> std::process::Output {
    let out = out.to_str().unwrap();
    let mut words = vec!["evaluate", "--out", out];
    words.extend(more);
    hushbin(&words)
}

fn some(out: &Path, seed: &str) -> std::process::Output {
    let only = EXPERIMENTS.iter().flat_map(|name| ["--only", name]);
    let words: Vec<&str> = only.chain(["--seed", seed]).collect();
    evaluate(out, &words)
}

fn tables(out: &Path) -> Vec<String> {
    let read = |name: &&str| fs::read_to_string(out.join(format!("tables/{name}.csv"))).unwrap();
    let names = EXPERIMENTS.iter().chain(&["wins"]);
    names.map(read).collect()
}

/// Cut off in the middle of a line, and with a unit less, it comes out the same; with another
/// seed it does not, and is refused where there are runs of the first.
#[test]
fn it_comes_out_the_same_wherever_it_was_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let [whole, cut, other] = ["whole", "cut", "other"].map(|name| directory.path().join(name));
    assert!(some(&whole, "7").status.success());
    assert!(some(&cut, "7").status.success());
    let runs = cut.join("runs/p2-ratings.jsonl");
    let bytes = fs::read(&runs).unwrap();
    fs::write(&runs, &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(cut.join("runs/p1-buckets.jsonl")).unwrap();
    assert!(some(&cut, "7").status.success());
    assert_eq!(tables(&cut), tables(&whole));

    let refused = some(&whole, "8");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(
        said.contains("seed 7") && said.contains("another directory"),
        "{said}"
    );
    assert!(some(&other, "8").status.success());
    assert_ne!(tables(&other), tables(&whole));
}

#[test]
fn what_there_is_not_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let refused = evaluate(directory.path(), &["--only", "p9"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(
        said.contains("p1-ratings") && said.contains("p3-sparse"),
        "{said}"
    );
    let refused = evaluate(directory.path(), &["--data", "none.txt"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && said.contains("none.txt"),
        "{said}"
    );
}

/// Every figure that the page shows is there, with words in its place, and every experiment
/// has a table.
#[test]
fn the_page_shows_all_that_was_found() {
    let directory = directory();
    let page = fs::read_to_string(directory.join("index.html")).unwrap();
    let mut figures = 0;
    for shown in page.split("<img src=\"").skip(1) {
        let (file, rest) = shown.split_once('"').unwrap();
        let drawing = fs::read_to_string(directory.join(file)).unwrap();
        assert!(
            drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"),
            "{file}"
        );
        let (_, words) = rest.split_once("alt=\"").unwrap();
        assert!(words.split('"').next().unwrap().len() > 20, "{file}");
        figures += 1;
    }
    let drawn = fs::read_dir(directory.join("figures")).unwrap().count();
    assert_eq!(figures, drawn);
    assert!(figures > 20, "{figures}");
    for experiment in fs::read_dir(directory.join("runs")).unwrap() {
        let name = experiment.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".jsonl").unwrap();
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
        assert!(
            directory.join(format!("tables/{name}.csv")).exists(),
            "{name}"
        );
    }
    // As many cells are named as are counted.
    let wins = fs::read_to_string(directory.join("tables/wins.csv")).unwrap();
    let lost = wins.lines().filter(|line| line.ends_with(",true")).count();
    assert_eq!(
        page.matches("<li>").count() - page.matches("<li><a").count(),
        lost
    );
}
