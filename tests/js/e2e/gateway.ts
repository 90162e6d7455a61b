/** A gateway between a page and the collector that can cause faults. */

import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** A request that passed the gateway. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** Responses of the gateway itself, readable by all origins. */
const OWN = {
  redirect: [302, { location: "/portal" }, ""],
  portal: [200, { "content-type": "text/html" }, "<!doctype html><title>Sign in</title>"],
  unauthorised: [401, { "www-authenticate": "Basic" }, "Who are you?"],
  busy: [429, { "retry-after": "1", "access-control-expose-headers": "retry-after" }, ""],
  broken: [500, {}, "{}"],
} as const satisfies Record<string, readonly [number, Record<string, string>, string]>;

/** Fault of a request that carries reports. */
export type Fault = keyof typeof OWN | "refuse" | "lose-answer" | "delay" | "double" | "silent";

export const FAULTS: readonly Fault[] = [
  "redirect",
  "portal",
  "unauthorised",
  "busy",
  "broken",
  "refuse",
  "lose-answer",
  "delay",
  "double",
  "silent",
];

/**
 * Offsets in an upload: end of the fingerprint, then of the id, after the version. See
 * `src/upload/mod.rs`.
 */
const FINGERPRINT_END = 17;
const ID_END = 33;

/** Splits a body into uploads of one report each for one task. All begin with the same bytes. */
function uploadsIn(body: Buffer): Buffer[] {
  const head = body.subarray(0, FINGERPRINT_END);
  const uploads: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const next = body.indexOf(head, at + ID_END);
    const end = next === -1 ? body.length : next;
    uploads.push(body.subarray(at, end));
    at = end;
  }
  return uploads;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Forwards and records requests, with faults on demand. */
export class Gateway {
  readonly passed: Passed[] = [];
  readonly faults: Fault[] = [];
  /** Returns the fault of the next request that carries reports. */
  weather: () => Fault | undefined = () => this.faults.shift();
  /** Address of the collector, which may change after a restart. */
  to = "";
  readonly #server: Server;
  /** Requests that never get a response. */
  readonly #held = new Set<ServerResponse>();

  constructor() {
    this.#server = createServer((incoming, outgoing) => {
      // The page may be gone before its response.
      this.#take(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  async #take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    // Chromium silently repeats a request that fails on a reused connection.
    outgoing.setHeader("connection", "close");
    const body = await bodyOf(incoming);
    this.passed.push({ method, path: url, contentType: headers["content-type"], body });
    if (url === "/portal") {
      this.#say("portal", outgoing);
      return;
    }
    const fault = method === "POST" ? this.weather() : undefined;
    if (fault === "refuse") {
      outgoing.destroy();
    } else if (fault === "silent") {
      this.#held.add(outgoing);
    } else if (fault !== undefined && fault in OWN) {
      this.#say(fault as keyof typeof OWN, outgoing);
    } else {
      await this.#pass(incoming, body, fault, outgoing);
    }
  }

  #say(fault: keyof typeof OWN, outgoing: ServerResponse): void {
    const [status, headers, text] = OWN[fault];
    outgoing.writeHead(status, { ...headers, "access-control-allow-origin": "*" });
    outgoing.end(text);
  }

  async #pass(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    fault: Fault | undefined,
    outgoing: ServerResponse,
  ): Promise<void> {
    const onward = () =>
      new Promise<readonly [IncomingMessage, Buffer]>((resolve, reject) => {
        const sent = request(this.to + url, { method, headers }, (answer) => {
          bodyOf(answer).then((bytes) => resolve([answer, bytes]), reject);
        });
        sent.on("error", reject);
        sent.end(body);
      });
    if (fault === "delay") {
      await pause(200);
    }
    const [first] = await Promise.all(fault === "double" ? [onward(), onward()] : [onward()]);
    if (fault === "lose-answer") {
      outgoing.destroy();
      return;
    }
    const [answer, bytes] = first;
    outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, connection: "close" });
    outgoing.end(bytes);
  }

  get posts(): Passed[] {
    return this.passed.filter(({ method }) => method === "POST");
  }

  /** Returns all uploads to a task: for each id, the distinct bytes as lists. */
  uploads(task: string): Map<string, Set<string>> {
    const uploads = new Map<string, Set<string>>();
    for (const { path, body } of this.posts) {
      for (const upload of path === `/tasks/${task}/reports` ? uploadsIn(body) : []) {
        const id = upload.toString("hex", FINGERPRINT_END, ID_END);
        uploads.set(id, (uploads.get(id) ?? new Set()).add(upload.join()));
      }
    }
    return uploads;
  }

  /** Ends all faults, and releases requests without a response. */
  clear(): void {
    this.weather = () => undefined;
    for (const outgoing of this.#held) {
      outgoing.destroy();
    }
    this.#held.clear();
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address === null || typeof address === "string") {
      throw new Error("the gateway has no port");
    }
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
