/** What a trial tells from single answers: jobs, versions, what a failed job means, and where a create says its id is. */
import { expect, test } from "vitest";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { conditionOfJob } from "../../reconciler/dialect/conditions";
import { readCurl } from "../../reconciler/dialect/learn/curl";
import { translated } from "../../reconciler/dialect/learn/pages";
import { learnRecord } from "../../reconciler/dialect/learn/records";
import { withLocation } from "../../reconciler/dialect/located";
import { numberInUnit } from "../../reconciler/dialect/pointers";
import { jobNamed } from "../../reconciler/engine/doctor/trial-jobs";
import { asksForVersion, versionsIn } from "../../reconciler/engine/doctor/trial-versions";

test.each([
  ["an action beside a record", { volume: { id: 7 }, action: { id: 36, type: "create" } }, "36", "/action/id"],
  ["a task alone", { task_id: "t-1", status: "queued" }, "t-1", "/task_id"],
  ["an operation by its name", { operation: { name: "op-9", operationType: "insert" } }, "op-9", "/operation/name"],
  ["a job in a wrapper of the operation", { createresponse: { jobid: "j1" } }, "j1", { in: "/*", value: "/jobid" }],
  ["a job that is a text with a number", { job: "j1" }, "j1", "/job"],
] as const)("%s is a job", (_, body, id, place) => {
  expect(jobNamed(body)).toMatchObject({ id, place });
});

test.each([
  ["a record", { id: "v-1", name: "data", status: "creating" }],
  ["what was done", { action: "create", status: "ok" }],
  ["the number of a request", { request_id: "r-1", data: "done" }],
  ["no body", undefined],
] as const)("%s is no job", (_, body) => {
  expect(jobNamed(body)).toBeUndefined();
});

test("a job is called as in the path at which a person asks for one", () => {
  const told = { method: "GET", path: "/api/v1/trackings/{id}" } as const;
  expect(jobNamed({ ok: true, trackingId: "j-7" }, told)).toMatchObject({ id: "j-7", place: "/trackingId" });
  expect(jobNamed({ ok: true, trackingId: "j-7" })).toBeUndefined();
});

test.each([
  [
    "volume.delete",
    `curl -X POST -d '{"variables":{"id":42}}' https://c.example/api/v1/graphql`,
    { path: "/api/v1/graphql", body: { variables: { id: "{id:number}" } } },
  ],
  [
    "volume.delete",
    `curl -X POST -d '{"disk":"42"}' https://c.example/api/v1/remove`,
    { path: "/api/v1/remove", body: { disk: "{id}" } },
  ],
  [
    "group.rule.delete",
    `curl -X POST -d '{"rule":9007}' https://c.example/api/v1/drop`,
    { path: "/api/v1/drop", body: { rule: "{rule_id:number}" } },
  ],
  [
    "wait",
    "curl 'https://c.example/api/v1/client?command=query&jobid=6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11'",
    { method: "GET", path: "/api/v1/client", query: { command: "query", jobid: "{id}" } },
  ],
] as const)("a request for %s as a shell has it: %s", (operation, command, route) => {
  expect(readCurl(operation, command, "https://c.example", new Set())?.route).toMatchObject(route);
});

test("an id that is a link is what the link ends with, and what leads on stands beside each list", () => {
  const volumes = ["a-1", "b-2"].map((id) => ({ href: `https://c.example/compute/drives/${id}`, title: id }));
  const known = { volumes: new Set<string>(), flavors: new Set<string>(), images: new Set<string>() };
  const { fields } = learnRecord("volume", builtInDialect, volumes, known);
  const id = { value: "/href", cut: "*/drives/{value}" };
  expect(fields.find(({ field }) => field === "id")?.place).toEqual(id);
  const byUsualName = volumes.map(({ href }) => ({ id: href }));
  expect(learnRecord("volume", builtInDialect, byUsualName, known).fields[0]?.place).toEqual({ ...id, value: "/id" });
  const way = { next: ["/data/vms/pageInfo/endCursor"], param: "/variables/after" };
  expect(translated(way, "/data/vms/nodes", "/data/disks/nodes").next).toEqual(["/data/disks/pageInfo/endCursor"]);
});

test("a version is asked for by a status or by its words, and told by what records show", () => {
  const refused = (httpStatus: number, message: string) =>
    ({ status: "rejected", condition: "refused", httpStatus, message }) as const;
  expect([
    asksForVersion(refused(412, "no")),
    asksForVersion(refused(428, "no")),
    asksForVersion(refused(400, "If-Match is required")),
    asksForVersion(refused(409, "the name is taken")),
  ]).toEqual([true, true, true, false]);
  const samples = new Map([["group", [{ id: "g-1", name: "front", meta: { revision: 3 } }]]] as const);
  expect(versionsIn({ samples })).toEqual([
    { from: ["/meta/revision"], send: "If-Match" },
    { from: ["/meta/revision"], send: "/revision" },
    // Where no record shows one, the answer may.
    { from: [], header: "ETag", send: "If-Match" },
  ]);
});

test("a job that failed means what the dialect says of its message, and then what its words say", () => {
  const exists = "This rule already exists in the selected security group.";
  expect(conditionOfJob("group.rule.create", exists, [{ is: "rule_exists", message: "already exists" }])).toBe(
    "rule_exists",
  );
  expect(conditionOfJob("volume.resize", "Volume is attached and cannot be extended", [])).toBe("volume_attached");
  expect(conditionOfJob("volume.resize", "the host is down", [])).toBe("refused");
});

test("only a create without a body is read by its Location", () => {
  const at = "/api/v1/volume/v-1";
  expect(withLocation("volume.create", undefined, at)).toEqual({ location: at });
  expect(withLocation("volume.create", { id: "v-1" }, at)).toEqual({ id: "v-1" });
  expect(withLocation("volume.resize", undefined, at)).toBeUndefined();
  expect(withLocation("group.create", undefined, undefined)).toBeUndefined();
});

test("bytes are counted in thousands where only that makes whole gigabytes", () => {
  expect([
    numberInUnit(20 * 1000 ** 3, "B"),
    numberInUnit(20 * 1024 ** 3, "B"),
    numberInUnit(512 * 1024 ** 2, "B"),
  ]).toEqual([20, 20, 0.5]);
});
