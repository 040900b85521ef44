// Random numbers on one line, one writeSync a number.
'use strict';
const fs = require('fs');

let state = 1;
for (let i = 0; i < 400000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  fs.writeSync(1, `${state >>> 20} `);
}
fs.writeSync(1, '\n');
