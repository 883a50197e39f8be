/** Findings that every kind can have, worded once. */

import { type Address, movedText, quoted } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import type { Gone } from "../model/evidence";
import { type Fix, fixText, toAsk, told, toRun, toSay, toWrite } from "../model/fix";
import { definitionOf, isKind, type Kind, kindRows } from "../model/kinds";
import type { Intent, Orphan } from "../model/recorded";
import { describeStrangers, type Made, type Stranger } from "./evidence";
import { type Pair, recordedAt } from "./pair";

/** A recorded resource of which the service proved that it does not exist any more, with the evidence. */
export interface Vanished extends Pick<Gone, "because" | "doubt" | "accepted"> {
  readonly id: string;
}

const placeOfPair = ({ address, desired }: Pair) => ({ address, source: desired?.source });

/** The noun of a pair in a sentence. */
const nounOfPair = ({ kind }: Pick<Pair, "kind">): string => kindRows[kind].fullNoun;

const evidenceText = (pair: Pair, { doubt, accepted }: Vanished): string =>
  doubt ??
  (accepted === true
    ? "you say that this is the service, the project and the credential of the state"
    : `the credential sees another ${nounOfPair(pair)} that this state remembers`);

export const nameTaken = (
  pair: Pair,
  found: { readonly id: string; readonly name?: string; readonly status?: string; readonly unsaid?: true },
  strangers: readonly Stranger<Made>[] = [],
  orphan?: Orphan,
): Diagnostic => ({
  severity: "error",
  code: "plan/name-taken",
  summary: `a ${nounOfPair(pair)} named ${found.name} exists already (${found.id}), and ${orphan === undefined ? "no address manages it" : `it is an orphan of this state: ${orphan.reason}`}`,
  detail: `${strangers.length === 0 ? "" : `It is not what the create of ${pair.address} made: ${describeStrangers(strangers)}. `}${pair.recorded?.id === undefined ? "" : `${pair.address} was ${pair.recorded.id}, which is not shown any more. `}The name alone proves nothing: it may be somebody else's. It is neither taken over nor made a second time.`,
  ...told(
    found.unsaid === true
      ? `it shows ${found.status ?? ""}; ${unsaidFix(pair.kind, found.status ?? "")}`
      : orphan !== undefined
        ? fixForOrphan(orphan, pair.address)
        : pair.recorded?.id === undefined && strangers.length === 0
          ? `imports: [ { to: ${quoted(pair.address)}, id: ${JSON.stringify(found.id)} } ]${definitionOf(pair.kind).takenByName === true ? ", or --adopt to take it over," : ","} or another name`
          : [takeOver(pair.address, found.id, "to take it over"), toAsk("another name")],
  ),
  ...placeOfPair(pair),
});

/**
 * What holds a name and was left behind by this state: it is deleted, or taken back. `address`: ADDR where the one that
 * wants the name has a resource.
 */
export const fixForOrphan = ({ kind, id }: Orphan, address: Address): readonly Fix[] => [
  ...(isKind(kind) && definitionOf(kind).orphansDeletable === true ? [toRun(["orphans delete", id])] : []),
  takeOver(address, id, "to manage it again"),
  toAsk("another name"),
];

const takeOver = (address: Address, id: string, why: string): Fix =>
  toSay([["import", address, id], ` ${why}`], `adopt: ${JSON.stringify(id)} ${why}`);

export const letGo = "a removed entry says to let it go";
export const neverMade = "it was never made";
export const noLongerExists = (pair: Pick<Pair, "kind">, { id, because, doubt }: Vanished): string =>
  doubt === undefined
    ? `${nounOfPair(pair)} ${id} no longer exists in the service: ${because}`
    : `${nounOfPair(pair)} ${id} is not shown any more: ${because}; yet ${doubt}`;

export const severalNamed = (
  pair: Pair,
  name: string,
  candidates: readonly { readonly id: string; readonly status?: string }[],
): Diagnostic => ({
  severity: "error",
  code: "plan/name-ambiguous",
  summary: `${candidates.length} ${nounOfPair(pair)}s are named ${name}: ${candidates.map((one) => one.id).join(", ")}`,
  detail: candidates.map((one) => `${one.id}${one.status === undefined ? "" : ` is ${one.status}`}`).join("; "),
  ...told([
    toSay(
      [
        "say which one it is: ",
        pair.recorded?.id === undefined
          ? `imports: [ { to: ${quoted(pair.address)}, id: "…" } ]`
          : ["import", pair.address, "ID"],
      ],
      'adopt: "<id>" says which one it is',
    ),
  ]),
  ...placeOfPair(pair),
});

const importRefused = (
  { address, import: wanted }: Pair,
  code: "plan/import-managed" | "plan/import-not-found",
  why: string,
  more: Pick<Diagnostic, "detail" | "fix" | "fixParts">,
): Diagnostic => ({
  severity: "error",
  code,
  summary: `${address} cannot be imported: ${why}`,
  ...more,
  address,
  source: wanted?.source,
});

export const importManaged = (pair: Pair, id: string, manager: string): Diagnostic =>
  importRefused(pair, "plan/import-managed", `${nounOfPair(pair)} ${id} is managed as ${manager} already`, {
    detail: "One resource has one address.",
    ...told([toWrite(movedText({ from: manager, to: pair.address })), toAsk("remove the imports entry")]),
  });

/** Whatever grew or attached it for one of two addresses would undo it for the other. */
export const importKept = (pair: Pair, id: string, keeper: string): Diagnostic =>
  importRefused(pair, "plan/import-managed", `${nounOfPair(pair)} ${id} is the own data volume of ${keeper}`, {
    detail: `One resource has one address: the size of ${keeper} grows it.`,
    fix: `remove the imports entry and ${pair.address}`,
  });

const showsNone = (pair: Pair, id: string): string => `the service shows no ${nounOfPair(pair)} ${id}`;

export const importSpelt = (pair: Pair, id: string, shown: string): Diagnostic => {
  const why = `${showsNone(pair, id)}, and calls the one that it answers with ${shown}`;
  return importRefused(pair, "plan/import-not-found", why, { fix: `write the id as the service does: ${shown}` });
};

export const importGone = (pair: Pair, id: string): Diagnostic =>
  importRefused(pair, "plan/import-not-found", showsNone(pair, id), {
    fix: `correct the id${definitionOf(pair.kind).takenByName === true ? " or name" : ""}; without an imports entry a new ${nounOfPair(pair)} is created`,
  });

export const goneNote = (pair: Pair, vanished: Vanished, then: string): Diagnostic => ({
  severity: "warning",
  code: "plan/gone",
  summary:
    vanished.doubt === undefined
      ? `${pair.address}: ${nounOfPair(pair)} ${vanished.id} is gone from the service; ${then}`
      : `${pair.address}: ${nounOfPair(pair)} ${vanished.id} is not shown any more, and may be there; if you say that it is gone, ${then}`,
  detail: `The evidence: ${vanished.because}, and ${evidenceText(pair, vanished)}.${pair.recorded === undefined ? "" : " It is kept among the orphans as missing, and is taken back should it show again."}`,
  fix: `if it still exists, stop here and check the credential's rights; if another one took its place: ${fixText(toRun(["import", pair.address, "ID"]))}`,
  ...placeOfPair(pair),
});

/**
 * A resource in a state that is "deleted" on some services and "stopped" on others. A guess may hold a plan up; it
 * neither removes nor makes anything.
 */
export const unsaidState = (
  pair: Pair,
  { id, name, status = "" }: { readonly id: string; readonly name?: string; readonly status?: string },
): Diagnostic => ({
  severity: "error",
  code: "plan/state-unsaid",
  summary: `${pair.address}: ${nounOfPair(pair)} ${name ?? id} (${id}) is there and shows ${status}, and the dialect does not say whether that is ${atRestOf(pair.kind)} or gone`,
  detail: "Some services mean deleted by this word, others do not. Nothing is removed or made anew on a guess.",
  fix: unsaidFix(pair.kind, status),
  ...placeOfPair(pair),
});

const atRestOf = (kind: Kind): string => definitionOf(kind).atRest ?? "there";

/** A word of a service as a dialect writes it. */
export const wordInDialect = (status: string): string =>
  /^[A-Za-z][\w-]*$/.test(status) ? status : JSON.stringify(status);

/** Which line of the dialect gives the word its meaning. */
export function unsaidFix(kind: Kind, status: string): string {
  const word = wordInDialect(status);
  const alive = atRestOf(kind);
  return `say in the dialect whether that is ${alive} or gone: states: { ${kind}: { ${alive}: [${word}] } }, or states: { ${kind}: { gone: [${word}] } }`;
}

/** The two commands with which a person settles a create of which nothing tells the outcome. */
export const outcomeUnknownFix = (address: Address): readonly Fix[] => [
  toRun(["import", address, "ID"], "it exists"),
  toRun(["state resolve", address, "--not-created"], "it does not"),
];

/** A create of which nothing tells the outcome. `evidence`: what was seen instead. */
export function unsettledIntent(pair: Pair, intent: Intent, evidence?: string): Diagnostic {
  const became = intent.accepted === true ? "the service accepted it" : "its answer was lost";
  const why = intent.accepted === true ? "The service does not show it" : "This service gives no way to look it up";
  return {
    severity: "error",
    code: "plan/outcome-unknown",
    summary: `outcome unknown: the create of ${nounOfPair(pair)} ${intent.name} (${pair.address}) was sent at ${intent.sentAt} and ${became}`,
    detail: `${evidence ?? why}, and repeating it could make a second one. Look for a ${nounOfPair(pair)} named ${intent.name} in the service's console.`,
    ...told(outcomeUnknownFix(recordedAt(pair))),
    ...placeOfPair(pair),
  };
}
