const { createClient } = require("hushbin");
const { endpoint, task } = require("./survey.json");

it("reports", async () => {
  const client = await createClient({ endpoint, task, consent: true, storage: "spend-again" });
  expect(client).toHaveProperty("report");
  await client.report({ "dark-mode": 1, autoplay: -1 });
  await client.flush();
  await client.close();
});
