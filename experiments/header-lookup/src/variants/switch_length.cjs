// A switch over the length, and in each case a switch over the spellings of that length.
"use strict";

const byLength = new Map();
for (const name of require("../names.cjs")) {
  byLength.set(name.length, [...(byLength.get(name.length) ?? []), name]);
}

const spellings = (name) => [...new Set([name, name.toLowerCase()])].map((text) => `case ${JSON.stringify(text)}:`).join(" ");
const one = (name) => `${spellings(name)} return ${JSON.stringify(name.toLowerCase())};`;
const cases = [...byLength].map(([length, names]) => `case ${length}: switch (name) { ${names.map(one).join("\n")} } break;`);

const find = new Function("name", `switch (name.length) { ${cases.join("\n")} } return name.toLowerCase();`);

module.exports = (bytes) => find(bytes.toString("latin1"));
