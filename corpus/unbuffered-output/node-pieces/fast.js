let sum = 1;
const all = [];
for (let i = 0; i < 100000; i++) {
  for (let k = 0; k < 500; k++) sum = (sum * 31 + k) | 0;
  all.push(String.fromCharCode(97 + ((sum >>> 3) % 26)));
}
process.stdout.write(all.join(''));
