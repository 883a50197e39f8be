#!/usr/bin/env node
"use strict";
// The command. `version` answers from here, so that it costs no more than starting Node.
const [command, ...rest] = process.argv.slice(2);
if (["version", "--version", "-v"].includes(command) && rest.length === 0) {
  process.stdout.write(`reconcile ${require("../package.json").version}\n`);
} else {
  // Node 22 keeps what it compiled; in this package's own folder, because code that others may write must not be run.
  require("node:module").enableCompileCache?.(require("node:path").join(__dirname, "../dist/.compile-cache"));
  // A command is over before what the engine compiles a second time, for speed, has paid for itself; a run that takes long
  // still gets it. The name of the setting is each version's own, and one that is not known would be complained of.
  const patience = {
    20: "--interrupt-budget=1000000",
    22: "--invocation-count-for-turbofan=100000",
    24: "--invocation-count-for-turbofan=100000",
  }[process.versions.node.split(".")[0]];
  if (patience !== undefined) require("node:v8").setFlagsFromString(patience);
  require("../dist/reconciler/cli/bundle.js").main(process.argv.slice(2));
}
