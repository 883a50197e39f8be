/** Where operations that change something are commonly found; a trial tries them on what it made itself. */

import { type AssumedOperation, rowOf } from "../../core/model/operation";
import type { Outcome } from "../../core/model/outcome";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, RecordPlace, Route } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, type Ids } from "../../dialect/requests";
import type { TriedOperation } from "./report";
import { type Trial, wordsOf } from "./trial-watch";

/** Below which a kind's list is, and what its records call their id. */
export interface TrialWhereabouts {
  readonly lists: readonly string[];
  readonly idKeys: readonly string[];
}

/** What ends the path of a list and is no part of where its items are. */
const listing = /\/(list|detail|details|all|search|query|describe)$/;

export const whereaboutsOf = ({ dialect, samples }: Trial["report"], kind: TriedKind): TrialWhereabouts => ({
  lists: listsOf(dialect.operations[`${kind}.list`]?.path.replace(/\/$/, ""), samples, kind, dialect),
  // Paths that were learnt come first. Of the many built-in ones the first is enough.
  idKeys: dialect.records[kind].id
    .slice(0, 2)
    .flatMap((place: RecordPlace) =>
      typeof place === "string" && place !== "" ? (place.split("/").at(-1) ?? []) : [],
    ),
});

type TriedKind = "vm" | "volume" | "group";

/** Of a list that is read for each region: with the region that the record shows, or with each that there is. */
function listsOf(
  path: string | undefined,
  samples: Trial["report"]["samples"],
  kind: TriedKind,
  dialect: Dialect,
): readonly string[] {
  if (path === undefined || !path.includes("{region}")) return path === undefined || path === "" ? [] : [path];
  const idAt = compilePointers(dialect.records.region.id);
  const regions = (samples.get("region") ?? []).flatMap((record) => findText(record, idAt) ?? []);
  const field = (samples.get(kind) ?? [])
    .flatMap((record) => leavesOf(record))
    .find(({ place, value }) => typeof place === "string" && regions.includes(String(value)))?.place;
  const stands = typeof field === "string" ? [`{field:${field}}`] : regions.slice(0, 3);
  return stands.map((region) => path.replaceAll("{region}", () => region));
}

/** The dialect's own path comes first. A path that could mean anything but the resource with this id is never tried. */
export function writesFor(
  operation: AssumedOperation,
  dialect: Dialect,
  { lists, idKeys }: TrialWhereabouts,
): readonly Route[] {
  const said = dialect.operations[operation];
  const { method, path } = rowOf(operation);
  const routes: Route[] = [...(said === null ? [] : [said]), { method, path }];
  for (const list of lists)
    for (const idKey of idKeys) routes.push(...byRule(operation, list.replace(listing, ""), idKey));
  const seen = new Set<string>();
  return routes.filter((route) => {
    const key = JSON.stringify([route.method, route.path, route.body, route.query]);
    return !seen.has(key) && seen.add(key);
  });
}

function byRule(operation: AssumedOperation, base: string, idKey: string): readonly Route[] {
  const post = (path: string, body?: unknown): Route => onlyDefined({ method: "POST" as const, path, body });
  const remove = (path: string): Route => ({ method: "DELETE", path });
  const byId = { [idKey]: "{id}" };
  switch (operation) {
    case "vm.resize.confirm":
    case "vm.resize.revert": {
      const verbs =
        operation === "vm.resize.confirm" ? ["confirm", "accept", "commit"] : ["revert", "cancel", "rollback", "undo"];
      return verbs.flatMap((verb) => {
        const [camel, snake, kebab] = [`${verb}Resize`, `${verb}_resize`, `${verb}-resize`];
        return [
          post(`${base}/{id}/resize/${verb}`),
          post(`${base}/{id}/${kebab}`),
          post(`${base}/{id}/${snake}`),
          post(`${base}/{id}/${camel}`),
          post(`${base}/{id}/${verb}`),
          post(`${base}/{id}/resize-${verb}`),
          post(`${base}/{id}/action`, { [camel]: null }),
          ...["actions", "action"].flatMap((actions) => [
            post(`${base}/{id}/${actions}/${snake}`),
            post(`${base}/{id}/${actions}/${kebab}`),
            post(`${base}/{id}/${actions}`, { type: snake }),
            post(`${base}/{id}/${actions}`, { action: snake }),
            post(`${base}/{id}/${actions}`, { action: camel }),
          ]),
          post(`${base}/${kebab}/{id}`),
          post(`${base}:${camel}`, byId),
          post(`${base}/{id}:${camel}`),
          post(`${base}/${camel}`, byId),
          post(`${base}/resize/${verb}/{id}`),
        ];
      });
    }
    case "volume.delete":
      return [
        remove(`${base}/{id}`),
        remove(`${base}/delete/{id}`),
        post(`${base}/{id}/delete`),
        post(`${base}/delete/{id}`),
        post(`${base}:delete`, byId),
        post(`${base}/delete`, byId),
        post(`${base}/remove`, byId),
        post(`${base}/{id}/destroy`),
        post(`${base}/{id}/actions`, { type: "delete" }),
        { ...remove(base), body: byId },
        { ...remove(base), query: { [idKey]: "{id}" } },
      ];
    case "group.rule.delete":
      return [
        remove(`${base}/{id}/rules/{rule_id}`),
        remove(`${base}/{id}/rule/{rule_id}`),
        remove(`${base}/rule/{rule_id}`),
        remove(`${base}/rules/{rule_id}`),
        remove(`${base.replace(/s$/, "")}_rules/{rule_id}`),
        remove(`${base.replace(/s$/, "")}-rules/{rule_id}`),
        remove("/api/v1/security-group-rules/{rule_id}"),
        remove("/api/v1/security-group-rule/{rule_id}"),
        remove("/api/v1/rules/{rule_id}"),
        ...["ruleId", "rule_id", "rule"].flatMap((ruleKey) => {
          const both = { ...byId, [ruleKey]: "{rule_id}" };
          return [
            { ...remove(`${base}/{id}/rules`), body: { [ruleKey]: "{rule_id}" } },
            post(`${base}/{id}/rules/delete`, { [ruleKey]: "{rule_id}" }),
            post(`${base}/{id}/remove-rule`, { [ruleKey]: "{rule_id}" }),
            post(`${base}:removeRule`, both),
            post(`${base}/remove-rule`, both),
            post(`${base}/remove`, both),
          ];
        }),
      ];
    default:
      return [];
  }
}

/** There is such a request, and what it is about is in another state just now. */
const isHeldUp = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && [409, 412, 423, 425, 428].includes(outcome.httpStatus ?? 0);

/** Finds the first of the usual requests that has the effect. Each is tried only on what the trial made. */
export async function tryWrites(
  trial: Trial,
  operation: TriedOperation,
  kind: "vm" | "volume" | "group",
  ids: Ids,
  isDone: () => Promise<boolean>,
): Promise<Route | undefined> {
  const tried: { path: string; answer: string }[] = [];
  const { dialect } = trial.report;
  // By a person's word there is none.
  if (trial.report.operations.some((one) => one.operation === operation && one.isSaid === true)) return undefined;
  for (const route of writesFor(
    operation,
    { ...dialect, operations: { ...dialect.operations, ...trial.routes } },
    whereaboutsOf(trial.report, kind),
  )) {
    const filled = fillRoute(route, ids, dialect, trial.recordOf(kind, ids.id));
    if (filled === undefined) continue;
    const isOwn = route === dialect.operations[operation] || route === trial.routes[operation];
    const send = async (): Promise<Outcome<unknown>> =>
      trial.write({ operation, method: route.method, ...filled }, { kind, id: ids.id ?? "" });
    const first = await send();
    const outcome = (isOwn && first.status !== "accepted") || isHeldUp(first) ? await trial.persist(send) : first;
    if (outcome.status === "accepted" && operation === "volume.delete" && ids.id !== undefined)
      trial.markDeleted(kind, ids.id);
    const isRefused = outcome.status === "rejected" || outcome.status === "unavailable";
    if (isRefused || !(await isDone())) {
      tried.push({
        path: `${route.method} ${route.path}`,
        answer: isRefused ? wordsOf(outcome) : "it was accepted, and nothing changed",
      });
      continue;
    }
    if (trial.routes[operation] === undefined) trial.say(`${operation} is ${route.method} ${route.path}.`);
    trial.routes[operation] = route;
    trial.learn({ operations: { ...trial.report.dialect.operations, [operation]: route } });
    return route;
  }
  trial.inVain[operation] = tried;
  return undefined;
}
