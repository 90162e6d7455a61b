//! Data sets of people with sparse vectors, as text.
//!
//! The first line is `people items max`, max being the largest number of
//! entries of one person; every further line is `person item value`, numbered
//! from 0, the value in [-1, 1]. People without a line have an empty vector.
//! Where a person's item stands twice, the later line replaces the earlier one,
//! as a later rating does, and the data set counts it.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use hushbin::Entry;

/// People and their entries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataSet {
    items: u32,
    /// Entries by person, each person's ascending by item.
    entries: Vec<Entry>,
    /// Where each person's entries begin, and the end.
    bounds: Vec<usize>,
    replaced: usize,
}

/// Why a data set cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not what it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// From 1.
        line: usize,
        /// What was expected.
        reason: String,
    },
}

impl DataSet {
    /// Reads a file.
    ///
    /// # Errors
    /// [`DataError`], naming the first line that is wrong.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let named = |source| DataError::Io {
            path: path.display().to_string(),
            source,
        };
        let file = File::open(path).map_err(named)?;
        Self::read(BufReader::new(file)).map_err(|error| match error {
            DataError::Io { source, .. } => named(source),
            content => content,
        })
    }

    /// Reads from anything.
    ///
    /// # Errors
    /// As [`DataSet::open`].
    pub(crate) fn read(reader: impl BufRead) -> Result<Self, DataError> {
        let mut lines = (1..).zip(reader.lines());
        let refuse = |line: usize, reason: &str| DataError::Line {
            line,
            reason: reason.to_owned(),
        };
        let io = |source| DataError::Io {
            path: String::new(),
            source,
        };
        let (_, header) = lines
            .next()
            .ok_or_else(|| refuse(1, "expected `people items max`"))?;
        let header = header.map_err(io)?;
        let [people, items, most] = fields(&header)
            .and_then(|f| Some([f[0].parse().ok()?, f[1].parse().ok()?, f[2].parse().ok()?]))
            .filter(|numbers: &[u32; 3]| numbers[0] > 0 && numbers[1] > 0)
            .ok_or_else(|| refuse(1, "expected `people items max`, three whole numbers"))?;

        let mut found: Vec<(u32, Entry)> = Vec::new();
        for (number, line) in lines {
            let line = line.map_err(io)?;
            if !line.trim().is_empty() {
                let entry = entry(&line, people, items);
                found.push(entry.map_err(|reason| refuse(number, &reason))?);
            }
        }
        found.sort_by_key(|(person, entry)| (*person, entry.item));
        // The sort is stable: of equal neighbours the later line is kept.
        let lines = found.len();
        found.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0 && later.1.item == earlier.1.item;
            if same {
                *earlier = *later;
            }
            same
        });
        let replaced = lines - found.len();
        let mut bounds = vec![0; people as usize + 1];
        for (person, _) in &found {
            bounds[*person as usize + 1] += 1;
        }
        if let Some(entries) = bounds.iter().find(|entries| **entries > most as usize) {
            let reason = format!("max is {most}, but a person has {entries} entries");
            return Err(refuse(1, &reason));
        }
        for person in 0..people as usize {
            bounds[person + 1] += bounds[person];
        }
        Ok(Self {
            items,
            entries: found.into_iter().map(|(_, entry)| entry).collect(),
            bounds,
            replaced,
        })
    }

    /// Number of people.
    pub(crate) fn people(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Number of items.
    pub(crate) const fn items(&self) -> u32 {
        self.items
    }

    /// How many lines were replaced by a later one of the same person and item.
    pub(crate) const fn replaced(&self) -> usize {
        self.replaced
    }

    /// How many people have 0, 1, 2, … entries.
    pub(crate) fn entry_counts(&self) -> Vec<u64> {
        let mut counts = Vec::new();
        for bounds in self.bounds.windows(2) {
            let entries = bounds[1] - bounds[0];
            if counts.len() <= entries {
                counts.resize(entries + 1, 0);
            }
            counts[entries] += 1;
        }
        counts
    }

    /// One person's entries, ascending by item.
    ///
    /// # Panics
    /// If there is no such person.
    pub(crate) fn person(&self, index: usize) -> &[Entry] {
        &self.entries[self.bounds[index]..self.bounds[index + 1]]
    }
}

/// A person and an entry, or what is wrong with the line.
fn entry(line: &str, people: u32, items: u32) -> Result<(u32, Entry), String> {
    let (person, item, value): (u32, u32, f64) = fields(line)
        .and_then(|f| Some((f[0].parse().ok()?, f[1].parse().ok()?, f[2].parse().ok()?)))
        .ok_or("expected `person item value`")?;
    if person >= people {
        return Err(format!("person {person} of {people}"));
    }
    if item >= items {
        return Err(format!("item {item} of {items}"));
    }
    if !(-1.0..=1.0).contains(&value) {
        return Err(format!("value {value}, expected -1 to 1"));
    }
    let item = u64::from(item);
    Ok((person, Entry { item, value }))
}

fn fields(line: &str) -> Option<[&str; 3]> {
    let mut words = line.split_ascii_whitespace();
    let fields = [words.next()?, words.next()?, words.next()?];
    words.next().is_none().then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DataSet, DataError> {
        DataSet::read(text.as_bytes())
    }

    #[test]
    fn people_keep_their_entries() {
        let data = read("3 5 2\n2 4 -0.5\n0 1 1\n0 0 0.25\n").unwrap();
        assert_eq!((data.people(), data.items()), (3, 5));
        let items: Vec<u64> = data.person(0).iter().map(|entry| entry.item).collect();
        assert_eq!(items, [0, 1]);
        assert_eq!(data.person(1), []);
        assert_eq!(data.person(2)[0].value, -0.5);
    }

    #[test]
    fn later_lines_replace_earlier_ones() {
        let data = read("2 3 3\n0 2 1\n1 2 1\n0 1 1\n0 2 -1\n").unwrap();
        assert_eq!(data.replaced(), 1);
        let values: Vec<f64> = data.person(0).iter().map(|entry| entry.value).collect();
        assert_eq!(values, [1.0, -1.0]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, expected) in [
            ("", "line 1: expected `people items max`"),
            (
                "3 5\n",
                "line 1: expected `people items max`, three whole numbers",
            ),
            ("1 1 1\n0 0\n", "line 2: expected `person item value`"),
            ("1 1 1\n0 0 1 1\n", "line 2: expected `person item value`"),
            ("1 1 1\n1 0 1\n", "line 2: person 1 of 1"),
            ("1 1 1\n0 1 1\n", "line 2: item 1 of 1"),
            ("1 1 1\n0 0 1.5\n", "line 2: value 1.5, expected -1 to 1"),
            ("1 1 1\n0 0 NaN\n", "line 2: value NaN, expected -1 to 1"),
            (
                "1 2 1\n0 0 1\n0 1 1\n",
                "line 1: max is 1, but a person has 2 entries",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text:?}");
        }
    }
}
