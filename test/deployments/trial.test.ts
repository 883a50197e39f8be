/**
 * What a trial learns in an empty project of deployments that differ wherever the contract is silent; that nothing of it
 * stays; and that a trial that is killed at any request is cleaned up by the next one.
 */
import { writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { unprovenByTrial } from "../../reconciler/cli/doctor/trial";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import type { DoctorReport } from "../../reconciler/engine/doctor/report";
import { leftToDo } from "../../reconciler/engine/doctor/todo";
import type { TrialWish } from "../../reconciler/engine/doctor/trial/act";
import { withTrial } from "../../reconciler/engine/doctor/trial/fit";
import type { TrialNotes } from "../../reconciler/engine/doctor/trial/notes";
import type { TrialPorts } from "../../reconciler/engine/doctor/trial/ports";
import { tryOut } from "../../reconciler/engine/doctor/trial/trial";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import { type BenchOptions, type BenchWorld, desiredOf, startBenchWorld } from "../support/bench-world";
import { deployments } from "../support/deployments/all";
import { worldBehind } from "../support/deployments/doctor-here";
import { type Deployment, listsCalled, match, type Raw } from "../support/deployments/front";
import { liveThrough } from "../support/deployments/life";
import { others } from "../support/deployments/others";
import { over } from "../support/deployments/over";
import { type Death, Killed, mortality, trialStage } from "../support/deployments/trial-stage";
import { inVirtualTime } from "../support/in-memory";

type Known = Pick<(typeof deployments)[number], "deployment" | "before" | "beforeTrial" | "afterTrial">;

const all: readonly Known[] = [...deployments, ...others];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const wish = {
  vm: {
    flavor: "m1.small",
    image: "ubuntu-24.04",
    owner: "ops@acme.example",
    userId: "1042",
    project: "acme",
    region: "in-west-1",
    sizeGb: 1,
  },
  otherFlavor: "m1.medium",
};

interface Standing {
  readonly world: BenchWorld;
  readonly url: string;
  readonly notes: { kept: TrialNotes | undefined };
}

async function stand({ deployment }: Pick<Known, "deployment">): Promise<Standing> {
  const { world, front } = await worldBehind(deployment, { timeScale: 2000, reach: "here" });
  closers.push(() => world.close());
  return { world, url: front.url, notes: { kept: undefined } };
}

const beforeOf = (known: Known): unknown => over(parse(known.before) ?? {}, parse(known.beforeTrial ?? "") ?? {});

const tryIn = (...trial: Parameters<typeof tryInTime>) => inVirtualTime(() => tryInTime(...trial));

async function tryInTime(
  before: unknown,
  standing: Standing,
  options: {
    readonly death?: Death;
    readonly wish?: TrialWish;
    readonly over?: Pick<TrialPorts, "signal" | "say">;
    /** Whether the doctor's own looks at a list fail; the client sends again what a service has no time for. */
    readonly isBusy?: (operation: string) => boolean;
  } = {},
): Promise<{ report: DoctorReport; asked: number }> {
  const told = readDialectText(JSON.stringify(before), "before.yaml").dialect;
  const stage = trialStage(standing, closers, mortality(options.death));
  const report = await diagnoseService(stage.doctorIn(told), told);
  const authorization = { ...told.authorization, ...report.authorization };
  const here = stage.doctorIn({ ...report.dialect, authorization });
  const busy = { outcome: { status: "unavailable", reason: "busy" }, answer: undefined } as const;
  const doctor: TrialPorts["doctor"] = {
    ...here,
    probe: async (request) => (options.isBusy?.(request.operation) === true ? busy : here.probe(request)),
  };
  const { report: after, findings } = await tryOut(
    { ...stage.ports, ...options.over, doctor },
    report,
    options.wish ?? wish,
  );
  return { report: withTrial(after, findings), asked: stage.asked() };
}

/** What is in the project beside what is the platform's. */
const leftIn = (world: BenchWorld): readonly unknown[] => {
  const {
    vms = [],
    volumes = [],
    groups = [],
  } = world.emulator.dump() as unknown as Record<
    string,
    readonly { readonly platform?: boolean; readonly name?: string }[]
  >;
  return [...vms, ...volumes, ...groups.filter(({ platform }) => platform !== true)].map(({ name }) => name);
};

/** How many requests a trial took. */
const requests = new Map<string, number>();

/** Two of them stand for all: one that is read record by record, and one that lists maps and answers 200 to everything. */
const isKilled = (title: string): boolean => process.env["TRIAL_KILLS"] !== undefined || /OpenStack|200/.test(title);

describe.each(all.map((known) => [known.deployment.title, known] as const))("%s", (title, known) => {
  test("an empty project is enough: what is learnt carries a whole life with fewer lines left to a person", async () => {
    const standing = await stand(known);
    const { report, asked } = await tryIn(beforeOf(known), standing);
    requests.set(title, asked);
    const yaml = dialectYaml(report, { baseUrl: "https://cloud.example.com", date: "2026-01-01" });
    if (process.env["SHOW_LEARNT"] !== undefined)
      writeFileSync(
        `${process.env["SHOW_LEARNT"]}/trial-${title.replaceAll(/\W+/g, "-")}.yaml`,
        `${yaml}\n# ${asked} requests\n${report.trial?.seen.map((line) => `# ${line}`).join("\n")}\n# LEFT ${JSON.stringify(report.trial?.left)}`,
      );
    expect(report.trial?.left).toEqual([]);
    expect(leftIn(standing.world)).toEqual([]);
    expect(standing.notes.kept).toBeUndefined();
    const written = JSON.stringify(over(over(beforeOf(known), parse(yaml)), parse(known.afterTrial) ?? {}));
    const { dialect, diagnostics } = readDialectText(written, "learnt.yaml");
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const { world: other } = await worldBehind(known.deployment, { dialect, reach: "here" });
    closers.push(() => other.close());
    await inVirtualTime(() => liveThrough(other));
  });

  test.runIf(isKilled(title))("killed at any request, it is cleaned up by the next one", async () => {
    const before = beforeOf(known);
    const deaths = deathsOf(requests.get(title) ?? 150);
    for (const death of deaths) {
      const standing = await stand(known);
      // A run that needs fewer requests this time ends before it dies.
      const ended = await tryIn(before, standing, { death }).catch((error: unknown) => error);
      expect(ended instanceof Error ? ended.constructor : Killed).toBe(Killed);
      const { report } = await tryIn(before, standing, { wish: {} });
      const left = leftIn(standing.world);
      expect([death, report.trial?.left, left, standing.notes.kept]).toEqual([death, [], [], undefined]);
      for (const close of closers.splice(0).reverse()) await close();
    }
  });
});

/** A few of them, or so many as are asked for: `TRIAL_KILLS=1` for every one. */
function deathsOf(asked: number): readonly Death[] {
  const stride = Number(process.env["TRIAL_KILLS"] ?? Math.ceil(asked / 2));
  const deaths: Death[] = [];
  for (let at = Math.floor(stride / 2); at < asked; at += stride)
    deaths.push({ at, after: false }, { at: Math.min(at + 1, asked - 1), after: true });
  return deaths;
}

/** A service with the contract's operations and these routes; each of its trials has to leave nothing. */
async function bare(dialectText: string, options: BenchOptions = {}): Promise<Standing & { readonly speaks: Dialect }> {
  const { dialect: speaks } = readDialectText(dialectText, "speaks.yaml");
  const world = await startBenchWorld({ dialect: speaks, speaks, timeScale: 2000, reach: "here", ...options });
  closers.push(() => world.close());
  return { world, url: world.baseUrl, notes: { kept: undefined }, speaks };
}

const wrappedAnswers = `
operations: { volume.list: null, group.list: null, vm.get: { method: GET, path: "/api/v1/vm/{id}" } }
records: { volume: { id: /volume_uuid, name: /label }, group: { id: /sg_id, name: /title } }
answers: { volume.create: { item: /made/volume }, volume.get: { item: /volume }, group.create: { item: /made/sg } }
`;

test("where no list shows them, the answers to its own creates tell their ids, and how they are read", async () => {
  const standing = await bare(wrappedAnswers);
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world), standing.notes.kept]).toEqual([[], [], undefined]);
  expect(report.dialect.records.volume.id[0]).toBe("/volume_uuid");
  expect(report.dialect.answers["group.create"]).toEqual({ item: ["/made/sg"] });
  const kinds = report.trial?.made.map(({ kind, became }) => `${kind} ${became}`);
  expect(kinds).toEqual(expect.arrayContaining(["group was deleted", "volume was deleted", "vm was deleted"]));
  expect(kinds?.filter((line) => line.includes("still"))).toEqual([]);
});

test("where a name may be taken twice, both are taken away, and it is learnt", async () => {
  const listed = `operations: { group.list: { method: GET, path: /api/v1/security-group }, volume.list: { method: GET, path: /api/v1/volume/list } }`;
  const standing = await bare(`limits: { unique: [] }\n${listed}`);
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
  expect(report.dialect.limits.unique).toEqual([]);
});

test("where no VM is made, half of the words for a volume at rest are not told: every other would be waited for", async () => {
  const standing = await bare("");
  standing.world.emulator.setFaults([{ operation: "vm.create", kind: "status", code: 403, count: 99 }]);
  const { report } = await tryIn({}, standing);
  expect(report.trial?.seen).toContain("A volume that was grown to 2 GB shows 2 GB.");
  expect(report.dialect.states.volume.ready).toEqual([]);
  expect(new Set(report.trial?.open).size).toBe(report.trial?.open.length);
});

test("a service that redirects to a page of what is not there is understood by that page", async () => {
  const known = deployments[0]!;
  const { refuse } = known.deployment;
  const redirect = { status: 302, headers: { location: "/error/not-found?code=404" } };
  const deployment: Deployment = {
    ...known.deployment,
    refuse: (operation, status, message) => (status === 404 ? redirect : refuse(operation, status, message)),
  };
  const standing = await stand({ deployment });
  const { report } = await tryIn(beforeOf(known), standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
  expect(report.dialect.errors).toContainEqual({ is: "not_found", location: "/error/not-found" });
  expect(JSON.stringify(report.dialect.errors)).not.toContain("redirects to");
});

test("answers that are lost and refusals of the moment leave nothing", async () => {
  const standing = await bare(wrappedAnswers);
  standing.world.emulator.setFaults([
    { operation: "volume.get", kind: "drop-before", skip: 6, count: 2 },
    { operation: "group.delete", kind: "drop-after", count: 1 },
    { operation: "volume.delete", kind: "status", code: 409, count: 1 },
    { operation: "vm.delete", kind: "status", code: 409, count: 1 },
    { operation: "volume.detach", kind: "drop-after", count: 1 },
  ]);
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
});

test("a VM that no look of the doctor had shown, and its sweep deletes, is told of once, as deleted", async () => {
  const listed = `operations: { group.list: { method: GET, path: /api/v1/security-group }, volume.list: { method: GET, path: /api/v1/volume/list } }`;
  const standing = await bare(listed);
  const { report } = await tryIn({}, standing, {
    isBusy: (operation) => operation === "vm.list" && standing.world.emulator.dump().vms.length > 0,
  });
  expect([report.trial?.left, leftIn(standing.world), standing.notes.kept]).toEqual([[], [], undefined]);
  expect(report.trial?.made.flatMap(({ kind, became }) => (kind === "vm" ? [became] : []))).toEqual(["was deleted"]);
});

test("a trial that is stopped leaves nothing, and does not stand for a whole one", async () => {
  const standing = await bare("");
  const stop = new AbortController();
  const say = (line: string): void => {
    if (line.startsWith("A VM was there")) stop.abort();
  };
  const { report } = await tryIn({}, standing, { over: { signal: stop.signal, say } });
  expect([report.trial?.left, leftIn(standing.world), standing.notes.kept]).toEqual([[], [], undefined]);
  expect(unprovenByTrial(report).map(({ summary }) => summary)).toEqual(["the trial was stopped before its end"]);
});

test("what is left ends the next trial before it makes anything", async () => {
  const standing = await bare("operations: { volume.delete: null }");
  const { report } = await tryIn({}, standing);
  expect(report.trial?.left).toHaveLength(1);
  const again = await tryIn({}, standing);
  expect(again.report.trial?.open).toEqual([expect.stringContaining("nothing new was made")]);
  expect(leftIn(standing.world)).toHaveLength(1);
  // Consent that comes later is for what an earlier trial left as well.
  const later = await tryIn({}, standing, { wish: { keepVolume: true } });
  expect([later.report.trial?.left, standing.notes.kept]).toEqual([[], undefined]);
  // With consent they stay, and the rest of the life is tried.
  const permitted = await bare("operations: { volume.delete: null }");
  const kept = await tryIn({}, permitted, { wish: { ...wish, keepVolume: true } });
  expect([kept.report.trial?.left, permitted.notes.kept]).toEqual([[], undefined]);
  expect(kept.report.trial?.made.filter(({ became }) => became.startsWith("stays"))).toHaveLength(
    leftIn(permitted.world).length,
  );
  expect(kept.report.trial?.routes["vm.resize.confirm"]).toBeDefined();
});

test.each([
  ["by its id", ({ id }: { readonly id: string }) => ({ id, name: "trial-0a1b2c-v" })],
  ["by its name alone", () => ({ name: "prod-db" })],
  ["as a disk that came with a VM", ({ id }: { readonly id: string }) => ({ id })],
])("what the notes name %s, and bears a name that no trial gives, is left alone", async (_, noted) => {
  const standing = await bare("operations: { volume.list: { method: GET, path: /api/v1/volume/list } }");
  const made = await standing.world.client.createVolume("prod-db", 20);
  if (made.status !== "accepted") throw new Error("the volume was not made");
  const thing = { kind: "volume", askedAt: 0, isTaken: true, ...noted(made.value) } as const;
  standing.notes.kept = { version: 1, service: standing.url, made: [thing] };
  const { report } = await tryIn({}, standing);
  expect(report.trial?.left).toEqual([expect.stringContaining("is called prod-db, which is no name of a trial")]);
  expect(leftIn(standing.world)).toEqual(["prod-db"]);
});

test("where no volume can be deleted, one of 1 GB is left and told of, and no VM is made", async () => {
  const known = deployments.find(({ beforeTrial }) => beforeTrial !== undefined);
  if (known === undefined) throw new Error("there is no such deployment");
  const standing = await stand(known);
  const { report } = await tryIn(parse(known.before), standing);
  expect(report.trial?.left).toEqual([
    expect.stringMatching(/^volume \S+ \(trial-\w+-p\): no way to delete a volume is known$/),
  ]);
  expect(leftIn(standing.world)).toEqual([expect.stringMatching(/^trial-\w+-p$/)]);
  expect(standing.notes.kept?.made).toHaveLength(1);
  expect(report.trial?.open.join()).toContain("no VM was made");
});

/** The paths that are built in, and lists in a form of their own. */
function listing(list: Deployment["list"]): Deployment {
  const lists = listsCalled("vm/list", "volume/list", "security-group", "flavor/list", "image/list", "region/list");
  const ones: Readonly<Record<string, readonly [method: string, shape: string]>> = {
    "volume.delete": ["DELETE", "/api/v1/volume/:id"],
    "vm.get": ["GET", "/api/v1/vm/:id"],
    "group.get": ["GET", "/api/v1/security-group/:id"],
    "group.rule.delete": ["DELETE", "/api/v1/security-group/:id/rule/:ruleId"],
    "vm.resize.confirm": ["POST", "/api/v1/vm/resize/:id/confirm"],
    "vm.resize.revert": ["POST", "/api/v1/vm/resize/:id/revert"],
  };
  return {
    title: "lists in a form of their own",
    credential: { name: "Authorization", value: "Bearer ops-token" },
    understand({ method, path }) {
      const listed = method === "GET" ? lists[path.replace("/api/v1/", "")] : undefined;
      if (listed !== undefined) return { operation: listed };
      for (const [operation, [own, shape]] of Object.entries(ones)) {
        const ids = own === method ? match(path, shape) : undefined;
        if (ids !== undefined) return { operation, ...ids };
      }
      return undefined;
    },
    list,
    answer: (_, payload) => ({ body: { data: payload } }),
    refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
  };
}

test("a list that is a map by place is read by the ids of its records, also where it was empty at first", async () => {
  const deployment = listing((_, items) => ({ body: { data: Object.fromEntries(Object.entries(items)) } }));
  const standing = await stand({ deployment });
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
  expect(report.dialect.operations["vm.list"]?.items).toEqual([{ in: "/*" }]);
  expect(unprovenByTrial(report)).toEqual([]);
});

test("no VM is made where the list of VMs goes on and nothing leads on", async () => {
  const first = { id: "v-1", name: "of-others", status: "ACTIVE" };
  const deployment = listing((operation, items) => ({
    body: operation === "vm.list" ? { data: [first], next_cursor: "c-2" } : { data: items },
  }));
  const standing = await stand({ deployment });
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
  expect(report.trial?.open).toContainEqual(expect.stringMatching(/^no VM was made: .*no list does/));
});

const plainly: Deployment["list"] = (_, items) => ({ body: { data: items } });

test("what is gone may be answered with 400 and words that say so", async () => {
  const plain = listing(plainly);
  const refuse: Deployment["refuse"] = (operation, status, message) =>
    plain.refuse(operation, status === 404 ? 400 : status, message);
  const standing = await stand({ deployment: { ...plain, refuse } });
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world)]).toEqual([[], []]);
  const { dialect } = readDialectText(dialectYaml(report), "learnt.yaml");
  const { world } = await worldBehind({ ...plain, refuse }, { dialect, reach: "here" });
  closers.push(() => world.close());
  expect(await world.client.getVolume("00000000-0000-4000-8000-000000000000")).toMatchObject({
    condition: "not_found",
  });
});

test("where deleted groups stay listed, nothing is said of those that are named", async () => {
  const ever = new Map<unknown, Raw>();
  const deployment = listing((operation, items, asked) => {
    for (const one of operation === "group.list" ? items : []) ever.set(one["id"], one);
    return plainly(operation, operation === "group.list" ? [...ever.values()] : items, asked);
  });
  const standing = await stand({ deployment });
  const { report } = await tryIn({}, standing);
  expect(leftIn(standing.world)).toEqual([]);
  expect(report.dialect.limits.named_groups).toBeUndefined();
  expect(report.trial?.left).toContainEqual(expect.stringContaining("its delete was accepted, and it is listed still"));
});

test("of a volume that is shown as before it was deleted, the delete is told as accepted", async () => {
  const plain = listing(plainly);
  let volume: Raw = {};
  const deployment: Deployment = {
    ...plain,
    answer(operation, payload) {
      if (!/^volume.(get|create)$/.test(operation)) return plain.answer(operation, payload);
      const { status: _, ...shown } = payload as Raw;
      volume = shown;
      return plain.answer(operation, shown);
    },
    refuse: (operation, ...how) =>
      operation === "volume.get" ? { body: { data: volume } } : plain.refuse(operation, ...how),
  };
  const standing = await stand({ deployment });
  const { report } = await tryIn({}, standing);
  expect(leftIn(standing.world)).toEqual([]);
  const [first] = report.operations.find(({ operation }) => operation === "volume.delete")?.tried ?? [];
  expect(first).toEqual({
    path: "DELETE /api/v1/volume/{id}",
    answer: "it was accepted, and did not do what was asked",
  });
  expect(report.trial?.left).toEqual([expect.stringContaining("its delete was accepted, and it is shown still")]);
  expect(report.trial?.open.join()).not.toContain("volume.list");
});

test.each([
  ["in capitals", (name: string) => name.toUpperCase(), undefined],
  ["with other signs", (name: string) => name.replaceAll("-", "_"), "names.vm"],
  ["behind a part of the service", (name: string) => `acme-${name}`, "names.vm"],
])("what is named %s is found and taken away", async (_, called, told) => {
  const plain = listing(plainly);
  const named = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll(/trial-[0-9a-f]{6}(-[a-z])?(?!-)/g, (name) => called(name)));
  const deployment: Deployment = {
    ...plain,
    list: (operation, items, asked) => plainly(operation, named(items) as readonly Raw[], asked),
    answer: (operation, payload) => plain.answer(operation, named(payload)),
  };
  const standing = await stand({ deployment });
  const { report } = await tryIn({}, standing);
  expect([report.trial?.left, leftIn(standing.world), unprovenByTrial(report)]).toEqual([[], [], []]);
  expect(report.trial?.open.join()).toContain(told ?? "");
  expect(report.trial?.open.length === 0).toBe(told === undefined);
});

test("a request that was given and names what is somebody else's is not sent", async () => {
  const standing = await stand({ deployment: listing(plainly) });
  const blocks = { volumes: { data: { size: 20 } } };
  const { world } = standing;
  await world.apply(desiredOf(JSON.stringify({ version: 1, project: "acme", region: "in-west-1", ...blocks })));
  const [other] = world.emulator.dump().volumes ?? [];
  const path = `/api/v1/volume/${other?.id}`;
  const given = { method: "DELETE", path, query: { hint: "{id}" } };
  const { report } = await tryIn({ operations: { "volume.delete": given } }, standing);
  expect([report.trial?.left, leftIn(world)]).toEqual([[], ["data"]]);
  expect(report.trial?.open).toContainEqual(expect.stringContaining(`names volume ${other?.id}`));
});

test("a resize that waits, and that nothing confirms, is left to a person", async () => {
  const plain = listing(plainly);
  const understand: Deployment["understand"] = (asked) => {
    const meant = plain.understand(asked);
    return meant?.operation === "vm.resize.confirm" ? undefined : meant;
  };
  const { report } = await tryIn({}, await stand({ deployment: { ...plain, understand } }));
  expect(leftToDo(report)).toEqual([
    expect.stringMatching(/^vm\.resize\.confirm: a resize waits, .*--none vm.resize.confirm/),
  ]);
});
