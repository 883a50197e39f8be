/** Records that show flavor and image as names, or not at all, beside a file that writes ids: plans end, and nothing is wiped for a name. */
import { describe, expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { desiredOf, projectOf } from "../support/bench-world";
import { type Capabilities, virtualWorld } from "../support/virtual-world";

const image = (n: number) => `00000000-0000-4000-8003-00000000000${n}`;
const flavor = (n: number) => `00000000-0000-4000-8002-00000000000${n}`;
const file = (image_id: string, flavor_id: string) =>
  desiredOf(
    JSON.stringify({
      version: 1,
      project: "acme",
      region: "in-west-1",
      vms: { web: { owner: "ops@acme.example", user_id: "1042", size: 10, image_id, flavor_id } },
    }),
  );
const names: Record<string, string> = {
  [image(1)]: "ubuntu-24.04",
  [image(3)]: "debian-12",
  [flavor(1)]: "m1.small",
  [flavor(3)]: "m1.large",
};
const byName = (vm: LiveVm): LiveVm => ({ ...vm, image: names[vm.image!]!, flavor: names[vm.flavor!]! });
const withoutEither = ({ image: _, flavor: __, ...vm }: LiveVm): LiveVm => vm;

/** A service whose records are `shown` like this, and which confirms a resize by itself where it is said so. */
function stageOf(service: Capabilities, shown: (vm: LiveVm) => LiveVm, confirmsByItself: boolean) {
  const stage = virtualWorld(service);
  const { client, emulated } = stage;
  const list = client.listVms.bind(client);
  const listVms = async (): Promise<Outcome<readonly LiveVm[]>> => {
    const listed = await list();
    if (listed.status !== "accepted") return listed;
    const waits = listed.value.filter((vm) => confirmsByItself && vm.phase === "verify_resize");
    for (const { id } of waits) emulated.call("vm.resize.confirm", undefined, { id });
    return waits.length > 0 ? listVms() : { ...listed, value: listed.value.map(shown) };
  };
  client.listVms = listVms;
  return stage;
}

describe("what no list has", () => {
  const unchecked = async (without: readonly string[]) => {
    const stage = stageOf({ without }, byName, false);
    const told = async () =>
      (await stage.plan(file(image(1), flavor(1)))).plan.diagnostics.flatMap(({ code, summary }) =>
        code === "plan/names-unchecked" ? [summary] : [],
      );
    const before = await told();
    await stage.apply(await stage.plan(file(image(1), flavor(1))));
    return [before, await told()];
  };
  it("is not checked before a VM is created, and the plan says so", async () => {
    const summary =
      "this service has no list of flavors, regions: nothing checks what a new VM names of them before it is created";
    expect(await unchecked(["flavor.list", "region.list"])).toEqual([[summary], []]);
    expect(await unchecked([])).toEqual([[], []]);
  });
});

describe("an image and a flavor that the records do not show by id", () => {
  const unlisted = { without: ["image.list", "flavor.list"] };
  it.each([
    ["names, with lists to look them up in", {}, byName, false],
    ["names, and no list", unlisted, byName, false],
    ["names, no list, and the service confirms resizes by itself", unlisted, byName, true],
    ["neither", unlisted, withoutEither, false],
    ["neither, and the service confirms resizes by itself", unlisted, withoutEither, true],
  ] as const)(
    "%s: one rebuild and one resize, done when they are, and then nothing",
    async (_, service, shown, confirms) => {
      const stage = stageOf(service, shown, confirms);
      const steps: string[] = [];
      for (const desired of [file(image(1), flavor(1)), file(image(3), flavor(3))]) {
        const report = await stage.apply(await stage.plan(desired));
        for (const { step, result } of report?.steps ?? []) steps.push(`${step.id} ${result.end}`);
        expect(hasNothingToDo((await stage.plan(desired)).plan)).toBe(true);
      }
      expect(steps.sort()).toEqual([
        "vm.web/confirm done",
        "vm.web/create done",
        "vm.web/rebuild done",
        "vm.web/resize done",
      ]);
      expect([...stage.emulated.world.tables.vm.values()]).toMatchObject([
        { root_wipes: 1, image_id: image(3), flavor_id: flavor(3) },
      ]);
    },
  );
});

it("an attach that the VM's record shows and the volume's does not says where the dialect can put that right", async () => {
  const stage = virtualWorld({ with: ["vm.get"] });
  const { client } = stage;
  const read = client.getVolume.bind(client);
  client.getVolume = async (id, options) => {
    const seen = await read(id, options);
    return seen.status === "accepted" ? accepted({ ...seen.value, attachedTo: null }) : seen;
  };
  const report = await stage.apply(
    await stage.plan(projectOf({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web" } } })),
  );
  expect(report?.steps.find(({ step }) => step.id === "volume.data/attach")?.result).toMatchObject({
    end: "failed",
    message: expect.stringMatching(
      /the record of VM \S+ names the volume, and the volume's own record does not say so$/,
    ),
    fix: expect.stringContaining("in the dialect: records.volume.attached_to"),
  });
});
