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
  const { compileOnce, keepHere } = require("./compile-cache.js");
  // Only a word that can be a command is written down: before it may stand a flag, with whatever is given to it.
  keepHere("", /^[a-z]+$/.test(command) ? command : "");
  compileOnce({ isShort: true });
  require("../dist/reconciler/cli/bundle.js").main(process.argv.slice(2));
}
