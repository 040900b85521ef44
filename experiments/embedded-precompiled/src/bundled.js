// Loads the generated file, which Bun bundles into the same program, and calls one of its functions.
"use strict";

const steps = require("./steps.js");
console.log(JSON.stringify(steps.step7([1, null, "three", 40])));
