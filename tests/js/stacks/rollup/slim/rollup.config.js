import resolve from "@rollup/plugin-node-resolve";
import url from "@rollup/plugin-url";

export default {
  input: "main.js",
  output: { dir: "dist", format: "es" },
  plugins: [
    resolve({ browser: true }),
    url({ include: ["**/*.wasm"], limit: 0, publicPath: "dist/" }),
  ],
};
