// Many small objects, of which some stay: the collector copies and marks them.
const kept = [];
for (let i = 0; i < 200000; i++) kept.push({ number: i, list: [i] });
for (let round = 0; round < 100; round++) {
  const made = [];
  for (let i = 0; i < 20000; i++) made.push({ x: i, y: { z: i } });
  kept[round] = made;
}
console.log(kept.length);
