import { createClient, initialize } from "/node_modules/hushbin/dist/slim.js";
import { endpoint, task } from "./survey.js";

async function report(answers) {
  // Service workers import nothing later, so the module comes from a URL.
  await initialize("/node_modules/hushbin/dist/hushbin.wasm");
  const client = await createClient({ endpoint, task, consent: true });
  await client.report(answers);
  await client.flush();
  await client.close();
}

addEventListener("message", (event) => {
  const { data, source } = event;
  event.waitUntil(
    report(data).then(
      () => source.postMessage("reported"),
      (error) => source.postMessage(`${error}`),
    ),
  );
});
