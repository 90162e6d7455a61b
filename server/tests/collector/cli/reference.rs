//! The book's page of commands matches the help texts of clap.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command, CommandFactory};
use hushbin_server::cli::Cli;

const HEAD: &str = "# Commands

This page has the texts of `hushbin help`; a test compares them. An option overrides its \
                    environment variable. Every command has `--help`, which prints the same text \
                    as this page, `-h`, which prints a short one, and `--version`.
";

/// Escapes text for Markdown, also in a table cell. Text between backticks is code and stays as it
/// is.
fn escaped(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let paired = pieces.len() % 2 == 1;
    let mut all = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            all.push_str(if paired { "`" } else { "\\`" });
        }
        let is_code = paired && index % 2 == 1;
        for character in piece.chars() {
            let means_more = match character {
                '|' => true,
                '\\' | '*' | '_' | '<' | '>' | '[' | ']' | '&' | '$' | '#' | '~' => !is_code,
                _ => false,
            };
            if means_more {
                all.push('\\');
            }
            all.push(character);
        }
    }
    all
}

/// Formats a table cell of code.
fn code(text: &str) -> String {
    assert!(!text.contains('`'), "{text} cannot be quoted so");
    format!("`{}`", text.replace('|', "\\|"))
}

/// Completes a sentence: clap removes the final full stop.
fn sentence(text: &str) -> String {
    let text = escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match text.ends_with(['.', ']', ':', '?']) {
        true => text,
        false => text + ".",
    }
}

/// Formats an argument as on the command line.
fn written(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let values = match argument.get_action().takes_values() {
        true => values.join(" "),
        false => String::new(),
    };
    let dashed = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let dashed: Vec<String> = short.into_iter().chain(dashed).collect();
    code(format!("{} {values}", dashed.join(", ")).trim())
}

/// Formats the full help of an argument.
fn told(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.expect("each has help").to_string();
    let mut said = sentence(&help);
    let takes_values = argument.get_action().takes_values();
    if takes_values && !argument.get_default_values().is_empty() {
        assert!(
            argument.is_hide_default_value_set() && help.contains("(default "),
            "{help:?} has to end with its default in parentheses"
        );
    }
    let several = argument
        .get_num_args()
        .is_some_and(|own| own.max_values() > 1);
    let repeats = matches!(argument.get_action(), ArgAction::Append) || several;
    if repeats && !help.contains("repeated") && !help.contains("several times") {
        said.push_str(" May be repeated.");
    }
    if let Some(name) = argument.get_env() {
        write!(said, " Variable: {}.", code(name.to_str().unwrap())).unwrap();
    }
    let values = argument.get_possible_values();
    let shown = values
        .iter()
        .filter(|own| takes_values && !own.is_hide_set());
    let shown: Vec<&PossibleValue> = shown.collect();
    if shown.iter().any(|own| own.get_help().is_some()) {
        for value in shown {
            let help = value.get_help().map(|own| sentence(&own.to_string()));
            let help = help.map_or_else(String::new, |help| format!(": {help}"));
            write!(said, "<br>{}{help}", code(value.get_name())).unwrap();
        }
    } else if !shown.is_empty() {
        let names: Vec<String> = shown.iter().map(|own| code(own.get_name())).collect();
        write!(said, " One of {}.", names.join(", ")).unwrap();
    }
    said
}

/// Formats the table of a command's arguments and options, without the global ones.
fn table(command: &Command) -> String {
    let own = command.get_arguments().filter(|argument| {
        let of_all = matches!(argument.get_id().as_str(), "help" | "version");
        !of_all && !argument.is_hide_set()
    });
    let (places, options): (Vec<&Arg>, Vec<&Arg>) = own.partition(|own| own.is_positional());
    let rows: Vec<String> = places
        .into_iter()
        .chain(options)
        .map(|argument| format!("| {} | {} |\n", written(argument), told(argument)))
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n| argument | meaning |\n|---|---|\n{}", rows.concat()),
    }
}

/// Writes the section of a command and of its subcommands. `tables` holds the tables of earlier
/// commands by name.
fn describe(command: &Command, name: &str, tables: &mut Vec<(String, String)>, page: &mut String) {
    if name != "hushbin" {
        let level = "#".repeat(name.split(' ').count());
        writeln!(page, "\n{level} {}", code(name)).unwrap();
        let about = command.get_long_about().or(command.get_about());
        for paragraph in about.expect("each has help").to_string().split("\n\n") {
            writeln!(page, "\n{}", sentence(paragraph)).unwrap();
        }
        if !command.has_subcommands() {
            let usage = command.clone().render_usage().to_string();
            let usage = usage.strip_prefix("Usage: ").unwrap();
            writeln!(page, "\n```text\n{usage}\n```").unwrap();
        }
        let table = table(command);
        match tables
            .iter()
            .find(|(_, own)| *own == table && own.lines().count() > 12)
        {
            Some((other, _)) => {
                writeln!(page, "\nIts options are those of {}.", code(other)).unwrap();
            }
            None => page.push_str(&table),
        }
        tables.push((name.to_owned(), table));
    }
    for below in command
        .get_subcommands()
        .filter(|own| own.get_name() != "help")
    {
        describe(below, &format!("{name} {}", below.get_name()), tables, page);
    }
}

fn page() -> String {
    let mut command = Cli::command();
    command.build();
    let mut page = HEAD.to_owned();
    describe(&command, "hushbin", &mut Vec::new(), &mut page);
    page
}

/// `HUSHBIN_REGENERATE=1` rewrites the page.
#[test]
fn the_page_is_what_the_commands_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../www/docs/src/reference/cli.md");
    let page = page();
    if std::env::var_os("HUSHBIN_REGENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = written
        .lines()
        .zip(page.lines())
        .find(|(own, now)| own != now);
    assert!(
        written == page,
        "www/docs/src/reference/cli.md is not what the commands say, first here: {differs:?}; \
         write it anew: HUSHBIN_REGENERATE=1 cargo test -p hushbin-server cli::reference"
    );
}

#[test]
fn what_means_something_to_markdown_means_itself() {
    for (text, expected) in [
        ("a|b <c> *d*", "a\\|b \\<c\\> \\*d\\*"),
        ("as `x|<y>*` has it", "as `x\\|<y>*` has it"),
        ("one ` alone", "one \\` alone"),
        (
            "k_v \\ [default: 1] & $x",
            "k\\_v \\\\ \\[default: 1\\] \\& \\$x",
        ),
    ] {
        assert_eq!(escaped(text), expected);
    }
    let odd = Arg::new("odd")
        .long("odd")
        .value_names(["A|B", "C"])
        .help("first\nand second (default one)")
        .action(ArgAction::Append)
        .hide_default_value(true)
        .value_parser([
            PossibleValue::new("one").help("1 | 2"),
            PossibleValue::new("two"),
        ])
        .default_value("one");
    let command = Command::new("c").arg(odd);
    let shown = "| `--odd <A\\|B> <C>` | first and second (default one). May be repeated.<br>`one`: 1 \\| 2.\
                 <br>`two` |";
    assert_eq!(
        table(&command),
        format!("\n| argument | meaning |\n|---|---|\n{shown}\n")
    );
}
