/**
 * Small worlds and the plans they lead to, for tests of reports: every kind of change once, made by the planner itself so
 * that a report is never tested against a plan that cannot be.
 */
import type { PlanOptions } from "../../reconciler/core/diff/context";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { textKey } from "../../reconciler/core/model/computed";
import {
  asClosed,
  type Desired,
  type DesiredGroup,
  type DesiredResource,
  type DesiredVm,
  type DesiredVolume,
} from "../../reconciler/core/model/desired";
import type { Live, LiveGroup, LiveVm, LiveVolume, Sighting } from "../../reconciler/core/model/live";
import type { Operation } from "../../reconciler/core/model/operation";
import type {
  Intent,
  Orphan,
  RecordedGroup,
  RecordedResource,
  RecordedVm,
  RecordedVolume,
  State,
} from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import { makePlan, type Plan } from "../../reconciler/core/plan/plan";

import type { Step } from "../../reconciler/core/plan/step";
import { createScheduler, type Ended } from "../../reconciler/core/schedule/scheduler";
import { emptyState } from "../../reconciler/core/state/fold";
import type { EngineEvent, StepStatus } from "../../reconciler/engine/events";
import type { RunReport, StepReport } from "../../reconciler/engine/run-plan";
import { gone, seenOfKind } from "./virtual-world";

const image = "0d3c5f0e-8a4b-4d3c-9a55-3f6f0f1a2b3c";
const file = "reconcile.yaml";
let line = 0;
const source = () => ({ file, line: ++line * 7, column: 3 });

export const vm = (key: string, more: Partial<DesiredVm> = {}): DesiredVm => ({
  kind: "vm",
  address: `vm.${key}`,
  name: key.replaceAll(/[[\]]/g, "-").replace(/-$/, ""),
  flavor: "m1.small",
  image,
  owner: "ops@acme.example",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  rootSizeGb: 50,
  sizeGb: 20,
  skipFloatingIp: false,
  lifecycle: {
    preventDestroy: false,
    ignoreChanges: [],
    onImageChange: "rebuild",
    snapshotBefore: [],
    preservedVolumes: "retain",
    verifyResize: { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" },
  },
  source: source(),
  ...more,
});

export const volume = (key: string, more: Partial<DesiredVolume> = {}): DesiredVolume => ({
  kind: "volume",
  address: `volume.${key}`,
  name: key,
  sizeGb: 100,
  flush: { via: "ask" },
  lifecycle: { preventDestroy: false, ignoreChanges: [] },
  source: source(),
  ...more,
});

export const rule = (port: number, more: Partial<Rule> = {}): Rule => ({
  direction: "ingress",
  ethertype: "IPv4",
  protocol: "tcp",
  ports: { min: port, max: port },
  remote: { kind: "any" },
  ...more,
});

export const group = (key: string, more: Partial<DesiredGroup> = {}): DesiredGroup => ({
  kind: "group",
  address: `group.${key}`,
  name: key,
  rulesMode: "authoritative",
  rules: [],
  lifecycle: { preventDestroy: false, ignoreChanges: [], onRuleRemoval: "replace" },
  source: source(),
  ...more,
});

export interface World {
  readonly desired?: readonly DesiredResource[];
  /** Exists, recorded and seen, as if applied: changed by what stands beside it. */
  readonly applied?: readonly (DesiredResource & {
    /** What the service shows otherwise by now. */
    readonly now?: Partial<LiveVm> | Partial<LiveVolume> | Partial<LiveGroup>;
    /** What the state remembers otherwise. */
    readonly memory?: Partial<RecordedVm> | Partial<RecordedVolume> | Partial<RecordedGroup>;
    /** `gone`: it is proven not to be there any more; `unseen`: nobody has looked. */
    readonly sighted?: "gone" | "unseen";
  })[];
  /** There, and nobody's here. */
  readonly strangers?: readonly (LiveVm | LiveVolume | LiveGroup)[];
  readonly intents?: readonly Intent[];
  readonly catalogue?: Live["catalogue"];
  readonly outputs?: Desired["outputs"];
  readonly missing?: readonly Operation[];
  readonly limits?: { readonly named_groups: string };
  readonly options?: PlanOptions;
  readonly orphans?: readonly Orphan[];
  readonly imports?: Desired["imports"];
  readonly moved?: Desired["moved"];
  readonly removed?: Desired["removed"];
  readonly quarantined?: State["quarantined"];
}

export const idOf = (address: string): string => `id-${address.replaceAll(/[^a-z0-9]+/g, "-")}`;

export function planFor(world: World): Plan {
  const applied = world.applied ?? [];
  const missing = new Set<Operation>(world.missing ?? ["volume.list", "group.list", "group.rule.delete"]);
  const lists = (operation: Operation): boolean => !missing.has(operation);
  const attachedTo = (one: DesiredVolume): string | undefined =>
    one.attachTo === undefined ? undefined : "id" in one.attachTo ? one.attachTo.id : idOf(one.attachTo.address);
  const vms: LiveVm[] = [];
  const volumes = new Map<string, Sighting<LiveVolume>>();
  const groups = new Map<string, Sighting<LiveGroup>>();
  const resources = new Map<string, RecordedResource>();
  for (const one of applied) {
    const id = idOf(one.address);
    if (one.kind === "vm") {
      resources.set(one.address, recordedVm(one, id));
      const disks = [
        { id: `${id}-root`, root: true },
        { id: `${id}-data`, root: false },
      ];
      if (one.sighted === undefined)
        vms.push({
          kind: "vm",
          id,
          name: one.name,
          status: "ACTIVE",
          phase: "running",
          flavor: one.flavor,
          image: one.image,
          owner: one.owner,
          volumes: disks,
          ...(one.now as Partial<LiveVm>),
        });
    } else if (one.kind === "volume") {
      const on = attachedTo(one);
      resources.set(one.address, recordedVolume(one, id, on));
      volumes.set(
        id,
        notSeen(one.sighted) ?? {
          seen: "yes",
          value: {
            kind: "volume",
            id,
            name: one.name,
            sizeGb: one.sizeGb,
            failed: false,
            attachedTo: on ?? null,
            ...(one.now as Partial<LiveVolume>),
          },
        },
      );
    } else {
      resources.set(one.address, recordedGroup(one, id));
      const rules = one.rules.map((item, index) => ({
        id: `${id}-rule-${index}`,
        direction: item.direction,
        ethertype: item.ethertype,
        protocol: item.protocol,
        portMin: item.ports?.min,
        portMax: item.ports?.max,
        ...(item.remote.kind === "cidr" ? { remoteIp: item.remote.cidr } : {}),
        ...(item.remote.kind === "group"
          ? { remoteGroupId: "id" in item.remote.group ? item.remote.group.id : idOf(item.remote.group.address) }
          : {}),
      }));
      groups.set(
        id,
        notSeen(one.sighted) ?? {
          seen: "yes",
          value: {
            kind: "group",
            id,
            name: one.name,
            ...(one.description === undefined ? {} : { description: textKey(one.description) }),
            rules,
            ...(one.now as Partial<LiveGroup>),
          },
        },
      );
    }
  }
  for (const one of world.strangers ?? [])
    if (one.kind === "vm") vms.push(one);
    else if (one.kind === "volume") volumes.set(one.id, { seen: "yes", value: one });
    else groups.set(one.id, { seen: "yes", value: one });
  const live: Live = {
    of: {
      vm: seenOfKind(lists("vm.list"), new Map(vms.map((one) => [one.id, { seen: "yes" as const, value: one }]))),
      volume: seenOfKind(lists("volume.list"), volumes),
      group: seenOfKind(lists("group.list"), groups),
    },
    catalogue: world.catalogue ?? {},
  };
  for (const { address, memory } of applied) {
    const record = resources.get(address);
    if (record !== undefined && memory !== undefined)
      resources.set(address, { ...record, ...memory } as RecordedResource);
  }
  return makePlan({
    desired: asClosed({
      service: { timing: {} },
      resources: world.desired ?? [],
      imports: world.imports ?? [],
      moved: world.moved ?? [],
      removed: world.removed ?? [],
      ...(world.outputs === undefined ? {} : { outputs: world.outputs }),
      files: [file],
    }),
    state: {
      ...emptyState("0123456789abcdef"),
      serial: 7,
      resources,
      intents: new Map((world.intents ?? []).map((intent) => [intent.address, intent])),
      quarantined: world.quarantined ?? [],
      orphans: new Map((world.orphans ?? []).map((orphan) => [`${orphan.kind}:${orphan.id}`, orphan])),
    },
    live,
    can: abilitiesOf(lists, world.limits),
    options: world.options ?? {},
  });
}

const notSeen = (sighted: "gone" | "unseen" | undefined): Sighting<never> | undefined =>
  sighted === "gone" ? gone : sighted === "unseen" ? { seen: "unobserved", reason: "it was not looked at" } : undefined;

/** What a plan does to each resource, and what it asks and says: `vm.web update changed flavor_id:resize`, `error plan/name-taken`. */
export const told = (plan: Plan): string[] => [
  ...plan.changes.map(({ address, action, reason, fields }) =>
    [
      address,
      action,
      reason,
      ...fields.flatMap(({ field, verb }) => (verb === "create" ? [] : [`${field}:${verb}`])),
    ].join(" "),
  ),
  ...plan.consents.map(({ kind }) => `asks ${kind}`),
  ...plan.diagnostics.map(({ severity, code }) => `${severity} ${code}`),
];

/** What a step waits for, as words behind it: `< vm.web/resize vm.web/confirm?`, of which `?` has to end and need not succeed. */
export const waitsFor = ({ needs }: Step): readonly string[] =>
  needs.length === 0 ? [] : ["<", ...needs.map(({ step, on }) => `${step}${on === "end" ? "?" : ""}`)];

const recordedVm = (one: DesiredVm, id: string): RecordedVm => ({
  kind: "vm",
  address: one.address,
  id,
  name: one.name,
  flavor: one.flavor,
  image: one.image,
  imageId: one.image,
  owner: one.owner,
  userId: one.userId,
  project: one.project,
  region: one.region,
  rootSizeGb: one.rootSizeGb,
  sizeGb: one.sizeGb,
  skipFloatingIp: one.skipFloatingIp,
  ...(one.power === undefined ? {} : { power: one.power }),
  preventDestroy: one.lifecycle.preventDestroy,
  onDelete: { snapshot: false, preservedVolumes: one.lifecycle.preservedVolumes },
  dataVolumeId: `${id}-data`,
});

const recordedVolume = (one: DesiredVolume, id: string, on: string | undefined): RecordedVolume => ({
  kind: "volume",
  address: one.address,
  id,
  name: one.name,
  sizeGb: one.sizeGb,
  ...(on === undefined ? {} : { attachedTo: on }),
  flush: one.flush,
  preventDestroy: one.lifecycle.preventDestroy,
});

const recordedGroup = (one: DesiredGroup, id: string): RecordedGroup => ({
  kind: "group",
  address: one.address,
  id,
  name: one.name,
  ...(one.description === undefined ? {} : { description: textKey(one.description) }),
  rules: one.rules.map((item) =>
    item.remote.kind === "group" && "address" in item.remote.group
      ? { ...item, remote: { kind: "group", group: { id: idOf(item.remote.group.address) } } }
      : item,
  ),
  platformRules: [],
  preventDestroy: one.lifecycle.preventDestroy,
});

/** Nothing there yet: two groups that name each other, three VMs, two volumes. */
export function quickstartWorld(): World {
  line = 0;
  const db = { kind: "group", group: { address: "group.db" } } as const;
  const web = { kind: "group", group: { address: "group.web" } } as const;
  return {
    desired: [
      group("web", { description: "Public web tier", rules: [rule(443), rule(9100, { remote: db })] }),
      group("db", { rules: [rule(5432, { remote: web })] }),
      vm("db", { flavor: "m1.large" }),
      vm("web[a]"),
      vm("web[b]", { skipFloatingIp: true }),
      volume("db-data", { attachTo: { address: "vm.db" } }),
      volume("scratch", { sizeGb: 20 }),
    ],
  };
}

/** One of everything that happens to what exists. */
export function everythingWorld(): World {
  line = 0;
  const before = {
    db: vm("db", { flavor: "m1.large" }),
    web: vm("web[a]"),
    old: vm("old"),
    cache: vm("cache"),
    log: vm("log"),
    dbData: volume("db-data", { attachTo: { address: "vm.db" } }),
    logData: volume("log-data", { attachTo: { address: "vm.log" }, flush: { via: "stop" } }),
    tmp: volume("tmp", { sizeGb: 5 }),
    keep: volume("keep", { lifecycle: { preventDestroy: true, ignoreChanges: [] } }),
    group: group("web", { rules: [rule(443), rule(80)] }),
  };
  return {
    applied: Object.values(before),
    desired: [
      {
        ...before.db,
        flavor: "m1.xlarge",
        lifecycle: {
          ...before.db.lifecycle,
          verifyResize: { ...before.db.lifecycle.verifyResize, check: { kind: "tcp", port: 22 } },
        },
      },
      { ...before.web, image: "9f1b2c3d-0000-4000-8000-000000000001" },
      { ...before.cache, region: "in-south-2" },
      before.log,
      { ...before.dbData, sizeGb: 200 },
      { ...before.logData, sizeGb: 150 },
      { ...before.group, rules: [rule(443), rule(8080, { remote: { kind: "cidr", cidr: "10.0.0.0/8" } })] },
      vm("new"),
    ],
    orphans: [{ kind: "volume", id: "5f0e", name: "web-root", reason: "outlived its VM", sizeGb: 20 }],
  };
}

/* Plans for tests of reports: with hostile text wherever others write text, and with a count of how often they are read. */

const hostility = '\u001b[31m\u202e\u0007\u009b2J``` <b>@team</b>|x [y](http://z) "q\\\r\n';

/** What is left to see of it in any report that escapes nothing but what it must. */
export const hostileTrace = "u001b";

const written = new Set([
  "address",
  "name",
  "id",
  "step",
  "because",
  "before",
  "after",
  "file",
  "title",
  "detail",
  "grant",
  "summary",
  "fix",
  "message",
  "field",
]);

/** Every text that others write gets the same addition, so that what refers to each other still does. */
export function hostilePlan(plan: Plan): Plan {
  const visit = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return written.has(key) ? value + hostility : value;
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [key === "downtimeMs" ? name + hostility : name, visit(item, name)]),
    );
  };
  return visit(plan, "") as Plan;
}

/** Counts every property that is read of changes and steps, whatever reads them. */
export function countReads(plan: Plan): { readonly plan: Plan; readonly reads: () => number } {
  let count = 0;
  const watch = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key, receiver) {
        count++;
        return Reflect.get(target, key, receiver);
      },
    });
  const watched: Plan = { ...plan, changes: watch(plan.changes.map(watch)), steps: watch(plan.steps.map(watch)) };
  return { plan: watched, reads: () => count };
}

/* Pretends that a plan ran: the scheduler's own order over a made-up clock, with ends decided by the caller. Sends nothing. */

type Result = Exclude<StepReport["result"], { readonly end: "skipped" }>;

export interface PretendedRun {
  readonly run: RunReport;
  readonly events: readonly { readonly at: number; readonly event: EngineEvent }[];
}

export function pretendRun(plan: Plan, resultOf: (step: Step) => Result = () => ({ end: "done" })): PretendedRun {
  const scheduler = createScheduler(plan.steps);
  const events: { at: number; event: EngineEvent }[] = [];
  const reports = new Map<string, StepReport>();
  const running: { step: Step; startedAt: number; endsAt: number }[] = [];
  let now = 0;
  const emit = (step: Step, status: StepStatus, elapsedMs: number, message?: string): void => {
    if (step.action.operation === "record" && step.action.changes.length === 0) return;
    events.push({
      at: now,
      event: {
        type: "step",
        status,
        step: step.id,
        address: step.address,
        operation: step.action.operation,
        attempt: 1,
        elapsedMs,
        title: step.title,
        ...(message === undefined ? {} : { message }),
      },
    });
  };
  const endWithout = (ended: readonly Ended[]): void => {
    for (const { step, end, because } of ended) {
      if (end !== "skipped" && end !== "waiting") continue;
      const message = `because ${because} ${end === "waiting" ? "waits" : "did not succeed"}`;
      reports.set(step.id, { step, result: { end, message }, waitedMs: 0 });
      emit(step, end, 0, message);
    }
  };
  for (;;) {
    for (const step of scheduler.next()) {
      running.push({ step, startedAt: now, endsAt: now + step.estimateMs });
      emit(step, "started", 0);
    }
    running.sort((a, b) => a.endsAt - b.endsAt);
    const next = running.shift();
    if (next === undefined) break;
    now = next.endsAt;
    const { step, startedAt } = next;
    const result = resultOf(step);
    reports.set(step.id, { step, result, startedAt, endedAt: now, waitedMs: 0 });
    emit(step, result.end === "unknown" ? "failed" : result.end, now - startedAt, result.message);
    endWithout(scheduler.finish(step.id, result.end));
  }
  const steps = plan.steps.flatMap((step) => reports.get(step.id) ?? []);
  const counts = { done: 0, failed: 0, skipped: 0, waiting: 0 };
  for (const { step, result } of steps)
    if (!(step.action.operation === "record" && step.action.changes.length === 0))
      counts[result.end === "unknown" ? "failed" : result.end]++;
  return { run: { steps, counts, orphans: [], interrupted: false }, events };
}
