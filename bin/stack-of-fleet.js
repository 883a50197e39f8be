"use strict";
// A process of a fleet's worker for one stack at a time. Its worker may kill it at any moment, so what was compiled is kept
// as soon as a stack is done with.
const keep = require("./compile-cache.js").keepHere();
require("../dist/reconciler/cli/bundle.js").serveStacks(keep);
