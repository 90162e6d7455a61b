//! People with attributes and a target such as income: generated, or read from a table.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use hushbin::sample::move_random_subset_to_front;
use rand_chacha::ChaCha8Rng;

use super::census::{CensusCrowd, CensusExtract, Person};
use crate::evaluate::measure::error::StudyError;

/// Source of people.
#[derive(Debug, Clone)]
pub(crate) enum PeopleSource {
    /// A census-like crowd of any size.
    Generated(CensusExtract),
    /// People in the rows of a table.
    Table(Arc<PeopleTable>),
}

/// Table of people, one in each row. The last column is the target, which is predicted from the
/// other columns.
#[derive(Debug)]
pub(crate) struct PeopleTable {
    label: String,
    /// Number of values of each category.
    category_sizes: Vec<u32>,
    person_rows: Vec<PersonRow>,
}

#[derive(Debug)]
struct PersonRow {
    numbers: Vec<f64>,
    categories: Vec<u32>,
    target: f64,
}

/// Sequence of people that are drawn one after the other.
pub(crate) enum PeopleSequence {
    /// People drawn from a distribution.
    Census(Box<(CensusCrowd, ChaCha8Rng)>),
    /// Rows of a table, each once, in random order.
    Table(Arc<PeopleTable>, std::vec::IntoIter<usize>),
}

/// Maximum number of values of a category. It limits the number of features, since every value
/// except the last has its own feature.
const MAX_CATEGORY_VALUES: usize = 256;
/// Spellings of a missing number.
const MISSING_NUMBER_SPELLINGS: [&str; 4] = ["", "NA", "NaN", "null"];
/// Minimum number of rows of a table, since only a tenth of the people are held out for tests.
const MIN_PEOPLE: usize = 100;

impl PeopleSource {
    /// Name of the people's source in tables.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Generated(extract) => extract.label(),
            Self::Table(table) => &table.label,
        }
    }

    /// Starts a sequence of people. For a table, `rng` draws the order of its rows.
    pub(crate) fn start_people_sequence(&self, mut rng: ChaCha8Rng) -> PeopleSequence {
        match self {
            Self::Generated(extract) => {
                PeopleSequence::Census(Box::new((CensusCrowd::new(*extract), rng)))
            }
            Self::Table(table) => {
                let mut order: Vec<usize> = (0..table.person_rows.len()).collect();
                let all = order.len();
                move_random_subset_to_front(&mut rng, &mut order, all);
                PeopleSequence::Table(Arc::clone(table), order.into_iter())
            }
        }
    }
}

impl PeopleSequence {
    /// Number of features of a person, which is the length of a gradient.
    pub(crate) fn feature_count(&self) -> u32 {
        match self {
            Self::Census(both) => both.0.feature_count(),
            Self::Table(table, _) => table.feature_count(),
        }
    }

    /// Writes the next person to `person`.
    ///
    /// # Panics
    /// If a table has no more rows.
    pub(crate) fn write_next_person(&mut self, person: &mut Person) {
        match self {
            Self::Census(both) => {
                let (census, rng) = &mut **both;
                census.draw_person(rng, person);
            }
            Self::Table(table, order) => {
                let row = &table.person_rows[order
                    .next()
                    .expect("no more people are drawn than the table has")];
                person.numeric_values.clone_from(&row.numbers);
                person.category_values.clone_from(&row.categories);
                person.income = row.target;
                person.compute_features(&table.category_sizes);
            }
        }
    }
}

impl PeopleTable {
    /// Reads a CSV file with a header.
    ///
    /// A column of numbers is a numeric attribute, scaled such that its minimum and maximum are −1
    /// and 1. It must not have empty cells. Any other column is a category. The last column is the
    /// target: it must have numbers, which are scaled to [−1, 1] with mean 0. Cells are separated
    /// by commas, or by semicolons or tabs if the header has no comma.
    ///
    /// # Errors
    /// [`StudyError::Io`] if the file cannot be read; [`StudyError::InvalidPeopleTable`] if it is not a table of
    /// this form.
    pub(crate) fn read_file(path: &Path) -> Result<Self, StudyError> {
        let file =
            std::fs::File::open(path).map_err(|source| StudyError::file_error(path, source))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse_csv(&stem, file).map_err(|reason| StudyError::InvalidPeopleTable {
            path: path.display().to_string(),
            reason,
        })
    }

    fn parse_csv(label: &str, source: impl Read) -> Result<Self, String> {
        let (head, mut columns) = read_columns(source)?;
        let last = columns.pop().unwrap_or_default();
        let name = &head[head.len() - 1];
        let target = parse_numbers(name, &last)?
            .ok_or_else(|| format!("the last column, {name:?}, must have only numbers"))?;
        let target = center_and_scale_to_unit(&target)
            .ok_or_else(|| format!("in the last column, {name:?}, all numbers are the same"))?;
        let mut people: Vec<PersonRow> = target
            .into_iter()
            .map(|target| PersonRow {
                numbers: Vec::new(),
                categories: Vec::new(),
                target,
            })
            .collect();
        let mut values = Vec::new();
        for (column, name) in columns.iter().zip(&head) {
            if let Some(numbers) = parse_numbers(name, column)? {
                for (row, number) in people.iter_mut().zip(scale_to_range(&numbers)) {
                    row.numbers.push(number);
                }
                continue;
            }
            let (codes, count) = category_codes(column);
            if count > MAX_CATEGORY_VALUES {
                return Err(format!(
                    "column {name:?} has {count} values, more than the maximum of {MAX_CATEGORY_VALUES} \
                     for a category"
                ));
            }
            values.push(count as u32);
            for (row, code) in people.iter_mut().zip(codes) {
                row.categories.push(code);
            }
        }
        Ok(Self {
            label: label.to_owned(),
            category_sizes: values,
            person_rows: people,
        })
    }

    /// Name of the file, without its extension.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Number of people.
    pub(crate) fn person_count(&self) -> u64 {
        self.person_rows.len() as u64
    }

    fn feature_count(&self) -> u32 {
        let more: u32 = self.category_sizes.iter().map(|values| values - 1).sum();
        self.person_rows[0].numbers.len() as u32 + more + 1
    }
}

/// Reads the header and the columns of a table.
fn read_columns(mut source: impl Read) -> Result<(csv::StringRecord, Vec<Vec<String>>), String> {
    let mut text = Vec::new();
    let read = source.read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    let cells = |separator| {
        let mut format = csv::ReaderBuilder::new();
        format.delimiter(separator).trim(csv::Trim::All);
        format.from_reader(text.as_slice())
    };
    let has_columns = |&separator: &u8| cells(separator).headers().is_ok_and(|own| own.len() > 1);
    let separator = [b',', b';', b'\t'].into_iter().find(has_columns);
    let mut reader = cells(separator.unwrap_or(b','));
    let head = reader.headers().map_err(|error| error.to_string())?.clone();
    if head.len() < 2 {
        return Err(
            "a table needs a header with at least two columns; the last one is predicted"
                .to_owned(),
        );
    }
    let mut columns = vec![Vec::new(); head.len()];
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        for (column, cell) in columns.iter_mut().zip(&record) {
            column.push(cell.to_owned());
        }
    }
    let count = columns[0].len();
    if count < MIN_PEOPLE {
        return Err(format!(
            "{count} rows are too few: at least {MIN_PEOPLE} are needed"
        ));
    }
    Ok((head, columns))
}

/// Parses all cells of a column as numbers. Returns `None` if a cell contains another text, or if
/// all numbers are missing.
///
/// # Errors
/// A message if some numbers are missing and all other cells are numbers.
fn parse_numbers(name: &str, column: &[String]) -> Result<Option<Vec<f64>>, String> {
    let is_missing = |cell: &String| {
        MISSING_NUMBER_SPELLINGS
            .iter()
            .any(|own| own.eq_ignore_ascii_case(cell))
    };
    let number = |cell: &String| cell.parse().ok().filter(|own: &f64| own.is_finite());
    let given = column.iter().filter(|cell| !is_missing(cell)).map(number);
    let Some(numbers) = given.collect::<Option<Vec<f64>>>() else {
        return Ok(None);
    };
    match column.iter().position(is_missing) {
        Some(first) if !numbers.is_empty() => Err(format!(
            "column {name:?} has numbers, but {} rows have none, the first is row {}: remove these rows",
            column.len() - numbers.len(),
            first + 1
        )),
        missing => Ok(missing.is_none().then_some(numbers)),
    }
}

/// Scales numbers linearly such that minimum and maximum become −1 and 1. Returns zeros if
/// all numbers are equal.
fn scale_to_range(numbers: &[f64]) -> Vec<f64> {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    // Halving before subtracting keeps the range of two large numbers finite.
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let half = 0.5 * most - 0.5 * least;
    let place = |number: &f64| match half > 0.0 {
        true => ((number - least) / half - 1.0).clamp(-1.0, 1.0),
        false => 0.0,
    };
    numbers.iter().map(place).collect()
}

/// Scales numbers linearly such that the mean is 0 and the greatest magnitude 1. Returns
/// `None` if all numbers are equal.
fn center_and_scale_to_unit(numbers: &[f64]) -> Option<Vec<f64>> {
    let places = scale_to_range(numbers);
    let mean = places.iter().sum::<f64>() / places.len() as f64;
    let most = places
        .iter()
        .map(|own| (own - mean).abs())
        .fold(0.0, f64::max);
    let scaled = |own: &f64| (own - mean) / most;
    (most > 0.0).then(|| places.iter().map(scaled).collect())
}

/// Encodes a column of a table. Returns, for each cell, the index of its text among the sorted
/// distinct texts of the column. Also returns the number of distinct texts.
fn category_codes(column: &[String]) -> (Vec<u32>, usize) {
    let mut values: Vec<&String> = column.iter().collect();
    values.sort_unstable();
    values.dedup();
    let place = |cell: &String| values.binary_search(&cell).map_or(0, |place| place as u32);
    (column.iter().map(place).collect(), values.len())
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    /// Returns the text of a table that has the header `head` and `rows` rows. `row` returns the
    /// row with an index.
    fn table(head: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!("{head}\n{}\n", rows.join("\n"))
    }

    #[test]
    fn columns_are_numbers_or_categories() {
        let text = table("age, kind ,height,income", 100, |row| {
            let kind = ["b", "a", "c"][row % 3];
            format!("{},{kind},7,{}", row, if row < 50 { 10 } else { 30 })
        });
        let table = PeopleTable::parse_csv("t", text.as_bytes()).unwrap();
        assert_eq!(
            (table.category_sizes.as_slice(), table.person_count()),
            (&[3][..], 100)
        );
        // Two numbers, two features for three values, and the constant 1.
        assert_eq!(table.feature_count(), 5);
        let people = PeopleSource::Table(Arc::new(table));
        let mut drawn = people.start_people_sequence(ChaCha8Rng::seed_from_u64(1));
        let mut all: Vec<Person> = (0..100)
            .map(|_| {
                let mut person = Person::default();
                drawn.write_next_person(&mut person);
                person
            })
            .collect();
        assert!(
            all.windows(2)
                .any(|pair| pair[0].numeric_values[0] > pair[1].numeric_values[0])
        );
        all.sort_by(|a, b| a.numeric_values[0].total_cmp(&b.numeric_values[0]));
        assert_eq!(all[0].features, [-1.0, 0.0, -1.0, 1.0, 1.0]);
        assert_eq!(all[1].features[2..], [1.0, -1.0, 1.0]);
        assert_eq!(all[99].features[..2], [1.0, 0.0]);
        assert_eq!(all[2].features[2..], [-1.0, -1.0, 1.0]);
        assert_eq!([all[0].income, all[99].income], [-1.0, 1.0]);
    }

    #[test]
    fn what_is_no_table_of_people_is_told() {
        let rows = |head, row: fn(usize) -> String| table(head, 300, row);
        for (text, words) in [
            (String::new(), "header"),
            (rows("a", |row| row.to_string()), "at least two columns"),
            (table("a,b", 99, |row| format!("{row},{row}")), "99 rows"),
            (
                rows("a,b", |row| format!("{row},x")),
                "\"b\", must have only numbers",
            ),
            (
                rows("a,b", |row| format!("{row},NaN")),
                "\"b\", must have only numbers",
            ),
            (
                rows("a;b", |row| match row {
                    7 | 9 => format!(";{row}"),
                    11 => format!("NA;{row}"),
                    _ => format!("{row};{row}"),
                }),
                "column \"a\" has numbers, but 3 rows have none, the first is row 8",
            ),
            (
                rows("a\tb", |row| match row {
                    299 => format!("{row}\tnan"),
                    _ => format!("{row}\t{row}"),
                }),
                "column \"b\" has numbers, but 1 rows have none, the first is row 300",
            ),
            (
                rows("a,b", |row| format!("{row},1")),
                "all numbers are the same",
            ),
            (
                rows("a,b", |row| format!("x{row},{row}")),
                "\"a\" has 300 values",
            ),
            (rows("a,b", |row| format!("{row},{row},1")), "line: 2"),
        ] {
            let error = PeopleTable::parse_csv("t", text.as_bytes()).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
