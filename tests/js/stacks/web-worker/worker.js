import { createClient } from "/node_modules/hushbin/dist/index.js";
import { endpoint, task } from "./survey.js";

async function report(answers) {
  const client = await createClient({ endpoint, task, consent: true });
  await client.report(answers);
  await client.flush();
  await client.close();
}

addEventListener("message", ({ data }) => {
  report(data).then(
    () => postMessage("reported"),
    (error) => postMessage(`${error}`),
  );
});
