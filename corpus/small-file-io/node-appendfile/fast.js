// A journal; the records are collected and written at once.
'use strict';
const fs = require('fs');
const crypto = require('crypto');

const records = [];
let state = 1;
for (let i = 0; i < 50000; i++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  records.push(`${state}\n`);
}
fs.writeFileSync('journal', records.join(''));
console.log(crypto.createHash('sha1').update(fs.readFileSync('journal')).digest('hex'));
