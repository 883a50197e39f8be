import { describe, expect, test } from "vitest";
import { type Abilities, abilitiesOf } from "../../reconciler/core/model/abilities";
import {
  assumedOperations,
  documentedOperations,
  idsInPath,
  listOperations,
  type Operation,
  operationNames,
  rowOf,
} from "../../reconciler/core/model/operation";

const everything = (): boolean => true;
const without =
  (...lacking: Operation[]) =>
  (operation: Operation): boolean =>
    !lacking.includes(operation);
const all = ["vm", "volume", "group"] as const;

const shown = ({ canFindCreated, readsOne, sees, deletes, ...rest }: Abilities) => ({
  ...rest,
  finds: all.filter((kind) => canFindCreated(kind)),
  reads: all.filter((kind) => readsOne(kind)),
  sees: all.filter((kind) => sees(kind)),
  deletes: all.filter((kind) => deletes(kind)),
});

describe("the table of operations", () => {
  test("what is documented and what is assumed make the whole, and nothing is both", () => {
    expect([...documentedOperations, ...assumedOperations].sort()).toEqual([...operationNames].sort());
    expect(documentedOperations).toHaveLength(20);
  });

  test("a list is a read without an id, and says where its array is", () => {
    for (const operation of listOperations) {
      expect([rowOf(operation).kind, idsInPath(operation)]).toEqual(["read", []]);
      expect(rowOf(operation).items?.length).toBeGreaterThan(0);
    }
  });

  test("reads are GET, deletes are DELETE, and no two operations are one request", () => {
    for (const operation of operationNames) {
      const { kind, method } = rowOf(operation);
      expect([operation, kind === "read", kind === "delete"]).toEqual([
        operation,
        method === "GET",
        method === "DELETE",
      ]);
    }
    const requests = operationNames.map((operation) => `${rowOf(operation).method} ${rowOf(operation).path}`);
    expect(new Set(requests).size).toBe(operationNames.length);
  });

  test("every place where else an operation is found carries the same ids", () => {
    for (const operation of operationNames)
      for (const path of rowOf(operation).alsoAt ?? [])
        expect([operation, path.match(/\{\w+\}/g) ?? []]).toEqual([
          operation,
          idsInPath(operation).map((name) => `{${name}}`),
        ]);
  });
});

describe("abilities", () => {
  test("with everything", () => {
    expect(shown(abilitiesOf(everything))).toEqual({
      seesVms: "list",
      readsOneVm: true,
      seesVolumes: "list",
      seesGroups: "list",
      readsOneGroup: true,
      confirmsResize: true,
      revertsResize: true,
      deletesVolumes: true,
      deletesRules: true,
      listsFlavors: true,
      listsImages: true,
      listsRegions: true,
      keepsNamedGroups: false,
      finds: ["vm", "volume", "group"],
      reads: ["vm", "volume", "group"],
      sees: ["vm", "volume", "group"],
      deletes: ["vm", "volume", "group"],
    });
  });

  test.each([
    [["vm.list"], { seesVms: "each", finds: ["volume", "group"] }],
    [
      ["vm.list", "vm.get"],
      { seesVms: "never", readsOneVm: false, finds: ["volume", "group"], sees: ["volume", "group"] },
    ],
    [["vm.get"], { seesVms: "list", readsOneVm: false }],
    [["volume.list"], { seesVolumes: "each", finds: ["vm", "group"] }],
    [["group.list"], { seesGroups: "each", finds: ["vm", "volume"] }],
    [["group.get"], { seesGroups: "list", readsOneGroup: false }],
    // Its rules can still be read.
    [["group.list", "group.get"], { seesGroups: "rules", finds: ["vm", "volume"], sees: ["vm", "volume", "group"] }],
    [["vm.resize.confirm"], { confirmsResize: false, revertsResize: true }],
    [["vm.resize.revert"], { confirmsResize: true, revertsResize: false }],
    [["volume.delete"], { deletesVolumes: false, deletes: ["vm", "group"] }],
    [["group.rule.delete"], { deletesRules: false }],
    [["flavor.list"], { listsFlavors: false, listsImages: true }],
  ] as const)("without %s", (lacking, expected) => {
    expect(shown(abilitiesOf(without(...lacking)))).toMatchObject(expected);
  });
});
