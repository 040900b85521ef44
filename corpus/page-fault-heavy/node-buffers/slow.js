const all = [];
let sum = 0;
for (let i = 0; i < 250; i++) all.push(Buffer.alloc(1 << 20, i));
for (const one of all) sum += one[777];
for (let i = 0; i < 2e7; i++) sum = (sum * 31 + i) | 0;
console.log(sum);
