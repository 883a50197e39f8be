/** What a trial tells from single answers: jobs, versions, what a failed job means, and where a create says its id is. */
import { expect, test } from "vitest";
import { conditionOfJob } from "../../reconciler/dialect/conditions";
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
