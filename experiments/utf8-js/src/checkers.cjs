// Four ways to check whether bytes are valid UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing
// beyond U+10FFFF.
"use strict";

const { isUtf8 } = require("node:buffer");

// The smallest and the largest second byte for each first byte of two or more bytes; 0 if none is allowed.
const least = new Uint8Array(256);
const most = new Uint8Array(256);
const length = new Uint8Array(256);
for (let first = 0xc2; first <= 0xf4; first++) {
  length[first] = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  least[first] = { 0xe0: 0xa0, 0xf0: 0x90 }[first] ?? 0x80;
  most[first] = { 0xed: 0x9f, 0xf4: 0x8f }[first] ?? 0xbf;
}

const continues = (byte) => (byte & 0xc0) === 0x80;

// A loop in JavaScript. Bytes beyond the end read as undefined, which is not a continuation byte.
function loop(bytes) {
  const end = bytes.length;
  for (let at = 0; at < end; ) {
    const first = bytes[at];
    if (first < 0x80) {
      at++;
      continue;
    }
    const size = length[first];
    const second = bytes[at + 1];
    if (size === 0 || !(second >= least[first] && second <= most[first])) return false;
    if (size > 2 && !continues(bytes[at + 2])) return false;
    if (size > 3 && !continues(bytes[at + 3])) return false;
    at += size;
  }
  return true;
}

const strict = new TextDecoder("utf-8", { fatal: true });

// The decoder that throws: it makes a string that is not used.
function decoder(bytes) {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

// The published loop: the package valid-8, if NODE_PATH contains it.
function published() {
  try {
    const valid8 = require("valid-8");
    return { valid8: (bytes) => valid8(bytes) === true };
  } catch {
    return {};
  }
}

module.exports = { loop, decoder, native: isUtf8, ...published() };
