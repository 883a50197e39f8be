/** Whether something that bears the name of an open create is what that create made: what agrees, what differs. */
import { describe, expect, it } from "vitest";
import { indexCatalogue } from "../../reconciler/core/canonical/catalogue";
import { compareMade, judgeMade, type Made, type NameIndexes } from "../../reconciler/core/diff/evidence";
import type { Intent } from "../../reconciler/core/model/recorded";
import { group, rule, vm, volume } from "../support/sample-plans";

const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const lookup: NameIndexes = {
  flavors: indexCatalogue([
    { id: uuid(1), name: "m1.small" },
    { id: uuid(2), name: "m1.large" },
  ]),
  images: undefined,
  volumeSize: (id) => (id === "disk" ? 20 : undefined),
};
const liveVm = (more: object): Made => ({
  kind: "vm",
  id: "x",
  name: "web",
  status: "ACTIVE",
  phase: "running",
  ...more,
});
const liveVolume = (more: object): Made => ({ kind: "volume", id: "x", name: "data", failed: false, ...more });
const liveGroup = (more: object): Made => ({ kind: "group", id: "x", name: "front", ...more });
const open80 = { id: "r", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 80, portMax: 80 };
const leaves = { id: "e", direction: "egress", ethertype: "IPv4", platform: true };
const sent = {
  vm: vm("web"),
  volume: volume("data"),
  group: group("front", { description: "first", rules: [rule(80)] }),
};

describe("what is shown against what was sent", () => {
  it.each<[what: string, kind: keyof typeof sent, live: Made, agrees: readonly string[], differs: readonly string[]]>([
    ["a name alone says nothing", "vm", liveVm({}), [], []],
    ["the flavor's id is the flavor's name", "vm", liveVm({ flavor: uuid(1) }), ["flavor"], []],
    ["another flavor", "vm", liveVm({ flavor: uuid(2) }), [], [`its flavor is ${uuid(2)}, not m1.small`]],
    ["a flavor that no list has says nothing", "vm", liveVm({ flavor: uuid(9) }), [], []],
    ["an owner in other letters", "vm", liveVm({ owner: "OPS@acme.example" }), ["owner"], []],
    ["a username where an e-mail was sent says nothing", "vm", liveVm({ owner: "ops" }), [], []],
    [
      "another owner",
      "vm",
      liveVm({ owner: "dev@acme.example" }),
      [],
      ["its owner is dev@acme.example, not ops@acme.example"],
    ],
    [
      "the one data volume beside the root disk",
      "vm",
      liveVm({
        volumes: [
          { id: "root", root: true },
          { id: "disk", root: false },
        ],
      }),
      ["data volume"],
      [],
    ],
    [
      "disks of which none is told to be the root say nothing",
      "vm",
      liveVm({ volumes: [{ id: "root" }, { id: "disk" }] }),
      [],
      [],
    ],
    ["a volume of the size", "volume", liveVolume({ sizeGb: 100 }), ["size"], []],
    ["a volume of another size", "volume", liveVolume({ sizeGb: 20 }), [], ["its size is 20 GB, not 100 GB"]],
    ["a volume that hangs somewhere", "volume", liveVolume({ attachedTo: "vm-1" }), [], ["it is attached to vm-1"]],
    ["a volume that hangs nowhere says nothing by that", "volume", liveVolume({ attachedTo: null }), [], []],
    [
      "the description and the rules",
      "group",
      liveGroup({ description: "first", rules: [open80, leaves] }),
      ["description", "rules"],
      [],
    ],
    [
      "another description",
      "group",
      liveGroup({ description: "second" }),
      [],
      ['its description is "second", not "first"'],
    ],
    [
      "a rule is missing",
      "group",
      liveGroup({ rules: [] }),
      [],
      ["it lacks the rule ingress tcp 80 from anywhere (IPv4)"],
    ],
    [
      "a rule more",
      "group",
      liveGroup({ rules: [open80, { ...open80, portMin: 22, portMax: 22 }] }),
      [],
      ["it has the rule ingress tcp 22 from anywhere (IPv4)"],
    ],
  ])("%s", (_, kind, live, agrees, differs) => {
    expect(compareMade(sent[kind], live, lookup)).toEqual({ agrees, differs });
  });
});

describe("whose it is", () => {
  const intent = (more: Partial<Intent> = {}): Intent => ({
    step: "volume.data/create",
    address: "volume.data",
    operation: "volume.create",
    name: "data",
    sentAt: "2026-01-01T00:00:00Z",
    idsBefore: [],
    ...more,
  });
  it.each<[what: string, intent: Intent, live: Made, whose: string]>([
    ["agrees in something, differs in nothing", intent(), liveVolume({ sizeGb: 100 }), "ours"],
    ["differs in anything", intent(), liveVolume({ sizeGb: 20 }), "strangers"],
    [
      "differs in anything, although the create was accepted",
      intent({ accepted: true }),
      liveVolume({ sizeGb: 20 }),
      "strangers",
    ],
    ["only the name, and the create was accepted", intent({ accepted: true }), liveVolume({}), "ours"],
    ["only the name, and nobody knows whether it arrived", intent(), liveVolume({}), "doubtful"],
  ])("%s", (_, open, live, whose) => {
    const judged = judgeMade(open, [live], lookup, sent.volume);
    expect(Object.entries(judged).flatMap(([which, list]) => (list.length > 0 ? [which] : []))).toEqual([whose]);
  });

  it("what the intent remembers of what it sent comes before what the file says by now", () => {
    const { lifecycle: _, source: __, ...rest } = sent.volume;
    const record = { ...rest, sizeGb: 20, preventDestroy: false };
    expect(
      judgeMade(intent({ record: record as never }), [liveVolume({ sizeGb: 20 })], lookup, sent.volume).ours,
    ).toHaveLength(1);
  });
});
