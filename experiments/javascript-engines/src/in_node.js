// Runs the workloads in V8 or JavaScriptCore: node [--jitless] in_node.js [check], or bun in_node.js [check]
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { runInThisContext } = require("node:vm");

globalThis.hostClock = () => performance.now();
runInThisContext(readFileSync(join(__dirname, "workloads.js"), "utf8"), "workloads.js");
console.log(runInThisContext(process.argv[2] === "check" ? "checkAll()" : "measureAll()"));
