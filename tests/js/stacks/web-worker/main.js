const worker = new Worker("worker.js", { type: "module" });
const output = document.querySelector("output");
worker.onmessage = ({ data }) => output.append(data);
worker.onerror = ({ message }) => output.append(`the worker failed: ${message}`);
worker.postMessage({ "dark-mode": 1, autoplay: -1 });
