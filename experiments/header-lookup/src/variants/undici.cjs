// The tree that undici took over in 2024: a ternary search tree over bytes like ours, but names are inserted in
// alphabetical order, so that the children of a node are a list. UNDICI is the package's folder.
"use strict";

const { join } = require("node:path");

const { tree } = require(join(process.env.UNDICI, "lib/core/tree.js"));

module.exports = (bytes) => tree.lookup(bytes) ?? bytes.toString("latin1").toLowerCase();
