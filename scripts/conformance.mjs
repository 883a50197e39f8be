// npm run conformance: the conformance cases against any service. The cases are TypeScript and no part of the build, so
// they are translated as they are loaded; the types were checked before.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const typescript = require("typescript");
require.extensions[".ts"] = (/** @type {any} */ module, path) => {
  const compilerOptions = {
    module: typescript.ModuleKind.CommonJS,
    target: typescript.ScriptTarget.ES2022,
    esModuleInterop: true,
  };
  const { outputText } = typescript.transpileModule(readFileSync(path, "utf8"), { compilerOptions, fileName: path });
  module._compile(outputText, path);
};
const { main } = require("../test/conformance/command.ts");
process.exitCode = await main(process.argv.slice(2), process.env, (line) => console.log(line));
