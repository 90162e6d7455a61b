import type { NextConfig } from "next";

// Reports go to the page's own site, which forwards them to the collector.
const config: NextConfig = {
  rewrites: async () => [
    { source: "/telemetry/:path*", destination: "http://127.0.0.1:8080/:path*" },
  ],
};

export default config;
