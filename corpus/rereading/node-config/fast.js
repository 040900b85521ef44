// 25000 requests; the configuration is read once.
'use strict';
const crypto = require('crypto');
const fs = require('fs');

const text = fs.readFileSync(process.argv[2], 'latin1');

function setting(name) {
  const at = text.indexOf(`${name}=`) + name.length + 1;
  return text.slice(at, text.indexOf('\n', at));
}

let digest = '';
for (let request = 0; request < 25000; request++) {
  digest = crypto.createHash('sha256').update(digest).update(setting(`key00000${request % 4}`)).digest('hex');
}
console.log(digest);
