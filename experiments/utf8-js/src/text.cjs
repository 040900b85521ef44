// Returns words of random letters in one script, from a seed, each followed by a space: `size` bytes or a few less.
"use strict";

const scripts = {
  latin: { first: 0x61, letters: 26, word: 9 },
  arabic: { first: 0x627, letters: 36, word: 7 },
  chinese: { first: 0x4e00, letters: 20_000, word: 12 },
};

// A linear congruential generator (Numerical Recipes): the same letters everywhere.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}

function makeText(script, size, seed = 1) {
  const { first, letters, word } = scripts[script];
  const random = randomNumbers(seed);
  const parts = [];
  for (let left = size; ; ) {
    const letter = random(word) === 0 ? " " : String.fromCodePoint(first + random(letters));
    left -= Buffer.byteLength(letter);
    if (left < 0) return new Uint8Array(Buffer.from(parts.join("")));
    parts.push(letter);
  }
}

module.exports = { makeText };
