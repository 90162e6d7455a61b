//! Lines that every plan has.

use std::io::{self, Write};

use hushbin_analysis::accounting::Account;
use hushbin_analysis::plan::Unknown;

/// The mark of the quantity that was found.
pub(super) fn found(solved_for: Unknown, unknown: Unknown) -> &'static str {
    if solved_for == unknown {
        "  <- found"
    } else {
        ""
    }
}

/// How many people, and in how many days.
pub(super) fn write_people(
    out: &mut dyn Write,
    people: u64,
    days: Option<f64>,
    solved_for: Unknown,
) -> io::Result<()> {
    let days = days.map_or_else(String::new, |days| format!(", {} days", days.ceil()));
    let found = found(solved_for, Unknown::People);
    writeln!(out, "people       {people}{days}{found}")
}

/// Local ε, and that realised.
pub(super) fn write_local(
    out: &mut dyn Write,
    [epsilon, effective]: [f64; 2],
    protects: &str,
    solved_for: Unknown,
) -> io::Result<()> {
    writeln!(
        out,
        "local ε      {epsilon}, {effective} spent by each report (rounded up); protects {protects}{}",
        found(solved_for, Unknown::Epsilon)
    )
}

/// What the shuffled reports give away, or why that is not known.
pub(super) fn write_shuffled(
    out: &mut dyn Write,
    central: Option<&Account>,
    reason: Option<&str>,
) -> io::Result<()> {
    match (central, reason) {
        (Some(central), _) => writeln!(
            out,
            "shuffled ε   {:.5}, δ = {:e}, among {} reports assumed honest (rounded up)",
            (central.central_epsilon * 1e5).ceil() / 1e5,
            central.delta,
            central.honest_reports
        ),
        (None, reason) => writeln!(out, "shuffled ε   none: {}", reason.unwrap_or("unknown")),
    }
}
