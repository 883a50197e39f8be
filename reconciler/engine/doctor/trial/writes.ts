/** Where operations that change something are commonly found; a trial tries them on what it made itself. */

import { rowOf } from "../../../core/model/operation";
import type { Outcome } from "../../../core/model/outcome";
import { deepEqual } from "../../../core/text/deep-equal";
import { onlyDefined, plainValuesIn } from "../../../core/text/objects";
import { percentDecoded } from "../../../core/text/parts";
import { builtInDialect } from "../../../dialect/built-in";
import type { Dialect, RecordPlace, Route } from "../../../dialect/dialect";
import { leavesOf } from "../../../dialect/learn/values";
import { askingFor, capitalized, saysKind, stylesOf } from "../../../dialect/learn/where";
import { findAt, tokensOf } from "../../../dialect/places";
import { compilePointers, findText } from "../../../dialect/pointers";
import { type FilledRequest, fieldsLeft, fillRoute, type Ids, needsRecord } from "../../../dialect/requests";
import { collectionsTold, foldersTold } from "../find-list";
import { acceptedInVain, saidMissing, type TriedOperation, withoutOperation } from "../report";
import { nounOf, wordsOf } from "./say";
import { persist, sendWrite } from "./send";
import type { Trial } from "./watch";

/** Below which a kind's list is, and what its records call their id. */
export interface TrialWhereabouts {
  readonly lists: readonly string[];
  readonly idKeys: readonly string[];
  /** They show it as a number. */
  readonly isNumber?: boolean;
  /** What their list is asked with, such as a version of the service: other requests may have to say it as well. */
  readonly query?: Route["query"];
}

/** What of a query says that this kind is listed is for no other request. */
function withoutAction(query: Route["query"] = {}, kind: TriedKind): Route["query"] {
  const others = Object.entries(query).filter(
    ([name, value]) => !/^(action|cmd|command|method|op|operation)$/i.test(name) && !saysKind(kind, String(value)),
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** What ends the path of a list and is no part of where its items are. */
const listing = /\/(list|detail|details|all|search|query|describe)$/;

export const whereaboutsOf = ({ dialect, samples, given }: Trial["report"], kind: TriedKind): TrialWhereabouts => ({
  lists: [
    ...new Set([
      ...withFoldersBeside(listsOf(dialect.operations[`${kind}.list`]?.path, samples, kind, dialect), given),
      ...collectionsTold({ given }, kind),
    ]),
  ],
  query: withoutAction(dialect.operations[`${kind}.list`]?.query, kind),
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

/** With the same collection in the folders of what was told: one thing may be elsewhere than the list of all. */
const withFoldersBeside = (lists: readonly string[], given: Dialect): readonly string[] => [
  ...lists,
  ...lists.flatMap((list) => foldersTold({ given }).map((folder) => folder + (/\/[^/]+\/?$/.exec(list)?.[0] ?? ""))),
];

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

/**
 * The dialect's own path comes first. A path that could mean anything but the resource with this id is never tried: a
 * DELETE of a whole collection deletes all that is in it, where the service does not look at its body or its query.
 */
export function writesFor(
  operation: TriedOperation,
  dialect: Dialect,
  { lists, idKeys, isNumber = false, query }: TrialWhereabouts,
): readonly Route[] {
  const said = dialect.operations[operation];
  const { method, path } = rowOf(operation);
  const routes: Route[] = [...(said === null ? [] : [said]), { method, path }, ...inOtherWords(operation, dialect)];
  for (const list of lists)
    for (const key of idKeys) {
      const base = list.replace(/\/$/, "").replace(listing, "");
      const plain = usualRequests[operation]({ base, key, id: isNumber ? "{id:number}" : "{id}" });
      const usual =
        query === undefined
          ? plain
          : plain.flatMap((route) => [route, { ...route, query: { ...query, ...route.query } }]);
      // Where lists end with a slash, everything mostly does.
      if (list.endsWith("/")) routes.push(...usual.map((route) => ({ ...route, path: `${route.path}/` })));
      routes.push(...usual);
    }
  if (operation === "group.rule.delete") routes.push(...asVolumesAreDeleted(dialect));
  const seen = new Set<string>();
  const ownId = operation === "group.rule.delete" ? "{rule_id}" : "{id}";
  return routes.filter((route) => {
    if (route !== said && route.method === "DELETE" && !route.path.includes(ownId)) return false;
    const key = JSON.stringify([route.method, route.path, route.body, route.query]);
    // Of a list at the root some have no path of their own: they are never sent.
    return route.path.startsWith("/") && !seen.has(key) && seen.add(key);
  });
}

/** Where requests are commands, a rule is mostly deleted by the one that is named as the volume's is. */
function asVolumesAreDeleted({ operations }: Dialect): readonly Route[] {
  const route = operations["volume.delete"];
  if (route === null || deepEqual(route, builtInDialect.operations["volume.delete"])) return [];
  const words = ["security group rule", "firewall rule", "rule", "group rule", "secgroup rule", "sg rule"];
  return stylesOf(route, "volume").flatMap((style) =>
    words.flatMap((word) => {
      const asked = JSON.stringify(askingFor(style, word)).replaceAll(/\{id(:number)?\}/g, "{rule_id}");
      // DiskId is RuleId then, and a key that is plain stays.
      const keyed = (rule: string): string =>
        asked.replace(
          /"(\w+?)([-_]?(?:id|Id|ID|uuid|Uuid))":(\[?"\{rule_id\}")/,
          (_, of: string, end: string, value) => {
            const written = /^[A-Z]/.test(of) ? rule : rule.charAt(0).toLowerCase() + rule.slice(1);
            return `"${written}${end}":${value}`;
          },
        );
      return [asked, keyed("Rule"), keyed("SecurityGroupRule")].map((one) => JSON.parse(one) as Route); // A route was written, and keys alone were changed.
    }),
  );
}

const wordsOfDecision = {
  "vm.resize.confirm": ["confirm", "accept", "approve", "commit", "keep"],
  "vm.resize.revert": ["revert", "reject", "decline", "cancel", "rollback", "undo", "discard"],
} as const;

/** What confirms a resize says what reverts one, in other words or with false in the place of true; and so the other way. */
function inOtherWords(operation: TriedOperation, { operations }: Dialect): readonly Route[] {
  if (operation !== "vm.resize.confirm" && operation !== "vm.resize.revert") return [];
  const [other, yes] =
    operation === "vm.resize.revert" ? (["vm.resize.confirm", true] as const) : (["vm.resize.revert", false] as const);
  const route = operations[other];
  if (route === null || deepEqual(route, builtInDialect.operations[other])) return [];
  const said = JSON.stringify(route);
  const words = new RegExp(wordsOfDecision[other].join("|"), "gi");
  const spoken = wordsOfDecision[operation].map((word) => said.replaceAll(words, (before) => inCaseOf(before, word)));
  const turned = said.replaceAll(new RegExp(`:${yes}(?=[,}])`, "g"), `:${!yes}`);
  // Only words of a route were changed, so it is one still.
  return [...spoken, turned].filter((text) => text !== said).map((text) => JSON.parse(text));
}

/** A word with as many capitals as the one in whose place it stands. */
export function inCaseOf(before: string, word: string): string {
  if (before === before.toUpperCase()) return word.toUpperCase();
  return /^[A-Z]/.test(before) ? capitalized(word) : word;
}

interface Whereabouts {
  /** Where the list is. */
  readonly base: string;
  /** What the records call their id, and how a body holds it. */
  readonly key: string;
  readonly id: string;
}

const posting = (path: string, body?: object): Route => ({ method: "POST", path, ...onlyDefined({ body }) });
const deleting = (path: string): Route => ({ method: "DELETE", path });

/** With the verb as it is written in paths, as a word of its own and before `resize`. */
const resizing =
  (...verbs: readonly string[]) =>
  ({ base, key, id }: Whereabouts): readonly Route[] =>
    verbs.flatMap((verb) => {
      const [camel, snake, kebab] = [`${verb}Resize`, `${verb}_resize`, `${verb}-resize`];
      const ends = [`resize/${verb}`, kebab, snake, camel, verb, `resize-${verb}`];
      return [
        ...ends.map((end) => posting(`${base}/{id}/${end}`)),
        posting(`${base}/{id}/action`, { [camel]: null }),
        ...[`${base}/{id}/actions`, `${base}/{id}/action`].flatMap((at) => [
          ...[snake, kebab].map((end) => posting(`${at}/${end}`)),
          ...[{ type: snake }, { action: snake }, { action: camel }].map((body) => posting(at, body)),
        ]),
        posting(`${base}/${kebab}/{id}`),
        posting(`${base}:${camel}`, { [key]: id }),
        posting(`${base}/{id}:${camel}`),
        posting(`${base}/${camel}`, { [key]: id }),
        posting(`${base}/resize/${verb}/{id}`),
      ];
    });

const usualRequests: Readonly<Record<TriedOperation, (at: Whereabouts) => readonly Route[]>> = {
  "vm.resize.confirm": resizing("confirm", "accept", "commit"),
  "vm.resize.revert": resizing("revert", "cancel", "rollback", "undo"),
  "volume.delete": ({ base, key, id }) => [
    ...[`${base}/{id}`, `${base}/delete/{id}`].map((path) => deleting(path)),
    ...[`${base}/{id}/delete`, `${base}/delete/{id}`].map((path) => posting(path)),
    ...[":delete", "/delete", "/remove"].map((end) => posting(base + end, { [key]: id })),
    posting(`${base}/{id}/destroy`),
    posting(`${base}/{id}/actions`, { type: "delete" }),
  ],
  "group.rule.delete": ({ base, key, id }) => [
    ...["/{id}/rules", "/{id}/rule", "/rule", "/rules"].map((end) => deleting(`${base}${end}/{rule_id}`)),
    ...["_rules", "-rules"].map((end) => deleting(`${base.replace(/s$/, "")}${end}/{rule_id}`)),
    ...["security-group-rules", "security-group-rule", "rules"].map((name) => deleting(`/api/v1/${name}/{rule_id}`)),
    ...["ruleId", "rule_id", "rule"].flatMap((rule) => {
      const body = { [rule]: "{rule_id}" };
      return [
        ...["rules/delete", "remove-rule", "actions/remove_rule"].map((end) => posting(`${base}/{id}/${end}`, body)),
        ...[":removeRule", "/remove-rule", "/remove"].map((end) => posting(base + end, { [key]: id, ...body })),
      ];
    }),
  ],
};

/** There is such a request, and what it is about is in another state just now. */
const isHeldUp = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && [409, 412, 423, 425, 428].includes(outcome.httpStatus ?? 0);

const mayBeHeldUp = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && (outcome.httpStatus === 400 || outcome.httpStatus === 422);

/** Where nothing is, all are refused alike: what was refused in words of its own is there, and may not have been ready. */
export function refusedForItself(
  refused: readonly { readonly route: Route; readonly words: string }[],
): readonly Route[] {
  const timesOf = (words: string): number => refused.filter((one) => one.words === words).length;
  return refused.flatMap(({ route, words }) => (timesOf(words) <= mostAlike ? [route] : []));
}

/** A request may be there with the query of its list and without it. */
const mostAlike = 2;

/**
 * What was there before the trial and stands in a request for its own: whatever that is sent for, it may be about the
 * other one. A number of a few digits may be anything.
 */
const otherNamed = (trial: Trial, kind: TriedKind, { path, body }: FilledRequest): string | undefined =>
  [...path.split(/[/?&=]/).map(percentDecoded), ...plainValuesIn(body).map(String)].find(
    (text) => !/^\d{1,3}$/.test(text) && trial.isOfOthers(kind, text),
  );

/** Finds the first of the usual requests that has the effect. Each is tried only on what the trial made. */
export async function tryWrites(
  trial: Trial,
  operation: TriedOperation,
  kind: "vm" | "volume" | "group",
  ids: Ids,
  isDone: () => Promise<boolean>,
): Promise<Route | undefined> {
  const tried: { path: string; answer: string }[] = [];
  const taken: Route[] = [];
  const refused: { readonly route: Route; readonly words: string }[] = [];
  const isFound = (route: Route): Route => {
    if (trial.routes[operation] === undefined) trial.say(`${operation} is ${route.method} ${route.path}.`);
    trial.routes[operation] = route;
    trial.learnRoute(operation, route);
    return route;
  };
  const hasEffect = async (route: Route, isOwn: boolean): Promise<boolean> => {
    const { dialect } = trial.report;
    const filled = fillRoute(route, ids, dialect, trial.recordOf(kind, ids.id));
    if (filled === undefined) return false;
    // What a rule says stands in its own record, which the client reads.
    const isSaid = operation === "group.rule.delete" && needsRecord(route);
    const left = isSaid ? [] : fieldsLeft(filled);
    if (left.length > 0) {
      tried.push({ path: `${route.method} ${route.path}`, answer: `the record does not show ${left.join(" and ")}` });
      return false;
    }
    const other = otherNamed(trial, kind, filled);
    if (other !== undefined) {
      const what = `${nounOf(kind)} ${other}, which the trial did not make`;
      tried.push({ path: `${route.method} ${route.path}`, answer: `it names ${what}` });
      trial.open.push(
        `${operation}: ${route.method} ${route.path} names ${what}, whatever it is sent for; write {id} where that stands`,
      );
      return false;
    }
    const byRecord = isSaid ? trial.clientWith(operation, route) : undefined;
    const send = async (): Promise<Outcome<unknown>> =>
      byRecord === undefined
        ? sendWrite(trial, { operation, method: route.method, ...filled }, { kind, id: ids.id ?? "" })
        : byRecord.deleteRule(ids.id ?? "", ids.rule_id ?? "");
    const first = await send();
    const outcome = (isOwn && first.status !== "accepted") || isHeldUp(first) ? await persist(trial, send) : first;
    if (outcome.status === "accepted" && operation === "volume.delete" && ids.id !== undefined)
      trial.markDeleted(kind, ids.id);
    const isRefused = outcome.status === "rejected" || outcome.status === "unavailable";
    if (!isRefused && (await isDone())) return true;
    const words = isRefused ? wordsOf(outcome) : acceptedInVain;
    if (!isRefused) taken.push(route);
    else if (mayBeHeldUp(outcome)) refused.push({ route, words });
    tried.push({ path: `${route.method} ${route.path}`, answer: words });
    return false;
  };
  if (isSaidMissing(trial, operation)) return undefined;
  const { dialect } = trial.report;
  const known = { ...dialect, operations: { ...dialect.operations, ...trial.routes } };
  for (const route of writesFor(operation, known, whereaboutsOf(trial.report, kind))) {
    const isOwn = route === dialect.operations[operation] || route === trial.routes[operation];
    if (await hasEffect(route, isOwn)) return isFound(route);
  }
  // One may have had its effect late, while the others were tried.
  const [late, ...others] = taken;
  if (late !== undefined && others.length === 0 && (await isDone())) return isFound(late);
  for (const route of refusedForItself(refused)) if (await hasEffect(route, true)) return isFound(route);
  const told = await askPerson(trial, operation);
  if (told !== undefined && (await hasEffect(told, true))) return isFound(told);
  if (told !== undefined)
    trial.open.push(
      `${operation}: ${told.method} ${told.path}, as it was told, did not do it: ${tried.at(-1)?.answer}`,
    );
  // What is refused later may have been done by then.
  trial.inVain[operation] ??= tried;
  return undefined;
}

/** By a person's word there is none. */
export const isSaidMissing = ({ report }: Trial, operation: TriedOperation): boolean =>
  report.operations.some((one) => one.operation === operation && one.isSaid === true);

/** The request as a person tells it now that it is needed; or the person says that there is none. */
export async function askPerson(trial: Trial, operation: TriedOperation): Promise<Route | undefined> {
  const { ask, signal } = trial.ports;
  const told =
    signal.aborted || isSaidMissing(trial, operation) ? undefined : await ask?.(operation, trial.report.dialect);
  if (told !== null) return told;
  trial.learnt(withoutOperation(trial.report, saidMissing(operation)));
  return undefined;
}
