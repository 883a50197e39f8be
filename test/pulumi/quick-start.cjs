/**
 * Keeps the compiled code of packages for the next process: most of what a Pulumi program costs is compiling the SDK.
 * Loaded before such a process by NODE_OPTIONS. From Node 22 on this is Node's own; before, compiled code is kept here.
 */
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { Script } = require("node:vm");
const { evaluate } = require("../../bin/compile-cache.js");

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
    return evaluate(this, path, script.runInThisContext());
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

/*
 * What Pulumi's SDK loads at its start and hardly a program uses is loaded when something of it is used: two thirds of
 * what a program costs. Programs on the real engine run without it.
 */

const rarelyUsed = new Set([
  "./automation",
  "@npmcli/arborist",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "execa",
  "fdir",
  // Every resource that is made writes down a stack, and finds each line of it in the SDK's own sources.
  "source-map-support/register",
  "typescript",
]);

const load = Module._load;
Module._load = function (name, parent, ...rest) {
  const bySdk = rarelyUsed.has(name) && parent?.filename?.includes("@pulumi");
  return bySdk ? lazily(() => load.call(this, name, parent, ...rest)) : load.call(this, name, parent, ...rest);
};

function lazily(loadNow) {
  let loaded;
  const real = () => {
    loaded ??= loadNow();
    return loaded;
  };
  // As a module of ES is imported: the SDK's helpers for imports then copy nothing.
  const get = (_, key) =>
    key === "__esModule" ? true : key === "default" && !("default" in real()) ? real() : Reflect.get(real(), key);
  return new Proxy(() => undefined, {
    get,
    has: (_, key) => Reflect.has(real(), key),
    apply: (_, self, args) => Reflect.apply(real(), self, args),
  });
}
