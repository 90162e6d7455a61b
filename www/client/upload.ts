/**
 * Positions in the header of an upload, as in `src/upload/mod.rs`. The first byte is the version.
 */

/** Position of the first byte after the task's fingerprint. */
export const FINGERPRINT_END = 17;
/** Position of the first byte after the upload's random id. */
export const ID_END = 33;
