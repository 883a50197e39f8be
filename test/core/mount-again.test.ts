/** Which volumes have to be mounted after a run, and what is said of them, as a table of what the run did. */
import { expect, it } from "vitest";
import type { DesiredResource } from "../../reconciler/core/model/desired";
import { addressesByIdentity, lookUpIn } from "../../reconciler/core/model/identity";
import type { RecordedResource } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import { remountDiagnostic, remounts } from "../../reconciler/kinds/volume/mount-again";
import { vm, volume } from "../support/sample-plans";

const records = [
  { kind: "vm", address: "vm.web", id: "w", dataVolumeId: "wd", sizeGb: 20 },
  { kind: "vm", address: "vm.off", id: "o", dataVolumeId: "od", dataVolumeDetached: true },
  { kind: "volume", address: "volume.data", id: "d", attachedTo: "w", sizeGb: 5 },
  { kind: "volume", address: "volume.away", id: "a", attachedTo: "stranger" },
  { kind: "volume", address: "volume.spare", id: "s", sizeGb: 5 },
] as unknown as readonly RecordedResource[];
const step = (address: string, operation: string) =>
  ({
    id: `${address}/${operation}`,
    address,
    action: { operation, vm: { id: address === "volume.spare" ? "w" : "x" } },
  }) as unknown as Step;
const afterAttach = {} as NonNullable<ReturnType<typeof volume>["afterAttach"]>;
const resources = new Map(records.map((record) => [record.address, record]));

it.each<[what: string, done: readonly [string, string][], desired: DesiredResource | undefined, says: string[]]>([
  [
    "attached",
    [["volume.data", "volume.attach"]],
    volume("data"),
    ["volume.data (d, 5 GB) hangs on vm.web: it has to be mounted there"],
  ],
  [
    "grown",
    [["volume.data", "volume.resize"]],
    undefined,
    ["volume.data (d, 5 GB) hangs on vm.web: it has to be mounted there, and its filesystem still has its old size"],
  ],
  [
    "taken off, grown and put back",
    [
      ["volume.data", "volume.detach"],
      ["volume.data", "volume.resize"],
      ["volume.data", "volume.attach"],
    ],
    undefined,
    ["volume.data (d, 5 GB) hangs on vm.web: it has to be mounted there, and its filesystem still has its old size"],
  ],
  [
    "grown, the data volume of a VM",
    [["vm.web", "volume.resize"]],
    vm("web"),
    [
      "the data volume of vm.web (wd, 20 GB) hangs on it: it has to be mounted there, and its filesystem still has its old size",
    ],
  ],
  [
    "attached to a VM of somebody else",
    [["volume.away", "volume.attach"]],
    undefined,
    ["volume.away (a) hangs on stranger: it has to be mounted there"],
  ],
  [
    "grown and put back where somebody had attached it by hand",
    [
      ["volume.spare", "volume.resize"],
      ["volume.spare", "volume.attach"],
    ],
    undefined,
    ["volume.spare (s, 5 GB) hangs on vm.web: it has to be mounted there, and its filesystem still has its old size"],
  ],
  [
    "flushed, and it did not come off",
    [["volume.data", "flush"]],
    undefined,
    ["volume.data (d, 5 GB) hangs on vm.web: it has to be mounted there"],
  ],
  [
    "flushed, and it did not come off, the data volume of a VM",
    [["vm.web", "flush"]],
    undefined,
    ["the data volume of vm.web (wd, 20 GB) hangs on it: it has to be mounted there"],
  ],
  [
    "flushed and taken off, and it was not put back",
    [
      ["volume.spare", "flush"],
      ["volume.spare", "volume.detach"],
      ["vm.off", "flush"],
      ["vm.off", "volume.detach"],
    ],
    undefined,
    [],
  ],
  ["taken off", [["volume.data", "volume.detach"]], undefined, []],
  ["grown, and it hangs nowhere", [["volume.spare", "volume.resize"]], undefined, []],
  ["unknown to the state", [["volume.gone", "volume.attach"]], undefined, []],
  [
    "made, for a new volume is empty",
    [
      ["volume.data", "volume.create"],
      ["volume.data", "volume.attach"],
    ],
    undefined,
    [],
  ],
  ["attached, with a command that mounts it", [["volume.data", "volume.attach"]], volume("data", { afterAttach }), []],
  [
    "flushed, with a command that mounts it where it hangs",
    [["volume.data", "flush"]],
    volume("data", { afterAttach, attachTo: { address: "vm.web" } }),
    [],
  ],
  [
    "flushed, with a command that mounts it where it hangs, by an id",
    [["volume.data", "flush"]],
    volume("data", { afterAttach, attachTo: { id: "w" } }),
    [],
  ],
  [
    "flushed, the data volume of a VM, with a command that mounts it",
    [["vm.web", "flush"]],
    vm("web", { afterAttach }),
    [],
  ],
  [
    "flushed, and it did not come off, with a command for another VM",
    [["volume.data", "flush"]],
    volume("data", { afterAttach, attachTo: { address: "vm.off" } }),
    ["volume.data (d, 5 GB) hangs on vm.web: it has to be mounted there"],
  ],
  [
    "flushed and moved, with a command for the other VM",
    [
      ["volume.data", "flush"],
      ["volume.data", "volume.attach"],
    ],
    volume("data", { afterAttach, attachTo: { address: "vm.off" } }),
    [],
  ],
])("%s", (_what, done, desired, says) => {
  const steps = done.map(([address, operation]) => step(address, operation));
  const found = remounts(steps, resources, () => desired, lookUpIn(addressesByIdentity(records)));
  expect(found.map((one) => remountDiagnostic(one).summary)).toEqual(says);
});
