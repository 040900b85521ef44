// The length first, then a chain of comparisons among the names of that length, as one expression.
"use strict";

const byLength = new Map();
for (const name of require("../names.cjs")) {
  byLength.set(name.length, [...(byLength.get(name.length) ?? []), name]);
}

const compare = (name) => {
  const lower = JSON.stringify(name.toLowerCase());
  return `name === ${JSON.stringify(name)} || name === ${lower} ? ${lower} : `;
};
const chains = [...byLength].map(([length, names]) => `name.length === ${length} ? (${names.map(compare).join("")}name.toLowerCase()) : `);

const find = new Function("name", `return ${chains.join("\n")} name.toLowerCase();`);

module.exports = (bytes) => find(bytes.toString("latin1"));
