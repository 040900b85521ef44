const one = Buffer.alloc(1 << 20);
let sum = 0;
for (let i = 0; i < 250; i++) { one.fill(i); sum += one[777]; }
for (let i = 0; i < 2e7; i++) sum = (sum * 31 + i) | 0;
console.log(sum);
