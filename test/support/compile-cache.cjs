/**
 * Keeps the compiled code of packages for the next process: most of what a Pulumi program costs is compiling the SDK.
 * Loaded before such a process by NODE_OPTIONS. From Node 22 on this is Node's own; before, compiled code is kept here.
 */
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");

const folder = join(tmpdir(), "compile-cache");
if (Module.enableCompileCache !== undefined) Module.enableCompileCache(folder);
else keepHere(join(folder, process.version));

function keepHere(file) {
  const known = read(file);
  const added = new Map();
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (text, path) {
    // An import() that is evaluated finds its loader only in what Node compiled.
    if (!path.includes("node_modules") || text.startsWith("#!") || text.includes('eval)("u=>import'))
      return compile.call(this, text, path);
    const cachedData = known.get(path);
    const script = new Script(Module.wrap(text), { filename: path, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) added.set(path, script);
    const find = (name) => this.require(name);
    Object.assign(find, {
      resolve: Module.createRequire(path).resolve,
      main: process.mainModule,
      cache: Module._cache,
      extensions: Module._extensions,
    });
    return script.runInThisContext().call(this.exports, this.exports, find, this, path, dirname(path));
  };
  process.once("exit", () => {
    // A process that compiled little leaves the file to those that compile much.
    if (added.size < 50) return;
    for (const [path, script] of added) known.set(path, script.createCachedData());
    mkdirSync(folder, { recursive: true });
    const sizes = Buffer.from(`${JSON.stringify([...known].map(([path, data]) => [path, data.length]))}\n`);
    writeFileSync(`${file}.${process.pid}`, Buffer.concat([sizes, ...known.values()]));
    renameSync(`${file}.${process.pid}`, file);
  });
}

/** By path: a line of paths and sizes, then the data in that order. */
function read(file) {
  try {
    const all = readFileSync(file);
    let at = all.indexOf("\n") + 1;
    return new Map(
      JSON.parse(all.subarray(0, at).toString()).map(([path, size]) => {
        at += size;
        return [path, all.subarray(at - size, at)];
      }),
    );
  } catch {
    return new Map();
  }
}
