import { createClient, createRandomizer } from "hushbin";
import { endpoint, sums, task } from "./survey.js";

const client = await createClient({ endpoint, task, consent: true, storage: "spend-again" });
await client.report({ "dark-mode": 1, autoplay: -1 });
await client.flush();
await client.close();
// This code is loaded for sums only.
await createRandomizer({ task: sums });
