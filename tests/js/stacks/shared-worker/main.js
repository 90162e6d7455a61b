const worker = new SharedWorker("worker.js", { type: "module" });
const output = document.querySelector("output");
worker.port.onmessage = ({ data }) => output.append(data);
worker.onerror = ({ message }) => output.append(`the worker failed: ${message}`);
worker.port.postMessage({ "dark-mode": 1, autoplay: -1 });
