// Writes the state that an apply of a file would have left, without any service: a plan made from it has nothing to do.
// It is written by the product's own functions, so that it cannot drift from the format. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const { readDesired } = require("../dist/reconciler/config/read/desired.js");
const { vmRecord, volumeRecord, groupRecord } = require("../dist/reconciler/core/plan/records.js");
const { writeSnapshot } = require("../dist/reconciler/core/state/text.js");
const { emptyState } = require("../dist/reconciler/core/state/fold.js");

const blocks = { vm: "1", volume: "2", group: "3" };

export function prepareState(folder) {
  const text = readFileSync(join(folder, "reconcile.yaml"), "utf8");
  const { desired } = readDesired([{ file: "reconcile.yaml", text }]);
  const ids = new Map(
    desired.resources.map(({ kind, address }, n) => [
      address,
      `00000000-0000-4000-9${blocks[kind]}00-${String(n).padStart(12, "0")}`,
    ]),
  );
  const idOf = (reference) => ("id" in reference ? reference.id : ids.get(reference.address));
  const recordOf = {
    vm: (vm) => ({ ...vmRecord(vm, vm.image), id: idOf(vm) }),
    volume: (volume) => ({
      ...volumeRecord(volume),
      id: idOf(volume),
      ...(volume.attachTo === undefined ? {} : { attachedTo: idOf(volume.attachTo) }),
    }),
    group: (group) => ({ ...groupRecord(group, idOf, []), id: idOf(group) }),
  };
  const resources = new Map(desired.resources.map((one) => [one.address, recordOf[one.kind](one)]));
  const state = { ...emptyState("00000000-0000-4000-9000-000000000000"), serial: resources.size, resources };
  writeFileSync(join(folder, "reconcile.state.json"), writeSnapshot(state), { mode: 0o600 });
}
