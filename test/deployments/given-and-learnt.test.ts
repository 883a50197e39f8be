/**
 * What the doctor writes is what it was given with what it learnt over it: for each ready dialect, and for each odd
 * service by the file that it wrote before, the new file loses no line and reads the same records alike.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import { readTold, withTold } from "../../reconciler/cli/doctor/told";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { layOver, saysMore } from "../../reconciler/dialect/lay-over";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { type DiagnoseOptions, diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import { Credential } from "../../reconciler/service/credential";
import { createServiceClient, type HttpServiceClient } from "../../reconciler/service/http-client";
import { desiredOf, startBenchWorld } from "../support/bench-world";
import { clientAt, doctorPortsAt } from "../support/deployments/doctor-here";
import { further } from "../support/odd/further";
import { minds } from "../support/odd/minds";
import { startOdd } from "../support/odd/server";
import { odds } from "../support/odd/shapes";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What each list shows by a dialect, or why it cannot be read. */
async function readingOf(client: HttpServiceClient) {
  const { can } = client;
  const lists = {
    vms: can.canFindCreated("vm") ? await client.listVms() : undefined,
    volumes: can.canFindCreated("volume") ? await client.listVolumes() : undefined,
    groups: can.canFindCreated("group") ? await client.listGroups() : undefined,
    flavors: can.listsFlavors ? await client.listFlavors() : undefined,
    images: can.listsImages ? await client.listImages() : undefined,
    regions: can.listsRegions ? await client.listRegions() : undefined,
  };
  return Object.fromEntries(
    Object.entries(lists).map(([name, listed]) => [
      name,
      listed?.status === "accepted"
        ? [...listed.value].sort((one, other) => (one.id < other.id ? -1 : 1))
        : listed?.status,
    ]),
  );
}

/** The file that the doctor writes from one that was given. */
async function written(
  text: string,
  clientIn: (dialect: Dialect) => HttpServiceClient,
  url: string,
  options: DiagnoseOptions = {},
) {
  const { dialect } = readDialectText(text, "given.yaml");
  const base = { value: parse(text), dialect };
  const report = await diagnoseService(doctorPortsAt(url, dialect, clientIn), dialect, { base, ...options });
  return layOver(text, dialectYaml(report));
}

const dialectIn = (text: string): Dialect => {
  const { dialect, diagnostics } = readDialectText(text, "written.yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return dialect;
};

test.each(["openstack-like", "camel-case", "documented-only"])("%s", async (name) => {
  const text = readFileSync(join(__dirname, `../../dialects/${name}.yaml`), "utf8");
  const { dialect } = readDialectText(text, name);
  const world = await startBenchWorld({ dialect, speaks: dialect, pageSize: 2 });
  closers.push(() => world.close());
  const rule = { protocol: "tcp", dst_port: 443 };
  const blocks = {
    volumes: { data: { size: 20 }, spare: { size: 5 } },
    groups: { front: { rules: [rule] }, back: {} },
  };
  await world.apply(desiredOf(JSON.stringify({ version: 1, project: "acme", region: "in-west-1", ...blocks })));
  const clientIn = (of: Dialect): HttpServiceClient => {
    const client = clientAt(world.baseUrl, of);
    closers.push(() => client.close());
    return client;
  };
  const after = await written(text, clientIn, world.baseUrl);
  expect(saysMore(text, after)).toEqual([]);
  expect(await readingOf(clientIn(dialectIn(after)))).toEqual(await readingOf(clientIn(dialect)));
});

test.each([...odds, ...further, ...minds].map((odd) => [odd.shape.title, odd] as const))(
  "%s",
  async (_, { shape, told }) => {
    // Each client of this test has connections of its own.
    const { connections: __, ...unlimited } = shape;
    const server = await startOdd(unlimited);
    closers.push(() => server.close());
    const { world, url } = server;
    const vm = {
      flavor_id: "m1.small",
      image_id: "ubuntu-24.04",
      owner: "ops@acme.example",
      region: "in-west-1",
      size: "10",
    };
    for (const name of ["web", "base", "third"]) world.do("vm.create", {}, { ...vm, name });
    for (const name of ["data", "spare"]) world.do("volume.create", {}, { name, size: "7" });
    for (const name of ["front", "back", "lone"])
      world.do("group.create", {}, { name, description: "first", rules: [] });
    // Everything is at rest once each VM runs.
    await expect.poll(() => [...world.vms.values()].every(({ status }) => status === "ACTIVE")).toBe(true);
    const clientIn = (of: Dialect): HttpServiceClient => {
      const credential = new Credential(of.authorization.header.replace("{token}", "ops-token"), { kind: "fixed" });
      const client = createServiceClient({ baseUrl: url, dialect: of, credential, timing: { requestTimeoutMs: 5000 } });
      closers.push(() => client.close());
      return client;
    };
    const words = told.map((word) => word.replaceAll("URL", url));
    const flagged = (flag: string): string[] => words.filter((_word, at) => words[at - 1] === flag);
    const said = readTold({ curl: flagged("--curl"), none: flagged("--none") });
    const { start } = withTold(readDialectText("", "").dialect, said, url, new Set());
    const report = await diagnoseService(doctorPortsAt(url, start, clientIn), start, { none: new Set(said.none) });
    const first = dialectYaml(report);
    const second = await written(first, clientIn, url);
    expect(saysMore(first, second)).toEqual([]);
    const reading = await readingOf(clientIn(dialectIn(first)));
    expect(Object.values(reading).filter((list) => Array.isArray(list)).length).toBeGreaterThan(2);
    expect(await readingOf(clientIn(dialectIn(second)))).toEqual(reading);
  },
);

/** What was given, what was learnt, and the file with both. */
const laid: readonly (readonly [what: string, given: string, learnt: string, after: string])[] = [
  [
    "remarks within a route that is elsewhere stand behind the new one",
    "operations:\n  vm.list:\n    method: GET\n    # the gateway has v2\n    path: /v2/vms # for now\n",
    "operations:\n  vm.list: { method: GET, path: /vms } # found\n",
    "operations:\n  vm.list: { method: GET, path: /vms } # found; the gateway has v2; for now\n",
  ],
  [
    "a remark behind one of the doctor stays the second time as well",
    "records:\n  vm:\n    id: [/id] # shows 5; the uid; really\n",
    "records:\n  vm:\n    id: [/ref] # shows 6\n",
    "records:\n  vm:\n    id: [/ref] # shows 6; the uid; really\n",
  ],
  [
    "a word is added below words with remarks",
    "states:\n  vm:\n    running:\n      - ON # the lamp is on\n      - UP\n",
    "states:\n  vm:\n    running: [on, ACTIVE] # by the word alone\n",
    "states:\n  vm:\n    running:\n      - ON # the lamp is on\n      - UP\n      - ACTIVE\n",
  ],
  [
    "a word that was seen at one meaning leaves the other",
    "states:\n  vm:\n    gone: [TERMINATED] # as they say\n    changing: stopping\n",
    "states:\n  vm:\n    stopped: [terminated, STOPPING] # seen in a trial\n",
    "states:\n  vm:\n    gone: [] # as they say\n    changing: []\n    stopped: [terminated, STOPPING] # seen in a trial\n",
  ],
  [
    "but a word that a person gives a meaning is none for what is gone",
    "states:\n  vm:\n    stopped: [TERMINATED]\n",
    "states:\n  vm:\n    gone: [TERMINATED, DELETED]\n",
    "states:\n  vm:\n    stopped: [TERMINATED]\n    gone: [DELETED]\n",
  ],
  [
    "a question that is left keeps its remark",
    "todo:\n  - ask about the quota # since May\n  - answered\n",
    'todo:\n  - ask about the quota\n  - "states.vm: new"\n',
    'todo:\n  - ask about the quota # since May\n  - "states.vm: new"\n',
  ],
  [
    "what an alias stands for stays, whatever becomes of what it names",
    "records:\n  vm:\n    id: &uid [/uid]\n  volume:\n    id: *uid\n",
    "records:\n  vm:\n    id: [/id] # shows 5\n",
    "records:\n  vm:\n    id: [/id] # shows 5\n  volume:\n    id: [/uid]\n",
  ],
];

test.each(laid)("%s", (_, given, learnt, after) => {
  expect(layOver(given, learnt)).toBe(after);
  dialectIn(after);
});

test.each([
  ["a text", "My notes.\n", ["what is no dialect"]],
  ["a list, such as a playbook", "- hosts: all\n", ["what is no dialect"]],
  ["a number", "12345\n", ["what is no dialect"]],
  ["an alias of nothing", "operations: { vm.list: *x }\n", ["what is no dialect"]],
  ["another key", "x: 1\n", ["x"]],
  ["nothing", "", []],
  ["a remark", "# to be learnt\n", ["what is no dialect"]],
])("a file that holds %s is written over only where nothing is lost", (_, text, lost) => {
  expect(saysMore(text, "operations: {}\n")).toEqual(lost);
});
