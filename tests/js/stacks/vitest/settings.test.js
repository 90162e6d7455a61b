import { createClient } from "hushbin";
import { expect, it } from "vitest";
import { endpoint, task } from "./survey.js";

it("reports", async () => {
  const client = await createClient({ endpoint, task, consent: true, storage: "spend-again" });
  expect(client).toHaveProperty("report");
  await client.report({ "dark-mode": 1, autoplay: -1 });
  await client.flush();
  await client.close();
});
