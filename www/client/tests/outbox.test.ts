import { describe, expect, it } from "vitest";
import { MAX_REPORT_BYTES, MAX_REPORTS, MemoryOutbox } from "../outbox.js";

const header = () => Uint8Array.of(99);

describe("the outbox in memory", () => {
  it("seals reports in order and forgets what is removed", async () => {
    const outbox = new MemoryOutbox();
    await outbox.add(Uint8Array.of(1, 2));
    await outbox.add(Uint8Array.of(3));
    expect(outbox).toMatchObject({ waiting: 2, reports: 2, bytes: 3, full: false });
    const upload = outbox.seal(header);
    expect(upload).toEqual({ bytes: Uint8Array.of(99, 1, 2, 3), count: 2 });
    expect(outbox).toMatchObject({ waiting: 0, reports: 2, bytes: 4 });
    expect(outbox.seal(header)).toBeUndefined();
    if (upload !== undefined) {
      await outbox.remove(upload);
      await outbox.remove(upload);
    }
    expect(outbox).toMatchObject({ waiting: 0, reports: 0, bytes: 0 });
  });

  it("fills uploads by number", async () => {
    const outbox = new MemoryOutbox();
    for (let i = 0; i < MAX_REPORTS + 5; i += 1) {
      expect(outbox.full).toBe(i >= MAX_REPORTS);
      await outbox.add(Uint8Array.of(i));
    }
    const counted = (count: number) => Uint8Array.of(count);
    expect(outbox.seal(counted)?.count).toBe(MAX_REPORTS);
    expect(outbox.seal(counted)).toEqual({ bytes: Uint8Array.of(5, 0, 1, 2, 3, 4), count: 5 });
  });

  it("fills uploads by size, with one report at least", async () => {
    const outbox = new MemoryOutbox();
    for (const length of [MAX_REPORT_BYTES - 1, 2, MAX_REPORT_BYTES + 1, 1]) {
      await outbox.add(new Uint8Array(length));
    }
    expect(outbox.full).toBe(true);
    expect([1, 2, 3, 4].map(() => outbox.seal(header)?.count)).toEqual([1, 1, 1, 1]);
  });

  it("keeps reports that could not be formed", async () => {
    const outbox = new MemoryOutbox();
    await outbox.add(Uint8Array.of(1));
    const failing = () => {
      throw new Error("trap");
    };
    expect(() => outbox.seal(failing)).toThrow("trap");
    expect(outbox).toMatchObject({ waiting: 1, bytes: 1 });
    expect(outbox.seal(header)?.bytes).toEqual(Uint8Array.of(99, 1));
  });
});
