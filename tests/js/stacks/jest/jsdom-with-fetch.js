// Jest's jsdom has no fetch, which every browser has: lend it Node's.
const { TestEnvironment } = require("jest-environment-jsdom");

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.fetch = fetch;
  }
};
