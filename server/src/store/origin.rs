//! Origins of shuffled reports. An analyser stores them after the bytes of an upload or of totals.

use std::collections::BTreeMap;

use hushbin::sealed::KEY_ID_BYTES;

use super::role::ProcessRole;

/// Origin of a shuffled report: the shuffler and the batch that it came from, and the key that it
/// was sealed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReportOrigin {
    /// Id of the shuffler: the first 8 bytes of the SHA-256 of its public key.
    pub(crate) shuffler: [u8; 8],
    /// Id of the shuffled batch.
    pub(crate) batch_id: [u8; 16],
    /// Id of the key that the report was sealed to. Every sealed report contains this id in
    /// plaintext.
    pub(crate) key_id: [u8; KEY_ID_BYTES],
}

impl ReportOrigin {
    pub(crate) const LENGTH: usize = 8 + 16 + KEY_ID_BYTES;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let bytes = [&self.shuffler[..], &self.batch_id, &self.key_id].concat();
        bytes.try_into().expect("its parts are so long")
    }

    pub(super) fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let (shuffler, rest) = bytes
            .split_first_chunk()
            .expect("it begins with a shuffler");
        let (batch, rest) = rest.split_first_chunk().expect("a batch follows");
        let key = rest.first_chunk().expect("a key ends it");
        Self {
            shuffler: *shuffler,
            batch_id: *batch,
            key_id: *key,
        }
    }
}

/// Number of reports of each origin. In a task of sums, this is the number of people that a shuffler
/// states, or the number that the distinct messages can come from, if it is smaller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OriginCounts(BTreeMap<ReportOrigin, u64>);

impl OriginCounts {
    pub(super) fn add_report_count(&mut self, origin: ReportOrigin, reports: u64) {
        *self.0.entry(origin).or_default() += reports;
    }

    pub(super) fn merge(&mut self, others: &Self) {
        others
            .0
            .iter()
            .for_each(|(&own, &reports)| self.add_report_count(own, reports));
    }

    /// Returns the counts of the origins in `messages`, each at most `limit` of the count there.
    pub(super) fn at_most(mut self, messages: &Self, limit: impl Fn(u64) -> u64) -> Self {
        self.0.retain(|origin, _| messages.0.contains_key(origin));
        for (origin, reports) in &mut self.0 {
            *reports = limit(messages.0[origin]).min(*reports);
        }
        self
    }

    /// Returns true if there are reports of this origin.
    pub(crate) fn contains(&self, origin: ReportOrigin) -> bool {
        self.0.contains_key(&origin)
    }

    /// Returns the number of reports whose origin is known.
    pub(crate) fn report_count(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the smallest number of reports that any origin has, or `None` if there are no
    /// origins. A report is hidden only among reports of its origin.
    pub(crate) fn smallest_report_count(&self) -> Option<u64> {
        self.0.values().copied().min()
    }

    /// Returns the shufflers, each once.
    pub(crate) fn shuffler_ids(&self) -> Vec<[u8; 8]> {
        let mut all: Vec<_> = self.0.keys().map(|origin| origin.shuffler).collect();
        // Origins are sorted by shuffler first, so equal shufflers are adjacent.
        all.dedup();
        all
    }

    /// Appends each origin and its number of reports to `bytes`, and then the number of origins.
    pub(super) fn append_encoded_to(&self, bytes: &mut Vec<u8>) {
        for (origin, reports) in &self.0 {
            bytes.extend(origin.encode());
            bytes.extend(reports.to_le_bytes());
        }
        bytes.extend((self.0.len() as u64).to_le_bytes());
    }

    /// Reverses [`OriginCounts::append_encoded_to`]: returns the bytes before the encoded origins, and the
    /// origins. Returns `None` if the bytes do not end in encoded origins.
    pub(super) fn split_off_origins(bytes: &[u8]) -> Option<(&[u8], Self)> {
        const EACH: usize = ReportOrigin::LENGTH + 8;
        let (rest, count) = bytes.split_last_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        // A damaged count may be any number, so the arithmetic is checked.
        let before = rest.len().checked_sub(count.checked_mul(EACH)?)?;
        let (before, all) = rest.split_at(before);
        let mut origins = Self::default();
        for own in all.as_chunks::<EACH>().0 {
            let (origin, reports) = own.split_first_chunk()?;
            let reports = u64::from_le_bytes(*reports.first_chunk()?);
            origins.add_report_count(ReportOrigin::decode(origin), reports);
        }
        Some((before, origins))
    }
}

impl ProcessRole {
    /// Splits the stored body of an upload into the body that was sent, and the origin after it.
    /// Only an analyser stores an origin.
    pub(super) fn split_origin_from_body(self, body: &[u8]) -> (&[u8], Option<ReportOrigin>) {
        match (self, body.split_last_chunk()) {
            (Self::Analyser, Some((body, origin))) => (body, Some(ReportOrigin::decode(origin))),
            _ => (body, None),
        }
    }

    /// Splits the stored totals of a released batch into the encoded totals and the origins after
    /// them. Returns `None` if an analyser's totals lack the origins.
    pub(super) fn split_origins_from_totals(self, bytes: &[u8]) -> Option<(&[u8], OriginCounts)> {
        match self {
            Self::Analyser => OriginCounts::split_off_origins(bytes),
            Self::Collector | Self::Shuffler => Some((bytes, OriginCounts::default())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_they_were_written() {
        let origin = |n: u8| ReportOrigin {
            shuffler: [n % 2; 8],
            batch_id: [n; 16],
            key_id: [7; KEY_ID_BYTES],
        };
        let mut origins = OriginCounts::default();
        let mut bytes = b"totals".to_vec();
        for n in 0..5 {
            origins.add_report_count(origin(n), 10);
            origins.add_report_count(origin(n), u64::from(n));
        }
        origins.append_encoded_to(&mut bytes);
        let (before, read) = OriginCounts::split_off_origins(&bytes).unwrap();
        assert_eq!((before, &read), (&b"totals"[..], &origins));
        assert_eq!(read.smallest_report_count(), Some(10));
        assert_eq!(read.shuffler_ids(), [[0; 8], [1; 8]]);
        let mut twice = read.clone();
        twice.merge(&origins);
        assert_eq!(twice.smallest_report_count(), Some(20));
        let mut few = OriginCounts::default();
        few.add_report_count(origin(1), 7);
        few.add_report_count(origin(2), 70);
        let limited = twice.at_most(&few, |count| count / 2).0;
        assert_eq!(limited.into_values().collect::<Vec<_>>(), [24, 3]);
        let mut none = Vec::new();
        OriginCounts::default().append_encoded_to(&mut none);
        assert_eq!(
            OriginCounts::split_off_origins(&none)
                .unwrap()
                .1
                .smallest_report_count(),
            None
        );
        for length in 0..8 {
            assert_eq!(OriginCounts::split_off_origins(&bytes[..length]), None);
        }
        assert_eq!(OriginCounts::split_off_origins(&[0xff; 20]), None);
    }
}
