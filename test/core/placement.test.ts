/** What becomes of a volume on its VM, as a table: one row a case. */
import { describe, expect, it } from "vitest";
import { type Becomes, consequences, type Host, placementOf, type Whereabouts } from "../../reconciler/kinds/placement";

const web = { address: "vm.web", id: "id-web" };
const renewedWeb = { address: "vm.web" };
const onWeb: Host = { id: "id-web", address: "vm.web", goes: false };
const onGoingWeb: Host = { ...onWeb, goes: true };
const onDb: Host = { id: "id-db", address: "vm.db", goes: false };
const onGoingDb: Host = { ...onDb, goes: true };
const onStranger: Host = { id: "id-stranger", goes: false };

const row = (facts: Partial<Whereabouts>): Whereabouts => ({
  isTargetRenewed: false,
  isOurs: false,
  isIgnored: false,
  ...facts,
});

const table: readonly [what: string, facts: Whereabouts, becomes: Becomes, target?: Whereabouts["target"]][] = [
  ["on no VM, and none is asked for", row({}), "stays"],
  ["on the VM that is asked for", row({ host: onWeb, target: web, isOurs: true }), "stays", web],
  ["on the VM that is asked for by its id", row({ host: onWeb, target: { id: "id-web" } }), "stays", { id: "id-web" }],
  ["attached by hand, and no VM is asked for", row({ host: onDb }), "stays"],
  [
    "elsewhere, and attach_to is ignored",
    row({ host: onDb, target: web, isOurs: true, isIgnored: true }),
    "stays",
    web,
  ],
  ["ours, not asked for, and attach_to is ignored", row({ host: onDb, isOurs: true, isIgnored: true }), "stays"],

  ["on no VM, and one is asked for", row({ target: web }), "attached", web],
  [
    "on no VM, and a VM that is created is asked for",
    row({ target: renewedWeb, isTargetRenewed: true }),
    "attached",
    renewedWeb,
  ],
  [
    "hung on another VM that is gone",
    row({ formerHost: onDb, target: renewedWeb, isTargetRenewed: true }),
    "attached",
    renewedWeb,
  ],
  [
    "hung on the VM that is gone and is created again",
    row({ formerHost: onWeb, target: renewedWeb, isTargetRenewed: true }),
    "reattached",
    renewedWeb,
  ],
  [
    "hung on a VM that no address manages any more",
    row({ formerHost: onStranger, target: renewedWeb, isTargetRenewed: true }),
    "reattached",
    renewedWeb,
  ],
  ["taken off by hand, and its VM stays", row({ formerHost: onWeb, target: web }), "attached", web],

  ["ours, and no VM is asked for any more", row({ host: onWeb, isOurs: true }), "detached"],
  ["ours, not asked for, and its VM goes", row({ host: onGoingWeb, isOurs: true }), "detached"],

  ["on another VM", row({ host: onDb, target: web, isOurs: true }), "moved", web],
  ["put on another VM by hand", row({ host: onDb, target: web }), "moved", web],
  ["on another VM that goes", row({ host: onGoingDb, target: web, isOurs: true }), "moved", web],
  [
    "on another VM, and the VM that is asked for is created",
    row({ host: onDb, target: renewedWeb, isTargetRenewed: true, isOurs: true }),
    "moved",
    renewedWeb,
  ],

  [
    "on the VM that is replaced",
    row({ host: onGoingWeb, target: renewedWeb, isTargetRenewed: true, isOurs: true }),
    "follows",
    renewedWeb,
  ],
  [
    "on a VM that no address manages, and the VM that is asked for is created",
    row({ host: onStranger, target: renewedWeb, isTargetRenewed: true }),
    "follows",
    renewedWeb,
  ],

  ["attached by hand to a VM that goes", row({ host: onGoingDb }), "uprooted"],
  [
    "attach_to is ignored, and its VM goes",
    row({ host: onGoingDb, target: web, isOurs: true, isIgnored: true }),
    "uprooted",
  ],
  [
    "asked for by the id of a VM that goes",
    row({ host: onGoingDb, target: { id: "id-db" }, isOurs: true }),
    "uprooted",
  ],
  [
    "attach_to is ignored, and its VM is replaced",
    row({ host: onGoingWeb, target: renewedWeb, isTargetRenewed: true, isOurs: true, isIgnored: true }),
    "replanted",
    renewedWeb,
  ],
];

describe("what becomes of a volume on its VM", () => {
  it.each(table)("%s", (_what, facts, becomes, target) => {
    expect(placementOf(facts)).toEqual({ becomes, ...(target === undefined ? {} : { target }) });
  });

  it("the table has every answer", () => {
    expect(new Set(table.map(([, , becomes]) => becomes))).toEqual(new Set(Object.keys(consequences)));
  });

  it("a volume that is detached or uprooted has no VM afterwards, every other that is touched has one", () => {
    for (const [what, facts] of table) {
      const { becomes, target } = placementOf(facts);
      const { verb } = consequences[becomes];
      if (verb !== undefined) expect(target === undefined, what).toBe(verb === "detach");
    }
  });

  it("a volume stays on a VM that goes in no case", () => {
    for (const isOurs of [true, false])
      for (const isIgnored of [true, false])
        for (const target of [undefined, web, renewedWeb, { id: "id-web" }, { id: "id-other" }])
          for (const isTargetRenewed of [true, false])
            expect(placementOf({ host: onGoingWeb, target, isTargetRenewed, isOurs, isIgnored }).becomes).not.toBe(
              "stays",
            );
  });
});
