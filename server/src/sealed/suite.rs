//! HPKE suite with which reports are sealed.

pub(crate) type Kem = hpke::kem::X25519HkdfSha256;
pub(crate) type Kdf = hpke::kdf::HkdfSha256;
pub(crate) type Aead = hpke::aead::AesGcm128;
