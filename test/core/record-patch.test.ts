/** What steps write of one record: in either order the same, into the record as it is by then, and never a whole one. */
import { describe, expect, it } from "vitest";
import type { RecordedGroup, RecordedResource } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import { type StepChange, writtenChanges } from "../../reconciler/core/plan/record-patch";

const rule = (port: number): Rule => ({
  direction: "ingress",
  ethertype: "IPv4",
  protocol: "tcp",
  ports: { min: port, max: port },
  remote: { kind: "any" },
});
const key = (port: number): string => `ingress IPv4 tcp ${port}-${port} any`;

const group: RecordedGroup = {
  kind: "group",
  address: "group.web",
  id: "g1",
  name: "web",
  rules: [rule(80)],
  platformRules: [],
  preventDestroy: false,
  retired: [
    { id: "old1", name: "web-old" },
    { id: "old2", name: "web-older" },
  ],
};
const patch = (more: object): StepChange => ({ type: "patch", address: "group.web", ...more });

const left = (record: RecordedResource | undefined, ...changes: readonly StepChange[]): RecordedResource | null => {
  const resources = new Map(record === undefined ? [] : [[record.address, record]]);
  let last: RecordedResource | null = record ?? null;
  for (const one of changes)
    for (const written of writtenChanges([one], resources))
      if (written.type === "resource") {
        last = written.record;
        if (written.record === null) resources.delete(written.address);
        else resources.set(written.address, written.record);
      }
  return last;
};

const patches: Readonly<Record<string, StepChange>> = {
  "an update under way": patch({ fields: { updating: { name: "web2" } } }),
  "another description": patch({ fields: { description: "of the shop" } }),
  "a rule more": patch({ rules: { added: [rule(443)] } }),
  "another rule more": patch({ rules: { added: [rule(8443)] } }),
  "a rule less": patch({ rules: { removed: [key(80)] } }),
  "a former self that is deleted": patch({ buries: "old1" }),
  "a delete under way": patch({ of: "g1", fields: { deleting: true } }),
};

const buriedInAnyOrder = (record: RecordedResource | null) =>
  record?.kind === "group" ? { ...record, buried: [...(record.buried ?? [])].sort() } : record;

describe("two steps of one address", () => {
  const all = Object.entries(patches);
  for (const [index, [one, a]] of all.entries())
    for (const [other, b] of all.slice(index + 1))
      it(`${one}, and ${other}: the order does not matter`, () => {
        expect(buriedInAnyOrder(left(group, a, b))).toEqual(buriedInAnyOrder(left(group, b, a)));
        expect(left(group, a, b)).not.toEqual(left(group, a));
      });
});

describe("what a step writes of a record", () => {
  it("is put into the record as it is by then", () => {
    expect(left({ ...group, rules: [rule(80), rule(22)] }, patch({ rules: { added: [rule(443)] } }))).toMatchObject({
      rules: [rule(22), rule(443), rule(80)].sort((a, b) => (key(a.ports!.min) < key(b.ports!.min) ? -1 : 1)),
    });
  });

  it("is dropped where the address is another resource's by then, or nobody's", () => {
    expect(left({ ...group, id: "g2" }, patch({ of: "g1", fields: { deleting: true } }))).not.toHaveProperty(
      "deleting",
    );
    expect(left(undefined, patch({ fields: { deleting: true } }))).toBeNull();
  });

  it("takes a field away where it says so", () => {
    expect(left({ ...group, updating: { name: "x" } }, patch({ fields: { updating: undefined } }))).toEqual(group);
  });

  it("follows what the same step wrote right before", () => {
    const { id, ...record } = group;
    const written = writtenChanges(
      [{ type: "made", address: "group.web", id, record }, patch({ buries: "old1" })],
      new Map(),
    );
    expect(written.at(-1)).toMatchObject({ record: { id: "g1", buried: ["old1"], retired: [{ id: "old2" }] } });
  });

  it("is never a whole record that was read", () => {
    // @ts-expect-error A record has an address of its own, which no patch may have.
    const whole: StepChange = { type: "patch", address: "group.web", fields: group };
    // @ts-expect-error A record has an id of its own, which is told beside a new record.
    const made: StepChange = { type: "made", address: "group.web", record: group };
    // @ts-expect-error The rules change one by one, for several steps add to them.
    const rules: StepChange = { type: "patch", address: "group.web", fields: { rules: group.rules } };
    expect([whole, made, rules]).toHaveLength(3);
  });
});
