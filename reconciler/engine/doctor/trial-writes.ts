/** Where operations that change something are commonly found; a trial tries them on what it made itself. */

import { rowOf } from "../../core/model/operation";
import type { Outcome } from "../../core/model/outcome";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, RecordPlace, Route } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { findAt, tokensOf } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, type Ids } from "../../dialect/requests";
import type { TriedOperation } from "./report";
import { type Trial, wordsOf } from "./trial-watch";

/** Below which a kind's list is, and what its records call their id. */
export interface TrialWhereabouts {
  readonly lists: readonly string[];
  readonly idKeys: readonly string[];
  /** They show it as a number. */
  readonly isNumber?: boolean;
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
  isNumber: (samples.get(kind) ?? []).some((record) =>
    dialect.records[kind].id.some(
      (place) => typeof place === "string" && typeof findAt(record, tokensOf(place)) === "number",
    ),
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
  operation: TriedOperation,
  dialect: Dialect,
  { lists, idKeys, isNumber = false }: TrialWhereabouts,
): readonly Route[] {
  const said = dialect.operations[operation];
  const { method, path } = rowOf(operation);
  const routes: Route[] = [...(said === null ? [] : [said]), { method, path }];
  for (const list of lists)
    for (const KEY of idKeys) {
      const words = { BASE: list.replace(listing, ""), KEY, ID: isNumber ? "{id:number}" : "{id}" };
      routes.push(...usualRequests[operation].map((request) => routeOf(request, words)));
    }
  const seen = new Set<string>();
  return routes.filter((route) => {
    const key = JSON.stringify([route.method, route.path, route.body, route.query]);
    return !seen.has(key) && seen.add(key);
  });
}

/** A request of the table: a method, a path with its query, and a body. */
function routeOf(request: string, words: Readonly<Record<string, string>>): Route {
  const [, method, at = "", body] = /^(POST|DELETE) (\S+) ?(.*)$/.exec(request) ?? [];
  const put = (text: string): string =>
    text.replaceAll(/BASE1|BASE|KEY|ID/g, (word) => words[word] ?? words["BASE"]?.replace(/s$/, "") ?? word);
  const [path = "", query] = at.split("?").map(put);
  return onlyDefined({
    method: method === "DELETE" ? ("DELETE" as const) : ("POST" as const),
    path,
    query: query === undefined ? undefined : Object.fromEntries([query.split("=")]),
    body: body === "" || body === undefined ? undefined : JSON.parse(put(body)),
  });
}

/** With the verb as it is written in paths, as a word of its own and before `resize`. */
const resizing = (...verbs: readonly string[]): readonly string[] =>
  verbs.flatMap((verb) => {
    const [camel, snake, kebab] = [`${verb}Resize`, `${verb}_resize`, `${verb}-resize`];
    return [
      ...[`resize/${verb}`, kebab, snake, camel, verb, `resize-${verb}`].map((end) => `POST BASE/{id}/${end}`),
      `POST BASE/{id}/action {"${camel}":null}`,
      ...["actions", "action"].flatMap((actions) =>
        [`/${snake}`, `/${kebab}`, ` {"type":"${snake}"}`, ` {"action":"${snake}"}`, ` {"action":"${camel}"}`].map(
          (end) => `POST BASE/{id}/${actions}${end}`,
        ),
      ),
      `POST BASE/${kebab}/{id}`,
      `POST BASE:${camel} {"KEY":"ID"}`,
      `POST BASE/{id}:${camel}`,
      `POST BASE/${camel} {"KEY":"ID"}`,
      `POST BASE/resize/${verb}/{id}`,
    ];
  });

/** `BASE`: where the list is, `BASE1` in the singular; `KEY`: what the records call their id, `ID` as they show it. */
const usualRequests: Readonly<Record<TriedOperation, readonly string[]>> = {
  "vm.resize.confirm": resizing("confirm", "accept", "commit"),
  "vm.resize.revert": resizing("revert", "cancel", "rollback", "undo"),
  "volume.delete": [
    ...["DELETE BASE/{id}", "DELETE BASE/delete/{id}", "POST BASE/{id}/delete", "POST BASE/delete/{id}"],
    ...[":delete", "/delete", "/remove"].map((end) => `POST BASE${end} {"KEY":"ID"}`),
    ...["POST BASE/{id}/destroy", 'POST BASE/{id}/actions {"type":"delete"}'],
    ...['DELETE BASE {"KEY":"ID"}', "DELETE BASE?KEY={id}"],
  ],
  "group.rule.delete": [
    ...["BASE/{id}/rules", "BASE/{id}/rule", "BASE/rule", "BASE/rules", "BASE1_rules", "BASE1-rules"],
    ...["/api/v1/security-group-rules", "/api/v1/security-group-rule", "/api/v1/rules"],
  ]
    .map((path) => `DELETE ${path}/{rule_id}`)
    .concat(
      ["ruleId", "rule_id", "rule"].flatMap((key) => [
        `DELETE BASE/{id}/rules {"${key}":"{rule_id}"}`,
        ...["rules/delete", "remove-rule"].map((end) => `POST BASE/{id}/${end} {"${key}":"{rule_id}"}`),
        ...[":removeRule", "/remove-rule", "/remove"].map((end) => `POST BASE${end} {"KEY":"ID","${key}":"{rule_id}"}`),
      ]),
    ),
};

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
