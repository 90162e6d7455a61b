//! Origins of shuffled reports. An analyser stores them after the bytes of an upload or of totals.

use std::collections::BTreeMap;

use hushbin::sealed::KEY_ID;

use super::role::Role;

/// Origin of a shuffled report: the shuffler and the batch that it came from, and the key that it
/// was sealed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    /// Id of the shuffler: the first 8 bytes of the SHA-256 of its public key.
    pub(crate) shuffler: [u8; 8],
    /// Id of the shuffled batch.
    pub(crate) batch: [u8; 16],
    /// Id of the key that the report was sealed to. Every sealed report contains this id in
    /// plaintext.
    pub(crate) key: [u8; KEY_ID],
}

impl Origin {
    pub(crate) const LENGTH: usize = 8 + 16 + KEY_ID;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let bytes = [&self.shuffler[..], &self.batch, &self.key].concat();
        bytes.try_into().expect("its parts are so long")
    }

    fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
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

/// Number of reports of each origin.
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

    /// Returns the number of reports whose origin is known.
    pub(crate) fn reports(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of reports of the origin with the fewest reports, or `None` if there are
    /// no origins. A report is hidden only among reports of the same origin.
    pub(crate) fn smallest(&self) -> Option<u64> {
        self.0.values().copied().min()
    }

    /// Returns the shufflers, each once.
    pub(crate) fn shufflers(&self) -> Vec<[u8; 8]> {
        let mut all: Vec<_> = self.0.keys().map(|origin| origin.shuffler).collect();
        // Origins are sorted by shuffler first, so equal shufflers are adjacent.
        all.dedup();
        all
    }

    /// Appends each origin and its number of reports to `bytes`, and then the number of origins.
    pub(super) fn append(&self, bytes: &mut Vec<u8>) {
        for (origin, reports) in &self.0 {
            bytes.extend(origin.encode());
            bytes.extend(reports.to_le_bytes());
        }
        bytes.extend((self.0.len() as u64).to_le_bytes());
    }

    /// Reverses [`Origins::append`]: returns the bytes before the encoded origins, and the origins.
    /// Returns `None` if the bytes do not end in encoded origins.
    pub(super) fn split(bytes: &[u8]) -> Option<(&[u8], Self)> {
        const EACH: usize = Origin::LENGTH + 8;
        let (rest, count) = bytes.split_last_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        // A damaged count may be any number, so the arithmetic is checked.
        let before = rest.len().checked_sub(count.checked_mul(EACH)?)?;
        let (before, all) = rest.split_at(before);
        let mut origins = Self::default();
        for own in all.as_chunks::<EACH>().0 {
            let (origin, reports) = own.split_first_chunk()?;
            let reports = u64::from_le_bytes(*reports.first_chunk()?);
            origins.add(Origin::decode(origin), reports);
        }
        Some((before, origins))
    }
}

impl Role {
    /// Splits the stored body of an upload into the body that was sent, and the origin after it.
    /// Only an analyser stores an origin.
    pub(super) fn split_body(self, body: &[u8]) -> (&[u8], Option<Origin>) {
        match (self, body.split_last_chunk()) {
            (Self::Analyser, Some((body, origin))) => (body, Some(Origin::decode(origin))),
            _ => (body, None),
        }
    }

    /// Splits the stored totals of a released batch into the encoded totals and the origins after
    /// them. Returns `None` if an analyser's totals lack the origins.
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
