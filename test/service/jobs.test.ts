/** The job of an accepted write: waited for, refused with its reason when it failed, and lost when nobody can follow it. */
import { expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { start } from "./make-client";
import { fault, json, type Script } from "./scripted-server";

const wait = `{ id: [/action/id, /jobid], method: GET, path: "/jobs/{id}", status: /status, done: [done], failed: errored, message: /reason }`;

async function attach(answer: unknown, ...jobs: readonly Script[]) {
  const { dialect, diagnostics } = readDialectText(`operations: { wait: ${wait} }`, "dialect.yaml");
  expect(diagnostics).toEqual([]);
  let asked = 0;
  const script: Script = (request, response, raw) => {
    if (!request.url.startsWith("/jobs/")) return json(202, answer)(request, response, raw);
    return (jobs[Math.min(asked++, jobs.length - 1)] ?? fault(404, "no job"))(request, response, raw);
  };
  const { client, server } = await start([script], { dialect });
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
