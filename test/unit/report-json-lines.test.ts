/** The lines of --json are what other people's scripts read: keys, order and values to the letter. */
import { describe, expect, it } from "vitest";
import { changeEvents, jsonLine, stepEvent, summaryLine } from "../../reconciler/report/json-lines";
import { everythingWorld, hostilePlan, planFor, pretendRun, quickstartWorld, volume } from "../support/sample-plans";

describe("the summary line", () => {
  it("has the keys of the format in their order", () => {
    const plan = planFor({ desired: [volume("data")] });
    const line = jsonLine(
      summaryLine({
        command: "apply",
        exitCode: 0,
        plan,
        run: pretendRun(plan).run,
        diagnostics: [
          {
            severity: "error",
            code: "plan/stale",
            summary: "no",
            address: "vm.db",
            source: { file: "reconcile.yaml", line: 3 },
          },
        ],
        orphans: [{ kind: "volume", id: "v1", name: "old", reason: "outlived its VM", sizeGb: 20 }],
        durationMs: 812.4,
      }),
    );
    expect(line).toBe(
      '{"type":"summary","command":"apply","ok":true,"exit_code":0,"changes":{"create":1,"update":0,"replace":0,"delete":0,"import":0},"steps":{"done":1,"failed":0,"skipped":0,"waiting":0},"diagnostics":[{"severity":"error","summary":"no","address":"vm.db","file":"reconcile.yaml","line":3,"code":"plan/stale"}],"orphans":[{"kind":"volume","id":"v1","name":"old","reason":"outlived its VM"}],"duration_ms":812,"service":null,"project":null,"environment":null,"state":null,"commit":null,"outputs":{},"findings":[],"unseen":0,"owed":[]}\n',
    );
  });

  it("says where the resource is declared that a refusal or a failed step is about", () => {
    const data = { ...volume("data"), source: { file: "reconcile.yaml", line: 7 } };
    const diagnostics = [
      { severity: "error", code: "apply/failed", summary: "no", address: data.address },
      { severity: "error", code: "plan/stale", summary: "no" },
    ] as const;
    const rest = { command: "apply", exitCode: 1, orphans: [], durationMs: 1 };
    expect(summaryLine({ ...rest, plan: planFor({ desired: [data] }), diagnostics })).toMatchObject({
      diagnostics: [
        { address: "volume.data", file: "reconcile.yaml", line: 7 },
        { address: null, file: null, line: null },
      ],
    });
  });

  it("counts no steps when nothing ran", () => {
    const line = summaryLine({
      command: "plan",
      exitCode: 0,
      plan: planFor(quickstartWorld()),
      diagnostics: [],
      orphans: [],
      durationMs: 1,
    });
    expect(line).toMatchObject({ changes: { create: 7 }, steps: { done: 0, failed: 0, skipped: 0, waiting: 0 } });
  });

  it.each([
    [0, true],
    [1, false],
    [2, true],
    [3, false],
    [4, true],
  ])("with exit code %i is ok: %s", (exitCode, ok) => {
    expect(summaryLine({ command: "apply", exitCode, diagnostics: [], orphans: [], durationMs: 0 })).toMatchObject({
      ok,
    });
  });
});

describe("change and step events", () => {
  it("have one line a resource, with every field's before, after and whether it forces a replacement", () => {
    const events = changeEvents(planFor(everythingWorld())) as { address: string; action: string; fields: object[] }[];
    expect(events.map(({ address, action }) => `${action} ${address}`)).toEqual([
      "replace group.web",
      "replace vm.cache",
      "update vm.db",
      "create vm.new",
      "delete vm.old",
      "update vm.web[a]",
      "update volume.db-data",
      "delete volume.keep",
      "update volume.log-data",
      "delete volume.tmp",
    ]);
    expect(events[1]!.fields).toEqual([
      { field: "region", before: "in-west-1", after: "in-south-2", forces: "replace" },
    ]);
    expect(Object.keys(events[1]!).slice(0, 4)).toEqual(["type", "address", "action", "fields"]);
    expect(events[2]!.fields).toEqual([{ field: "flavor_id", before: "m1.large", after: "m1.xlarge", forces: null }]);
  });

  it("have the keys of the format in their order, and a message only when there is one", () => {
    const event = {
      type: "step",
      status: "failed",
      step: "vm.a/create",
      address: "vm.a",
      operation: "vm.create",
      attempt: 2,
      elapsedMs: 61_200.5,
      title: "create VM a",
    } as const;
    expect(jsonLine(stepEvent(event))).toBe(
      '{"type":"step","status":"failed","step":"vm.a/create","address":"vm.a","operation":"vm.create","attempt":2,"elapsed_ms":61201}\n',
    );
    expect(stepEvent({ ...event, message: "refused" })).toMatchObject({ message: "refused" });
  });

  it("keep hostile values as they are to a reader, and harmless to a terminal", () => {
    const plan = hostilePlan(planFor(everythingWorld()));
    for (const event of changeEvents(plan)) {
      const line = jsonLine(event);
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
      expect(JSON.parse(line)).toEqual(event);
    }
  });
});
