/** Groups of which some are named: those alone, or all but those. */
import { expect, it } from "vitest";
import { hasGroup } from "../../reconciler/kinds/group/reachability/query";

it.each([
  [false, ["web"], "web", true],
  [false, ["web"], "db", false],
  [true, ["web"], "web", false],
  [true, ["web"], "db", true],
  [false, [], "db", false],
  [true, [], "db", true],
])("all but %s %j: has %s is %s", (allBut, names, name, has) => {
  expect(hasGroup({ allBut, names: new Set(names) }, name)).toBe(has);
});
