//! Signatures between shufflers and analysers, by Ed25519 (RFC 8032). A shuffler signs each block
//! of a batch. The analyser signs a receipt when the block is on its disk.
//!
//! Connections are not trusted, so proxies may be in between.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};

use crate::keys;

/// Header of a signed request: the signer's id, a colon and the signature, both hexadecimal.
pub(crate) const SIGNATURE_HEADER: &str = "hushbin-signature";

/// Length of a signature in bytes.
const SIGNATURE_LENGTH: usize = 64;

/// Kind of signed statement. Signed bytes begin with a label that names the kind. So a signature of
/// one kind is invalid for the other kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignedStatementKind {
    /// Statement of a shuffler: this block is from me.
    BlockFromShuffler,
    /// Statement of an analyser: this block is on my disk.
    ReceiptFromAnalyser,
    /// Statement of any role: this is the hash of my task log.
    TaskLogHead,
}

impl SignedStatementKind {
    fn prefix_with_label(self, bytes: &[u8]) -> Vec<u8> {
        let label: &[u8] = match self {
            Self::BlockFromShuffler => b"hushbin block\0",
            Self::ReceiptFromAnalyser => b"hushbin receipt\0",
            Self::TaskLogHead => b"hushbin task log head\0",
        };
        [label, bytes].concat()
    }
}

/// Id of a signer: the first 8 bytes of the SHA-256 of its public key.
pub(crate) type SignerId = [u8; 8];

/// Returns the id of the signer that has this public key.
pub(super) fn signer_id(public: &[u8; keys::KEY_BYTES]) -> SignerId {
    let digest = Sha256::digest(public);
    *digest.first_chunk().expect("a digest has 32 bytes")
}

/// Key pair that signs statements.
pub(crate) struct Signer(Ed25519KeyPair);

impl Signer {
    pub(crate) fn new(private: &[u8; keys::KEY_BYTES]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(private);
        Self(pair.expect("any 32 bytes are a key of Ed25519"))
    }

    pub(crate) fn public_key(&self) -> [u8; keys::KEY_BYTES] {
        let public = self.0.public_key().as_ref();
        public.try_into().expect("public keys have 32 bytes")
    }

    pub(crate) fn sign(
        &self,
        statement: SignedStatementKind,
        bytes: &[u8],
    ) -> [u8; SIGNATURE_LENGTH] {
        let signature = self.0.sign(&statement.prefix_with_label(bytes));
        let signature = signature.as_ref().try_into();
        signature.expect("signatures have 64 bytes")
    }
}

/// Returns true if `signature` is a valid signature of the statement about `bytes`, by the signer
/// with the public key `public`.
pub(crate) fn is_valid_signature(
    public: &[u8; keys::KEY_BYTES],
    statement: SignedStatementKind,
    bytes: &[u8],
    signature: &[u8],
) -> bool {
    let key = UnparsedPublicKey::new(&ED25519, public);
    key.verify(&statement.prefix_with_label(bytes), signature)
        .is_ok()
}

/// Returns the public key that belongs to a private key.
pub(crate) fn derive_ed25519_public_key(private: &[u8; keys::KEY_BYTES]) -> [u8; keys::KEY_BYTES] {
    Signer::new(private).public_key()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    /// Compares with test 1 in RFC 8032, section 7.1.
    #[test]
    fn public_key_matches_rfc8032() {
        let private = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let private = HEXLOWER.decode(private.as_bytes()).unwrap();
        let public = derive_ed25519_public_key(private.first_chunk().unwrap());
        assert_eq!(
            HEXLOWER.encode(&public),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
    }

    #[test]
    fn signature_binds_kind_and_bytes() {
        let signer = Signer::new(&[1; 32]);
        let public = signer.public_key();
        let signature = signer.sign(SignedStatementKind::BlockFromShuffler, b"these");
        assert!(is_valid_signature(
            &public,
            SignedStatementKind::BlockFromShuffler,
            b"these",
            &signature
        ));
        assert!(!is_valid_signature(
            &public,
            SignedStatementKind::ReceiptFromAnalyser,
            b"these",
            &signature
        ));
        assert!(!is_valid_signature(
            &public,
            SignedStatementKind::BlockFromShuffler,
            b"those",
            &signature
        ));
        let other = Signer::new(&[2; 32]).public_key();
        assert!(!is_valid_signature(
            &other,
            SignedStatementKind::BlockFromShuffler,
            b"these",
            &signature
        ));
        assert!(!is_valid_signature(
            &public,
            SignedStatementKind::BlockFromShuffler,
            b"these",
            &signature[1..]
        ));
    }
}
