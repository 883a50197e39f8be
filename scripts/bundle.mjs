// Puts the command line's compiled files into a few, dist/reconciler/cli/bundle.js and the parts beside it: hundreds of
// files cost more to find and read than to run, and one file costs reading what no command of that day uses. Each source
// stays a module of its own inside, evaluated when it is first asked for, and a part is read when a module of it is.
// Packages that are optional or large stay outside.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "dist/reconciler/cli");
const outside = [/^node:/, "undici", "pg", /^@aws-sdk\//, /^@pulumi\//, "@opentelemetry/api"];

// Files that are used together are read together. A file goes into the first part that fits; a file that fits none (the
// commands, their flags and help, and what reads the files and reports errors) is in bundle.js itself, the only file
// that is read before the first output.
const parts = {
  stack:
    /\/cli\/fleet\/(stack-in-child|peer|apart-calls|open-project|plan-facts|files-beside)\.|\/reconciler\/fleet\/(project|picture|secrets|steady|sources\/(checkout|git))\.|\/outside\/stuck\./,
  fleet: /\/(fleet|luxon|cron-parser|hono|@hono)\/|\/generated\/fleet\.js$/,
  desired: /\/generated\/desired-state\.js$/,
  component: /\/generated\/component\.js$/,
  saved: /\/generated\/plan\.js$/,
  dialect: /\/generated\/dialect\.js$/,
  explanations: /\/report\/(?:generated\/)?explanations\./,
  doctor: /\/dialect\/learn\/|\/(engine|cli)\/doctor|\/report\/doctor-/,
  editor: /\/cli\/editor\/|\/reconciler\/editor\//,
  files:
    /\/(config|cli)\/(move|accept)\b|\/config\/(component-file|convert-listing|edit-text|first-tests|format|generated\/tests|indentation|known-words|live-blocks|patterns|read\/(tests|listing)|schema-(fields|words)|starter|world-blocks|yaml\/(pieces|write))\.|\/cli\/(generate|other-state|write-shared|yaml-output)\./,
  yaml: /\/node_modules\/yaml\/|\/config\/yaml\/(library|depth)\./,
  http: /\/node_modules\/undici\//,
  emulator: /\/(emulator|rehearse)\//,
  reach: /\/kinds\/group\/(exposure|reachability)\/(?!read|findings)|\/report\/exposure-/,
  tables:
    /\/kinds\/(definition|table|\w+\/(calls|fields|index))\.|\/core\/(model\/(diagnostic|kinds|address|fields|relations|operation)|canonical\/names|findings\/(finding|checks))\.|\/dialect\/(built-in|name-problem)\.|\/cli\/compose\./,
  apply:
    /\/engine\/(?!plan|refresh|ports|scope|externals|half-moved|look|observe|read-failed|seen-again|contradicted|named-ids|drift)|\/store\/(s3|postgres|http|check|lease|held|remote|patience|memory\.)|\/core\/(schedule\/|plan\/(permitted|sweep|closing|record-patch|undo|made)\.)|\/kinds\/\w+\/(perform|watch|one|made|block)|\/reconciler\/one\/|\/dialect\/(merge|read-|lay-over|questions|case|sign-in|unreadable|jobs|reports)|\/service\/(client|await-job|request-bodies|hosts-by-name)\./,
  config: /\/reconciler\/config\/|\/kinds\/(?:\w+\/)+read|\/core\/canonical\/(cidr|rules)\.|\/ipaddr\.js\//,
  plan: /\/reconciler\/(core(?!\/(text\/(?:invariant|objects|canonical-text|remembered|printable)|model\/(?:desired|fix))\.)|kinds|engine|service|dialect|store(?!\/open\.)|outside(?!\/(tracing|environment|files|trust|beside)\.))\/|\/report\/(plan|where|output|json|cost|diagnostics|owed|drift)-|\/cli\/(planning|review|session|externals)\.js|\/reconciler\/open-(project|service)\.js/,
  report: /\/reconciler\/report\/(?!style)/,
  start:
    /\/cli\/(commands\/(?!plan\.|apply\.|validate\.)|fleet|approvals|changed-projects|file-tests|listen|mcp-server|ssh-given|status-server|still-files|suggestions|with-trace)/,
};

/**
 * Nothing here asks for HTTP/2, nor for a client or a server of Node's own: loading Node's modules for them is more than
 * a tenth of what a small plan costs. Of its HTTP undici takes the limit of headers, where Node was given another one.
 */
const withoutNodeHttp = {
  name: "without-node-http",
  load: (id) =>
    /\/undici\/lib\/dispatcher\/client-h2\.js$/.test(id)
      ? 'module.exports = () => { throw new Error("HTTP/2 is not spoken here"); };'
      : undefined,
  transform: (code, id) =>
    /\/undici\/lib\/(core\/util|dispatcher\/client)\.js$/.test(id)
      ? code.replace(
          "require('node:http')",
          '/max.http.header.size/.test([process.env.NODE_OPTIONS, ...process.execArgv].join()) ? require("node:http") : { maxHeaderSize: 16_384, IncomingMessage: class {} }',
        )
      : undefined,
};

/** The words that come with every copy of the packages inside. */
function licensesOf(ids) {
  const found = ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
  return [...new Set(found)]
    .sort()
    .map((from) => {
      const { name, version, license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
      const file = readdirSync(from).find((one) => /^licen[cs]e/i.test(one));
      const words = file === undefined ? "" : `\n${readFileSync(join(from, file), "utf8").trim()}\n`;
      return `${name} ${version} (${license})\n${words}`;
    })
    .join("\n---\n\n");
}

for (const name of readdirSync(folder)) if (/^bundle\b.*\.js$/.test(name)) rmSync(join(folder, name));
const bundle = await rolldown({
  input: join(folder, "main.js"),
  platform: "node",
  external: outside,
  treeshake: false,
  plugins: [withoutNodeHttp],
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.write({
  dir: folder,
  format: "cjs",
  entryFileNames: "bundle.js",
  chunkFileNames: "bundle-[name].js",
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  codeSplitting: {
    includeDependenciesRecursively: false,
    // The folder of the checkout itself may have the name of a part.
    groups: Object.entries(parts).map(([name, part]) => ({
      name,
      test: (id) => part.test(`/${relative(root, id)}`),
    })),
  },
});
await bundle.close();

// The parts name each other in one declaration at their head, and each is read when something of it is used. A module
// is a plain function, which the engine compiles when it is called: in brackets of its own it would be compiled, and kept,
// whether the command uses it or not, and an arrow function would be parsed twice.
for (const { fileName } of output) {
  const file = join(folder, fileName);
  const names = [];
  let code = readFileSync(file, "utf8")
    .replace(/([\w$]+)=require\("\.\/(bundle(?:-(?!rolldown)[\w-]+)?)\.js"\)/g, (_, name, part) => {
      names.push(name.replaceAll("$", "\\$"));
      return `${name}=()=>require("./${part}.js")`;
    })
    .replace(
      /\.t\(\((?:\((exports,[^()]*)\)|(exports))=>\{/g,
      (_, several, one) => `.t((0,function(${several ?? one}){`,
    );
  if (names.length > 0) code = code.replace(new RegExp(`(?<![\\w$])(${names.join("|")})\\.`, "g"), "$1().");
  // A text with a single character beyond ASCII takes twice the memory, and longer to read.
  code = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  writeFileSync(file, code);
}

// Last of all: scripts/build.mjs takes it for the sign that everything was made.
writeFileSync(
  join(root, "dist/licenses.txt"),
  licensesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))),
);
