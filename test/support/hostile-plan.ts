/** Plans for tests of reports: with hostile text wherever others write text, and with a count of how often they are read. */
import type { Plan } from "../../reconciler/core/plan/plan";

const hostility = '\u001b[31m\u202e\u0007\u009b2J``` <b>@team</b>|x [y](http://z) "q\\\r\n';

/** What is left to see of it in any report that escapes nothing but what it must. */
export const hostileTrace = "u001b";

const written = new Set([
  "address",
  "name",
  "id",
  "step",
  "because",
  "before",
  "after",
  "file",
  "title",
  "detail",
  "grant",
  "summary",
  "fix",
  "message",
  "field",
]);

/** Every text that others write gets the same addition, so that what refers to each other still does. */
export function hostilePlan(plan: Plan): Plan {
  const visit = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return written.has(key) ? value + hostility : value;
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [key === "downtimeMs" ? name + hostility : name, visit(item, name)]),
    );
  };
  return visit(plan, "") as Plan;
}

/** Counts every property that is read of changes and steps, whatever reads them. */
export function countReads(plan: Plan): { readonly plan: Plan; readonly reads: () => number } {
  let count = 0;
  const watch = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, key, receiver) {
        count++;
        return Reflect.get(target, key, receiver);
      },
    });
  const watched: Plan = { ...plan, changes: watch(plan.changes.map(watch)), steps: watch(plan.steps.map(watch)) };
  return { plan: watched, reads: () => count };
}
