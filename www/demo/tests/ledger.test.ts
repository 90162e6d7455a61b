import { describe, expect, it, vi } from "vitest";
import { CollectorClient, CollectorError, problemText } from "../story/collector.js";
import { growCrowd, peoplePerUpload } from "../story/growth.js";
import { drawPeople, withAnswerShare } from "../story/habits.js";
import { type KeyValueStorage, SentReportsLedger } from "../story/ledger.js";
import { UploadSender } from "../story/sender.js";

function shelf(): KeyValueStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

const sending = {
  upload: Uint8Array.of(1, 2, 255),
  trueCounts: { people: 3, yes: [1, 2], no: [0, 1] },
};

describe("the ledger", () => {
  it("counts an upload once it is acknowledged, across reloads", () => {
    const kept = shelf();
    new SentReportsLedger(kept, "f", 2).recordPending(sending);
    const reloaded = new SentReportsLedger(kept, "f", 2);
    expect(reloaded.trueCounts.people).toBe(0);
    expect(reloaded.pending).toEqual(sending);
    reloaded.acknowledge(Uint8Array.of(9));
    expect(reloaded.trueCounts.people).toBe(0);
    reloaded.acknowledge(sending.upload);
    reloaded.acknowledge(sending.upload);
    expect(new SentReportsLedger(kept, "f", 2).trueCounts).toEqual(sending.trueCounts);
    expect(new SentReportsLedger(kept, "f", 2).pending).toBeNull();
    expect(new SentReportsLedger(kept, "other", 2).trueCounts.people).toBe(0);
  });

  it("keeps the visitor's own report apart", () => {
    const kept = shelf();
    const ledger = new SentReportsLedger(kept, "f", 2);
    ledger.recordPending({ ...sending, ownAnswers: { a: 1 } });
    ledger.acknowledge(sending.upload);
    ledger.recordPending(sending);
    ledger.acknowledge(sending.upload);
    expect(new SentReportsLedger(kept, "f", 2).ownReport).toEqual({
      upload: sending.upload,
      answers: { a: 1 },
    });
    expect(ledger.trueCounts).toEqual({ people: 6, yes: [2, 4], no: [0, 2] });
  });

  it.each(["not json", "null", "[]", '{"truth":{"people":1,"yes":[1],"no":[1]}}', "7"])(
    "starts afresh from unusable storage: %s",
    (text) => {
      const ledger = new SentReportsLedger({ ...shelf(), getItem: () => text }, "f", 2);
      expect(ledger.trueCounts).toEqual({ people: 0, yes: [0, 0], no: [0, 0] });
    },
  );

  it("works without storage", () => {
    const ledger = new SentReportsLedger(null, "f", 2);
    ledger.recordPending(sending);
    ledger.acknowledge(sending.upload);
    expect(ledger.trueCounts.people).toBe(3);
    ledger.forget();
    expect(ledger.trueCounts.people).toBe(0);
  });
});

describe("the sender", () => {
  function parts(answers: readonly (number | Error)[]) {
    const queue = [...answers];
    const posted: Uint8Array[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      posted.push(init.body as Uint8Array);
      const answer = queue.shift() ?? 201;
      if (answer instanceof Error) {
        throw answer;
      }
      return Response.json(answer < 300 ? { accepted_reports: 1 } : { title: "No" }, {
        status: answer,
      });
    });
    const ledger = new SentReportsLedger(shelf(), "f", 2);
    return {
      posted,
      ledger,
      sender: new UploadSender(new CollectorClient("http://x/", "t"), ledger),
    };
  }

  it("sends the same bytes again before anything new", async () => {
    const { posted, ledger, sender } = parts([new TypeError("down"), 200, 201]);
    await expect(sender.send(() => sending)).rejects.toThrow(/does not answer/);
    expect(ledger.trueCounts.people).toBe(0);
    await sender.send(() => ({ ...sending, upload: Uint8Array.of(7) }));
    expect(posted.map((upload) => upload.join())).toEqual(["1,2,255", "1,2,255", "7"]);
    expect(ledger.trueCounts.people).toBe(6);
  });

  it("keeps what a busy collector refused, and drops what it will never take", async () => {
    const { ledger, sender } = parts([503, 409]);
    await expect(sender.send(() => sending)).rejects.toMatchObject({ isPermanent: false });
    expect(ledger.pending).not.toBeNull();
    await expect(sender.sendPendingUpload()).rejects.toMatchObject({ isPermanent: true });
    expect(ledger.pending).toBeNull();
    expect(ledger.trueCounts.people).toBe(0);
  });

  it("grows a crowd to the wanted size in batches", async () => {
    const { ledger, sender, posted } = parts([]);
    const seen: number[] = [];
    const certain = [
      { yes: 1, no: 0 },
      { yes: 0, no: 1 },
    ];
    await growCrowd({
      people: 25,
      draw: (first, people) => drawPeople(certain, { first, people, most: 2 }),
      countReportedPeople: () => ledger.trueCounts.people,
      randomizer: {
        randomizeMany: (lengths) => new Uint8Array(lengths.length),
        upload: (reports) => new Uint8Array(reports),
      },
      sender,
      signal: new AbortController().signal,
      onProgress: ({ sent, totalReports: of }) => seen.push(sent / of),
    });
    expect(ledger.trueCounts).toEqual({ people: 25, yes: [25, 0], no: [0, 25] });
    expect(posted.map((upload) => upload.length)).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 1]);
    expect(seen.at(-1)).toBe(1);
    expect([peoplePerUpload(1), peoplePerUpload(100), peoplePerUpload(100_000)]).toEqual([
      1, 10, 1000,
    ]);
  });
});

describe("the invented crowd", () => {
  const habits = [
    { yes: 0.5, no: 0.25 },
    { yes: 0.25, no: 0.5 },
  ];

  it("is drawn in the shape of the packed-array API, with its truth", () => {
    const rolls = [0.1, 0.9, 0.6, 0.2, 0.99, 0.5];
    const people = drawPeople(habits, { first: 7, people: 3, most: 2 }, (person, purpose) =>
      purpose < 2 ? (rolls[2 * (person - 7) + purpose] ?? 0) : 0,
    );
    expect(people).toEqual({
      lengths: Uint32Array.of(1, 2, 1),
      items: Uint32Array.of(0, 0, 1, 1),
      values: Float64Array.of(1, -1, 1, -1),
      trueCounts: { people: 3, yes: [1, 1], no: [1, 1] },
    });
  });

  it("answers no more than a report holds", () => {
    // The second question has the highest priority, then the third.
    const keen = [0.9, 0.1, 0.5];
    const three = [...habits, { yes: 1, no: 0 }];
    const people = drawPeople(three, { first: 0, people: 1, most: 2 }, (_, purpose) =>
      purpose < 3 ? 0.1 : (keen[purpose - 3] ?? 0),
    );
    expect(people.trueCounts).toEqual({ people: 1, yes: [0, 1, 1], no: [0, 0, 0] });
    expect(people.items).toEqual(Uint32Array.of(1, 2));
  });

  it("is the same people however they are batched, in the shares asked for", () => {
    const together = drawPeople(habits, { first: 0, people: 20_000, most: 2 });
    const parts = [0, 5000, 15_000].map((first, index) =>
      drawPeople(habits, { first, people: [5000, 10_000, 5000][index] ?? 0, most: 2 }),
    );
    expect(parts.flatMap(({ values }) => [...values])).toEqual([...together.values]);
    const { yes, no } = together.trueCounts;
    // Five standard errors of a share of 20,000 people are below 0.018.
    [yes[0], no[0], yes[1], no[1]].forEach((people = 0, index) => {
      expect(Math.abs(people / 20_000 - ([0.5, 0.25, 0.25, 0.5][index] ?? 0))).toBeLessThan(0.018);
    });
  });

  it("never lets yes and no exceed everyone", () => {
    expect(withAnswerShare({ yes: 0.2, no: 0.6 }, "yes", 0.7)).toEqual({ yes: 0.7, no: 1 - 0.7 });
    expect(withAnswerShare({ yes: 0.2, no: 0.6 }, "no", 0.5)).toEqual({ yes: 0.2, no: 0.5 });
  });
});

describe("refusals", () => {
  it("are put into words", () => {
    expect(problemText(409, { title: "Upload id conflict", detail: "Other bytes" })).toBe(
      "The collector refused: Upload id conflict. Other bytes (409).",
    );
    expect(problemText(502, null)).toBe("The collector answered with status 502.");
    expect(new CollectorError("x", true)).toBeInstanceOf(Error);
  });
});
