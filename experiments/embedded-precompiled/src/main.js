// Loads the generated file and calls one of its functions.
//
//     node main.js FILE          compile the file
//     node --snapshot-blob BLOB main.js      the file is in the snapshot already
"use strict";

const v8 = require("node:v8");

function run(steps) {
  console.log(JSON.stringify(steps.step7([1, null, "three", 40])));
}

if (v8.startupSnapshot.isBuildingSnapshot()) {
  // While Node builds a snapshot, `require` finds only Node's own modules.
  const fs = require("node:fs");
  const steps = {};
  new Function("exports", fs.readFileSync(process.env.STEPS, "utf8"))(steps);
  v8.startupSnapshot.setDeserializeMainFunction(run, steps);
} else {
  run(require(process.argv[2]));
}
