import { createClient } from "hushbin";
import { task } from "./features";

// Made on the server too, where it does nothing: without consent nothing is drawn, stored or
// sent. There is no site there that a path could be of.
const endpoint = typeof location === "undefined" ? "http://localhost/telemetry" : "/telemetry";

export const client = createClient({ endpoint, task });
