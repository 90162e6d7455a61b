module.exports = { mode: "production", entry: "./main.js" };
