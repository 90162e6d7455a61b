//! Looking for what nobody else has the bytes of.

use std::collections::HashSet;

/// Eight bytes by which something random is known.
pub(super) type Mark = [u8; 8];

/// What is looked for.
pub(super) struct Marks {
    all: HashSet<Mark>,
    /// By the first two bytes, whether any begins so.
    begins: Vec<bool>,
}

/// The first bytes of something.
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

    /// Visits the places in these bytes where one of them is.
    pub(super) fn look(&self, bytes: &[u8], mut visit: impl FnMut(usize, Mark)) {
        for place in 8..=bytes.len() {
            let mark: &Mark = bytes[place - 8..place].try_into().unwrap();
            let begins = usize::from(u16::from_be_bytes([mark[0], mark[1]]));
            if self.begins[begins] && self.all.contains(mark) {
                visit(place - 8, *mark);
            }
        }
    }

    /// How many of them are in these bytes.
    pub(super) fn count(&self, bytes: &[u8]) -> usize {
        let mut found = HashSet::new();
        self.look(bytes, |_, mark| {
            found.insert(mark);
        });
        found.len()
    }
}
