/** Which lines of a dialect are wrong for the service that was looked at. */
import type { Kind } from "../../core/model/address";
import { kindRows } from "../../core/model/kinds";
import { isAssumed, isList, type Operation, rowOf } from "../../core/model/operation";
import { failureText, type Outcome } from "../../core/model/outcome";
import type { RecordedResource } from "../../core/model/recorded";
import { keysOf } from "../../core/text/objects";
import type { Dialect } from "../../dialect/dialect";
import { showPlace } from "../../dialect/places";
import type { ServiceReader } from "../../service/client";
import { listOfKind, readOfKind } from "../observe";
import type { DoctorReport } from "./report";

export interface DialectMisfit {
  /** Where the line is in the dialect, by its keys. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly detail?: string;
  readonly fix: string;
}

/** Where the doctor found something else than the dialect says. */
export const misfitsOf = (report: DoctorReport): DialectMisfit[] => [
  ...routesElsewhere(report),
  ...fieldsElsewhere(report),
  ...wordsWithoutMeaning(report),
];

/** The same with what reading shows. Of an operation that is not where the dialect says, that alone is told. */
export async function everyMisfit(
  report: DoctorReport,
  client: ServiceReader,
  recorded: readonly RecordedResource[],
  dialect: Pick<Dialect, "attachments">,
): Promise<readonly DialectMisfit[]> {
  const found = misfitsOf(report);
  const isTold = ({ path: [where, name] }: DialectMisfit): boolean =>
    where === "operations" && found.some(({ path }) => path[0] === where && path[1] === name);
  const read = await readByDialect(client, recorded, dialect);
  return [...found, ...read.filter((misfit) => !isTold(misfit))];
}

function routesElsewhere({ operations, given }: DoctorReport): DialectMisfit[] {
  const misfits: DialectMisfit[] = [];
  for (const { operation, verdict, route, tried } of operations) {
    const said = given.operations[operation];
    if (said === null || rowOf(operation).kind !== "read") continue;
    if (verdict === "missing")
      misfits.push({
        path: ["operations", operation],
        summary: `${operation} is not at ${said.path}`,
        detail: tried[0] === undefined ? undefined : `${tried[0].path}: ${tried[0].answer}`,
        fix: `write operations: { ${operation}: null }, or its right path`,
      });
    else if (verdict === "found" && route !== null && route.path !== said.path)
      misfits.push({
        path: ["operations", operation, "path"],
        summary: `${operation} is not at ${said.path}`,
        fix: `write path: ${route.path}`,
      });
  }
  return misfits;
}

function fieldsElsewhere({ records }: DoctorReport): DialectMisfit[] {
  const misfits: DialectMisfit[] = [];
  for (const { record, fields } of records)
    for (const { field, place, learnt, shows } of fields)
      if (learnt === true && place !== undefined && !field.includes("."))
        misfits.push({
          path: ["records", record, field],
          summary: `records.${record}.${field} does not find it in the records that were looked at`,
          detail: shows === undefined ? undefined : `it shows ${shows}`,
          fix: `write ${field}: ${showPlace(place)}`,
        });
  return misfits;
}

const wordsWithoutMeaning = ({ likelyStates, unknownVmStates }: DoctorReport): DialectMisfit[] => [
  ...Object.entries(likelyStates).map(([phase, words]) => ({
    path: ["states", "vm", phase],
    summary: `states.vm gives no meaning to ${words.join(", ")}`,
    fix: `add ${words.join(", ")} to ${phase}, if that is what is meant`,
  })),
  ...unknownVmStates.map((word) => ({
    path: ["states", "vm"],
    summary: `states.vm gives no meaning to ${word}`,
    fix: `put ${word} under running, stopped, verify_resize, failed or gone; without, it is a VM on its way`,
  })),
];

/** Reads each list to its end and one record of each as every command does, and compares with what the state knows. */
export async function readByDialect(
  client: ServiceReader,
  recorded: readonly RecordedResource[],
  { attachments }: Pick<Dialect, "attachments">,
): Promise<DialectMisfit[]> {
  const misfits: DialectMisfit[] = [];
  const complain = (operation: Operation, outcome: Outcome<unknown>): void => {
    if (outcome.status === "accepted") return;
    const hint = outcome.status === "rejected" ? outcome.hint : undefined;
    const [, line] = /in the dialect[^:]*: (.+)$/s.exec(hint ?? "") ?? [];
    misfits.push({
      path: pathOf(line, operation),
      summary: `${operation} cannot be read: ${failureText(outcome)}`,
      detail: hint,
      fix: line ?? fixOf(operation),
    });
  };
  const tryReads = async (kind: Kind): Promise<void> => {
    const operation = `${kind}.list` as const;
    const listed = client.can.canFindCreated(kind) ? await listOfKind(kind, client) : undefined;
    if (listed !== undefined) complain(operation, listed);
    const known = recorded.filter((one) => one.kind === kind).flatMap(({ id }) => id ?? []);
    const ids = listed?.status === "accepted" ? new Set(listed.value.map(({ id }) => id)) : undefined;
    for (const id of ids === undefined ? [] : known)
      if (ids?.has(id) === false)
        misfits.push({
          path: ["operations", operation],
          summary: `the state knows ${kind} ${id}, and ${operation} does not show it`,
          fix: "it may be gone (reconcile drift tells), or the list shows less than all: its path, query or pagination",
        });
    for (const one of known.length > 0 ? known.slice(0, 1) : [...(ids ?? [])].slice(0, 4)) {
      const read = client.can.readsOne(kind) ? await readOfKind(kind, client, one) : undefined;
      // What the list shows and may not be read belongs to somebody else.
      if (known.length === 0 && read?.status === "rejected" && read.condition === "forbidden") continue;
      if (read !== undefined) complain(`${kind}.get`, read);
      break;
    }
  };
  for (const kind of keysOf(kindRows)) await tryReads(kind);
  const volumes =
    attachments !== undefined && client.can.canFindCreated("volume") ? await client.listVolumes() : undefined;
  if (volumes?.status === "accepted" && volumes.value.length > 0)
    if (volumes.value.every(({ attachedTo }) => attachedTo === undefined))
      misfits.push({
        path: ["operations", "attachments"],
        summary: `operations.attachments at ${attachments?.path} tells of no volume which one VM it hangs on, or that it hangs on none`,
        fix: "correct its path, or take it out; where each volume hangs on several VMs, nothing is wrong",
      });
  if (client.can.listsFlavors) complain("flavor.list", await client.listFlavors());
  if (client.can.listsImages) complain("image.list", await client.listImages());
  if (client.can.listsRegions) complain("region.list", await client.listRegions());
  return misfits;
}

/** No dialect moves what the contract documents. */
const fixOf = (operation: Operation): string =>
  isAssumed(operation)
    ? `correct operations.${operation}`
    : `see to it that the service answers ${rowOf(operation).method} ${rowOf(operation).path}: it is of the contract, and no dialect moves it`;

/** The line that a message names, such as `records.vm.id: [/uid]`; else that of the operation. */
function pathOf(line: string | undefined, operation: Operation): readonly string[] {
  const [, dotted] = /^((?:records|pagination|operations|states)[\w.]*)/.exec(line ?? "") ?? [];
  if (dotted?.startsWith("records.") === true || dotted?.startsWith("pagination") === true) return dotted.split(".");
  return isList(operation) || operation.endsWith(".get") ? ["operations", operation] : ["operations"];
}
