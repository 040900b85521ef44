// Random numbers on one line, collected and written at once.
'use strict';
const fs = require('fs');

const pieces = [];
let state = 1;
for (let i = 0; i < 400000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  pieces.push(`${state >>> 20} `);
}
fs.writeFileSync(1, pieces.join('') + '\n');
