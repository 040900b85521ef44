// One switch over both spellings of all names, generated as source text.
"use strict";

const cases = require("../names.cjs").map((name) => {
  const lower = JSON.stringify(name.toLowerCase());
  const both = new Set([lower, JSON.stringify(name)]);
  return [...both].map((spelling) => `case ${spelling}:`).join(" ") + ` return ${lower};`;
});

const find = new Function("name", `switch (name) { ${cases.join("\n")} default: return name.toLowerCase(); }`);

module.exports = (bytes) => find(bytes.toString("latin1"));
