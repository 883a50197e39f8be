/**
 * The doctor before services that are odd on purpose, in one process: its trial leaves nothing, also when it dies at a
 * write and the next one dies as well, and its file carries a project through three chapters of a life. The same through
 * the command line, with runs that are killed as well, is odd.test.ts. `ODD_NEAR_STRIDE=1` kills at every write of every
 * service, or of those whose titles `ODD_ONLY` matches.
 */
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { readByDialect } from "../../reconciler/engine/doctor/check";
import type { DoctorReport } from "../../reconciler/engine/doctor/report";
import { leftToDo } from "../../reconciler/engine/doctor/todo";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import { desiredOf, startBenchWorld } from "../support/bench-world";
import { clientAt } from "../support/deployments/doctor-here";
import type { Said } from "../support/deployments/front";
import { Killed } from "../support/deployments/trial-stage";
import { keepingAttachments } from "../support/odd/apart";
import { nodes } from "../support/odd/arrivals";
import { type Closers, doctorAt, type Kill, type Place, servedBy, staged, wishFor } from "../support/odd/doctor-before";
import { everyOdd } from "../support/odd/every";
import { chapters, projectAt } from "../support/odd/project";
import { unreadable } from "../support/odd/providers";
import type { OddShape, RunningOdd } from "../support/odd/server";
import type { Odd } from "../support/odd/shapes";

const leftIn = ({ world }: RunningOdd, { keepsVolumes }: Odd): readonly string[] => {
  const { vms, volumes, groups } = world.left();
  const names = [...vms, ...(keepsVolumes === true ? [] : volumes), ...groups].map(({ name }) => name);
  return names.filter((name) => name !== "default");
};

const dialectOf = (report: DoctorReport) => {
  const { dialect, diagnostics } = readDialectText(dialectYaml(report), "my.yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return dialect;
};

/** Lines that the files of some have to say: without them a project may well live, and less well. */
const lines: Readonly<Record<string, object>> = {
  "versions that are sent, rules under two keys, a limit with an epoch": {
    fingerprint: { from: ["/etag"], send: "If-Match" },
    records: {
      group: {
        rules: [
          { value: "/ingress", direction: "ingress" },
          { value: "/egress", direction: "egress" },
        ],
      },
    },
  },
  "a list in each zone, and a sign-in in the place of a refusal": {
    operations: {
      "vm.list": { path: "/api/v1/zones/{region}/servers", for_each: "region" },
      "volume.delete": { path: "/api/v1/zones/{field:/zone}/volumes/{id}" },
    },
  },
  "tasks for every write, and failures that only they tell": {
    wait: { id: ["/task_id"], path: "/api/v1/tasks/{id}", done: ["succeeded"], failed: ["errored"] },
  },
  "one endpoint with commands": { wait: { query: { command: "queryAsyncJobResult", jobid: "{id}" }, done: ["1"] } },
  "slugs, actions and numbers": { retry_after: { header: "ratelimit-reset", as: "epoch" } },
  "JSON:API, pages by Link, versions in a header alone": {
    fingerprint: { from: [], header: "ETag", send: "If-Match" },
  },
  "one endpoint for queries and mutations": {
    operations: {
      "vm.list": { pagination: { next: ["/data/vms/pageInfo/endCursor"], param: "/variables/after" } },
      "volume.delete": { body: { variables: { id: "{id:number}" } } },
    },
  },
  "links for ids, refusals inside a 200, forty requests in a second": {
    wait: { id: ["/trackingId"], path: "/api/v1/tracking/{id}", done: ["finished"] },
    limits: { requests_per_second: expect.any(Number) },
    records: { volume: { id: [{ value: "/href", cut: "*/drives/{value}" }] } },
  },
  "deletes that take long, and long lists that end in silence": {
    pagination: { number: 1, param: "page" },
    states: { vm: { changing: ["transit"], gone: [] } },
  },
  "operations as answers, a cursor in a header, entries that are null": {
    operations: { "image.list": { items: [{ in: "/result/data/templates/*" }] } },
    wait: { id: ["/id"], path: "/api/v1/cloud/operation/{id}", done: ["success"] },
    records: { vm: { id: ["/ident"], status: ["/zustand"] } },
    authorization: { name: "X-Acme-Session", header: "{token}" },
  },
  "ids that are paths, a state among others, jobs in Location alone": {
    wait: { id: [{ value: "/location", cut: "*/asyncOperations/{value}" }] },
    records: { vm: { name: ["/tags/displayName"], status: [{ value: "/code", cut: "PowerState/{value}" }] } },
    states: { vm: { stopped: expect.arrayContaining(["deallocated"]) } },
  },
  "actions that are named alike, numbers from 1": {
    operations: {
      "flavor.list": { path: "/api/v1/rpc", query: { Action: "DescribeSizes" } },
      "volume.list": { query: { Action: "DescribeDisks" }, items: [{ in: "/Result/Disks", absent: "none" }] },
    },
    wait: { method: "GET", path: "/api/v1/rpc", query: { Action: "DescribeJob", JobId: "{id}" }, done: ["Success"] },
  },
  "names as references, and jobs for everything": {
    wait: { status: ["/activity/outcome"], done: ["OK"], failed: ["KO"], message: ["/activity/reason"] },
    records: { volume: { attached_to: [{ by: "name" }] } },
  },
  "zones that have to be named, rules that are deleted by what they say": {
    operations: {
      "volume.list": { path: "/api/v1/disks", query: { zone: "{region}" }, for_each: "region" },
      "group.list": { path: "/api/v1/firewalls" },
      "group.rule.delete": { body: { port_to: "{field:/port_range_max:number}", group: "{field:/remote_group_id}" } },
    },
  },
  "objects with metadata, spec and status, and two ids each": {
    records: { vm: { id: ["/metadata/name"], status: ["/status/phase"] }, image: { id: ["/metadata/name"] } },
    states: { vm: { stopped: expect.arrayContaining(["Halted"]) } },
  },
  "things of other tenants, and what is being deleted is listed and not found": {
    operations: { "vm.get": { path: "/api/v1/servers/{id}" }, "group.get": { path: "/api/v1/security-groups/{id}" } },
    records: { vm: { image: ["/template/id"] } },
    envelope: { error: { message: [{ in: "/*", value: "/message" }] } },
    errors: expect.not.arrayContaining([expect.objectContaining({ message: expect.stringContaining("answered") })]),
  },
  "XML turned into JSON, jobs as bare texts, a 500 for what is not found": {
    operations: {
      "vm.list": { items: [{ in: "/vms/vm", absent: "none" }] },
      "vm.get": { item: ["/vm"] },
      "group.list": { items: [{ in: "/securityGroups/securityGroup", absent: "none" }] },
      "group.rule.delete": { path: "/api/v1/securityGroups/{id}/rules/{rule_id}" },
    },
    answers: { "group.rule.list": { item: [{ in: "/rules/rule", absent: "none" }] } },
    wait: { id: [{ value: "/data", cut: "UPID:{value}" }], path: "/api/v1/tasks/UPID:{id}/status", done: ["stopped"] },
  },
  "a state in three fields, a name called description, rules by lists of what they say": {
    operations: {
      "group.rule.delete": {
        path: "/api/v1/firewalls/{id}/rules",
        alternatives: [{ when: { direction: "egress" }, body: { outbound_rules: [expect.anything()] } }],
      },
    },
    records: {
      vm: { status: [{ join: ["/power_status", "/server_status"] }] },
      group: { name: ["/description"], description: ["/note"] },
      flavor: { id: ["/key"], name: ["/shown"] },
    },
    states: { vm: { verify_resize: expect.arrayContaining(["running/undecided"]) } },
  },
  "the action in a header, 200 for everything, null for no list": {
    operations: {
      "volume.list": { headers: { "X-Action": "DescribeDisks" }, items: [{ in: "/Response/DiskSet", absent: "none" }] },
      "group.list": { headers: { "X-Action": "DescribeSecurityGroups" } },
    },
    records: { vm: { owner: ["/Mailbox"], volumes: ["/Attached"], volume_entry: { id: ["/DiskId"] } } },
  },
  "ids in capitals where others refer to them, keys in German": {
    records: {
      vm: { owner: ["/Besitzer"], volumes: ["/Platten"], volume_entry: { id: [{ value: "/Guid", case: "lower" }] } },
      volume: {
        size: [{ value: "/Groesse", unit: "KB" }],
        status: ["/Zustand"],
        attached_to: [{ value: "/Rechner", case: "lower" }],
      },
      group: { description: ["/Bemerkung"] },
    },
    states: { volume: { ready: expect.arrayContaining(["frei", "belegt"]) } },
  },
  "properties and entities, busy beside a state at rest, requests in Location": {
    wait: { id: [{ value: "/location", cut: "*/requests/{value}/status" }], path: "/api/v1/requests/{id}/status" },
    records: { vm: { status: ["/properties/vmState"], flavor: ["/properties/bootTemplate"] } },
  },
  "lists below several folders, one sentence for all that is not there, a lock beside the state": {
    operations: { "volume.list": { path: "/v4/volumes" }, "image.list": { path: "/v4/images" } },
    records: { vm: { status: [{ join: ["/status", "/lock"] }] } },
  },
  "a number that is 0 when it went well, with a message at all times": {
    operations: { "group.list": { path: "/v2/securityGroup/list", items: ["/list"] }, "group.get": null },
    envelope: { success: { value: "/ret", is: 0 } },
  },
  "commands in a query, states as pairs, a rule's delete that nobody tells": {
    operations: { "group.rule.delete": { query: { command: "deleteSecurityGroupRule", id: "{rule_id}" } } },
    pagination: { number: 1, param: "page" },
  },
  "what was deleted is listed with a flag of its own, beside a state that does not change": {
    records: {
      vm: { status: [{ join: ["/status", "/deleted"] }] },
      volume: { status: [{ join: ["/status", "/deleted"] }] },
    },
    states: { vm: { stopped: ["down/false"], gone: expect.arrayContaining(["down/true"]) } },
  },
  "pages that are parts, with their range in a header": { pagination: { offset: true, param: "offset" } },
  "attachments in a list of their own": {
    attachments: {
      path: "/v3/attachments",
      items: ["/attachments"],
      pagination: { next: [{ in: "/attachments_links" }] },
      vm: ["/instance"],
      volume: ["/volume_id"],
    },
  },
  "attachments in a list for each VM": {
    attachments: { path: "/cloud/servers/{id}/os-volume_attachments", vm: [], volume: ["/volumeId"] },
  },
  "an update beside a state at rest, attachments that are over, shapes without ids": {
    operations: { "vm.list": { items: ["", { in: "/data", absent: "none" }] } },
    records: {
      volume: {
        status: [{ join: ["/properties/diskState", "/properties/provisioningState"] }],
        attached_to: [{ in: "/properties/attachments", where: { state: "ATTACHED" }, value: "/serverId" }],
      },
      flavor: { id: ["/shape"] },
    },
    states: { volume: { ready: ["Unattached/Succeeded", "Attached/Succeeded"] } },
  },
  "maps of records with deeper ids, VMs that alone tell their volumes, a page for what is deleted": {
    operations: { "vm.get": { path: "/v5/servers/{id}", item: ["/vm"] } },
    attachments: {
      path: "/v5/servers/{id}",
      items: [{ in: "/vm/spec/devices", absent: "none" }],
      vm: [],
      volume: ["/diskId"],
    },
    states: { volume: { gone: expect.arrayContaining(["Removed"]) } },
    errors: expect.arrayContaining([expect.objectContaining({ is: "not_found", status: 404 })]),
  },
  "calls with a result, refusals of the usual form inside a 200, words in several letters": {
    operations: { "volume.list": { path: "/jsonrpc", items: ["/result"], body: { method: "volume.list" } } },
    errors: expect.arrayContaining([expect.objectContaining({ is: "not_found", status: 200, code: "-32004" })]),
  },
  "names as references, sizes as 20G, states as numbers": {
    operations: { "volume.list": { pagination: { marker: ["/number"], param: "after" } } },
    records: { vm: { volumes: [] }, volume: { attached_to: [{ by: "name" }] } },
  },
};

const stride = Number(process.env["ODD_NEAR_STRIDE"] ?? 0);

/** The deaths of a doctor, and of the one that cleans up after it: one of them, or as many as are asked for. */
function deathsAmong(writes: number): readonly (readonly Kill[])[] {
  const step = stride > 0 ? stride : writes;
  const nths = Array.from({ length: Math.floor(writes / step) }, (_, at) => at * step + Math.ceil(step / 2));
  const singly = nths.flatMap((nth): Kill[] => [
    { nth, when: "before" },
    { nth, when: "after" },
  ]);
  const again = singly.map(({ nth, when }): readonly Kill[] => [
    { nth, when },
    { nth: 1 + (nth % 6), when: nth % 2 === 0 ? "before" : "after" },
  ]);
  return stride > 0 ? [...singly.map((kill) => [kill]), ...again] : again.slice(1);
}

const only = new RegExp(process.env["ODD_ONLY"] ?? "");
/** A few of them stand for all. */
const isShaken = (odd: Odd): boolean => stride > 0 || everyOdd.indexOf(odd) % 4 === 3;

/** What is there still after these deaths and one doctor that lives; `undefined`: nothing. */
async function leftAfter(odd: Odd, kills: readonly Kill[]): Promise<unknown> {
  const closers: Closers = [];
  try {
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    for (const kill of kills)
      await doctorAt(odd, place, wishFor(odd), kill).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
    const { trial } = await doctorAt(odd, place, odd.keepsVolumes === true ? wishFor(odd) : {});
    const left = [...(trial?.left ?? ["no trial"]), ...leftIn(place.server, odd)];
    return left.length === 0 && place.notes.kept === undefined ? undefined : [kills, left, place.notes.kept];
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function lifeOf(odd: Odd, closers: Closers): Promise<void> {
  const worldFor = async (dialect: Dialect) => {
    const server = servedBy(odd, closers);
    const world = await startBenchWorld({ dialect, reach: "here", front: async () => server });
    closers.push(() => world.close());
    return { world, server };
  };

  const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
  const report = await doctorAt(odd, place, wishFor(odd));
  // Somebody waits for it: what a first delete taught is not waited for at each of the others.
  expect(place.server.asked.length).toBeLessThan(5000);
  if (process.env["ODD_SHOW"] !== undefined)
    writeFileSync(
      process.env["ODD_SHOW"],
      `${dialectYaml(report)}\n# ${report.trial?.seen.join("\n# ")}\n# ${place.server.asked.join("\n# ")}`,
    );
  expect([report.trial?.left, leftIn(place.server, odd), place.notes.kept]).toEqual([[], [], undefined]);
  const dialect = dialectOf(report);
  expect(dialect).toMatchObject(lines[odd.shape.title] ?? {});
  const { world, server } = await worldFor(dialect);
  for (const blocks of chapters) {
    const desired = desiredOf(projectAt(server.url, blocks));
    const { plan, report: run } = await world.apply(desired);
    expect([plan.diagnostics.filter(({ severity }) => severity === "error"), run?.counts.failed]).toEqual([[], 0]);
    expect((await world.plan(desired)).changes).toEqual([]);
  }

  // What a plan does not read, a check of the file does: all but what was told and is not there.
  const client = clientAt(server.url, dialect);
  closers.push(() => client.close());
  const kept = report.operations.flatMap(({ operation, isKept }) => (isKept === true ? [operation] : []));
  const misfits = (await readByDialect(client, [], dialect)).map(({ summary }) => summary);
  expect(misfits.filter((line) => !kept.some((operation) => line.startsWith(operation)))).toEqual([]);

  if (!isShaken(odd)) return;
  const wrong: unknown[] = [];
  const deaths = deathsAmong(place.server.writes.length);
  for (let from = 0; from < deaths.length; from += 8)
    wrong.push(...(await Promise.all(deaths.slice(from, from + 8).map((kills) => leftAfter(odd, kills)))));
  const found = wrong.filter((one) => one !== undefined);
  if (stride > 0) console.log(`${odd.shape.title}: ${deaths.length - found.length} of ${deaths.length}`);
  expect(found).toEqual([]);
}

test.each(everyOdd.filter(({ shape: { title } }) => only.test(title)).map((odd) => [odd.shape.title, odd] as const))(
  "%s",
  async (_, odd) => {
    await staged((closers) => lifeOf(odd, closers));
  },
);

test("what a killed trial was deleting is gone where only a page of text says that nothing is there", async () => {
  const odd = everyOdd.find(({ shape: { title } }) => title.startsWith("answers without a body"))!;
  await staged(async (closers) => {
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    await doctorAt(odd, place, wishFor(odd));
    const nth = 1 + place.server.writes.lastIndexOf("volume.delete");
    expect(await leftAfter(odd, [{ nth, when: "after" }])).toBeUndefined();
  });
});

describe("a create whose first answer is a page of a proxy", () => {
  const page: Said = { status: 503, headers: { "content-type": "text/html" }, body: "<html>try again</html>" };
  const usual = everyOdd.find(({ shape: { title } }) => title === "attachments in a list for each VM")!;
  const kinds = ["group.create", "volume.create", "vm.create"] as const;
  const refusingFirst = (operation: string, isDone: boolean): Odd => {
    let isFirst = true;
    const shape: Odd["shape"] = {
      ...usual.shape,
      refuses(asked, meant, { body }, world) {
        if (asked !== operation || !isFirst) return undefined;
        isFirst = false;
        if (isDone) world.do(asked, meant, body);
        return page;
      },
    };
    return { ...usual, shape };
  };

  test.each(kinds.flatMap((one) => [[one, false] as const, [one, true] as const]))(
    "%s, and it was done: %s: the life is walked through, and nothing is left",
    async (operation, isDone) => {
      await staged(async (closers) => {
        const odd = refusingFirst(operation, isDone);
        const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
        const { trial } = await doctorAt(odd, place, wishFor(odd));
        expect(trial).toMatchObject({ unproven: [], left: [] });
        expect([leftIn(place.server, odd), place.notes.kept]).toEqual([[], undefined]);
        const [kind] = operation.split(".");
        const names = trial?.made.flatMap((one) => (one.kind === kind && one.name !== undefined ? [one.name] : []));
        expect(names?.some((name) => name.endsWith("-2"))).toBe(!isDone);
      });
    },
  );

  test("where no list tells what became of it, nothing is made again", async () => {
    await staged(async (closers) => {
      const { shape, ...others } = refusingFirst("volume.create", false);
      const told = [
        ...others.told,
        "--none",
        "volume.list",
        "--curl",
        "volume.delete=curl -X DELETE URL/cloud/volumes/{id}",
      ];
      const understand: typeof shape.understand = (asked, world) =>
        asked.path.includes("/volumes/detail") ? undefined : shape.understand(asked, world);
      const odd = { ...others, told, shape: { ...shape, understand } };
      const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
      const { trial } = await doctorAt(odd, place, wishFor(odd));
      expect(place.server.asked.filter((one) => /^POST .*\/volume(s|\/create)?$/.test(one))).toHaveLength(1);
      expect(trial?.left).toEqual([expect.stringMatching(/^volume trial-\w+-p: it may have been made/)]);
    });
  });
});

test("a list that goes on showing what was taken off tells nothing of what hangs on what", async () => {
  await staged(async (closers) => {
    const odd = keepingAttachments();
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    const report = await doctorAt(odd, place, wishFor(odd));
    const { dialect, trial } = report;
    expect(dialect.attachments).toBeUndefined();
    expect(leftToDo(report).join()).toContain("operations.attachments: the list at /v3/attachments");
    expect([trial?.left, leftIn(place.server, odd)]).toEqual([[], []]);
  });
});

test("of a delete that was accepted and did nothing, a person is not told that it is not there", async () => {
  const usual = everyOdd.find(({ shape: { title } }) => title.startsWith("an update beside"))!;
  const understand: OddShape["understand"] = (asked, world) => {
    const meant = usual.shape.understand(asked, world);
    return meant?.operation === "volume.delete" ? { ...meant, operation: "volume.get" } : meant;
  };
  await staged(async (closers) => {
    const odd: Odd = { ...usual, shape: { ...usual.shape, understand } };
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    const report = await doctorAt(odd, place, wishFor(odd));
    const { trial } = report;
    expect(leftToDo(report)).toContainEqual(expect.stringMatching(/^volume\.delete: it was accepted as it was given/));
    expect(trial?.left).toEqual([expect.stringContaining("it is there still")]);
  });
});

test.each([true, false])(
  "a list that leaves out what is stopped is none for a plan, with a read of one: %s",
  async (isRead) => {
    const usual = everyOdd.find(({ shape: { title } }) => title.startsWith("an update beside"))!;
    const { shape } = usual;
    const list: OddShape["list"] = (operation, items, asked) =>
      shape.list(
        operation,
        operation === "vm.list" ? items.filter((one) => one["status"] !== "SHUTOFF") : items,
        asked,
      );
    const understand: OddShape["understand"] = (asked, world) => {
      const meant = shape.understand(asked, world);
      return meant?.operation === "vm.get" && !isRead ? undefined : meant;
    };
    await staged(async (closers) => {
      const odd: Odd = { ...usual, shape: { ...shape, list, understand } };
      const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
      const report = await doctorAt(odd, place, wishFor(odd));
      expect([report.trial?.left, leftIn(place.server, odd), place.notes.kept]).toEqual([[], [], undefined]);
      expect(dialectOf(report).operations["vm.list"]).toBeNull();
      expect(leftToDo(report).join()).toContain("is a list without a VM that is stopped");
    });
  },
);

test("a request that empties a group is not learnt as the one that deletes a rule", async () => {
  const usual = everyOdd.find(({ shape: { title } }) => title.startsWith("an update beside"))!;
  const refuses: OddShape["refuses"] = (operation, { id = "" }, _asked, world) => {
    const group = operation === "group.rule.delete" ? world.groups.get(id) : undefined;
    if (group !== undefined) group.rules = [];
    return group === undefined ? undefined : { status: 204 };
  };
  await staged(async (closers) => {
    const odd: Odd = { ...usual, shape: { ...usual.shape, refuses } };
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    const report = await doctorAt(odd, place, wishFor(odd));
    expect([report.trial?.routes["group.rule.delete"], report.trial?.left]).toEqual([undefined, []]);
    expect(leftToDo(report).join()).toContain("a request that was tried deletes other rules of the group as well");
  });
});

test("a group whose name was taken already is taken away where its list cannot be read to the end", async () => {
  const [odd] = everyOdd.filter(({ shape: { title } }) => title === "attachments in a list of their own");
  const shape = odd?.shape as OddShape;
  const list: OddShape["list"] = (operation, items, asked) =>
    operation === "group.list"
      ? { body: { security_groups: items.slice(0, 1), next_cursor: "of no use" } }
      : shape.list(operation, items, asked);
  await staged(async (closers) => {
    const endless: Odd = { told: odd?.told ?? [], shape: { ...shape, list } };
    const place: Place = { server: servedBy(endless, closers), closers, notes: { kept: undefined } };
    const { trial } = await doctorAt(endless, place, {});
    expect([trial?.left, leftIn(place.server, endless), place.notes.kept]).toEqual([[], [], undefined]);
  });
});

test("of two ids that a list shows, what a killed trial made is taken away by the right one", async () => {
  const odd = everyOdd.find(({ shape: { title } }) => title.endsWith("two ids each"))!;
  await staged(async () => expect(await leftAfter(odd, [{ nth: 5, when: "after" }])).toBeUndefined());
});

test.each(unreadable.map((odd) => [odd.shape.title, odd] as const))(
  "%s: a trial makes nothing that it could not find again, and says what has to be told",
  async (_, odd) => {
    await staged(async (closers) => {
      const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
      const report = await doctorAt(odd, place, wishFor(odd));
      const { trial } = report;
      expect([trial?.left, leftIn(place.server, odd), place.notes.kept]).toEqual([[], [], undefined]);
      expect(place.server.writes).not.toContain("vm.create");
      expect(leftToDo(report)).toContainEqual(
        expect.stringMatching(/operations\.group\.list: it shows a list of (ids|rows)/),
      );
    });
  },
);

test.each([
  ["firewall", [], 4],
  // A list that is called as nothing is.
  ["fw", ["a"], 1],
])("of a service whose groups are at /%s a trial leaves %s", async (groups, left, made) => {
  const odd = nodes(groups);
  await staged(async (closers) => {
    const place: Place = { server: servedBy(odd, closers), closers, notes: { kept: undefined } };
    const report = await doctorAt(odd, place, wishFor(odd));
    expect(leftIn(place.server, odd).map((name) => name.split("-").at(-1))).toEqual(left);
    expect(place.server.writes.filter((write) => write === "group.create")).toHaveLength(made);
    const isAlone = leftToDo(report).some((line) => line.startsWith("one group alone was made"));
    expect(isAlone).toBe(left.length > 0);
    const wait = { status: ["/data/status"], done: ["stopped"], error: [{ value: "/data/exitstatus", none: "OK" }] };
    expect(dialectOf(report).wait).toMatchObject(wait);
  });
});
