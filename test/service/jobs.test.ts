/** The job of an accepted write: waited for, refused with its reason when it failed, and lost when nobody can follow it. */
import { expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { start } from "./make-client";
import { fault, json, type Script } from "./scripted-server";

const wait = `{ id: [/action/id, /jobid], method: GET, path: "/jobs/{id}", status: /status, done: [done], failed: errored, message: /reason }`;

const startWith = async (lines: string, answer: unknown, ...jobs: readonly Script[]) => {
  const { dialect, diagnostics } = readDialectText(lines, "dialect.yaml");
  expect(diagnostics).toEqual([]);
  let asked = 0;
  const script: Script = (request, response, raw) => {
    if (!request.url.startsWith("/jobs/")) return json(202, answer)(request, response, raw);
    return (jobs[Math.min(asked++, jobs.length - 1)] ?? fault(404, "no job"))(request, response, raw);
  };
  return start([script], { dialect });
};

async function attach(answer: unknown, ...jobs: readonly Script[]) {
  const { client, server } = await startWith(`operations: { wait: ${wait} }`, answer, ...jobs);
  return { outcome: await client.attachVolume("v", "m"), asked: server.received.map(({ url }) => url) };
}

test("a write is done when its job is", async () => {
  const { outcome, asked } = await attach(
    { action: { id: 7 } },
    json(200, { status: "running" }),
    json(200, { status: "DONE" }),
  );
  expect(outcome).toMatchObject({ status: "accepted" });
  expect(asked).toEqual(["/api/v1/volume/attach", "/jobs/7", "/jobs/7"]);
});

test("a job that failed is a refusal with its reason", async () => {
  const { outcome } = await attach({ jobid: "j" }, json(200, { status: "errored", reason: "the agent is down" }));
  expect(outcome).toMatchObject({ status: "rejected", message: "the agent is down" });
});

test("an answer without a job is done", async () => {
  expect((await attach({ data: "attached" })).outcome).toMatchObject({ status: "accepted" });
});

test("a job that nobody can follow leaves the write accepted and unseen", async () => {
  const { outcome } = await attach({ jobid: "j" }, fault(404, "no such job"));
  expect(outcome).toMatchObject({ status: "unknown", accepted: true, reason: expect.stringContaining("its job j") });
  expect((await attach({ jobid: "j" }, json(200, {}))).outcome).toMatchObject({ status: "unknown", accepted: true });
});

test("what cannot be right of a job is told", () => {
  const { diagnostics } = readDialectText(
    `operations: { wait: { id: /a, method: GET, path: /jobs, status: /s, done: [ok], failed: [OK] } }`,
    "dialect.yaml",
  );
  expect(diagnostics.map(({ code }) => code)).toEqual(["dialect/placeholder", "dialect/state-twice"]);
});

const operations = `operations: { wait: { id: /id, method: GET, path: "/jobs/{id}", status: /done, done: true, error: /error, message: /error/message } }`;
const ended = { id: "op-1", done: true, error: { code: 9, message: "the volume is busy" } };

test.each([
  ["where refusals have theirs", ""],
  ["where refusals have none", "\nenvelope: { error: { message: /message } }"],
])("a job that is done and shows an error has failed, %s", async (_, envelope) => {
  const { client } = await startWith(operations + envelope, { id: "op-1", done: false }, json(200, ended));
  const outcome = await client.attachVolume("v", "m");
  expect(outcome).toMatchObject({ status: "rejected", message: "the volume is busy" });
});

test.each([
  ["shows its job alone, which has an id and a name as well", { id: "op-1", name: "create-1" }, "unknown"],
  ["is the record by which its job is asked for", { id: "op-1", name: "Data", size: 1 }, "accepted"],
])("an answer to a create that %s", async (_, answer, status) => {
  const { client } = await startWith(operations, answer, json(200, { id: "op-1", done: true, response: {} }));
  expect(await client.createVolume("data", 1)).toMatchObject({ status });
});
