//! Parameters of noise that items may share.

/// Parameters of a noise distribution that all items of a query may share, as bits. Equal bits mean
/// equal noise.
pub(crate) type NoiseLaw = [u64; 14];
