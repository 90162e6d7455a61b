//! Data sets of people who each have values for a few items, in the file format of `hushbin
//! simulate`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hushbin::Entry;

use crate::evaluate::measure::error::StudyError;

/// Data set: all people with all entries.
#[derive(Debug)]
pub(crate) struct EntryDataSet {
    item_count: u32,
    entries_by_person: Vec<Vec<Entry>>,
}

impl EntryDataSet {
    /// Reads a file with a first line `people items max` and then lines `person item value`. A line
    /// replaces an earlier line for the same person and item.
    ///
    /// # Errors
    /// [`StudyError::Io`] if the file cannot be read; [`StudyError::InvalidPeopleTable`] names the first wrong
    /// line.
    pub(crate) fn read_file(path: &Path) -> Result<Self, StudyError> {
        let text =
            fs::read_to_string(path).map_err(|source| StudyError::file_error(path, source))?;
        Self::parse(&text).map_err(|reason| StudyError::InvalidPeopleTable {
            path: path.display().to_string(),
            reason,
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines());
        let head = lines.next().and_then(|(_, line)| parse_line(line));
        let (people, items, _) = head
            .filter(|(people, items, _)| *people > 0 && *items > 0)
            .ok_or("line 1: expected `people items max`")?;
        let mut all = vec![BTreeMap::new(); people as usize];
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let in_range = |(person, item, value): &(u32, u32, f64)| {
                *person < people && *item < items && (-1.0..=1.0).contains(value)
            };
            let (person, item, value) = parse_line(line).filter(in_range).ok_or_else(|| {
                format!(
                    "line {number}: expected `person item value` of {people} people and {items} \
                     items, the value from -1 to 1"
                )
            })?;
            all[person as usize].insert(u64::from(item), value);
        }
        let entry = |(item, value)| Entry { item, value };
        let person = |own: BTreeMap<u64, f64>| own.into_iter().map(entry).collect();
        Ok(Self {
            item_count: items,
            entries_by_person: all.into_iter().map(person).collect(),
        })
    }

    /// Number of items.
    pub(crate) const fn item_count(&self) -> u32 {
        self.item_count
    }

    /// Entries of each person, in ascending order of items.
    pub(crate) fn entries_by_person(&self) -> &[Vec<Entry>] {
        &self.entries_by_person
    }
}

/// Parses a line that consists of two whole numbers and a real number. Returns `None` for any other
/// line.
fn parse_line(line: &str) -> Option<(u32, u32, f64)> {
    let mut words = line.split_ascii_whitespace();
    let found = (
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
    );
    words.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_replace_earlier_ones_and_people_may_have_none() {
        let data = EntryDataSet::parse("3 5 2\n2 4 -0.5\n0 1 1\n0 0 0.25\n2 4 1\n").unwrap();
        let entry = |item, value| Entry { item, value };
        let expected = [
            vec![entry(0, 0.25), entry(1, 1.0)],
            vec![],
            vec![entry(4, 1.0)],
        ];
        assert_eq!(
            (data.item_count(), data.entries_by_person()),
            (5, &expected[..])
        );
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, expected) in [
            ("", "line 1: expected `people items max`"),
            ("3 5\n", "line 1: expected `people"),
            ("0 5 1\n", "line 1: expected `people"),
            ("1 1 1\n0 0\n", "line 2: expected `person item value`"),
            ("1 1 1\n0 0 1 1\n", "line 2"),
            ("1 1 1\n\n1 0 1\n", "line 3"),
            ("1 1 1\n0 1 1\n", "of 1 people and 1 items"),
            ("1 1 1\n0 0 1.5\n", "line 2"),
            ("1 1 1\n0 0 NaN\n", "line 2"),
        ] {
            let error = EntryDataSet::parse(text).err().unwrap();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
