// Jest's jsdom lacks fetch, which every browser has, so Node's is used.
const { TestEnvironment } = require("jest-environment-jsdom");

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.fetch = fetch;
  }
};
