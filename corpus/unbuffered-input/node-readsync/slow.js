// A checksum of standard input, one readSync a byte.
'use strict';
const fs = require('fs');

function mix(sum, byte) {
  for (let round = 0; round < 60; round++) sum = Math.imul(sum ^ byte ^ (sum >>> 13), 0x5bd1e995);
  return sum;
}

const byte = Buffer.alloc(1);
let sum = 0;
while (fs.readSync(0, byte, 0, 1) === 1) sum = mix(sum, byte[0]);
console.log(sum >>> 0);
