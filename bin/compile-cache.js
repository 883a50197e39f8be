"use strict";
// Keeps what was compiled for the next command. Most of what a small command costs is compiling. What is kept holds for one
// version of Node and for files that nobody has touched since. Node's own cache, from version 22 on, takes a third longer:
// it keeps only those functions of a file that the first command called.
const {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require("node:fs");
const Module = require("node:module");
const { dirname, isAbsolute, join } = require("node:path");
const { Script } = require("node:vm");

/**
 * What a command sets of the engine of one version of Node, and what that was built with. A command is over before what the
 * engine compiles a second time, for speed, has paid for itself; a run that takes long still gets it, all but the reader of
 * HTTP's lines, which gains less than its compiling takes. On Node 24 neither saves anything. The names are each version's
 * own, and one that is not known would be complained of.
 */
const whatCommandsSet = {
  20: { ours: "--interrupt-budget=1000000", nodes: "--interrupt-budget=67584" },
  22: { ours: "--invocation-count-for-turbofan=100000", nodes: "--invocation-count-for-turbofan=3000" },
}[process.versions.node.split(".")[0]];
let setEngine;

/** `isShort`: a command, and no process that goes on. */
exports.compileOnce = ({ isShort }) => {
  if (whatCommandsSet === undefined) return;
  const { ours, nodes } = isShort ? whatCommandsSet : { ours: "", nodes: "" };
  const { setFlagsFromString } = require("node:v8");
  setEngine = (isOurs) =>
    setFlagsFromString(
      isOurs ? `${ours} --no-wasm-tier-up --no-wasm-dynamic-tiering` : `${nodes} --wasm-tier-up --wasm-dynamic-tiering`,
    );
  // Every command asks for these, and each loads something of Node when it is first asked for.
  void [process.stdout, process.stderr, require("node:util").parseArgs];
  setEngine(true);
};

/**
 * Node brings its own modules compiled, and compiles them anew where a setting of the engine is not what it was built with:
 * that takes three times as long as loading them. So they are loaded with the settings as they were.
 */
const ofNode = new Map();
function load(module, name) {
  if (setEngine === undefined || !Module.isBuiltin(name)) return module.require(name);
  if (!ofNode.has(name)) {
    setEngine(false);
    try {
      ofNode.set(name, module.require(name));
    } finally {
      setEngine(true);
    }
  }
  return ofNode.get(name);
}

/** What Node does with a module that it has compiled. */
function evaluate(module, path, compiled) {
  const find = (name) => load(module, name);
  Object.assign(find, {
    resolve: (name, options) => Module._resolveFilename(name, module, false, options),
    main: process.mainModule,
    cache: Module._cache,
    extensions: Module._extensions,
  });
  return compiled.call(module.exports, module.exports, find, module, path, dirname(path));
}
exports.evaluate = evaluate;

/** For a program of this package. Answers as keepCompiled does. */
exports.keepHere = (of, command) => exports.keepCompiled(placeHere(), of, command);

/**
 * The package's own folder. Where another user installed the package, a folder of the user's own. Code that others may
 * write must not be run, so either belongs to whoever may replace the program or to whoever runs it.
 */
function placeHere() {
  const own = join(__dirname, "../dist/.compile-cache");
  return mayWrite(dirname(own)) ? own : (placeOfUser() ?? own);
}

/** None where there is no such place: root leaves nothing in the home of another (sudo), and Windows has no such users. */
function placeOfUser() {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const { version } = require("../package.json");
  try {
    const { homedir } = require("node:os");
    const given = process.env.XDG_CACHE_HOME ?? "";
    // A relative one counts as none, as the standard says: the command may run in somebody else's repository.
    const caches = isAbsolute(given) ? given : join(homedir(), ".cache");
    const folder = join(caches, "reconcile/compiled", version);
    if (!isAbsolute(folder)) return undefined;
    let above = folder;
    while (!existsSync(above)) above = dirname(above);
    if (user === 0 && statSync(above).uid !== 0) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isWritableByOthers = (mode & 0o022) !== 0;
    return uid === user && !isWritableByOthers ? folder : undefined;
  } catch {
    return undefined;
  }
}

function mayWrite(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * `of`: whose it is beside the commands'. A function is compiled when it is called, so files that were kept are kept anew,
 * with more in them, by the first run of each other `command`, and when a command uses a file that it had no need of
 * before. Answers how a process that may be killed keeps at once what it has compiled.
 */
exports.keepCompiled = (folder, of = "", command = "") => {
  const file = join(folder, `${process.version}-${process.arch}${of}`);
  let known = read(file);
  const added = new Map();
  const taken = new Map();
  let isNews = false;
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (text, path, ...format) {
    const byNode = () => compile.call(this, text, path, ...format);
    if (format[0] === "module" || text.startsWith("#!")) return byNode();
    const key = keyOf(path);
    const kept = known.get(key);
    const cachedData = kept?.data();
    // What is kept was looked through when it was compiled.
    if (cachedData === undefined && importsLater(text)) return byNode();
    let script;
    try {
      script = new Script(Module.wrap(text), { filename: path, cachedData });
    } catch {
      // An ES module, which Node loads by require as well, or a mistake that Node tells of better.
      return byNode();
    }
    if (cachedData === undefined || script.cachedDataRejected) added.set(key, script);
    else {
      taken.set(key, script);
      isNews ||= !kept.commands.includes(command);
    }
    return evaluate(this, path, script.runInThisContext());
  };
  const keep = (exitCode) => {
    // A run that failed called little of what its command needs.
    const failed = exitCode === 1;
    if (added.size === 0 && (failed || !isNews)) return;
    const scripts = new Map(failed ? added : [...added, ...taken]);
    for (const key of added.keys()) known.delete(key);
    write(folder, file, known, scripts, failed ? [] : [command]);
    known = read(file);
    added.clear();
    taken.clear();
    isNews = false;
  };
  process.once("exit", keep);
  return keep;
};

/** An import() that is evaluated finds its loader only in what Node itself compiled. One in a comment on types is none. */
function importsLater(text) {
  for (const { index } of text.matchAll(/(?<![\w$.'"])import\(/g))
    if (!/^\s*(\/\*\*|\*)/.test(text.slice(text.lastIndexOf("\n", index) + 1, index))) return true;
  return false;
}

/** Another content under a name has another size or another time, also where an installation sets the time itself. */
function keyOf(path) {
  const { size, mtimeMs, ctimeMs } = statSync(path);
  return `${path} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** So much of a file holds its first line. */
const headBytes = 65_536;

/**
 * A line of keys, sizes and the commands that used it, then the data in that order. A command reads what it needs itself:
 * the file has what every command needed.
 */
function read(file) {
  const known = new Map();
  try {
    const handle = openSync(file);
    const bytes = (size, at) => {
      const data = Buffer.allocUnsafe(size);
      return data.subarray(0, readSync(handle, data, 0, size, at));
    };
    const head = bytes(headBytes, 0);
    let next = head.indexOf("\n") + 1;
    for (const [key, size, commands = []] of JSON.parse(head.toString("utf8", 0, next))) {
      const at = next;
      known.set(key, { size, commands, data: () => bytes(size, at) });
      next += size;
    }
  } catch {
    known.clear();
  }
  return known;
}

/** Whoever may not write here goes on compiling. Of two at once the later one stays; each is whole on the disk before. */
function write(folder, file, known, scripts, by) {
  if (!mayWrite(dirname(folder))) return;
  const beside = `${file}.${process.pid}`;
  try {
    const pathOf = (key) => key.split(" ").slice(0, -3).join(" ");
    const paths = new Set([...scripts.keys()].map(pathOf));
    const kept = [...known]
      .filter(([key]) => !paths.has(pathOf(key)))
      .map(([key, { commands, data }]) => ({ key, commands, data: data() }));
    for (const [key, script] of scripts) {
      const { size = 0, commands = [], data } = known.get(key) ?? {};
      const compiled = script.createCachedData();
      // A process that ran for long has dropped what it did not call any more.
      kept.push({
        key,
        commands: [...new Set([...commands, ...by])],
        data: compiled.length < size ? data() : compiled,
      });
    }
    const head = JSON.stringify(kept.map(({ key, commands, data }) => [key, data.length, commands]));
    mkdirSync(folder, { recursive: true });
    writeFileSync(beside, Buffer.concat([Buffer.from(`${head}\n`), ...kept.map(({ data }) => data)]), { flush: true });
    renameSync(beside, file);
  } catch {
    rmSync(beside, { force: true });
  }
}
