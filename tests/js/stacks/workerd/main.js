import { createClient } from "hushbin";
import { endpoint, task } from "./survey.js";

export default {
  async fetch() {
    const client = await createClient({ endpoint, task, consent: true, storage: "spend-again" });
    await client.report({ "dark-mode": 1, autoplay: -1 });
    await client.flush();
    await client.close();
    return new Response("reported");
  },
};
