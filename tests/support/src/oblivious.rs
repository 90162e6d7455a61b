//! Requests through a relay as a page makes them (RFC 9458), from the bytes of a key configuration
//! alone.

use std::io::Cursor;

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use bhttp::{Message, Mode};
use hkdf::Hkdf;
use hpke::aead::AesGcm128;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeS, Serializable, setup_sender_with_rng};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::Sha256;

/// Client with one key configuration.
pub struct Asker {
    key: <X25519HkdfSha256 as Kem>::PublicKey,
    head: [u8; 7],
    rng: ChaCha20Rng,
}

/// State for opening a response.
pub struct Waiting {
    secret: [u8; 16],
    encapsulated: [u8; 32],
}

/// Opened response.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub content: Vec<u8>,
}

impl Asker {
    /// Creates a client for this configuration, with random numbers of this seed.
    pub fn new(configuration: &[u8], seed: u64) -> Self {
        let (key, symmetric) = configuration[3..].split_at(32);
        assert_eq!(symmetric, [0, 4, 0, 1, 0, 1]);
        let [id, kem @ ..] = *configuration.first_chunk::<3>().unwrap();
        Self {
            key: Deserializable::from_bytes(key).unwrap(),
            head: [id, kem[0], kem[1], 0, 1, 0, 1],
            rng: ChaCha20Rng::seed_from_u64(seed),
        }
    }

    /// Returns the client with another key id.
    pub fn named(mut self, id: u8) -> Self {
        self.head[0] = id;
        self
    }

    /// Seals a message.
    pub fn seal(&mut self, message: &[u8]) -> (Vec<u8>, Waiting) {
        let info = [b"message/bhttp request\0", &self.head[..]].concat();
        let (encapsulated, mut context) = setup_sender_with_rng::<AesGcm128, HkdfSha256, _>(
            &OpModeS::<X25519HkdfSha256>::Base,
            &self.key,
            &info,
            &mut self.rng,
        )
        .unwrap();
        let sealed = context.seal(message, &[]).unwrap();
        let mut secret = [0; 16];
        context
            .export(b"message/bhttp response", &mut secret)
            .unwrap();
        let encapsulated: [u8; 32] = encapsulated.to_bytes().into();
        let request = [&self.head[..], &encapsulated, &sealed].concat();
        (
            request,
            Waiting {
                secret,
                encapsulated,
            },
        )
    }

    /// Seals a request.
    pub fn ask(&mut self, method: &str, path: &str, content: &[u8]) -> (Vec<u8>, Waiting) {
        self.seal(&message(method, "collector.example", path, &[], content))
    }
}

impl Waiting {
    /// Opens the message of a response; `None` if it is for another request, or no response.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<16>()?;
        let salt = [&self.encapsulated[..], nonce].concat();
        let derived = Hkdf::<Sha256>::new(Some(&salt), &self.secret);
        let (mut key, mut nonce) = ([0; 16], [0; 12]);
        derived.expand(b"key", &mut key).unwrap();
        derived.expand(b"nonce", &mut nonce).unwrap();
        let aead = Aes128Gcm::new(&key.into());
        aead.decrypt(&Nonce::from(nonce), ciphertext).ok()
    }

    /// Opens and parses a response.
    pub fn read(&self, sealed: &[u8]) -> Answer {
        Answer::parse(&self.open(sealed).unwrap())
    }
}

impl Answer {
    /// Parses the message of a response.
    pub fn parse(message: &[u8]) -> Self {
        let message = Message::read_bhttp(&mut Cursor::new(message)).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let fields = message.header().fields().iter();
        Self {
            status: message.control().status().unwrap().code(),
            fields: fields
                .map(|field| (text(field.name()), text(field.value())))
                .collect(),
            content: message.content().to_vec(),
        }
    }
}

/// Encodes a request in binary form, of known length.
pub fn message(
    method: &str,
    authority: &str,
    path: &str,
    fields: &[(&str, &str)],
    content: &[u8],
) -> Vec<u8> {
    let [method, scheme, authority, path] = [method, "https", authority, path].map(Vec::from);
    let mut message = Message::request(method, scheme, authority, path);
    for (name, value) in fields {
        message.put_header(*name, *value);
    }
    message.write_content(content);
    let mut bytes = Vec::new();
    message.write_bhttp(Mode::KnownLength, &mut bytes).unwrap();
    bytes
}
