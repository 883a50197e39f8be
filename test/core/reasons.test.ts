import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { explain } from "../../reconciler/core/diff/explain";
import { declarationMark } from "../../reconciler/core/model/declaration-mark";

const text = `version: 1
project: acme
region: in-west-1
defaults:
  vm:
    owner: ops@acme.example
    user_id: "1042"
    image_id: ubuntu-24.04
    flavor_id: m1.small
    size: 10
vms:
  own: { flavor_id: m1.large, owner: me@acme.example }
  web: { for_each: [a, b], name: "web-\${each}" }
groups:
  none: { rules: [] }
`;

const change = (field: string) => ({ field, before: 1, after: 2, verb: "update" });

describe("a reason names the line of a value that comes from the defaults", () => {
  const { desired } = readDesired([{ file: "a.yaml", text }]);
  const inherited = new Map(desired?.resources.map((resource) => [resource.address, resource.inherited]));

  it.each<[string, string, readonly string[], string]>([
    ["all of it", "vm.web[a]", ["flavor_id"], "the file changed: flavor_id, in the defaults at a.yaml:9"],
    [
      "several lines",
      "vm.web[b]",
      ["flavor_id", "size"],
      "the file changed: flavor_id, size; flavor_id in the defaults at a.yaml:9, size in the defaults at a.yaml:10",
    ],
    [
      "a part of it",
      "vm.own",
      ["flavor_id", "image_id"],
      "the file changed: flavor_id, image_id; image_id in the defaults at a.yaml:8",
    ],
    ["what the block says itself", "vm.own", ["flavor_id"], "the file changed: flavor_id"],
    ["what has no defaults", "group.none", ["rules"], "the file changed: rules"],
  ])("%s", (_case, address, fields, words) => {
    expect(explain("changed", fields.map(change), undefined, inherited.get(address))).toBe(words);
  });

  it.each([
    ["requested", undefined, "--replace asks for it"],
    ["drifted", undefined, "the service no longer has what was applied: size"],
    ["imported", undefined, "an imports entry takes it over"],
    ["moved", undefined, "a moved entry renames its address"],
    ["follows", undefined, "a group that its rules name is replaced"],
    ["interrupted", "stopped", "the last run stopped before this: size"],
    ["interrupted", "unfinished", "the last run did not get this done: size"],
    ["interrupted", undefined, "an interrupted run left it unfinished"],
  ] as const)("%s, %s: %s", (reason, left, words) => expect(explain(reason, [change("size")], left)).toBe(words));

  it("and no other reason does", () => {
    expect(explain("drifted", [change("size")], undefined, inherited.get("vm.web[a]"))).not.toContain("a.yaml");
  });
});

describe("whether a declaration changed since", () => {
  const placed = `${text.replace("none: { rules: [] }", 'front: { description: "of ${vm.own.id}", rules: [ { protocol: tcp, dst_port: 22 } ] }')}volumes:
  data: { size: 5, flush: { via: command, command: [sync] }, lifecycle: { prevent_destroy: true } }
reachability: [ { never: { from: internet, to: group.front, tcp: [25] } } ]
`;
  const marksOf = (file: string, written: string) => {
    const { desired, diagnostics } = readDesired([{ file, text: written }]);
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    return Object.fromEntries((desired?.resources ?? []).map((one) => [one.address, declarationMark(one)]));
  };
  const before = marksOf("a.yaml", placed);
  it("is not told by where it is written", () => {
    expect(Object.keys(before)).toHaveLength(5);
    expect(marksOf("b.yaml", `# moved down\n${placed}`)).toEqual(before);
    expect(marksOf("a.yaml", placed.replace(/reachability.*\n/, ""))).toEqual(before);
  });
  it("is told by a value of the defaults", () => {
    const after = marksOf("a.yaml", placed.replace("m1.small", "m1.medium"));
    const changed = Object.keys(before).filter((address) => after[address] !== before[address]);
    expect(changed).toEqual(["vm.web[a]", "vm.web[b]"]);
  });
});
