/** What to do about a step is data within the engine, and a text for whoever reads the report of a run. */
import { expect, it } from "vitest";
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
