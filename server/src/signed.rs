//! What shufflers and analysers say to each other, signed by Ed25519 (RFC 8032): that a batch
//! is from a shuffler that the analyser knows, and that the analyser has it on its disk.
//!
//! A connection proves nothing here, so that proxies may stand between the two.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::keys;

/// Bytes of a signature.
pub(crate) const SIGNATURE: usize = 64;

/// What a signature stands below, so that none passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    /// A shuffler's: this block is from me.
    Block,
    /// An analyser's: this block is on my disk.
    Receipt,
}

impl Statement {
    fn about(self, bytes: &[u8]) -> Vec<u8> {
        let label: &[u8] = match self {
            Self::Block => b"hushbin block\0",
            Self::Receipt => b"hushbin receipt\0",
        };
        [label, bytes].concat()
    }
}

/// Whoever signs.
pub(crate) struct Signer(Ed25519KeyPair);

impl Signer {
    pub(crate) fn new(private: &[u8; keys::LENGTH]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(private);
        Self(pair.expect("any 32 bytes are a key of Ed25519"))
    }

    pub(crate) fn public(&self) -> [u8; keys::LENGTH] {
        let public = self.0.public_key().as_ref();
        public.try_into().expect("public keys have 32 bytes")
    }

    pub(crate) fn sign(&self, statement: Statement, bytes: &[u8]) -> [u8; SIGNATURE] {
        let signature = self.0.sign(&statement.about(bytes));
        let signature = signature.as_ref().try_into();
        signature.expect("signatures have 64 bytes")
    }
}

/// Whether the holder of this key has stated this.
pub(crate) fn is_by(
    public: &[u8; keys::LENGTH],
    statement: Statement,
    bytes: &[u8],
    signature: &[u8],
) -> bool {
    let key = UnparsedPublicKey::new(&ED25519, public);
    key.verify(&statement.about(bytes), signature).is_ok()
}

/// The public half of a private key.
pub(crate) fn public(private: &[u8; keys::LENGTH]) -> [u8; keys::LENGTH] {
    Signer::new(private).public()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::hex;

    /// RFC 8032, section 7.1, test 1.
    #[test]
    fn public_halves_are_those_of_the_standard() {
        let private = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let private = hex::decode(private).unwrap();
        let public = public(private.first_chunk().unwrap());
        assert_eq!(
            hex::encode(&public),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
    }

    #[test]
    fn a_statement_is_of_one_kind_about_these_bytes_by_one_key() {
        let signer = Signer::new(&[1; 32]);
        let public = signer.public();
        let signature = signer.sign(Statement::Block, b"these");
        assert!(is_by(&public, Statement::Block, b"these", &signature));
        assert!(!is_by(&public, Statement::Receipt, b"these", &signature));
        assert!(!is_by(&public, Statement::Block, b"those", &signature));
        let other = Signer::new(&[2; 32]).public();
        assert!(!is_by(&other, Statement::Block, b"these", &signature));
        assert!(!is_by(&public, Statement::Block, b"these", &signature[1..]));
    }
}
