/** Where operations that change something are commonly found; a trial tries them on what it made itself. */

import { type AssumedOperation, rowOf } from "../../core/model/operation";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, RecordPlace, Route } from "../../dialect/dialect";

/** Below which a kind's list is, and what its records call their id. */
export interface TrialWhereabouts {
  readonly list: string | undefined;
  readonly idKeys: readonly string[];
}

/** What ends the path of a list and is no part of where its items are. */
const listing = /\/(list|detail|details|all|search|query|describe)$/;

export const whereaboutsOf = (dialect: Dialect, kind: "vm" | "volume" | "group"): TrialWhereabouts => ({
  list: dialect.operations[`${kind}.list`]?.path.replace(/\/$/, ""),
  // Paths that were learnt come first. Of the many built-in ones the first is enough.
  idKeys: dialect.records[kind].id
    .slice(0, 2)
    .flatMap((place: RecordPlace) =>
      typeof place === "string" && place !== "" ? (place.split("/").at(-1) ?? []) : [],
    ),
});

/** The dialect's own path comes first. A path that could mean anything but the resource with this id is never tried. */
export function writesFor(
  operation: AssumedOperation,
  dialect: Dialect,
  { list, idKeys }: TrialWhereabouts,
): readonly Route[] {
  const said = dialect.operations[operation];
  const { method, path } = rowOf(operation);
  const base = list?.replace(listing, "");
  const routes: Route[] = [...(said === null ? [] : [said]), { method, path }];
  if (base !== undefined && base !== "") for (const idKey of idKeys) routes.push(...byRule(operation, base, idKey));
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
