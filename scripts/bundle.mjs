// Puts the command line's compiled files into one, dist/reconciler/cli/bundle.js: two hundred files cost more to find
// and read than to run. Each stays a module of its own inside, evaluated when it is first asked for, so what a command
// does not use still costs it nothing. Packages that are optional or large stay outside.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const outside = [/^node:/, /^undici/, "pg", /^@aws-sdk\//, /^@pulumi\//];

const bundle = await rolldown({
  input: join(root, "dist/reconciler/cli/main.js"),
  platform: "node",
  external: outside,
  treeshake: false,
});
await bundle.write({
  file: join(root, "dist/reconciler/cli/bundle.js"),
  format: "cjs",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
