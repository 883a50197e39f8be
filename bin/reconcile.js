#!/usr/bin/env node
"use strict";
// The command. `version` answers from here, so that it costs no more than starting Node.
const [command, ...rest] = process.argv.slice(2);
if ((command === "version" || command === "--version") && rest.length === 0) {
  process.stdout.write(`reconcile ${require("../package.json").version}\n`);
} else {
  require("../dist/reconciler/cli/main.js").main(process.argv.slice(2));
}
