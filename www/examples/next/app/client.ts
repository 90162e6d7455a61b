import { createClient } from "hushbin";
import { task } from "./features";

// This also runs on the server. A client without consent does nothing there, but it needs an
// absolute URL, because the server has no page address.
const endpoint = typeof location === "undefined" ? "http://localhost/telemetry" : "/telemetry";

export const client = createClient({ endpoint, task });
