#!/usr/bin/env node
"use strict";
// The command. `version` answers from here, so that it costs no more than starting Node.
const [command, ...rest] = process.argv.slice(2);
if (["version", "--version", "-v"].includes(command) && rest.length === 0) {
  process.stdout.write(`reconcile ${require("../package.json").version}\n`);
} else {
  // Node 22 keeps what it compiled; in this package's own folder, because code that others may write must not be run.
  require("node:module").enableCompileCache?.(require("node:path").join(__dirname, "../dist/.compile-cache"));
  require("../dist/reconciler/cli/bundle.js").main(process.argv.slice(2));
}
