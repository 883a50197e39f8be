// Makes the command one executable file, dist/executable/reconcile, for this system and processor.
import { makeExecutable } from "./executables.mjs";

const target = await makeExecutable({
  name: process.platform === "win32" ? "reconcile.exe" : "reconcile",
  entry: 'require("../reconciler/cli/main.js").main(process.argv.slice(2));\n',
});
process.stdout.write(`Wrote ${target}\n`);
