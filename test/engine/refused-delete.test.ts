/** A delete is noted before it is sent. What was refused is no delete under way; what may have arrived stays one. */
import { expect, it } from "vitest";
import type { Outcome } from "../../reconciler/core/model/outcome";
import { fieldsIn } from "../../reconciler/core/text/objects";
import { projectOf } from "../support/bench-world";
import { virtualWorld } from "../support/virtual-world";

const refused: Outcome<never> = {
  status: "rejected",
  condition: "conflict",
  message: "a snapshot of it is being made",
};
const lost: Outcome<never> = { status: "unknown", reason: "the connection was lost" };

it.each([
  ["a delete that was refused", refused, undefined],
  ["a delete whose answer was lost", lost, true],
] as const)("%s", async (_, answer, deleting) => {
  const stage = virtualWorld({ with: ["volume.list", "volume.delete"] });
  await stage.apply(await stage.plan(projectOf({ volumes: { data: { size: 5 } } })));
  stage.client.deleteVolume = async () => answer;
  const plan = await stage.plan(projectOf({}));
  await stage.apply(plan);
  const { state } = await stage.plan(projectOf({}));
  expect(fieldsIn(state.resources.get("volume.data"))["deleting"]).toBe(deleting);
});
