import { createClient, createRandomizer } from "/node_modules/hushbin/dist/index.js";
import { endpoint, sums, task } from "./survey.js";

async function report(answers) {
  const client = await createClient({ endpoint, task, consent: true });
  await client.report(answers);
  await client.flush();
  await client.close();
  // This code is loaded for sums only.
  await createRandomizer({ task: sums });
}

addEventListener("message", ({ data }) => {
  report(data).then(
    () => postMessage("reported"),
    (error) => postMessage(`${error}`),
  );
});
