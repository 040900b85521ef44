let sum = 1;
for (let i = 0; i < 100000; i++) {
  for (let k = 0; k < 500; k++) sum = (sum * 31 + k) | 0;
  process.stdout.write(String.fromCharCode(97 + ((sum >>> 3) % 26)));
}
