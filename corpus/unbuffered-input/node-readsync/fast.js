// A checksum of standard input, read whole.
'use strict';
const fs = require('fs');

function mix(sum, byte) {
  for (let round = 0; round < 60; round++) sum = Math.imul(sum ^ byte ^ (sum >>> 13), 0x5bd1e995);
  return sum;
}

let sum = 0;
for (const byte of fs.readFileSync(0)) sum = mix(sum, byte);
console.log(sum >>> 0);
