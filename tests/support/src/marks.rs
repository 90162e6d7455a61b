//! Search for byte strings that identify something. It is here because this package is optimised, and
//! the memory of a process is long.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Eight random bytes that identify something.
pub type Mark = [u8; 8];

/// Set of marks to search for.
pub struct Marks {
    all: HashSet<Mark>,
    /// Index by the first two bytes: true if a mark begins so.
    begins: Vec<bool>,
}

/// Mark of a byte string: its first eight bytes.
pub fn mark(bytes: &[u8]) -> Mark {
    *bytes.first_chunk().unwrap()
}

impl Marks {
    pub fn of<'a>(all: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let all: HashSet<Mark> = all.into_iter().map(mark).collect();
        let mut begins = vec![false; 1 << 16];
        for [first, second, ..] in &all {
            begins[usize::from(u16::from_be_bytes([*first, *second]))] = true;
        }
        Self { all, begins }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.all.iter()
    }

    /// Visits every location of a mark in these bytes.
    pub fn look(&self, bytes: &[u8], mut visit: impl FnMut(usize, Mark)) {
        for place in 8..=bytes.len() {
            let mark: &Mark = bytes[place - 8..place].try_into().unwrap();
            let begins = usize::from(u16::from_be_bytes([mark[0], mark[1]]));
            if self.begins[begins] && self.all.contains(mark) {
                visit(place - 8, *mark);
            }
        }
    }

    /// Number of distinct marks in these bytes.
    pub fn count(&self, bytes: &[u8]) -> usize {
        let mut found = HashSet::new();
        self.look(bytes, |_, mark| {
            found.insert(mark);
        });
        found.len()
    }
}

/// Set of byte strings of at least two bytes each, to search for.
pub struct ByteStrings {
    all: Vec<Vec<u8>>,
    /// Index by the first two bytes: true if a string begins so.
    begins: Vec<bool>,
}

impl ByteStrings {
    pub fn new(all: Vec<Vec<u8>>) -> Self {
        let mut begins = vec![false; 1 << 16];
        for own in &all {
            begins[usize::from(u16::from_be_bytes([own[0], own[1]]))] = true;
        }
        Self { all, begins }
    }

    /// Returns the indices of the strings in these bytes.
    pub fn found_in(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for place in 1..bytes.len() {
            let begin = u16::from_be_bytes([bytes[place - 1], bytes[place]]);
            if self.begins[usize::from(begin)] {
                let strings = self.all.iter().enumerate();
                let here = strings.filter(|(_, own)| bytes[place - 1..].starts_with(own));
                found.extend(here.map(|(index, _)| index));
            }
        }
        found
    }
}

/// Returns true if the first bytes contain the others.
pub fn holds(all: &[u8], bytes: &[u8]) -> bool {
    all.windows(bytes.len()).any(|window| window == bytes)
}

/// Returns true if these bytes have a time between `begin` and `end`, in the usual units and
/// encodings.
pub fn holds_time(bytes: &[u8], begin: SystemTime, end: SystemTime) -> bool {
    let [begin, end] = [begin, end].map(|time| time.duration_since(UNIX_EPOCH).unwrap());
    // Microseconds from 1970 to 2000, which is when PostgreSQL begins to count.
    const TO_2000: u128 = 946_684_800_000_000;
    let between = |number: u64| {
        let number = u128::from(number);
        let since_1970 =
            |unit: fn(&Duration) -> u128| (unit(&begin)..=unit(&end)).contains(&number);
        since_1970(Duration::as_millis)
            || since_1970(Duration::as_micros)
            || since_1970(Duration::as_nanos)
            || (begin.as_micros()..=end.as_micros()).contains(&(number + TO_2000))
    };
    let seconds = |number: u32| (begin.as_secs()..=end.as_secs()).contains(&number.into());
    let has_long = bytes.windows(8).any(|own| {
        let own = own.try_into().unwrap();
        between(u64::from_le_bytes(own)) || between(u64::from_be_bytes(own))
    });
    // Short numbers occur by chance in the large files of a database.
    let has_short = bytes.len() < 1 << 20
        && bytes.windows(4).any(|own| {
            let own = own.try_into().unwrap();
            seconds(u32::from_le_bytes(own)) || seconds(u32::from_be_bytes(own))
        });
    let texts = begin.as_secs()..=end.as_secs();
    has_long
        || has_short
        || texts
            .into_iter()
            .any(|own| holds(bytes, own.to_string().as_bytes()))
}
