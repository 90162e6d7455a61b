//! Sealing as in a page, from the bytes of a configuration alone.

use hpke::aead::AesGcm128;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, single_shot_open,
    single_shot_seal_with_rng,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// Client that seals with one configuration.
pub struct Sealer {
    key: <X25519HkdfSha256 as Kem>::PublicKey,
    id: [u8; 4],
    info: Vec<u8>,
    report_bytes: usize,
    rng: ChaCha20Rng,
}

impl Sealer {
    /// Creates a client for this configuration, with random numbers of this seed.
    pub fn new(configuration: &[u8], seed: u64) -> Self {
        let digest = Sha256::digest(configuration);
        let [high, low] = *configuration.last_chunk::<2>().unwrap();
        Self {
            key: Deserializable::from_bytes(&configuration[23..55]).unwrap(),
            id: *digest.first_chunk().unwrap(),
            info: [b"hushbin sealed report\0", configuration].concat(),
            report_bytes: usize::from(u16::from_be_bytes([high, low])),
            rng: ChaCha20Rng::seed_from_u64(seed),
        }
    }

    /// Pads and seals the bytes of a report.
    pub fn seal(&mut self, report: &[u8]) -> Vec<u8> {
        let mut padded = report.to_vec();
        padded.resize(self.report_bytes, 0);
        self.seal_as_it_is(&padded)
    }

    /// Seals bytes without padding.
    pub fn seal_as_it_is(&mut self, padded: &[u8]) -> Vec<u8> {
        let (encapsulated, ciphertext) = single_shot_seal_with_rng::<AesGcm128, HkdfSha256, _>(
            &OpModeS::<X25519HkdfSha256>::Base,
            &self.key,
            &self.info,
            padded,
            &[],
            &mut self.rng,
        )
        .unwrap();
        [&self.id[..], &encapsulated.to_bytes(), &ciphertext].concat()
    }
}

/// Holder of the private key of one configuration.
pub struct Opener {
    key: <X25519HkdfSha256 as Kem>::PrivateKey,
    info: Vec<u8>,
}

impl Opener {
    /// Creates the holder for this configuration and its private key.
    pub fn new(configuration: &[u8], private: &[u8; 32]) -> Self {
        Self {
            key: Deserializable::from_bytes(private).unwrap(),
            info: [b"hushbin sealed report\0", configuration].concat(),
        }
    }

    /// Opens a report and returns its padded bytes.
    pub fn open(&self, sealed: &[u8]) -> Vec<u8> {
        let (encapsulated, ciphertext) = sealed[4..].split_at(32);
        single_shot_open::<AesGcm128, HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &self.key,
            &Deserializable::from_bytes(encapsulated).unwrap(),
            &self.info,
            ciphertext,
            &[],
        )
        .unwrap()
    }
}
