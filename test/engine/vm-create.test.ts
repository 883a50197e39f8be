/** A VM that is to be made: which lists its names are looked up in, and what is offered when it fails to be built. */
import { expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import type { Intent, RecordedVm } from "../../reconciler/core/model/recorded";
import { emptyState } from "../../reconciler/core/state/fold";
import { readCatalogue } from "../../reconciler/engine/observe-catalogue";
import { projectOf, startBenchWorld } from "../support/bench-world";
import { vm } from "../support/sample-plans";

const image = "00000000-0000-4000-8000-000000000001";
const web = vm("web", { image });
const { address, flavor, region } = web;
const recorded = { kind: "vm", address, id: "1", flavor, image, region } as RecordedVm;
const live: LiveVm = { kind: "vm", id: "1", name: "web", phase: "running", flavor, image };
const intent = { step: "vm.db/create", address: "vm.db", operation: "vm.create", name: "db" } as Intent;

interface Row {
  readonly file?: Desired["resources"];
  readonly state?: RecordedVm;
  readonly open?: readonly Intent[];
  readonly shown?: LiveVm;
  /** The VMs could not be listed. */
  readonly unlisted?: true;
}

it.each<[what: string, Row, asked: string]>([
  ["as it is", { state: recorded, shown: live }, ""],
  ["not there yet", {}, "flavors images regions"],
  ["not in the list any more", { state: recorded }, "flavors images regions"],
  ["not looked at", { state: recorded, unlisted: true }, ""],
  ["failed", { state: recorded, shown: { ...live, phase: "failed" } }, "flavors images regions"],
  ["of another flavor", { state: recorded, shown: { ...live, flavor: "m1.large" } }, "flavors"],
  ["of an image by its name", { file: [vm("web", { image: "debian" })], state: recorded, shown: live }, "images"],
  ["of an image that shows its name", { state: recorded, shown: { ...live, image: "debian" } }, "images"],
  ["of another region", { state: { ...recorded, region: "elsewhere" }, shown: live }, "flavors images regions"],
  ["as it is, beside another's open create", { state: recorded, shown: live, open: [intent] }, "flavors images"],
])("a VM %s", async (_, { file = [web], state, open = [], shown, unlisted }, asked) => {
  const heard: string[] = [];
  const list = (what: string) => async () => {
    heard.push(what);
    return accepted([]);
  };
  await readCatalogue(
    { flavors: list("flavors"), images: list("images"), regions: list("regions") },
    { service: { timing: {} }, resources: file, imports: [], moved: [], removed: [], files: [] },
    {
      ...emptyState("0123456789abcdef"),
      resources: new Map(state && [[address, state]]),
      intents: new Map(open.map((one) => [one.address, one])),
    },
    { listed: unlisted !== true, byId: new Map(shown && [["1", { seen: "yes", value: shown }]]) },
    [],
  );
  expect(heard.join(" ")).toBe(asked);
});

it("a VM that failed while it was built is offered its replacement", async () => {
  const world = await startBenchWorld();
  try {
    await world.control("POST", "/faults", { kind: "vm-fails", operation: "vm.create", count: 1 });
    const { report } = await world.apply(projectOf({ vms: { web: {} } }));
    expect(report?.steps.map(({ result }) => result)).toEqual([
      expect.objectContaining({
        ...{ end: "failed", code: "apply/vm-failed" },
        fix: expect.stringContaining("reconcile apply --replace vm.web"),
      }),
    ]);
  } finally {
    await world.close();
  }
});
