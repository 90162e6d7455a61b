/**
 * Positions in the header of an upload, as in `src/upload/mod.rs`. The first byte is the version.
 */

/** Position of the first byte after the task's fingerprint. */
export const FINGERPRINT_END = 17;
/** Position of the first byte after the upload's random id. */
export const ID_END = 33;

/** Version of uploads whose reports are sealed. */
const SEALED_VERSION = 2;
/** Position of the first sealed report, which begins with the id of its key. */
const SEALED_START = 34;
const KEY_ID_BYTES = 4;

/**
 * Returns the parts of an upload that do not differ between reports of one task: the version, the
 * fingerprint, and the id of the key if reports are sealed.
 */
export function headerSharedByTask(upload: Uint8Array): string {
  const isSealed = upload[0] === SEALED_VERSION;
  const key = upload.subarray(SEALED_START, SEALED_START + (isSealed ? KEY_ID_BYTES : 0));
  return `${upload.subarray(0, FINGERPRINT_END)} ${key}`;
}
