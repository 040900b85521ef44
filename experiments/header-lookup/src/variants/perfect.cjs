// A perfect hash of three bytes and the length: one place to look, then one comparison of the bytes.
"use strict";

const { equalLowerCase, lowerCase } = require("../bytes.cjs");
const { uniqueNames } = require("../unique.cjs");

const BITS = 10;

// The length and three bytes, which tell all names apart, by one multiplication.
function hash(bytes, factor) {
  const length = bytes.length;
  const first = lowerCase[bytes[0]];
  const middle = lowerCase[bytes[length >> 1]];
  const later = lowerCase[bytes[(length * 3) >> 2]];
  return Math.imul(first | (middle << 8) | (later << 16) | (length << 24), factor) >>> (32 - BITS);
}

// The table for a factor, or undefined if two names share a place.
function fill(names, factor) {
  const table = new Array(1 << BITS).fill(undefined);
  for (const name of names) {
    const bytes = Buffer.from(name, "latin1");
    const at = hash(bytes, factor);
    if (table[at] !== undefined) return undefined;
    table[at] = { name, bytes };
  }
  return table;
}

// Of random odd factors about one in a hundred puts no two names in one place.
function search(names) {
  for (let attempt = 1; attempt < 1e5; attempt++) {
    const factor = Math.imul(attempt, 0x9e3779b1) | 1;
    const table = fill(names, factor);
    if (table !== undefined) return { factor, table };
  }
  throw new Error("no perfect hash was found: two names agree in all that is hashed");
}

const { factor, table } = search(uniqueNames());

module.exports = (bytes) => {
  const found = bytes.length > 0 ? table[hash(bytes, factor)] : undefined;
  return found !== undefined && equalLowerCase(bytes, found.bytes) ? found.name : bytes.toString("latin1").toLowerCase();
};
