#!/usr/bin/env node
"use strict";
require("./node-version.js");
// The command. `version` answers from here, so that it costs no more than starting Node.
const [command, ...rest] = process.argv.slice(2);
if (["version", "--version", "-v"].includes(command) && rest.length === 0) {
  process.stdout.on("error", ({ code, message }) => {
    // A reader that closed the pipe has seen enough.
    if (code === "EPIPE") return;
    process.exitCode = 1;
    process.stderr.write(
      `error[cli/output-lost]: standard output could not be written: ${message}\n   = fix: make room where it goes\n`,
    );
  });
  process.stdout.write(`reconcile ${require("../package.json").version}\n`);
} else {
  // Only a word that can be a command is written down: before it may stand a flag, with whatever is given to it.
  require("./compile-cache.js").keepHere("", /^[a-z]+$/.test(command) ? command : "");
  // A command is over before what the engine compiles a second time, for speed, has paid for itself; a run that takes long
  // still gets it, all but the reader of HTTP's lines, which gains less than its compiling takes. The names of the settings
  // are each version's own, and one that is not known would be complained of.
  const patience = {
    20: "--interrupt-budget=1000000",
    22: "--invocation-count-for-turbofan=100000",
    24: "--invocation-count-for-turbofan=100000",
  }[process.versions.node.split(".")[0]];
  if (patience !== undefined)
    for (const setting of [patience, "--liftoff-only"]) require("node:v8").setFlagsFromString(setting);
  require("../dist/reconciler/cli/bundle.js").main(process.argv.slice(2));
}
