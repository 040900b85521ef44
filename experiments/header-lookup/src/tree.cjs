// A digital search tree over bytes: it makes no string for a known name, whatever its case.
"use strict";

const { lowerCase } = require("./bytes.cjs");

class Node {
  code;
  name = undefined;
  less = undefined;
  equal = undefined;
  more = undefined;

  constructor(code) {
    this.code = code;
  }
}

function insert(node, name, at) {
  const code = name.charCodeAt(at);
  node ??= new Node(code);
  if (code < node.code) node.less = insert(node.less, name, at);
  else if (code > node.code) node.more = insert(node.more, name, at);
  else if (at + 1 < name.length) node.equal = insert(node.equal, name, at + 1);
  else node.name = name;
  return node;
}

// Inserts the middle name first, then the halves, which keeps the tree shallow.
function insertAll(root, names) {
  if (names.length === 0) return root;
  const middle = names.length >> 1;
  root = insert(root, names[middle], 0);
  root = insertAll(root, names.slice(0, middle));
  return insertAll(root, names.slice(middle + 1));
}

function find(root, bytes) {
  let node = root;
  for (let at = 0; node !== undefined; ) {
    const code = lowerCase[bytes[at]];
    if (code === node.code) {
      if (++at === bytes.length) return node.name;
      node = node.equal;
    } else {
      node = code < node.code ? node.less : node.more;
    }
  }
  return undefined;
}

// Returns the lookup in a tree of these names, which must be in lower case.
function lookupIn(names) {
  const root = insertAll(undefined, [...names].sort());
  return (bytes) => find(root, bytes) ?? bytes.toString("latin1").toLowerCase();
}

module.exports = { lookupIn };
