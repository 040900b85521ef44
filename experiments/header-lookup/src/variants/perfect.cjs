// A perfect hash of three bytes and the length: one table access, then one comparison of the bytes.
"use strict";

const { equalLowerCase, lowerCase } = require("../bytes.cjs");
const { uniqueNames } = require("../unique.cjs");

const BITS = 10;

// Hashes the length and three bytes, which distinguish all names, by one multiplication.
function hash(bytes, factor) {
  const length = bytes.length;
  const first = lowerCase[bytes[0]];
  const middle = lowerCase[bytes[length >> 1]];
  const later = lowerCase[bytes[(length * 3) >> 2]];
  return Math.imul(first | (middle << 8) | (later << 16) | (length << 24), factor) >>> (32 - BITS);
}

// Returns the table for a factor, or undefined if two names collide.
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

// About one in a hundred random odd factors causes no collision.
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
