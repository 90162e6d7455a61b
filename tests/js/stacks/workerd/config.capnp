using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # The collector is on this machine, but workerd allows only public addresses by default.
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8080", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [
    (name = "main.js", esModule = embed "dist/main.js"),
    (name = "hushbin.wasm", wasm = embed "dist/hushbin.wasm"),
    (name = "sums.wasm", wasm = embed "dist/sums.wasm"),
  ],
  compatibilityDate = "2026-09-01",
);
