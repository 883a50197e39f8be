// What docs/architecture.md says of the tree and of the passes of kinds/order.ts, made from both: a folder or a pass that
// is not named here, or that is no more, fails the page.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** In the order in which a newcomer meets them. */
const folders = {
  "reconciler/core": "pure: decides; no files, sockets, clock or chance",
  "reconciler/core/text": "text and values below every model: lists, numbers, comparison, invariants",
  "reconciler/core/model":
    "what there is: kinds, the facts of each, addresses, desired, live, recorded, fields, operations, outcomes, diagnostics",
  "reconciler/core/canonical":
    "one form for names, CIDRs, rules and catalogue names; both sides of every comparison go through it",
  "reconciler/core/diff": "pairs the three inputs and says what differs",
  "reconciler/core/plan": "steps (one request each), their order, the consents they need, how long it takes",
  "reconciler/core/schedule": "which step may start now; when a wait is over",
  "reconciler/core/state": "the state as a fold of what became true, and as text",
  "reconciler/core/findings": "what a policy and the checks of a file find in a plan",
  "reconciler/kinds":
    "each kind in its folder: what it says of itself as rows, and what it does in another way than is usual",
  "reconciler/kinds/group/exposure":
    "who can reach what, exact on addresses and ports; the proof for what lies between two steps",
  "reconciler/kinds/group/reachability":
    "what a file asserts of who can reach what, judged before, between and after the steps",
  "reconciler/config": "YAML text -> desired state and diagnostics",
  "reconciler/dialect": "what a deployment has beyond the contract; the only place that assumes anything",
  "reconciler/service": "the HTTP edge: one typed method an operation, four ways to end",
  "reconciler/store": "where the state lives",
  "reconciler/engine": "refresh, plan, apply, perform, drift, pull, watch: the core's decisions carried out over ports",
  "reconciler/one":
    "one resource at a time (check, diff, create, read, update, delete), by the same plan and run; parts.ts takes a file apart into them",
  "reconciler/rehearse": "a twin of the live world, and the real engine run on it, with bad luck when asked for",
  "reconciler/report": "one plan and one stream of events -> text, JSON lines, Markdown, pictures",
  "reconciler/editor": "what an editor shows of a file while it is written: problems, completion, definitions, renames",
  "reconciler/fleet":
    "many stacks kept right by many workers over one database: sources, rounds, approvals, budgets, pages",
  "reconciler/outside":
    "the machine: its clock, the user's commands and checks, an embedded service that several processes share",
  "reconciler/cli": "commands; compose.ts makes settings of flags, environment and files",
  emulator: "the service itself, from its contract alone",
  provider:
    "Pulumi resources over the public API: dynamic (dynamic.ts) and as a plugin (plugin.ts), with its components",
};

const files = {
  "reconciler/open-service.ts": "the composition root: a client and the engine's ports from one settings value",
  "reconciler/connect.ts": "that value from a program's settings",
  "reconciler/cloud.ts": "plans and applies for programs",
  "reconciler/index.ts": "the public API",
};

const foldersIn = (root, folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);

export function folderList(root) {
  const there = [
    "emulator",
    "provider",
    ...foldersIn(root, "reconciler"),
    ...foldersIn(root, "reconciler/core"),
    ...foldersIn(root, "reconciler/kinds/group"),
  ];
  const unnamed = there.filter((folder) => folders[folder] === undefined);
  const gone = Object.keys(folders).filter((folder) => !there.includes(folder));
  if (unnamed.length + gone.length > 0)
    throw new Error(
      `scripts/documents/house.mjs: no row for ${unnamed.join(", ") || "none"}; gone: ${gone.join(", ") || "none"}`,
    );
  const rows = [...Object.entries(folders).map(([path, says]) => [`${path}/`, says]), ...Object.entries(files)];
  return ["| | |", "| --- | --- |", ...rows.map(([path, says]) => `| \`${path}\` | ${says} |`)].join("\n");
}

/** Why one pass comes, in the words of the table; in the order of the passes themselves. */
const passes = {
  attachAfterVmExists: ["attach after the VM exists", "it needs the id"],
  fillInAfterItIsKnown: ["send a value after it is known", "an address or an id comes from the service"],
  deleteVmAfterItsVolumesCameOff: [
    "delete a VM after its volumes came off",
    "a volume that goes on living is flushed first",
  ],
  deleteVolumeAfterItsVm: ["delete a volume after its VM", "then it needs no flush: the VM lets it off"],
  takeNameAfterItIsFree: ["take a name after it is free", "names are unique"],
  stopAfterVmChanges: ["stop for a flush after the VM's other changes", "those want a running VM"],
  startAfterFlushes: ["start after the flushes", "one stop serves all volumes of a VM"],
  restartAfterFlushed: [
    "restart a VM after what was flushed while it ran came off",
    "a guest that starts mounts it again",
  ],
  deleteGroupsAfterVms: ["delete groups after VMs", "a group attached to a VM cannot go"],
  deleteNamedGroupsLast: ["delete named groups last", "a service may refuse to delete what is named"],
  setAsideOnceReplaceable: [
    "set a group's name aside once its successor can be made",
    "where what the create needs fails, nothing gives the name back",
  ],
};

export function orderTable(root) {
  const text = readFileSync(join(root, "reconciler/kinds/order.ts"), "utf8");
  const body = /export function orderAcrossResources[^{]*\{([\s\S]*?)\n\}/.exec(text)?.[1] ?? "";
  const called = [...body.matchAll(/^ {2}(\w+)\(draft\);$/gm)].map(([, name]) => name);
  const unnamed = called.filter((name) => passes[name] === undefined);
  if (called.length !== Object.keys(passes).length || unnamed.length > 0)
    throw new Error(`scripts/documents/house.mjs: the passes of kinds/order.ts are ${called.join(", ")}`);
  return ["| pass | why |", "| --- | --- |", ...called.map((name) => `| ${passes[name].join(" | ")} |`)].join("\n");
}
