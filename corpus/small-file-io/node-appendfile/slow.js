// A journal; appendFileSync opens, writes and closes the file for every record.
'use strict';
const fs = require('fs');
const crypto = require('crypto');

fs.writeFileSync('journal', '');
let state = 1;
for (let i = 0; i < 50000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  fs.appendFileSync('journal', `${state}\n`);
}
console.log(crypto.createHash('sha1').update(fs.readFileSync('journal')).digest('hex'));
