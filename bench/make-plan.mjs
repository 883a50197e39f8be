// How long makePlan takes from memory, and how that grows: node bench/make-plan.mjs (after npm run build).
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { abilitiesOf } = require("../dist/reconciler/core/model/abilities.js");
const { makePlan } = require("../dist/reconciler/core/plan/plan.js");
const { groupRecord, vmRecord, volumeRecord } = require("../dist/reconciler/core/plan/records.js");
const { createScheduler } = require("../dist/reconciler/core/schedule/scheduler.js");
const { asClosed } = require("../dist/reconciler/core/model/desired.js");
const { compareAddresses } = require("../dist/reconciler/core/model/address.js");

const source = { file: "bench.yaml", line: 1 };
const image = "00000000-0000-4000-8003-000000000001";
const lifecycle = {
  preventDestroy: false,
  ignoreChanges: [],
  onImageChange: "rebuild",
  snapshotBefore: [],
  preservedVolumes: "retain",
  verifyResize: { confirm: "auto", timeoutMs: 1, onFailure: "revert" },
};
const vm = (n) => ({
  kind: "vm",
  address: `vm.v${n}`,
  name: `vm-${n}`,
  flavor: "m1.small",
  image,
  owner: "a@b",
  userId: "1",
  project: "p",
  region: "r",
  rootSizeGb: 50,
  sizeGb: 10,
  skipFloatingIp: false,
  lifecycle,
  source,
});
const volume = (n) => ({
  kind: "volume",
  address: `volume.d${n}`,
  name: `data-${n}`,
  sizeGb: 10,
  attachTo: { address: `vm.v${n}` },
  flush: { via: "ask" },
  lifecycle: { preventDestroy: false, ignoreChanges: [] },
  source,
});
const group = (n, to) => ({
  kind: "group",
  address: `group.g${n}`,
  name: `group-${n}`,
  rulesMode: "authoritative",
  rules: [
    {
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      ports: { min: 80, max: 80 },
      remote: to === undefined ? { kind: "any" } : { kind: "group", group: { address: `group.g${to}` } },
    },
  ],
  lifecycle: { preventDestroy: false, ignoreChanges: [], onRuleRemoval: "replace" },
  source,
});

const flat = (count) => Array.from({ length: count }, (_, n) => (n % 2 === 0 ? vm(n) : volume(n - 1)));
const chained = (count) => Array.from({ length: count }, (_, n) => group(n, n === 0 ? undefined : n - 1));
const ring = (count) => Array.from({ length: count }, (_, n) => group(n, (n + 1) % count));

const desiredOf = (resources) =>
  asClosed({
    service: { timing: {} },
    resources: [...resources].sort((a, b) => compareAddresses(a.address, b.address)),
    imports: [],
    moved: [],
    removed: [],
    files: [],
  });
const idOf = (address) => `id-${address}`;
const stateOf = (resources) => ({
  lineage: "l",
  serial: 1,
  resources: new Map(
    resources.map((one) => [
      one.address,
      one.kind === "vm"
        ? { ...vmRecord(one, image), id: idOf(one.address) }
        : one.kind === "volume"
          ? { ...volumeRecord(one), id: idOf(one.address), attachedTo: idOf(one.attachTo.address) }
          : { ...groupRecord(one, (ref) => ("id" in ref ? ref.id : idOf(ref.address)), []), id: idOf(one.address) },
    ]),
  ),
  intents: new Map(),
  orphans: new Map(),
  quarantined: [],
});
/** @type {import("../reconciler/core/model/evidence.js").Unobserved} */
const unseen = { seen: "unobserved", reason: "every resource is in a list of this bench" };

const listed = (all) => ({
  listed: true,
  byId: new Map(all.map((one) => [one.id, { seen: "yes", value: one }])),
  unlisted: unseen,
});

/** @returns {import("../reconciler/core/model/live.js").Live} */
const liveOf = (resources) => {
  const vms = resources
    .filter((one) => one.kind === "vm")
    .map((one) => ({
      kind: "vm",
      id: idOf(one.address),
      name: one.name,
      status: "ACTIVE",
      phase: "running",
      flavor: "m1.small",
      image,
    }));
  const volumes = resources
    .filter((one) => one.kind === "volume")
    .map((one) => ({
      kind: "volume",
      id: idOf(one.address),
      name: one.name,
      sizeGb: one.sizeGb,
      failed: false,
      attachedTo: idOf(one.attachTo.address),
    }));
  const groups = resources
    .filter((one) => one.kind === "group")
    .map((one) => ({
      kind: "group",
      id: idOf(one.address),
      name: one.name,
      rules: one.rules.map((rule, n) => ({
        id: `r${n}`,
        direction: rule.direction,
        ethertype: rule.ethertype,
        protocol: rule.protocol,
        portMin: 80,
        portMax: 80,
        ...(rule.remote.kind === "group" ? { remoteGroupId: idOf(rule.remote.group.address) } : {}),
      })),
    }));
  return {
    of: { vm: listed(vms), volume: listed(volumes), group: listed(groups) },
    catalogue: {
      flavors: [{ id: "f", name: "m1.small" }],
      images: [{ id: image, name: "i" }],
      regions: [{ id: "r", name: "r" }],
    },
  };
};
const nothing = [];
const narrower = (resources) =>
  resources.map((one) =>
    one.kind === "group" ? { ...one, rules: [{ ...one.rules[0], ports: { min: 81, max: 81 } }] } : one,
  );
const renamed = (resources) =>
  resources.map((one, n) => ({ ...one, name: resources[(n + 1) % resources.length].name }));
const scenarios = {
  "flat, all no-ops": (n) => [flat(n), flat(n)],
  "flat, all creates": (n) => [flat(n), nothing],
  "flat, all deletes": (n) => [nothing, flat(n)],
  "chained groups, creates": (n) => [chained(n), nothing],
  "ring of groups, creates": (n) => [ring(n), nothing],
  "chained groups, no-ops": (n) => [chained(n), chained(n)],
  "ring of groups, replaced": (n) => [narrower(ring(n)), ring(n)],
  "groups rename in one circle": (n) => [renamed(chained(n)), chained(n)],
};
const sizes = process.argv.includes("--full") ? [1000, 10_000, 100_000] : [1000, 10_000];
console.log(["scenario", ...sizes.map((size) => `${size} (ms)`), "exponent", "schedule (ms)"].join(" | "));
for (const [name, make] of Object.entries(scenarios)) {
  const times = [];
  let scheduling = 0;
  for (const size of sizes) {
    const [desired, before] = make(size);
    const input = {
      desired: desiredOf(desired),
      state: stateOf(before),
      live: liveOf(before),
      can: abilitiesOf((operation) => operation !== "group.rule.delete"),
      options: {},
    };
    let best = Number.POSITIVE_INFINITY;
    let plan;
    for (let round = 0; round < (size > 10_000 ? 1 : 3); round++) {
      const began = performance.now();
      plan = makePlan(input);
      best = Math.min(best, performance.now() - began);
    }
    times.push(best);
    const began = performance.now();
    const scheduler = createScheduler(plan.steps);
    for (let ready = [...scheduler.next()]; ready.length > 0; ready = [...scheduler.next()])
      for (const step of ready) scheduler.finish(step.id, "done");
    scheduling = performance.now() - began;
  }
  const exponent = Math.log(times.at(-1) / times.at(-2)) / Math.log(sizes.at(-1) / sizes.at(-2));
  console.log([name, ...times.map((time) => time.toFixed(0)), exponent.toFixed(2), scheduling.toFixed(0)].join(" | "));
}
