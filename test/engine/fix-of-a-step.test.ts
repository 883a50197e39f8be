/** What to do about a step is data within the engine, and a text for whoever reads the report of a run. */
import { expect, it } from "vitest";
import { orphanKey } from "../../reconciler/core/model/recorded";
import { projectOf } from "../support/bench-world";
import { virtualWorld } from "../support/virtual-world";

it("the fix of a step that failed is a text, with its parts beside it", async () => {
  const stage = virtualWorld({ with: ["group.list"] });
  stage.client.createGroup = async () => ({ status: "rejected", condition: "name_taken", message: "web exists" });
  const report = await stage.apply(await stage.plan(projectOf({ groups: { web: {} } })));
  expect(report?.steps.map(({ result }) => result)).toMatchObject([
    {
      end: "failed",
      fix: expect.stringContaining("reconcile import group.web ID"),
      fixParts: [{ run: {} }, { ask: "another name" }],
    },
  ]);
});

it("a name that an orphan of the project has is told with its id", async () => {
  const stage = virtualWorld({ with: [] });
  const orphan = { kind: "group", id: "g-7", name: "Web", reason: "nobody can see it" } as const;
  await stage.record([{ type: "orphan", key: orphanKey(orphan), orphan }]);
  stage.client.createGroup = async () => ({ status: "rejected", condition: "conflict", message: "web exists" });
  const report = await stage.apply(await stage.plan(projectOf({ groups: { web: {} } })));
  expect(report?.steps.map(({ result }) => ("fix" in result ? result.fix : undefined))).toEqual([
    "reconcile import group.web g-7 (the orphan Web: nobody can see it), or another name",
  ]);
});
