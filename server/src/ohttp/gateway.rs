//! Opens encapsulated requests, and seals the responses.

use std::fmt;

use axum::body::Bytes;
use hpke::{Deserializable, OpModeR, setup_receiver};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use sha2::{Digest, Sha256};

use crate::keys;
use crate::sealed::{self, Aead, Kdf, Kem};

/// Identifiers of KEM, KDF and AEAD (RFC 9180, section 7), the same as for sealed reports.
const CIPHER_SUITE_IDS: [u8; 6] = {
    let [kem, kdf, aead] = [
        <Kem as hpke::Kem>::KEM_ID.to_be_bytes(),
        <Kdf as hpke::kdf::Kdf>::KDF_ID.to_be_bytes(),
        <Aead as hpke::aead::Aead>::AEAD_ID.to_be_bytes(),
    ];
    [kem[0], kem[1], kdf[0], kdf[1], aead[0], aead[1]]
};

/// Length in bytes of a request's first part, which names the key and the suite.
const REQUEST_HEAD_LENGTH: usize = 1 + CIPHER_SUITE_IDS.len();
const ENCAPSULATED_KEY_LENGTH: usize = 32;
const AEAD_TAG_LENGTH: usize = 16;

const REQUEST_INFO_LABEL: &[u8] = b"message/bhttp request\0";
const RESPONSE_EXPORT_LABEL: &[u8] = b"message/bhttp response";

/// Length in bytes of the exported secret, and also of the response's nonce. RFC 9458 takes the
/// AEAD's key length or nonce length, whichever is greater. Here the key length is greater.
const EXPORTED_SECRET_LENGTH: usize = 16;

/// Gateway that opens requests, with one of several keys.
pub(crate) struct OhttpGateway {
    /// Keys, newest first.
    keys: Vec<GatewayKey>,
}

struct GatewayKey {
    id: u8,
    public_key: [u8; keys::KEY_BYTES],
    private_key: <Kem as hpke::Kem>::PrivateKey,
}

/// Reason that private keys cannot be used together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GatewayKeysError {
    #[error("two keys of --ohttp-key have the id {0}: create another key")]
    SameId(u8),
}

/// Reason that a request cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecapsulationError {
    /// The request is shorter than any valid one.
    RequestTooShort,
    /// The request names a key or a suite that is not among the configurations.
    UnknownKeyOrSuite,
    /// The request was not sealed to the key that it names, or was changed after sealing.
    DecryptionFailed,
}

/// State for sealing the response, so that only the sender of the request can open it.
pub(crate) struct ResponseSealer {
    secret: [u8; EXPORTED_SECRET_LENGTH],
    encapsulated_key: [u8; ENCAPSULATED_KEY_LENGTH],
}

/// Shows only the ids of the keys.
impl fmt::Debug for OhttpGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.keys.iter().map(|key| key.id))
            .finish()
    }
}

impl OhttpGateway {
    /// Creates a gateway with these private keys. The first key is for new requests.
    ///
    /// # Errors
    /// When two of the keys have the same id.
    pub(crate) fn new(private: &[[u8; keys::KEY_BYTES]]) -> Result<Self, GatewayKeysError> {
        let mut gateway = Self { keys: Vec::new() };
        for bytes in private {
            gateway.add_key(key_id(&sealed::x25519_public_key(bytes)), bytes)?;
        }
        Ok(gateway)
    }

    pub(super) fn add_key(
        &mut self,
        id: u8,
        bytes: &[u8; keys::KEY_BYTES],
    ) -> Result<(), GatewayKeysError> {
        if self.find_key(id).is_some() {
            return Err(GatewayKeysError::SameId(id));
        }
        self.keys.push(GatewayKey {
            id,
            public_key: sealed::x25519_public_key(bytes),
            private_key: sealed::private_key_from_bytes(bytes),
        });
        Ok(())
    }

    #[cfg(test)]
    pub(super) const fn without_keys() -> Self {
        Self { keys: Vec::new() }
    }

    fn find_key(&self, id: u8) -> Option<&GatewayKey> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// Returns the key configurations, encoded as `application/ohttp-keys`. A client seals a
    /// request with one of them. Each configuration is preceded by its length (2 bytes, big
    /// endian).
    pub(crate) fn key_configurations(&self) -> Vec<u8> {
        let encoded = |key: &GatewayKey| {
            [
                &[0, CONFIGURATION_LENGTH as u8],
                &encode_configuration(key.id, &key.public_key)[..],
            ]
            .concat()
        };
        self.keys.iter().flat_map(encoded).collect()
    }

    /// Opens an encapsulated request, and returns the message and the state for sealing the
    /// response.
    ///
    /// The message is decrypted in place, without a second copy.
    pub(crate) fn open_request(
        &self,
        mut bytes: Vec<u8>,
    ) -> Result<(Bytes, ResponseSealer), DecapsulationError> {
        let end = bytes.len().saturating_sub(AEAD_TAG_LENGTH);
        let (head, rest) = bytes
            .split_first_chunk_mut::<REQUEST_HEAD_LENGTH>()
            .ok_or(DecapsulationError::RequestTooShort)?;
        let (id, suite) = (head[0], &head[1..]);
        let key = self.find_key(id).filter(|_| *suite == CIPHER_SUITE_IDS);
        let key = key.ok_or(DecapsulationError::UnknownKeyOrSuite)?;
        let (encapsulated, rest) = rest
            .split_first_chunk_mut::<ENCAPSULATED_KEY_LENGTH>()
            .ok_or(DecapsulationError::RequestTooShort)?;
        let (message, tag) = rest
            .split_last_chunk_mut::<AEAD_TAG_LENGTH>()
            .ok_or(DecapsulationError::RequestTooShort)?;
        let encapsulated_key = Deserializable::from_bytes(&encapsulated[..]);
        let mut context = setup_receiver::<Aead, Kdf, Kem>(
            &OpModeR::Base,
            &key.private_key,
            &encapsulated_key.map_err(|_| DecapsulationError::DecryptionFailed)?,
            // This binds the message to the key's id and the suite (RFC 9458, section 4.3).
            &[REQUEST_INFO_LABEL, &head[..]].concat(),
        )
        // This fails for points of low order, which do not occur by chance.
        .map_err(|_| DecapsulationError::DecryptionFailed)?;
        let tag = Deserializable::from_bytes(&tag[..])
            .map_err(|_| DecapsulationError::DecryptionFailed)?;
        context
            .open_inout_detached(message.into(), &[], &tag)
            .map_err(|_| DecapsulationError::DecryptionFailed)?;
        let mut reply = ResponseSealer {
            secret: [0; EXPORTED_SECRET_LENGTH],
            encapsulated_key: *encapsulated,
        };
        context
            .export(RESPONSE_EXPORT_LABEL, &mut reply.secret)
            .expect("HKDF gives 16 bytes");
        let message = Bytes::from(bytes).slice(REQUEST_HEAD_LENGTH + ENCAPSULATED_KEY_LENGTH..end);
        Ok((message, reply))
    }
}

impl ResponseSealer {
    /// Seals a response that only the sender of the request can read.
    ///
    /// # Errors
    /// When the operating system gives no random numbers.
    pub(crate) fn seal(&self, message: &[u8]) -> Result<Vec<u8>, getrandom::Error> {
        let mut nonce = [0; EXPORTED_SECRET_LENGTH];
        getrandom::fill(&mut nonce)?;
        Ok(self.seal_with_nonce(nonce, message))
    }

    /// Seals a response with a given nonce. The caller must never use a nonce twice, so that no
    /// AEAD key is used twice.
    pub(super) fn seal_with_nonce(
        &self,
        nonce: [u8; EXPORTED_SECRET_LENGTH],
        message: &[u8],
    ) -> Vec<u8> {
        // Key derivation of RFC 9458, section 4.4.
        let salt = [&self.encapsulated_key[..], &nonce].concat();
        let secret = Salt::new(HKDF_SHA256, &salt).extract(&self.secret);
        let (key, of_aead) = derive_key_and_nonce(&secret);
        let mut sealed =
            Vec::with_capacity(EXPORTED_SECRET_LENGTH + message.len() + AEAD_TAG_LENGTH);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(message);
        let tag = key
            .seal_in_place_separate_tag(
                of_aead,
                Aad::empty(),
                &mut sealed[EXPORTED_SECRET_LENGTH..],
            )
            .expect("AES-GCM takes messages of any length that fits into memory");
        sealed.extend_from_slice(tag.as_ref());
        sealed
    }
}

/// Derives the AEAD's key and nonce from the extracted secret.
fn derive_key_and_nonce(secret: &Prk) -> (LessSafeKey, Nonce) {
    struct NonceLength;
    impl KeyType for NonceLength {
        fn len(&self) -> usize {
            NONCE_LEN
        }
    }
    const HKDF_LENGTH_MESSAGE: &str = "HKDF gives so many bytes";
    let key = secret
        .expand(&[b"key"], &AES_128_GCM)
        .expect(HKDF_LENGTH_MESSAGE);
    let mut nonce = [0; NONCE_LEN];
    let of_nonce = secret
        .expand(&[b"nonce"], NonceLength)
        .expect(HKDF_LENGTH_MESSAGE);
    of_nonce.fill(&mut nonce).expect("it is as long");
    let nonce = Nonce::assume_unique_for_key(nonce);
    (LessSafeKey::new(UnboundKey::from(key)), nonce)
}

/// Returns the id of a key: the first byte of the public key's SHA-256. The id depends on neither
/// restarts nor the order of keys.
fn key_id(public: &[u8; keys::KEY_BYTES]) -> u8 {
    Sha256::digest(public)[0]
}

/// Number of bytes of a key configuration.
const CONFIGURATION_LENGTH: usize = 1 + 2 + keys::KEY_BYTES + 2 + 4;

/// Encodes the key configuration of a public key. The encoding consists of the key's id, the KEM's
/// identifier, the key, the length of the rest, and the identifiers of KDF and AEAD.
pub(crate) fn key_configuration(public: &[u8; keys::KEY_BYTES]) -> [u8; CONFIGURATION_LENGTH] {
    encode_configuration(key_id(public), public)
}

fn encode_configuration(id: u8, public: &[u8; keys::KEY_BYTES]) -> [u8; CONFIGURATION_LENGTH] {
    let (kem, symmetric) = CIPHER_SUITE_IDS.split_at(2);
    let length = [0, symmetric.len() as u8];
    let bytes = [&[id], kem, public, &length, symmetric].concat();
    bytes.try_into().expect("its parts are so long")
}
