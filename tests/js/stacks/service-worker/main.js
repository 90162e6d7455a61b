const output = document.querySelector("output");

navigator.serviceWorker.onmessage = ({ data }) => output.append(data);

async function ask() {
  await navigator.serviceWorker.register("worker.js", { type: "module" });
  const { active } = await navigator.serviceWorker.ready;
  active.postMessage({ "dark-mode": 1, autoplay: -1 });
}

ask().catch((error) => output.append(`${error}`));
