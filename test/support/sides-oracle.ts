/** What must be so of desired beside live, whatever the plan is. */
import type { Prepared } from "../../reconciler/engine/plan";
import { sidesOf } from "../../reconciler/report/sides";

/** Every sentence that is untrue; none: all is well. */
export function sidesProblems({ desired, state, live, plan }: Prepared): string[] {
  const sides = sidesOf({ desired: desired.resources, records: state.resources, live, changes: plan.changes });
  const problems: string[] = [];
  const byAddress = new Map(sides.map((side) => [side.address, side]));
  if (byAddress.size < sides.length) problems.push("an address is shown twice");
  for (const resource of desired.resources)
    if (!byAddress.has(resource.address)) problems.push(`${resource.address} is not shown`);
  for (const change of plan.changes) {
    const side = byAddress.get(change.address);
    if (side?.action !== change.action) problems.push(`${change.address}: ${side?.action} and not ${change.action}`);
    if (change.action !== "update" && change.action !== "replace") continue;
    const shown = new Map(side?.rows.map((row) => [row.field, row]));
    for (const { field, before, after } of change.fields) {
      // An address is in the heading; what follows another resource reads the same on both sides.
      if (field === "address" || before === after) continue;
      if (field === "rules") {
        const text = String(before ?? after);
        const rows = side?.rows.filter(({ field: name }) => name === "rule") ?? [];
        if (!rows.some((row) => row.differs === true && [row.desired, row.live].includes(text)))
          problems.push(`${change.address}: the rule ${text} is not marked`);
      } else if (shown.get(field)?.differs !== true) problems.push(`${change.address}: ${field} is not marked`);
    }
  }
  for (const { address, action, rows } of sides)
    if (action === undefined && rows.some(({ differs }) => differs === true)) problems.push(`${address} is marked`);
  return problems;
}
