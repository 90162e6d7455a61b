/** Layout of an upload's header, as in `src/upload/mod.rs`. The first byte is the version. */

/** End of the task's fingerprint. */
export const FINGERPRINT_END = 17;
/** End of the upload's random id. */
export const ID_END = 33;
