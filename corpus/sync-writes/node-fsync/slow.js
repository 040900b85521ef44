// A journal of 1500 records; each is brought to the disk before the next.
'use strict';
const fs = require('fs');

const file = fs.openSync('journal', 'w');
let text = '';
let state = 1;
for (let record = 0; record < 1500; record++) {
  for (let round = 0; round < 40000; round++) state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  text += `${state}\n`;
  fs.writeSync(file, text);
  fs.fsyncSync(file);
  text = '';
}
fs.writeSync(file, text);
fs.fsyncSync(file);
fs.closeSync(file);
console.log(state);
