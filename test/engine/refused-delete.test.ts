/** A delete is noted before it is sent. What was refused is no delete under way; what may have arrived stays one. */
import { expect, it } from "vitest";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import type { RecordedVm } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import { fieldsIn } from "../../reconciler/core/text/objects";
import { missingInstead, noteDeleting } from "../../reconciler/engine/record-step";
import { projectOf } from "../support/bench-world";
import { loneRun, stepAt, virtualWorld } from "../support/virtual-world";

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

it("is not noted at a VM that has the number of the volume that goes with it", async () => {
  const web: RecordedVm = {
    kind: "vm",
    address: "vm.web",
    id: "106",
    name: "web",
    deleting: true,
    preventDestroy: false,
    onDelete: { snapshot: false, preservedVolumes: "delete" },
  };
  const { run, recorder } = await loneRun({ records: [web] });
  const step: Step = {
    ...stepAt("vm.web", "delete-volume"),
    action: { operation: "volume.delete", volume: { id: "106" } },
  };
  const sentBefore = await noteDeleting(step, "106", run, true);
  await noteDeleting(step, "106", run, undefined);
  expect(sentBefore).toBe(false);
  expect(recorder.state.resources.get("vm.web")).toEqual(web);
  const notFound: Outcome<never> = { status: "rejected", condition: "not_found", message: "no such volume" };
  expect(missingInstead(step, "106", run, notFound, sentBefore)).toEqual([]);
});

it.each<readonly [what: string, answer: Outcome<void>, says: string | undefined]>([
  ["is gone where the service accepted it", accepted(undefined), undefined],
  [
    "is missing where the service did not find it",
    { status: "rejected", condition: "not_found", message: "no such volume" },
    "its delete was answered with not-found, and no look had shown it before",
  ],
  [
    "is missing where the answer was lost and nothing finds it",
    lost,
    "its delete was not answered, nothing finds it, and no look had shown it before",
  ],
])("what no look had shown, and no look shows after its delete, %s", async (_, answer, says) => {
  const stage = virtualWorld({ with: ["volume.list", "volume.delete"] });
  await stage.apply(await stage.plan(projectOf({ volumes: { data: { size: 5 } } })));
  const plan = await stage.plan(projectOf({}), {}, false);
  stage.client.deleteVolume = async () => answer;
  stage.client.getVolume = async () => ({ status: "rejected", condition: "not_found", message: "no such volume" });
  await stage.apply(plan);
  const { state } = await stage.plan(projectOf({}), {}, false);
  expect(state.resources.size).toBe(0);
  expect([...state.orphans.values()].map(({ reason }) => reason.replace(/^.*; /, ""))).toEqual(
    says === undefined ? [] : [says],
  );
});
