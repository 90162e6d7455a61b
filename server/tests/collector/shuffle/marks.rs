//! Search for random byte strings that identify something.

use std::collections::HashSet;

/// Eight random bytes that identify something.
pub(super) type Mark = [u8; 8];

/// Set of marks to search for.
pub(super) struct Marks {
    all: HashSet<Mark>,
    /// Index by the first two bytes: true if a mark begins so.
    begins: Vec<bool>,
}

/// Mark of a byte string: its first eight bytes.
pub(super) fn mark(bytes: &[u8]) -> Mark {
    *bytes.first_chunk().unwrap()
}

impl Marks {
    pub(super) fn of<'a>(all: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let all: HashSet<Mark> = all.into_iter().map(mark).collect();
        let mut begins = vec![false; 1 << 16];
        for [first, second, ..] in &all {
            begins[usize::from(u16::from_be_bytes([*first, *second]))] = true;
        }
        Self { all, begins }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.all.iter()
    }

    /// Visits every location of a mark in these bytes.
    pub(super) fn look(&self, bytes: &[u8], mut visit: impl FnMut(usize, Mark)) {
        for place in 8..=bytes.len() {
            let mark: &Mark = bytes[place - 8..place].try_into().unwrap();
            let begins = usize::from(u16::from_be_bytes([mark[0], mark[1]]));
            if self.begins[begins] && self.all.contains(mark) {
                visit(place - 8, *mark);
            }
        }
    }

    /// Number of distinct marks in these bytes.
    pub(super) fn count(&self, bytes: &[u8]) -> usize {
        let mut found = HashSet::new();
        self.look(bytes, |_, mark| {
            found.insert(mark);
        });
        found.len()
    }
}
