/**
 * Runs one script after the other, each as `node script args…` would, in a process that has loaded most of it before:
 * loading is most of what a short process costs. Every run has its own modules, arguments, environment, folder and
 * listeners, and ends as a process does, when it has nothing more to wait for. support/warm-process.ts speaks to it.
 */
const { readFileSync, statSync } = require("node:fs");
const Module = require("node:module");
const { Server, Socket } = require("node:net");
const { dirname, sep } = require("node:path");
const v8 = require("node:v8");
const { constants, Script } = require("node:vm");
const { evaluate } = require("../../bin/compile-cache.js");

const { channel } = process;
process.send = undefined;

/** Listeners of `beforeExit` may begin more work, and add others of their own: after so many rounds there is no more. */
const rounds = 4;
const emitters = [process, process.stdout, process.stderr];
const changed = [globalThis, Module, Module.prototype, Module._extensions, process.stdout, process.stderr];
let drained = 0;
let before;

/**
 * A module of this repository is compiled once and evaluated for each run, and of packages one that is loaded again: what
 * a run costs here is what it does. The setting for a process that is soon over does not hold for one that goes on.
 */
const compiled = new Map();
const here = dirname(dirname(__dirname)) + sep;
const seen = new Set();
const load = Module._extensions[".js"];
Module._extensions[".js"] = (module, path) => {
  const isOwn = path.startsWith(here) && !path.includes("node_modules");
  const isFirst = !seen.has(path);
  seen.add(path);
  const text = isFirst && !isOwn ? undefined : compiledOf(path);
  if (text === undefined) load(module, path);
  else evaluate(module, path, text);
};
v8.setFlagsFromString = () => undefined;

function compiledOf(path) {
  const { size, mtimeMs } = statSync(path);
  const known = compiled.get(path);
  if (known?.size === size && known.mtimeMs === mtimeMs) return known.text;
  const text = compile(path);
  compiled.set(path, { size, mtimeMs, text });
  return text;
}

/** Undefined for an ES module, which Node loads by require as well, and for a mistake, of which Node tells better. */
function compile(path) {
  try {
    const text = readFileSync(path, "utf8").replace(/^#!.*/, "");
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    return new Script(Module.wrap(text), { filename: path, importModuleDynamically }).runInThisContext();
  } catch {
    return undefined;
  }
}

process.on("message", (message) => (message === "stop" ? stop() : begin(message)));
process.on("disconnect", () => process.exit());
process.on("beforeExit", () => {
  if (before === undefined) return;
  if (++drained < rounds) setImmediate(() => undefined);
  else end();
});

/** What a run left behind, and fails after its end, would have died with its process. */
const ignore = () => undefined;

function begin({ script, args, cwd, env }) {
  process.removeListener("uncaughtException", ignore);
  before = {
    files: new Set(Object.keys(require.cache)),
    listeners: emitters.map((emitter) => listenersOf(emitter)),
    properties: changed.map((object) => Object.getOwnPropertyDescriptors(object)),
  };
  drained = 0;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.argv[0], script, ...args];
  process.exitCode = undefined;
  channel.unref();
  for (const name of ["setTimeout", "setInterval"]) globalThis[name] = remembered(globalThis[name]);
  Module._load(script, null, true);
}

/** What nobody waits for any more dies with a process. */
const timers = new Set();
const remembered = (set) =>
  Object.assign((...args) => {
    const timer = set(...args);
    timers.add(timer);
    return timer;
  }, set);

/** Closes what a process has open when it dies; a server would wait for ever. */
function stop() {
  const own = new Set([channel, process.stdin, process.stdout, process.stderr]);
  for (const handle of process._getActiveHandles()) {
    if (own.has(handle)) continue;
    if (handle instanceof Server) handle.close();
    else if (handle instanceof Socket) handle.destroy();
  }
}

function end() {
  const { files, listeners, properties } = before;
  before = undefined;
  const known = listeners[0].get("exit") ?? [];
  for (const listener of process.listeners("exit"))
    if (!known.includes(listener)) listener.call(process, process.exitCode ?? 0);
  const code = process.exitCode ?? 0;
  stop();
  for (const timer of timers) clearTimeout(timer);
  timers.clear();

  for (const [index, emitter] of emitters.entries())
    for (const [event, now] of listenersOf(emitter))
      for (const listener of now)
        if (!(listeners[index].get(event) ?? []).includes(listener)) emitter.removeListener(event, listener);
  for (const [index, object] of changed.entries()) {
    for (const name of Reflect.ownKeys(object))
      if (!Object.hasOwn(properties[index], name) && isFree(object, name)) delete object[name];
    for (const name of Reflect.ownKeys(properties[index]))
      if (isFree(object, name)) Object.defineProperty(object, name, properties[index][name]);
  }
  for (const file of Object.keys(require.cache))
    if (!files.has(file) && !isWithoutState(file)) delete require.cache[file];
  process.on("uncaughtException", ignore);
  channel.ref();
  for (const stream of [process.stdout, process.stderr]) stream.write(`\0ended ${code}\0`);
}

const listenersOf = (emitter) => new Map(emitter.eventNames().map((event) => [event, emitter.listeners(event)]));
/** What belongs to a run. Protocol buffers, which stay loaded, find each other in the global `proto`. */
const isFree = (object, name) =>
  Object.getOwnPropertyDescriptor(object, name)?.configurable === true && !(object === globalThis && name === "proto");

/** What other packages define is the same for every run; the SDK keeps what it knows of a program in its modules. */
const isWithoutState = (file) =>
  file.includes("/node_modules/") &&
  !file.includes("/node_modules/reconcile-cloud/") &&
  (!file.includes("/node_modules/@pulumi/pulumi/") || /\/(proto|closure)\/[^/]+$/.test(file));
