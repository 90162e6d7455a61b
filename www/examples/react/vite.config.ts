import { defineConfig } from "vite";

// Reports go to the page's own site, which forwards them to the collector.
const proxy = {
  "/telemetry": {
    target: "http://127.0.0.1:8080",
    rewrite: (path: string) => path.replace("/telemetry", ""),
  },
};

export default defineConfig({ server: { proxy }, preview: { proxy } });
