//! Files of reports that are pipes.

use std::process::{Command, Stdio};

use hushbin_tests::process;

use super::{Collecting, FORMATS, fails, succeeds};

/// Rows come through pipes, but for those of Parquet, whose footer is read first.
#[test]
fn files_are_read_from_pipes() {
    let collecting = Collecting::new();
    let question = ["--question", "theme", "--format", "json"];
    for format in FORMATS {
        let file = format!("v.{format}");
        succeeds(&collecting.export("visits", format, &["--out", &file]));
        let mut cat = Command::new("cat")
            .arg(collecting.path(&file))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut command = process::command();
        command.args(["estimate", "/dev/stdin", "--task"]);
        command.arg(collecting.path("visits.json")).args(question);
        let output = command.stdin(cat.stdout.take().unwrap()).output().unwrap();
        cat.wait().unwrap();
        if format == "parquet" {
            fails(
                &output,
                &["/dev/stdin is a pipe with Parquet, expected a file"],
            );
        } else {
            let expected = collecting.estimate(&[&[&*file][..], &question].concat());
            assert_eq!(succeeds(&output), succeeds(&expected));
        }
    }
}
