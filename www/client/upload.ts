/** How an upload begins, as `src/upload/mod.rs` writes it: a byte of version, then these. */

/** Where the fingerprint of its task ends. */
export const FINGERPRINT_END = 17;
/** Where its own id ends, which was drawn for it. */
export const ID_END = 33;
