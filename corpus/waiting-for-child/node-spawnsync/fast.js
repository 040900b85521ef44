let total = 0;
for (const step of [3, 5]) {
  let s = 0;
  for (let i = 0; i < 4000000; i++) s += i % step;
  total += s;
}
let hash = 1;
for (let i = 0; i < 300000000; i++) hash = (hash * 31 + i) | 0;
console.log(total + (hash === 7 ? 1 : 0));
