//! Origins of shuffled reports, stored behind uploads and totals.

use std::collections::BTreeMap;

use hushbin::sealed::KEY_ID;

use super::role::Role;

/// Origin of a shuffled report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    /// Who shuffled it: the beginning of the SHA-256 of a public key.
    pub(crate) shuffler: [u8; 8],
    /// The shuffled batch.
    pub(crate) batch: [u8; 16],
    /// What it was sealed by, which all can tell who see it.
    pub(crate) key: [u8; KEY_ID],
}

impl Origin {
    pub(crate) const LENGTH: usize = 8 + 16 + KEY_ID;

    pub(crate) fn bytes(&self) -> [u8; Self::LENGTH] {
        let bytes = [&self.shuffler[..], &self.batch, &self.key].concat();
        bytes.try_into().expect("its parts are so long")
    }

    fn read(bytes: &[u8; Self::LENGTH]) -> Self {
        let (shuffler, rest) = bytes
            .split_first_chunk()
            .expect("it begins with a shuffler");
        let (batch, rest) = rest.split_first_chunk().expect("a batch follows");
        let key = rest.first_chunk().expect("a key ends it");
        Self {
            shuffler: *shuffler,
            batch: *batch,
            key: *key,
        }
    }
}

/// How many reports there are of each origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins(BTreeMap<Origin, u64>);

impl Origins {
    pub(super) fn add(&mut self, origin: Origin, reports: u64) {
        *self.0.entry(origin).or_default() += reports;
    }

    pub(super) fn merge(&mut self, others: &Self) {
        others
            .0
            .iter()
            .for_each(|(&own, &reports)| self.add(own, reports));
    }

    /// Reports of which it is known.
    pub(crate) fn reports(&self) -> u64 {
        self.0.values().sum()
    }

    /// Reports of the origin that fewest have: each hides among those of its own.
    pub(crate) fn smallest(&self) -> Option<u64> {
        self.0.values().copied().min()
    }

    /// Who shuffled, each once.
    pub(crate) fn shufflers(&self) -> Vec<[u8; 8]> {
        let mut all: Vec<_> = self.0.keys().map(|origin| origin.shuffler).collect();
        all.dedup();
        all
    }

    /// Behind these bytes.
    pub(super) fn append(&self, bytes: &mut Vec<u8>) {
        for (origin, reports) in &self.0 {
            bytes.extend(origin.bytes());
            bytes.extend(reports.to_le_bytes());
        }
        bytes.extend((self.0.len() as u64).to_le_bytes());
    }

    /// What stands before them, and them; `None` of bytes that [`Origins::append`] has not
    /// written to.
    pub(super) fn split(bytes: &[u8]) -> Option<(&[u8], Self)> {
        const EACH: usize = Origin::LENGTH + 8;
        let (rest, count) = bytes.split_last_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let before = rest.len().checked_sub(count.checked_mul(EACH)?)?;
        let (before, all) = rest.split_at(before);
        let mut origins = Self::default();
        for own in all.as_chunks::<EACH>().0 {
            let (origin, reports) = own.split_first_chunk()?;
            let reports = u64::from_le_bytes(*reports.first_chunk()?);
            origins.add(Origin::read(origin), reports);
        }
        Some((before, origins))
    }
}

impl Role {
    /// The body of an upload as its sender wrote it, and what is stored behind it.
    pub(super) fn split(self, body: &[u8]) -> (&[u8], Option<Origin>) {
        match (self, body.split_last_chunk()) {
            (Self::Analyser, Some((body, origin))) => (body, Some(Origin::read(origin))),
            _ => (body, None),
        }
    }

    /// The encoded totals of a released batch, and what is stored behind them; `None` where
    /// that is not there.
    pub(super) fn split_totals(self, bytes: &[u8]) -> Option<(&[u8], Origins)> {
        match self {
            Self::Analyser => Origins::split(bytes),
            Self::Collector | Self::Shuffler => Some((bytes, Origins::default())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_they_were_written() {
        let origin = |n: u8| Origin {
            shuffler: [n % 2; 8],
            batch: [n; 16],
            key: [7; KEY_ID],
        };
        let mut origins = Origins::default();
        let mut bytes = b"totals".to_vec();
        for n in 0..5 {
            origins.add(origin(n), 10);
            origins.add(origin(n), u64::from(n));
        }
        origins.append(&mut bytes);
        let (before, read) = Origins::split(&bytes).unwrap();
        assert_eq!((before, &read), (&b"totals"[..], &origins));
        assert_eq!(read.smallest(), Some(10));
        assert_eq!(read.shufflers(), [[0; 8], [1; 8]]);
        let mut twice = read.clone();
        twice.merge(&origins);
        assert_eq!(twice.smallest(), Some(20));
        let mut none = Vec::new();
        Origins::default().append(&mut none);
        assert_eq!(Origins::split(&none).unwrap().1.smallest(), None);
        for length in 0..8 {
            assert_eq!(Origins::split(&bytes[..length]), None);
        }
        assert_eq!(Origins::split(&[0xff; 20]), None);
    }
}
