// Makes the container image as one file. The file is an OCI image layout with one image for each
// platform: https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md

import { createHash } from "node:crypto";
import { gzip, tar } from "./tar.mjs";

/** User id of the program in the image. */
export const IMAGE_USER_ID = 65532;
const DATA = "/var/lib/hushbin";

const MEDIA_TYPE_PREFIX = "application/vnd.oci.image";
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Configuration of the container image. The tests compare it with server/deploy/Containerfile. */
export const CONFIG = {
  User: `${IMAGE_USER_ID}:${IMAGE_USER_ID}`,
  ExposedPorts: { "8686/tcp": {} },
  Entrypoint: ["/usr/local/bin/hushbin", "serve", "--config", "/etc/hushbin/hushbin.toml"],
  Volumes: { [DATA]: {} },
  StopSignal: "SIGTERM",
};

/**
 * @typedef {import("./tar.mjs").Entry} Entry
 * @typedef {{ architecture: string, program: Uint8Array, licences: readonly Entry[] }} Platform
 */

const LICENCES_DIR = "usr/share/licenses/hushbin";
const FOLDERS = [
  ...["etc", "etc/hushbin", "usr", "usr/local", "usr/local/bin", "usr/share"],
  ...["usr/share/licenses", LICENCES_DIR, "var", "var/lib"],
];

/**
 * Returns the files in the image of a platform. The image contains no shell, no libraries, and no
 * certificates of authorities.
 *
 * @param {Platform} platform
 * @returns {Entry[]}
 */
const files = ({ program, licences }) => [
  ...FOLDERS.map((path) => ({ path: `${path}/` })),
  { path: `${DATA.slice(1)}/`, mode: 0o700, owner: IMAGE_USER_ID },
  { path: "usr/local/bin/hushbin", data: program, mode: 0o755 },
  ...licences.map((entry) => ({ ...entry, path: `${LICENCES_DIR}/${entry.path}` })),
];

/**
 * Makes the archive of the container image, with all platforms.
 *
 * @param {object} image
 * @param {string} image.version
 * @param {string} image.revision the commit
 * @param {string} image.source the repository's address
 * @param {number} image.time of the commit, in seconds since 1970
 * @param {readonly Platform[]} image.platforms
 * @returns {Buffer} an archive
 */
export function imageArchive({ version, revision, source, time, platforms }) {
  /** @type {Map<string, Buffer>} */
  const blobs = new Map();
  const blob = (mediaType, bytes) => {
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return {
      mediaType: `${MEDIA_TYPE_PREFIX}.${mediaType}`,
      digest: `sha256:${digest}`,
      size: bytes.length,
    };
  };
  const json = (mediaType, value) => blob(mediaType, Buffer.from(JSON.stringify(value)));
  const created = new Date(time * 1000).toISOString().replace(".000", "");
  const labels = {
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    "org.opencontainers.image.revision": revision,
    "org.opencontainers.image.source": source,
    "org.opencontainers.image.title": "hushbin",
    "org.opencontainers.image.version": version,
  };
  const manifests = platforms.map((platform) => {
    const { architecture } = platform;
    const layer = tar(files(platform), time);
    const config = json("config.v1+json", {
      created,
      architecture,
      os: "linux",
      config: { ...CONFIG, Labels: labels },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
      history: [{ created, created_by: "the release's static program" }],
    });
    const manifest = json("manifest.v1+json", {
      schemaVersion: 2,
      mediaType: `${MEDIA_TYPE_PREFIX}.manifest.v1+json`,
      config,
      layers: [blob("layer.v1.tar+gzip", gzip(layer))],
      annotations: labels,
    });
    return { ...manifest, platform: { architecture, os: "linux" } };
  });
  const index = { schemaVersion: 2, mediaType: `${MEDIA_TYPE_PREFIX}.index.v1+json` };
  const all = json("index.v1+json", { ...index, manifests, annotations: labels });
  const named = {
    ...all,
    annotations: {
      "io.containerd.image.name": `localhost/hushbin:${version}`,
      "org.opencontainers.image.ref.name": version,
    },
  };
  return tar(
    [
      { path: "oci-layout", data: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
      { path: "index.json", data: JSON.stringify({ ...index, manifests: [named] }) },
      { path: "blobs/" },
      { path: "blobs/sha256/" },
      ...[...blobs].map(([digest, data]) => ({ path: `blobs/sha256/${digest}`, data })),
    ],
    time,
  );
}
