/** X25519 in JavaScript, in a separate file, for browsers whose WebCrypto lacks it. */

export { DhkemX25519HkdfSha256 } from "@hpke/dhkem-x25519";
