// The textbook trie: a Map in each node, walked by the characters of the string.
"use strict";

const newNode = () => ({ name: undefined, next: new Map() });
const root = newNode();

for (const name of require("../names.cjs").map((name) => name.toLowerCase())) {
  let node = root;
  for (const character of name) {
    if (!node.next.has(character)) node.next.set(character, newNode());
    node = node.next.get(character);
  }
  node.name = name;
}

module.exports = (bytes) => {
  const text = bytes.toString("latin1").toLowerCase();
  let node = root;
  for (const character of text) {
    node = node.next.get(character);
    if (node === undefined) return text;
  }
  return node.name ?? text;
};
