//! `--compare`: what others would have said of the same batch.

use std::io::{self, Write};

use serde::Serialize;

use hushbin_analysis::accounting::{Account, Kind, Published, Scope};

/// Published bounds beside the account, the least first.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    /// The least of those that apply.
    best_published: Option<&'static str>,
    /// The least of those that apply to any randomizer.
    best_for_any_randomizer: Option<&'static str>,
    published: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    bound: Published,
    /// By what part of it the account's ε is smaller.
    ours_smaller_by: Option<f64>,
}

impl Table {
    pub(super) fn new(account: &Account, published: Vec<Published>) -> Self {
        let smaller_by = |theirs: f64| 1.0 - account.central_epsilon / theirs;
        let row = |bound: Published| Row {
            ours_smaller_by: bound.central_epsilon.map(smaller_by),
            bound,
        };
        let mut published: Vec<Row> = published.into_iter().map(row).collect();
        let key = |row: &Row| row.bound.central_epsilon.unwrap_or(f64::INFINITY);
        published.sort_by(|one, other| key(one).total_cmp(&key(other)));
        let mut applying = published
            .iter()
            .map(|row| &row.bound)
            .filter(|bound| bound.central_epsilon.is_some());
        let best_published = applying.clone().next();
        let best_for_any_randomizer = applying.find(|bound| bound.scope == Scope::AnyRandomizer);
        Self {
            best_published: best_published.map(|bound| bound.name),
            best_for_any_randomizer: best_for_any_randomizer.map(|bound| bound.name),
            published,
        }
    }

    /// Writes a line for each bound.
    pub(super) fn write(&self, out: &mut dyn Write, account: &Account) -> io::Result<()> {
        let mut line = |name: &str, central: &str, part: &str, about: &str| {
            writeln!(out, "{name:<31}  {central:<10}  {part:>9}  {about}")
        };
        line("bound", "ε", "ours less", "source")?;
        let own = digits(account.central_epsilon);
        line("hushbin, exact sum", &own, "", "")?;
        for Row {
            bound,
            ours_smaller_by,
        } in &self.published
        {
            let kind = match bound.kind {
                Kind::ClosedForm => "closed form",
                Kind::Numeric => "numeric",
            };
            let about = match bound.reason {
                None => format!("{}, {kind}", bound.source),
                Some(reason) => format!("{}, {kind}: only for {reason}", bound.source),
            };
            let central = bound.central_epsilon.map(digits);
            let part = ours_smaller_by.map(|part| format!("{:.1}%", 100.0 * part));
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
            line(bound.name, &or_none(central), &or_none(part), &about)?;
        }
        for (what, name) in [
            ("best published", self.best_published),
            ("of any randomizer", self.best_for_any_randomizer),
        ] {
            let named = |row: &&Row| Some(row.bound.name) == name;
            let row = self.published.iter().find(named);
            if let (Some(name), Some(part)) = (name, row.and_then(|row| row.ours_smaller_by)) {
                writeln!(out, "{what}: {name}; ours is {:.1}% smaller", 100.0 * part)?;
            }
        }
        Ok(())
    }
}

/// Five significant digits.
fn digits(number: f64) -> String {
    let places = 4.0 - number.max(f64::MIN_POSITIVE).log10().floor();
    format!("{number:.*}", places.clamp(0.0, 15.0) as usize)
}
