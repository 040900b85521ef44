// 25000 requests; each reads the configuration to find one setting.
'use strict';
const crypto = require('crypto');
const fs = require('fs');

function setting(name) {
  const text = fs.readFileSync(process.argv[2], 'latin1');
  const at = text.indexOf(`${name}=`) + name.length + 1;
  return text.slice(at, text.indexOf('\n', at));
}

let digest = '';
for (let request = 0; request < 25000; request++) {
  digest = crypto.createHash('sha256').update(digest).update(setting(`key00000${request % 4}`)).digest('hex');
}
console.log(digest);
