// The tree that undici adopted in 2024: a ternary search tree over bytes like ours, but with names inserted in
// alphabetical order, so the children of a node form a list. UNDICI is the package's folder.
"use strict";

const { join } = require("node:path");

const { tree } = require(join(process.env.UNDICI, "lib/core/tree.js"));

module.exports = (bytes) => tree.lookup(bytes) ?? bytes.toString("latin1").toLowerCase();
