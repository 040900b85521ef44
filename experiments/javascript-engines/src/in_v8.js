// Runs the workloads in V8: node [--jitless] in_v8.js [check]
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { runInThisContext } = require("node:vm");

runInThisContext(readFileSync(join(__dirname, "workloads.js"), "utf8"), "workloads.js");
console.log(runInThisContext(process.argv[2] === "check" ? "checkAll()" : "measureAll()"));
