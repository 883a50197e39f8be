/** What the lists show of the things of a trial, also where a list is left out once there is nothing to show. */
import { runsGuest } from "../../../core/model/kinds";
import { rowOf } from "../../../core/model/operation";
import { type Outcome, valueIn } from "../../../core/model/outcome";
import { deepEqual } from "../../../core/text/deep-equal";
import { absentIsNoList } from "../../../dialect/learn/items";
import { leavesOf } from "../../../dialect/learn/values";
import { compilePointers, findText } from "../../../dialect/pointers";
import { fillRoute } from "../../../dialect/requests";
import type { RequestOptions } from "../../../service/client";
import { listOfKind } from "../../observe";
import { isReadByContract } from "../enter";
import { isNothing } from "../find-list";
import { look } from "../look";
import { operationNotFound, withoutOperation } from "../report";
import { idIn, isOwnId } from "./ids";
import { isCalled, type TrialThing } from "./notes";
import { nounOf } from "./say";
import type { Trial } from "./watch";

/** The ids of what was asked for, by the names that nothing else has. */
export async function findTrialThings(trial: Trial): Promise<void> {
  const { clock, timing } = trial.ports;
  for (;;) {
    await trial.lookAgain();
    const wanted = trial.notes.made.filter(({ id }) => id === undefined);
    for (const thing of wanted) {
      // A name may be there twice, and each of the notes is about one of them.
      const [listed] = idsNamed(trial, thing);
      const id = listed ?? (await idShown(trial, thing));
      if (id === undefined) continue;
      const own = await ownIdOf(trial, thing, id);
      trial.notes.note(thing, { id: own });
      if (runsGuest(thing.kind)) trial.keepBuilding(trial.recordOf("vm", id));
      // Where the records show it is learnt by it, before anything is read by its id.
      if (own !== listed) await trial.lookAgain();
    }
    const missing = trial.notes.made.filter(({ id, kind }) => id === undefined && canList(trial, kind));
    const isLate = missing.every(({ askedAt }) => clock.now() - askedAt > timing.discoveryMs);
    if (missing.length === 0 || isLate) return;
    await trial.wait();
  }
}

/** Where no place of an id is known: what the record of that name shows, and the contract reads it by. */
async function idShown(trial: Trial, { kind, name, askedAt }: TrialThing): Promise<string | undefined> {
  const isKnown = trial.report.records.some(
    ({ record, fields }) => record === kind && fields.some(({ field, place }) => field === "id" && place !== undefined),
  );
  if (!isReadByContract(kind) || name === undefined || isKnown) return undefined;
  const record = trial.report.samples
    .get(kind)
    ?.find((one) => leavesOf(one).some(({ value }) => isCalled(String(value), name)));
  return record === undefined ? undefined : idIn(trial, kind, record, name, askedAt);
}

/** Where a record shows two ids, the list may be read by the wrong one: the contract reads it by the right one. */
async function ownIdOf(trial: Trial, { kind, name, askedAt }: TrialThing, id: string): Promise<string> {
  if (!isReadByContract(kind) || name === undefined || (await isOwnId(trial, kind, id, name))) return id;
  const record = trial.recordOf(kind, id);
  const others = JSON.stringify((trial.report.samples.get(kind) ?? []).filter((one) => one !== record));
  // What another record shows as well, such as a group that a rule names, is never taken for its id.
  const alone = leavesOf(record).filter(({ value }) => !others.includes(JSON.stringify(value)));
  const shown = Object.fromEntries(alone.map(({ names: [key = ""], value }, nth) => [`${nth}${key}`, value]));
  return (await idIn(trial, kind, shown, name, askedAt)) ?? id;
}

export function canList(trial: Trial, kind: TrialThing["kind"]): boolean {
  const operation = `${kind}.list` as const;
  return (
    trial.report.emptied.has(operation) ||
    trial.report.operations.some((one) => one.operation === operation && one.verdict === "found")
  );
}

/** What is listed by that name, and that no note is about. */
export function idsNamed(trial: Trial, { kind, name }: TrialThing): readonly string[] {
  const places = compilePointers(trial.report.dialect.records[kind].id);
  return (trial.report.samples.get(kind) ?? [])
    .filter((record) => name !== undefined && leavesOf(record).some(({ value }) => isCalled(String(value), name)))
    .flatMap((record) => findText(record, places) ?? [])
    .filter((id) => !trial.isOfOthers(kind, id) && !trial.isNoted(kind, id) && !trial.isDeleted(kind, id));
}

/** `undefined`: there is no list that could tell. */
export const isListed = async (trial: Trial, kind: TrialThing["kind"], id: string): Promise<boolean | undefined> =>
  (await listedOf(trial, kind))?.some((one) => one.id === id);

export function leaveOutList(trial: Trial, kind: TrialThing["kind"], how: string): void {
  const operation = `${kind}.list` as const;
  const { report } = trial;
  const { path = "" } = report.dialect.operations[operation] ?? {};
  const answer = `a list without a ${nounOf(kind)} that ${how}`;
  trial.learnt({
    ...withoutOperation(report, operationNotFound(operation, null, [{ path, answer }], false)),
    emptied: new Set([...report.emptied].filter((one) => one !== operation)),
  });
  trial.open.push(
    `operations.${operation}: left out, since ${path} is ${answer}; where a request lists all of them: --curl ${operation}='curl …'`,
  );
}

/** `undefined`: there is no such list, or it cannot be read. */
export async function listedOf(
  trial: Trial,
  kind: TrialThing["kind"],
  options?: RequestOptions,
): Promise<readonly ListedThing[] | undefined> {
  if (!trial.client.can.canFindCreated(kind)) return undefined;
  return valueIn(await orNothing<ListedThing>(trial, `${kind}.list`, () => listOfKind(kind, trial.client, options)));
}

interface ListedThing {
  readonly id: string;
  readonly name?: string;
  /** The disks that a VM shows. */
  readonly volumes?: readonly { readonly id: string }[];
}

/** A list whose key is left out once there is nothing to show: from then on the dialect says so. */
export async function orNothing<T>(
  trial: Trial,
  operation: `${TrialThing["kind"]}.list`,
  read: () => Promise<Outcome<readonly T[]>>,
): Promise<Outcome<readonly T[]>> {
  const listed = await read();
  const { dialect, emptied } = trial.report;
  const route = dialect.operations[operation];
  if (listed.status !== "rejected" || listed.condition !== "unreadable" || route === null) return listed;
  const filled = fillRoute(route, {}, dialect);
  if (filled === undefined) return listed;
  if (!isNothing(await look(trial.ports.doctor, { operation, method: route.method, ...filled }))) return listed;
  // Where no list was seen yet, its place is still to be learnt.
  const isLearnt = !deepEqual(route.items, rowOf(operation).items);
  const found = isLearnt ? { ...route, items: absentIsNoList(route.items) } : route;
  trial.learnt({
    ...trial.report,
    emptied: new Set([...emptied, operation]),
    dialect: { ...dialect, operations: { ...dialect.operations, [operation]: found } },
    operations: trial.report.operations.map((one) =>
      one.operation === operation && one.verdict === "found" ? { ...one, route: found } : one,
    ),
  });
  return { status: "accepted", value: [] };
}
