import { createClient, createRandomizer } from "/node_modules/hushbin/dist/index.js";
import { endpoint, sums, task } from "./survey.js";

const output = document.querySelector("output");

async function report() {
  const client = await createClient({ endpoint, task, consent: true });
  await client.report({ "dark-mode": 1, autoplay: -1 });
  await client.flush();
  await client.close();
  // This code is loaded for sums only.
  await createRandomizer({ task: sums });
}

report().then(
  () => output.append("reported"),
  (error) => output.append(`${error}`),
);
