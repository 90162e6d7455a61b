//! Reports read from pipes.

use std::process::{Command, Stdio};

use hushbin_tests::process;

use super::{Collecting, FORMATS, fails, succeeds};

/// Rows can come through pipes, except in Parquet, whose footer is read first.
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
            fails(&output, &["/dev/stdin is a pipe; Parquet needs a file"]);
        } else {
            let expected = collecting.estimate(&[&[&*file][..], &question].concat());
            assert_eq!(succeeds(&output), succeeds(&expected));
        }
    }
}

/// Readers such as `head` close the pipe when they have read enough.
#[test]
fn readers_of_rows_may_go_away() {
    let collecting = Collecting::new();
    for format in ["csv", "json"] {
        let mut command = process::command();
        command.args(["journal", "export", "--task", "visits", "--format", format]);
        command.arg("--data").arg(collecting.path("data"));
        let streams = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}
