// Tests that inconsistent releases are noticed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { checkFileHashes, integrity, scriptTag } from "../lib/integrity.mjs";
import { ROOT } from "../lib/paths.mjs";
import {
  CHECKSUM_FILE,
  checkOnlyReleaseFiles,
  differingFiles,
  findMachinePaths,
  verifyChecksums,
  writeChecksums,
} from "../lib/release/artefacts.mjs";
import { archiveName } from "../lib/release/binaries.mjs";
import { changelogSection } from "../lib/release/changelog.mjs";
import { lockedChecksums, lockedPackage, parseTree } from "../lib/release/components.mjs";
import { checkStatic, readElf } from "../lib/release/elf.mjs";
import { chosenTexts, notices } from "../lib/release/licences.mjs";
import { CONFIG, IMAGE_USER_ID, imageArchive } from "../lib/release/oci.mjs";
import { billOfMaterials } from "../lib/release/sbom.mjs";
import { gzip, tar } from "../lib/release/tar.mjs";
import { inPublishOrder, versionMismatches } from "../lib/release/versions.mjs";

const TIME = 1_700_000_000;

/** Runs a test in a temporary folder. */
function within(work) {
  const folder = mkdtempSync(join(tmpdir(), "hushbin-test-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the listing of an archive by the system's tar. */
function listed(archive, ...options) {
  const { stdout, stderr, status } = spawnSync("tar", ["-tvf", "-", ...options], {
    input: archive,
    encoding: "utf8",
    env: { ...process.env, TZ: "UTC" },
  });
  assert.equal(status, 0, stderr);
  return stdout.trim().split("\n");
}

test("archives are what tar reads, whatever order they are told in", () => {
  const long = `${"a".repeat(90)}/${"b".repeat(90)}/file`;
  const entries = [
    { path: "z", data: "last", mode: 0o755 },
    { path: "folder/", mode: 0o700, owner: 65532 },
    { path: "folder/ä", data: Buffer.alloc(513, 1) },
    { path: long, data: "" },
  ];
  const archive = tar(entries, TIME);
  assert.deepEqual(archive, tar([...entries].reverse(), TIME));
  assert.equal(archive.length % 512, 0);
  const lines = listed(archive, "--numeric-owner", "--full-time", "--quoting-style=literal");
  assert.deepEqual(
    lines.map((line) => line.replace(/\s+/g, " ")),
    [
      `-rw-r--r-- 0/0 0 2023-11-14 22:13:20 ${long}`,
      "drwx------ 65532/65532 0 2023-11-14 22:13:20 folder/",
      "-rw-r--r-- 0/0 513 2023-11-14 22:13:20 folder/ä",
      "-rwxr-xr-x 0/0 4 2023-11-14 22:13:20 z",
    ],
  );
  assert.throws(() => tar([{ path: "a".repeat(101) }], TIME), /too long/);
});

test("compressed archives hold no clock and no name", () => {
  const [one, other] = [gzip(Buffer.from("a")), gzip(Buffer.from("a"))];
  assert.deepEqual(one, other);
  assert.deepEqual([...one.subarray(3, 8)], [0, 0, 0, 0, 0]);
  assert.equal(gunzipSync(one).toString(), "a");
});

/** Returns an ELF header and program headers of these types. Dynamic ones name a library. */
function elf(machine, kinds, type = 3) {
  const bytes = Buffer.alloc(64 + 56 * kinds.length + 32);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.set([2, 1], 4);
  bytes.writeUInt16LE(type, 16);
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(kinds.length, 56);
  const table = bytes.length - 32;
  bytes.writeBigInt64LE(1n, table);
  kinds.forEach((kind, index) => {
    const at = 64 + 56 * index;
    bytes.writeUInt32LE(kind, at);
    bytes.writeBigUInt64LE(BigInt(table), at + 8);
    bytes.writeBigUInt64LE(32n, at + 32);
  });
  return bytes;
}

test("programs that need a loader or a library are not static", () => {
  checkStatic(elf(62, [1]), "x86_64");
  checkStatic(elf(183, [1, 1]), "aarch64");
  assert.throws(() => checkStatic(elf(62, [1]), "aarch64"), /is for x86_64/);
  assert.throws(() => checkStatic(elf(62, [1, 3]), "x86_64"), /not static/);
  assert.throws(() => checkStatic(elf(62, [2]), "x86_64"), /not static/);
  assert.throws(() => checkStatic(elf(62, [1], 2), "x86_64"), /same place/);
  assert.throws(() => readElf(Buffer.from("#!/bin/sh")), /no executable/);
  // Node itself, which exists wherever this test runs.
  assert.ok(process.platform !== "linux" || readElf(readFileSync(process.execPath)).needed > 0);
});

const CHANGES = `# Changelog

## Unreleased

- New.

## 1.2.0 (2026-01-02)

- A.

### Kept

- B.

## 1.1.0 (2026-01-01)

## 1.0.0
`;

test("a version's changes are those below its heading", () => {
  assert.equal(changelogSection(CHANGES, "1.2.0"), "- A.\n\n### Kept\n\n- B.\n");
  assert.equal(changelogSection(CHANGES, "Unreleased"), "- New.\n");
  for (const none of ["1.1.0", "1.0.0", "1.2", "2.0.0"]) {
    assert.equal(changelogSection(CHANGES, none), undefined, none);
  }
});

const crate = (name, needs, more = {}) => ({
  ...{ name, version: "1.2.0", publish: null, manifest_path: "" },
  dependencies: needs.map(([needed, req, kind = null]) => ({ name: needed, req, kind })),
  ...more,
});
const CRATES = [
  crate("a-server", [
    ["core", "^1.2.0"],
    ["b-analysis", "^1.2.0"],
  ]),
  crate("b-analysis", [
    ["core", "^1.2.0"],
    ["serde", "^1"],
    ["support", "*", "dev"],
  ]),
  crate("core", [
    ["support", "*", "dev"],
    ["core", "*", "dev"],
  ]),
  crate("support", [["core", "*"]], { publish: [] }),
];

test("versions agree in all places, and crates ask for each other's", () => {
  const found = (crates, stated = {}) => versionMismatches("1.2.0", crates, stated);
  assert.deepEqual(found(CRATES, { "package-lock.json": "1.2.0" }), []);
  assert.equal(found(CRATES, { "package-lock.json": "1.1.0" }).length, 1);
  assert.equal(found([crate("old", [], { version: "1.1.0" })]).length, 1);
  assert.match(
    found([...CRATES, crate("late", [["core", "^1.1.0"]])])[0] ?? "",
    /late asks for core/,
  );
  assert.equal(found([...CRATES, crate("open", [["core", "*"]])]).length, 1);
});

test("crates come after those that they need, and support does not come", () => {
  assert.deepEqual(
    inPublishOrder(CRATES).map(({ name }) => name),
    ["core", "b-analysis", "a-server"],
  );
});

test("hashes of scripts are those of their bytes", () => {
  const bytes = Buffer.from("script");
  const hash = integrity(bytes);
  checkFileHashes({ "a.js": hash }, () => bytes);
  assert.throws(() => checkFileHashes({ "a.js": hash }, () => Buffer.from("other")), /a\.js/);
  assert.match(scriptTag("a.js", hash), /src="\/hushbin\/a\.js" .*integrity="sha384-[^"]{64}"/);
});

test("archives are where cargo binstall looks for them", () => {
  const repository = "https://example.org/h";
  const told = (url) => ({
    ...{ repository, version: "1.2.0" },
    crates: /** @type {any} */ ([
      {
        name: "hushbin-server",
        metadata: {
          binstall: { "pkg-url": url, "bin-dir": "h-{ version }/{ bin }{ binary-ext }" },
        },
      },
    ]),
  });
  const url = "{ repo }/releases/download/v{ version }/h-{ target }.tar.gz";
  assert.deepEqual(archiveName(told(url), "x-musl"), {
    archive: "h-x-musl.tar.gz",
    folder: "h-1.2.0",
  });
  assert.throws(() => archiveName(told("{ repo }/else/{ target }.tgz"), "x"), /is not in/);
  assert.throws(() => archiveName(told("{ repo }/{ nothing }"), "x"), /nothing/);
});

const TREE = `0app v1.2.0 (/somewhere)|MIT OR Apache-2.0
1one v1.0.0|MIT/Apache-2.0
2two v2.0.0|ISC
1two v2.0.0|ISC
1three v3.0.0 (*)|MIT
`;
const LOCK = `[[package]]
name = "two"
version = "2.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "${"2".repeat(64)}"
`;

test("bills of materials name what is linked, by its sums, and nothing of the machine", () => {
  const [root, ...others] = parseTree(TREE, lockedChecksums(LOCK));
  assert.ok(root !== undefined);
  assert.deepEqual(root.needs, ["one@1.0.0", "two@2.0.0", "three@3.0.0"]);
  const bill = billOfMaterials(root, "application", others, TIME);
  assert.doesNotMatch(bill, /somewhere/);
  const { metadata, components, dependencies } = JSON.parse(bill);
  assert.equal(metadata.timestamp, "2023-11-14T22:13:20Z");
  assert.deepEqual(
    components.map(({ purl, hashes = [] }) => [purl, hashes.length]),
    [
      ["pkg:cargo/one@1.0.0", 0],
      ["pkg:cargo/three@3.0.0", 0],
      ["pkg:cargo/two@2.0.0", 1],
    ],
  );
  assert.deepEqual(dependencies[1], {
    ref: "pkg:cargo/one@1.0.0",
    dependsOn: ["pkg:cargo/two@2.0.0"],
  });
  const lock = { packages: { "node_modules/@a/b": { version: "1.0.0", license: "MIT" } } };
  const locked = { ...lock.packages["node_modules/@a/b"], integrity: "sha512-AQI=" };
  const own = lockedPackage({ packages: { "node_modules/@a/b": locked } }, "@a/b");
  assert.equal(own.sha512, "0102");
  assert.match(billOfMaterials(own, "library", [], TIME), /pkg:npm\/%40a\/b@1\.0\.0/);
});

test("notices have each text once, and name those without", () => {
  const text = notices("Of all.", [
    { name: "a", licence: "MIT", texts: ["Text."] },
    { name: "b", licence: "MIT", texts: ["Text."] },
    { name: "c", licence: "ISC", texts: [] },
  ]);
  assert.equal(text.match(/Text\./g)?.length, 1);
  assert.match(text, /a\nb\n\nText\./);
  assert.match(text, /c\n\nISC; its package holds no text/);
});

test("of a choice between licences the shorter one is told, of nothing else", () => {
  within((folder) => {
    for (const name of ["LICENSE-APACHE", "LICENSE-MIT", "README", "NOTICE"]) {
      writeFileSync(join(folder, name), name);
    }
    assert.deepEqual(chosenTexts(folder, "MIT OR Apache-2.0"), ["LICENSE-MIT"]);
    const all = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];
    assert.deepEqual(chosenTexts(folder, "(MIT OR Apache-2.0) AND Unicode-3.0"), all);
    assert.deepEqual(chosenTexts(join(folder, "none"), "MIT"), []);
  });
});

const image = (architecture, program) => ({
  architecture,
  program: Buffer.from(program),
  licences: [{ path: "LICENSE", data: "free" }],
});

test("an image is what its digests say, for each platform", () => {
  within((folder) => {
    const archive = imageArchive({
      ...{ version: "1.2.0", revision: "abc", source: "https://example.org/h", time: TIME },
      platforms: [image("amd64", "one"), image("arm64", "two")],
    });
    spawnSync("tar", ["-xf", "-", "-C", folder], { input: archive });
    const read = (path) => readFileSync(join(folder, path));
    const blob = ({ digest, size }) => {
      const bytes = read(`blobs/${digest.replace(":", "/")}`);
      const found = spawnSync("sha256sum", { input: bytes, encoding: "utf8" }).stdout.slice(0, 64);
      assert.deepEqual([digest, size], [`sha256:${found}`, bytes.length]);
      return bytes;
    };
    const json = (descriptor) => JSON.parse(blob(descriptor).toString());
    const [all] = JSON.parse(read("index.json").toString()).manifests;
    const { manifests } = json(all);
    assert.deepEqual(
      manifests.map(({ platform }) => platform.architecture),
      ["amd64", "arm64"],
    );
    for (const [at, program] of ["one", "two"].entries()) {
      const manifest = json(manifests[at]);
      const config = json(manifest.config);
      assert.equal(config.architecture, manifests[at].platform.architecture);
      const layer = gunzipSync(blob(manifest.layers[0]));
      const sum = spawnSync("sha256sum", { input: layer, encoding: "utf8" }).stdout.slice(0, 64);
      assert.deepEqual(config.rootfs.diff_ids, [`sha256:${sum}`]);
      const root = join(folder, program);
      mkdirSync(root);
      spawnSync("tar", ["-xpf", "-", "-C", root, "--no-same-owner"], { input: layer });
      assert.equal(readFileSync(join(root, config.config.Entrypoint[0]), "utf8"), program);
      assert.equal(statSync(join(root, "var/lib/hushbin")).mode & 0o777, 0o700);
      const owner = listed(layer, "--numeric-owner").find((line) => line.endsWith("lib/hushbin/"));
      assert.match(owner ?? "", new RegExp(`${IMAGE_USER_ID}/${IMAGE_USER_ID}`));
    }
  });
});

test("the image is described as the Containerfile describes it", () => {
  const text = readFileSync(join(ROOT, "server/deploy/Containerfile"), "utf8");
  const said = (word) => text.match(new RegExp(`^${word} (.*)$`, "m"))?.[1];
  assert.deepEqual(
    {
      User: said("USER"),
      ExposedPorts: { [`${said("EXPOSE")}/tcp`]: {} },
      Entrypoint: JSON.parse(said("ENTRYPOINT") ?? "[]"),
      Volumes: { [said("VOLUME") ?? ""]: {} },
      StopSignal: said("STOPSIGNAL"),
    },
    CONFIG,
  );
});

test("what was changed after it was checked is not published", () => {
  within((folder) => {
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    for (const made of [one, other]) {
      mkdirSync(made);
      writeFileSync(join(made, "a.crate"), gzip(Buffer.from("built in /home/somebody/hushbin")));
      writeFileSync(join(made, "b"), "b");
    }
    assert.throws(() => verifyChecksums(one), /not all checks have passed/);
    writeChecksums(one);
    verifyChecksums(one);
    const sums = { cwd: one, encoding: /** @type {const} */ ("utf8") };
    assert.equal(spawnSync("sha256sum", ["--check", "--strict", CHECKSUM_FILE], sums).status, 0);
    assert.deepEqual(differingFiles(one, other), []);
    assert.deepEqual(findMachinePaths(one, ["/home/somebody/"]), ["a.crate names /home/somebody/"]);
    assert.throws(() => checkOnlyReleaseFiles(one), /a\.crate/);
    checkOnlyReleaseFiles(join(folder, "none"));
    writeFileSync(join(one, "b"), "c");
    writeFileSync(join(other, "d"), "");
    assert.deepEqual(differingFiles(one, other), ["b", "d"]);
    assert.throws(() => verifyChecksums(one), /other files/);
  });
});
