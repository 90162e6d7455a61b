//! Sealing of reports by HPKE (RFC 9180) on `ring`, independent of the crate `hpke`. Base mode, with
//! X25519, HKDF-SHA256 and AES-128-GCM.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hmac;
use ring::rand::SystemRandom;
use sha2::{Digest, Sha256};

/// Identifiers of the KEM, and of the whole suite (RFC 9180, sections 4.1 and 5.1).
const KEM_SUITE: &[u8] = b"KEM\x00\x20";
const HPKE_SUITE: &[u8] = b"HPKE\x00\x20\x00\x01\x00\x01";

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, &parts.concat()).as_ref().to_vec()
}

/// `LabeledExtract` of section 4.
fn extract(suite: &[u8], salt: &[u8], label: &[u8], secret: &[u8]) -> Vec<u8> {
    hmac(salt, &[b"HPKE-v1", suite, label, secret])
}

/// `LabeledExpand` of section 4, for at most 32 bytes, which are the first block of HKDF.
fn expand(suite: &[u8], key: &[u8], label: &[u8], info: &[u8], length: u8) -> Vec<u8> {
    let parts = [&[0, length], &b"HPKE-v1"[..], suite, label, info, &[1]];
    let mut block = hmac(key, &parts);
    block.truncate(length.into());
    block
}

/// Seals a message to a public key. Returns the encapsulated key and the ciphertext.
fn seal(public: &[u8], info: &[u8], message: &[u8]) -> Vec<u8> {
    let random = SystemRandom::new();
    let ephemeral = EphemeralPrivateKey::generate(&X25519, &random).unwrap();
    let encapsulated = ephemeral.compute_public_key().unwrap();
    let encapsulated = encapsulated.as_ref();
    let context = [encapsulated, public].concat();
    let peer = UnparsedPublicKey::new(&X25519, public);
    let shared = agree_ephemeral(ephemeral, &peer, |agreed| {
        let key = extract(KEM_SUITE, b"", b"eae_prk", agreed);
        expand(KEM_SUITE, &key, b"shared_secret", &context, 32)
    });
    let hash = |label, bytes| extract(HPKE_SUITE, b"", label, bytes);
    let (psk_id, info) = (hash(b"psk_id_hash", b""), hash(b"info_hash", info));
    // The mode is 0.
    let schedule = [&[0], &psk_id[..], &info].concat();
    let secret = extract(HPKE_SUITE, &shared.unwrap(), b"secret", b"");
    let key = expand(HPKE_SUITE, &secret, b"key", &schedule, 16);
    let nonce = expand(HPKE_SUITE, &secret, b"base_nonce", &schedule, 12);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
    let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
    let mut ciphertext = message.to_vec();
    key.seal_in_place_append_tag(nonce, Aad::empty(), &mut ciphertext)
        .unwrap();
    [encapsulated, &ciphertext].concat()
}

/// Pads and seals the bytes of a report with a key configuration.
pub(super) fn seal_report(configuration: &[u8], report: &[u8]) -> Vec<u8> {
    let [high, low] = *configuration.last_chunk::<2>().unwrap();
    let mut padded = report.to_vec();
    padded.resize(u16::from_be_bytes([high, low]).into(), 0);
    let info = [b"hushbin sealed report\0", configuration].concat();
    let id = Sha256::digest(configuration);
    let sealed = seal(&configuration[23..55], &info, &padded);
    [&id[..4], &sealed].concat()
}
